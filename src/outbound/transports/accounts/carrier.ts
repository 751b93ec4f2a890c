// The transport of connected accounts: checks Sent for an uncertain message, rewrites its address fields, sends it, reads the response.

import type { ApiResult } from '../../model/api-client.ts'
import type { ConnectedType } from '../../model/connected-services.ts'
import type { DelayCause, Provider } from '../../model/records.ts'
import { testMail } from '../../model/test-mail.ts'
import type { CheckResult, Handed, Handover, Stage, Transport } from '../../model/transport.ts'
import { issuerOf } from '../../providers/issuers.ts'
import type { AccountDeps } from './deps.ts'
import { Doubts, type SentLookup } from './doubts.ts'
import { markOf, readdress } from './readdress.ts'
import { AccountSession, type NoToken } from './session.ts'
import { closedCarrier, failed, laterAll, neverAll, passed, sentAll, unavailable } from './verdicts.ts'

/** Timeout of an account test, in ms (docs/design/sending.md §1). */
const CHECK_MS = 15_000

/** The meaning of a provider's response. */
export type Meaning =
  | { kind: 'sent'; text: string; id: string | null }
  /** The account or the whole provider fails: another account may be used. */
  | { kind: 'unavailable'; stage: Stage; text: string; cause: DelayCause }
  /** The provider refuses this message. */
  | { kind: 'never'; text: string; enhancedCode?: string }
  /** The provider failed, possibly after it accepted the message. */
  | { kind: 'doubtful'; text: string }

/** The provider-specific operations. */
export interface Dialect {
  /** Host name of the API. */
  peer: string
  /** Largest message the provider accepts, in bytes. */
  maxBytes: number
  send(session: AccountSession, message: Uint8Array, signal: AbortSignal | undefined): Promise<ApiResult | NoToken>
  /** @param answer the complete response to a send request */
  meaningOf(answer: Extract<ApiResult, { kind: 'answered' }>): Meaning
  /** Searches Sent for exactly this message to exactly these recipients. */
  find(session: AccountSession, handover: Handover): Promise<SentLookup>
  /** Further ids of a message just accepted, beside the one in the response; empty if unavailable. */
  idsOf(session: AccountSession, id: string): Promise<string[]>
  /** Reads the account's profile and checks its address. */
  profile(session: AccountSession): Promise<CheckResult>
}

class AccountCarrier implements Transport {
  readonly #deps: AccountDeps
  readonly #provider: Provider
  readonly #session: AccountSession
  readonly #dialect: Dialect
  readonly #doubts = new Doubts()

  constructor(deps: AccountDeps, provider: Provider, session: AccountSession, dialect: Dialect) {
    this.#deps = deps
    this.#provider = provider
    this.#session = session
    this.#dialect = dialect
  }

  async hand(handover: Handover): Promise<Handed> {
    const { peer, maxBytes } = this.#dialect
    const mark = markOf(handover)
    if (handover.uncertain || this.#doubts.has(mark)) {
      const settled = await this.#findInSent(handover, mark)
      if (settled !== null) return settled
    }
    const message = readdress(handover)
    if (message === null) return neverAll(handover, peer, 'The header of the message is too large for this account.')
    if (message.length > maxBytes) {
      const text = `The message is too large for this account, which accepts at most ${maxBytes} bytes.`
      return neverAll(handover, peer, text, '5.3.4')
    }
    const result = await this.#dialect.send(this.#session, message, handover.signal)
    return this.#read(handover, mark, result)
  }

