// A mail program that signs in without a listener: it runs the messages of SASL with the appliance itself.

import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import type { SaslResult } from '../../src/access/access.ts'
import type { SignInRequest, SignInResult } from '../../src/access/signed-in.ts'
import type { ClientProtocol } from '../../src/config/client-protocols.ts'
import type { SaslMechanism } from '../../src/net/sasl.ts'
import type { TestAppliance } from './appliance.ts'
import type { ManualClock } from './clock.ts'

export interface Program {
  protocol?: ClientProtocol
  source?: string
  client?: string
}

/** The result of a sign-in after the delay of a failure, which the clock advances by. */
export async function finished<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  for (let turns = 0; turns < 20 && !isDone; turns++) {
    await new Promise(setImmediate)
    if (turns > 2) clock.advance(1000)
  }
  return done
}

/** Signs in with a name and a secret (PLAIN). */
export function signIn(
  { app }: TestAppliance,
  name: string,
  secret: string,
  { protocol = 'imap', source = '192.0.2.1', client }: Program = {},
): Promise<SignInResult> {
  const request: SignInRequest = {
    ...{ protocol, mechanism: 'PLAIN', source, client },
    credentials: { kind: 'password', name, secret },
  }
  return app.access.signIn(request)
}

/** Signs in with a mechanism, whose responses `answer` gives for each challenge. */
export function authenticate(
  { app }: TestAppliance,
  mechanism: SaslMechanism,
  answer: (challenge: string) => string | null,
  { protocol = 'imap', source = '192.0.2.1', client }: Program = {},
): Promise<SaslResult> {
  const challenge = async (data: Buffer) => {
    const response = answer(data.toString())
    return response === null ? null : Buffer.from(response)
  }
  return app.access.authenticate({
    ...{ protocol, mechanism, source, client, bindings: new Map(), initial: null, challenge },
  })
}

/**
 * The client side of SCRAM-SHA-256, written from RFC 5802 §3. Also notes what the server said.
 * @param binding for SCRAM-SHA-256-PLUS: the type of channel binding and its data
 */
export function scramClient(
  name: string,
  password: string,
  binding?: { type: string; data: Uint8Array },
): { answer(challenge: string): string; said: string[] } {
  const said: string[] = []
  const header = binding === undefined ? 'n,,' : `p=${binding.type},,`
  const bound = Buffer.concat([Buffer.from(header), binding?.data ?? Buffer.alloc(0)]).toString('base64')
  const bare = `n=${name},r=fyko+d2lbbFgONRv9qkxdawL`
  let signature = ''
  const mac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  return {
    said,
    answer(challenge) {
      said.push(challenge)
      if (challenge === '') return header + bare
      if (challenge.startsWith('v=')) return challenge === `v=${signature}` ? '' : 'the server is not the one'
      const [, nonce, salt, rounds] = /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(challenge)!
      const salted = pbkdf2Sync(password, Buffer.from(salt!, 'base64'), Number(rounds), 32, 'sha256')
      const clientKey = mac(salted, 'Client Key')
      const authMessage = `${bare},${challenge},c=${bound},r=${nonce}`
      const stored = createHash('sha256').update(clientKey).digest()
      const proof = mac(stored, authMessage).map((byte, index) => byte ^ clientKey[index]!)
      signature = mac(mac(salted, 'Server Key'), authMessage).toString('base64')
      return `c=${bound},r=${nonce},p=${Buffer.from(proof).toString('base64')}`
    },
  }
}
