// Access of mail programs to mailboxes: what the listeners of IMAP, submission and ManageSieve share beyond their protocols.

import { openSasl, type SaslMechanism } from '../net/sasl.ts'
import type { SaslExchange } from '../net/sasl-exchange.ts'
import { SessionWatch } from './session-watch.ts'
import { type SignInDeps, SignInGate } from './sign-in.ts'
import type { SessionEnd, SignedIn, SignInRequest, SignInResult } from './signed-in.ts'

/** Tries of one connection; after the last the listener ends it (docs/design/mail-programs.md §1). */
export const TRIES_MAX = 3

/** How a listener carries the messages of an authentication exchange. */
export interface SaslChannel extends Omit<SignInRequest, 'credentials'> {
  /** `channelBindings` of the connection; empty where a proxy has ended its TLS. */
  bindings: ReadonlyMap<string, Uint8Array>
  /** Decoded initial response; null for none. */
  initial: Buffer | null
  /** Sends a challenge. @returns the decoded response; null when the client canceled (`*`) or sent no base64 */
  challenge(data: Buffer): Promise<Buffer | null>
  /** Takes the last message of a success, which goes out with the final reply (RFC 5804 §2.1); without it, it is a challenge. */
  conclude?(data: Buffer): void
}

export type SaslResult = SignInResult | { accepted: false; reason: 'malformed' | 'cancelled' }

export class Access {
  readonly #gate: SignInGate
  readonly #watch: SessionWatch
  readonly #deps: SignInDeps

  constructor(deps: SignInDeps) {
    this.#deps = deps
    this.#gate = new SignInGate(deps)
    this.#watch = new SessionWatch(deps)
  }

  /** See {@link SignInGate.signIn}. */
  signIn(request: SignInRequest): Promise<SignInResult> {
    return this.#gate.signIn(request)
  }

  /** Opens an exchange of messages. @param bindings see `SaslChannel` */
  openSasl(mechanism: SaslMechanism, bindings: SaslChannel['bindings']): SaslExchange {
    const { config, directory } = this.#deps
    return openSasl(mechanism, {
      scramSalt: (name) => directory.appPasswords.scramSalt(name),
      bindings,
      discovery: `${config.APP_ORIGIN}/.well-known/oauth-authorization-server/agent-auth`,
    })
  }

  /** Runs a whole exchange: messages, verification, and the last message. The listener sends the final reply. */
  async authenticate(channel: SaslChannel): Promise<SaslResult> {
    const { bindings, initial, challenge, conclude, ...request } = channel
    const exchange = this.openSasl(request.mechanism, bindings)
    let step = exchange.respond(initial)
    while (step.next === 'challenge') {
      const response = await challenge(step.data)
      if (response === null) return { accepted: false, reason: 'cancelled' }
      step = exchange.respond(response)
    }
    if (step.next === 'malformed') return { accepted: false, reason: 'malformed' }
    const result = await this.signIn({ ...request, credentials: step.credentials })
    const last = exchange.conclude(result)
    if (last !== null && result.accepted && conclude !== undefined) {
      conclude(last)
      return result
    }
    // RFC 7628 §3.2.3, RFC 4954 §4: the client answers the last message; canceling after a success is one, too.
    const isCancelled = last !== null && (await challenge(last)) === null
    return isCancelled && result.accepted ? { accepted: false, reason: 'cancelled' } : result
  }

  /** See {@link SignInGate.noteClient}. */
  noteClient(session: SignedIn, client: string): void {
    this.#gate.noteClient(session, client)
  }

  /** See {@link SessionWatch.add}. */
  watch(session: SignedIn, end: (why: SessionEnd) => void): () => void {
    return this.#watch.add(session, end)
  }
}