  /** Resolves within the timeout even if a call hangs, because a person waits for the result. */
  check(to: string | null): Promise<CheckResult> {
    const signal = AbortSignal.timeout(CHECK_MS)
    const late = new Promise<CheckResult>((resolve) => {
      const text = `${this.#session.issuer.name} did not answer within ${CHECK_MS / 1000} seconds.`
      signal.addEventListener('abort', () => resolve(failed('api', text)), { once: true })
    })
    return Promise.race([this.#check(to, signal), late])
  }

  close(): Promise<void> {
    return this.#session.close()
  }

  async #check(to: string | null, signal: AbortSignal): Promise<CheckResult> {
    const found = await this.#dialect.profile(this.#session)
    const from = this.#provider.oauthEmail
    if (!found.success || to === null || from === null) return found
    const { bytes, emailId, internetMessageId } = testMail({ from, to, now: this.#deps.clock.now() })
    const handover = { emailId, from, mailFrom: from, recipients: [to], hidden: [], bytes, internetMessageId }
    const handed = await this.hand({ ...handover, isForwarded: false, isChanged: false, uncertain: false, signal })
    if (handed.kind === 'unavailable') return failed(handed.stage, handed.reply.text)
    const verdict = handed.verdicts[0]!
    return verdict.kind === 'sent' ? passed('data', verdict.reply.text) : failed('data', verdict.reply.text)
  }

  /** @returns null when the message is not in Sent and may be sent */
  async #findInSent(handover: Handover, mark: string): Promise<Handed | null> {
    const { peer } = this.#dialect
    const finding = await this.#dialect.find(this.#session, handover)
    if (finding.kind === 'unknown') {
      this.#doubts.add(mark)
      return laterAll(handover, peer, `The outcome of an earlier attempt is not known yet. ${finding.text}`, 'network')
    }
    this.#doubts.clear(mark)
    if (finding.kind === 'missing') return null
    return sentAll(handover, peer, 'An earlier attempt had succeeded: the message is in Sent.', finding.remoteIds)
  }

  async #read(handover: Handover, mark: string, result: ApiResult | NoToken): Promise<Handed> {
    const { peer } = this.#dialect
    if (result.kind === 'no_token') {
      return unavailable(result.stage, result.text, causeOf(result.stage), result.retryAfterMs)
    }
    if (result.kind === 'unreached') return unavailable(result.stage, result.text, causeOf(result.stage))
    if (result.kind === 'broken') return this.#doubt(handover, mark, result.text)
    const meaning = this.#dialect.meaningOf(result)
    if (meaning.kind === 'doubtful') return this.#doubt(handover, mark, meaning.text)
    if (meaning.kind === 'never') return neverAll(handover, peer, meaning.text, meaning.enhancedCode)
    if (meaning.kind === 'unavailable') {
      return unavailable(meaning.stage, meaning.text, meaning.cause, result.retryAfterMs)
    }
    const ids = meaning.id === null ? [] : [meaning.id, ...(await this.#dialect.idsOf(this.#session, meaning.id))]
    return sentAll(handover, peer, meaning.text, ids)
  }

  /** The message may be sent already, so do not use another account; the next attempt searches Sent first. */
  #doubt(handover: Handover, mark: string, text: string): Handed {
    this.#doubts.add(mark)
    return laterAll(handover, this.#dialect.peer, text, 'transient')
  }
}

/** Opens the transport of a connected account. */
export function openAccount(deps: AccountDeps, provider: Provider, type: ConnectedType, dialect: Dialect): Transport {
  const issuer = issuerOf(deps.config, type)
  if (issuer === null) return closedCarrier('The appliance has no OAuth client any more for this kind of account.')
  return new AccountCarrier(deps, provider, new AccountSession(deps, provider, issuer), dialect)
}

/** Evaluates a profile response: whether the account answers, and whether it is the connected one. */
export function evaluateProfile(
  session: AccountSession,
  provider: Provider,
  result: ApiResult | NoToken,
  address: string | null,
): CheckResult {
  const { name } = session.issuer
  if (result.kind === 'no_token' || result.kind === 'unreached') return failed(result.stage, result.text)
  if (result.kind === 'broken') return failed('api', result.text)
  if (result.status !== 200) return failed('api', `${name} answered ${result.status} to the question for the profile.`)
  if (address !== provider.oauthEmail) {
    return failed(
      'api',
      `The connection is for ${address ?? 'no address'}, not for ${provider.oauthEmail}: connect it again.`,
    )
  }
  return passed('api', `${name} knows the account ${address}.`)
}

function causeOf(stage: Stage): DelayCause {
  if (stage === 'dns') return 'dns'
  return stage === 'auth' ? 'transient' : 'network'
}
