// LOGIN and AUTHENTICATE (RFC 9051 §6.2.2 and §6.2.3, RFC 4959): the sign-in that all listeners of mail programs share.

import { TRIES_MAX } from '../../access/access.ts'
import type { ImportedSoFar, SignInRefusal, SignInResult } from '../../access/signed-in.ts'
import { mechanismOf } from '../../net/sasl.ts'
import { channelBindings } from '../../net/tls.ts'
import { type Cursor, ImapSyntaxError } from '../grammar/cursor.ts'
import { SASL_LINE_BYTES } from '../grammar/limits.ts'
import { readAstring } from '../grammar/strings.ts'
import { no, ok, type TaggedAnswer } from '../session/answers.ts'
import { capabilityCode, tlsEndOf } from '../session/offered.ts'
import { command, type ImapSession } from '../session/session.ts'

const REFUSALS: Record<SignInRefusal | 'malformed' | 'cancelled', [code: string | null, text: string]> = {
  wrong: ['AUTHENTICATIONFAILED', 'Wrong address or app password.'],
  too_many: ['UNAVAILABLE', 'Too many failed logins. Try again in ten minutes.'],
  not_allowed: ['NOPERM', 'This credential does not allow IMAP.'],
  team_suspended: ['CONTACTADMIN', 'The team of this mailbox is suspended.'],
  provisioning: ['UNAVAILABLE', 'The mailbox is being set up. Try again in a moment.'],
  importing: ['UNAVAILABLE', 'The mailbox is being imported. Try again later.'],
  filtered_elsewhere: [null, 'The mail of this mailbox is filtered by its provider.'],
  malformed: [null, 'The response does not follow the mechanism.'],
  cancelled: [null, 'Authentication canceled.'],
}

/** Answers a sign-in, and ends the connection after too many failures. */
function conclude(
  session: ImapSession,
  result: SignInResult | { accepted: false; reason: 'malformed' | 'cancelled' },
): TaggedAnswer {
  if (result.accepted) {
    const problem = session.loggedIn(result.session)
    session.app.meters.login(problem === null ? 'ok' : 'too_many_connections')
    if (problem !== null) return problem
    return ok('Logged in.', capabilityCode(session))
  }
  session.app.meters.login(result.reason)
  const [code, general] = REFUSALS[result.reason]
  const text = 'importing' in result && result.importing ? importText(result.importing) : general
  if (++session.loginFailures >= TRIES_MAX) session.bye('Too many failed logins.')
  const condition = result.reason === 'malformed' || result.reason === 'cancelled' ? 'BAD' : 'NO'
  return { condition, code, text }
}

function importText({ messagesDone, messagesTotal }: ImportedSoFar): string {
  return `The mailbox is being imported: ${messagesDone} of ${messagesTotal} messages. Try again later.`
}

function assertEncrypted(session: ImapSession): void {
  if (!session.isSecure) throw no('PRIVACYREQUIRED', 'Use TLS first.')
}

export const login = command({
  name: 'LOGIN',
  in: 'not-authenticated',
  read(cursor) {
    cursor.space()
    const name = readAstring(cursor).toString()
    cursor.space()
    return { name, secret: readAstring(cursor).toString() }
  },
  async run({ name, secret }, session) {
    assertEncrypted(session)
    const { app, source, client } = session
    const request = { protocol: 'imap', mechanism: 'LOGIN', source: source.address, client } as const
    return conclude(session, await app.access.signIn({ ...request, credentials: { kind: 'password', name, secret } }))
  },
})

interface AuthenticateArguments {
  mechanism: string
  /** Null without an initial response. */
  initial: Buffer | null
}

function readInitial(cursor: Cursor): Buffer {
  if (cursor.skip('=')) return Buffer.alloc(0)
  const decoded = decodeBase64(cursor.base64())
  if (decoded === null) throw new ImapSyntaxError('The response is not base64.')
  return decoded
}

/** @returns null for other text */
function decodeBase64(text: string): Buffer | null {
  const decoded = Buffer.from(text, 'base64')
  return decoded.toString('base64') === text ? decoded : null
}

export const authenticate = command({
  name: 'AUTHENTICATE',
  in: 'not-authenticated',
  read(cursor): AuthenticateArguments {
    cursor.space()
    const mechanism = cursor.word()
    return { mechanism, initial: cursor.skip(' ') ? readInitial(cursor) : null }
  },
  async run({ mechanism: name, initial }, session) {
    assertEncrypted(session)
    const mechanism = mechanismOf(name, tlsEndOf(session))
    if (mechanism === undefined) throw no('CANNOT', 'This mechanism is not offered.')
    const { app, source, client, tls } = session
    const bindings = tls === null ? new Map<string, Uint8Array>() : channelBindings(tls)
    const challenge = async (data: Buffer): Promise<Buffer | null> => {
      session.requestLiteral(data.toString('base64'))
      const line = (await session.reader.line(SASL_LINE_BYTES)).toString('latin1')
      return line === '*' ? null : decodeBase64(line)
    }
    const request = { protocol: 'imap', mechanism, source: source.address, client } as const
    return conclude(session, await app.access.authenticate({ ...request, bindings, initial, challenge }))
  },
})
