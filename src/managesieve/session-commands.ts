// The commands about the session: CAPABILITY, NOOP, STARTTLS, AUTHENTICATE, UNAUTHENTICATE, LOGOUT (RFC 5804 §2).

import { TRIES_MAX } from '../access/access.ts'
import type { SignInRefusal } from '../access/signed-in.ts'
import { mechanismOf } from '../net/sasl.ts'
import { channelBindings } from '../net/tls.ts'
import { formatCapabilities } from './capabilities.ts'
import { noArguments, strings } from './command.ts'
import { ConnectionEnd, GrammarError } from './reader.ts'
import { formatString, no, ok, type SieveCode, type SieveReply } from './replies.ts'
import { command, type SieveSession } from './session.ts'

const REFUSALS: Record<SignInRefusal | 'malformed' | 'cancelled', [text: string, code?: SieveCode]> = {
  wrong: ['Wrong address or app password.'],
  too_many: ['Too many failed logins. Try again in ten minutes.', 'TRYLATER'],
  not_allowed: ['This credential does not allow ManageSieve.'],
  team_suspended: ['The team of this mailbox is suspended.'],
  provisioning: ['The mailbox is being set up. Try again in a moment.', 'TRYLATER'],
  importing: ['The mailbox is being imported. Try again later.', 'TRYLATER'],
  filtered_elsewhere: ['The mailbox is an outside account: its provider filters its mail.'],
  malformed: ['The response does not follow the mechanism.'],
  cancelled: ['Authentication canceled.'],
}

const capability = command({
  name: 'CAPABILITY',
  state: 'any',
  read: noArguments,
  run(_, session) {
    session.say(formatCapabilities(session))
    return ok('Capability completed.')
  },
})

const noop = command({
  name: 'NOOP',
  state: 'any',
  read: (args) => strings(args, 0, 1)[0] ?? null,
  run: (tag) => ok('Done.', tag === null ? null : `TAG ${formatString(tag)}`),
})

const logout = command({
  name: 'LOGOUT',
  state: 'any',
  read: noArguments,
  run(_, session) {
    session.finish()
    return ok('Logout completed.')
  },
})

const starttls = command({
  name: 'STARTTLS',
  state: 'before',
  read: noArguments,
  async run(_, session): Promise<SieveReply | null> {
    if (session.tlsEnd !== null) return no('TLS is active already.')
    // Commands that follow in plain text must not be read as if they had come encrypted.
    if (session.reader.buffered > 0) {
      session.finish('Nothing may follow STARTTLS.')
      return no('Nothing may follow STARTTLS.')
    }
    session.answer('STARTTLS', ok('Begin TLS now.'))
    await session.startTls()
    // RFC 5804 §2.2: the capabilities are sent again, so that a client need not believe the first ones.
    session.say(formatCapabilities(session))
    return ok('TLS is active.')
  },
})

/** RFC 5804 §2.1: a string in base64, `*` to cancel. @returns null for a canceled exchange and for other text */
function decoded(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return text !== '*' && bytes.toString('base64') === text ? bytes : null
}

const authenticate = command({
  name: 'AUTHENTICATE',
  state: 'before',
  read(args) {
    const [mechanism, initial] = strings(args, 1, 2)
    const response = initial === undefined ? null : decoded(initial)
    if (initial !== undefined && response === null) throw new GrammarError('The response is not base64.')
    return { mechanism: mechanism!, initial: response }
  },
  async run({ mechanism: name, initial }, session): Promise<SieveReply> {
    if (session.tlsEnd === null) return no('Use STARTTLS first.', 'ENCRYPT-NEEDED')
    const mechanism = mechanismOf(name, session.tlsEnd)
    if (mechanism === undefined) return no('This mechanism is not offered.')
    const { app, source } = session.deps
    let last: Buffer | null = null
    const result = await app.access.authenticate({
      ...{ protocol: 'managesieve', mechanism, source: source.address, client: null, initial },
      bindings: session.tls === null ? new Map() : channelBindings(session.tls),
      challenge: (data) => exchange(session, data),
      conclude: (data) => {
        last = data
      },
    })
    if (result.accepted) return session.loggedIn(result.session) ?? success(last)
    session.deps.refused(result.reason)
    if (++session.loginFailures >= TRIES_MAX) session.finish('Too many failed logins.')
    const [text, code = null] = REFUSALS[result.reason]
    return no(text, code)
  },
})

async function exchange(session: SieveSession, data: Buffer): Promise<Buffer | null> {
  session.say(`${formatString(data.toString('base64'))}\r\n`)
  try {
    return decoded(await session.reader.response())
  } catch (error) {
    if (error instanceof ConnectionEnd) throw error
    return null
  }
}

function success(last: Buffer | null): SieveReply {
  return ok('Logged in.', last === null ? null : `SASL ${formatString(last.toString('base64'))}`)
}

const unauthenticate = command({
  name: 'UNAUTHENTICATE',
  state: 'after',
  read: noArguments,
  run(_, session) {
    session.loggedOut()
    return ok('No longer logged in.')
  },
})

export const sessionCommands = [capability, noop, logout, starttls, authenticate, unauthenticate]
