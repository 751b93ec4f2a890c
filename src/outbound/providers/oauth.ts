// Connects Google and Microsoft accounts with the OAuth authorization code flow and PKCE (RFC 6749, RFC 7636).

import { createHash, randomBytes } from 'node:crypto'
import { invalid, ProductError } from '../../base/errors.ts'
import type { Tx } from '../../db/db.ts'
import { checkName } from '../../directory/keys/teams.ts'
import { ApiClient } from '../model/api-client.ts'
import { type ConnectedAuth, type ConnectedType, serviceOfType } from '../model/connected-services.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { Provider } from '../model/records.ts'
import { type Issuer, issuerOf, missingScopes, readAddress } from './issuers.ts'
import { type Begun, type MailTarget, OAuthStates } from './states.ts'
import { requestToken } from './token.ts'

export type { ConnectedType } from '../model/connected-services.ts'
export type { MailTarget } from './states.ts'

export interface OAuthDeps extends OutboundDeps {
  providers: {
    /** Creates the account, or updates the token of the team's account with that type and address; it becomes `pending`. */
    createOAuth(
      tx: Tx,
      account: { teamId: string; type: ConnectedType; name: string; oauthEmail: string; refreshToken: string },
    ): Provider
  }
}

/** The result of an authorization callback. `redirectAfter` is the URL to continue at. */
export type OAuthCallbackResult =
  | { kind: 'connected'; provider: Provider; redirectAfter: string | null; createdBy: string }
  /** Consent for an outside account, which the caller makes or renews. */
  | { kind: 'mail'; consent: MailConsent; redirectAfter: string | null; createdBy: string }
  /** The user denied access, or declined a required scope. */
  | { kind: 'denied' | 'incomplete'; redirectAfter: string | null }
  /** The state is not ours, is older than ten minutes, was used before, or was begun in another browser. */
  | { kind: 'unknown' | 'expired' | 'used' | 'other_session' }
  /** The person or key that began it may no longer connect accounts of the team. */
  | { kind: 'not_allowed' }
  /** The issuer's response is unusable; `reason` is one sentence. */
  | { kind: 'failed'; reason: string; redirectAfter: string | null }

/** Access to the mail of an account by IMAP and SMTP. */
export interface MailConsent extends MailTarget {
  teamId: string
  auth: ConnectedAuth
  name: string
  /** Lower-case. */
  email: string
  refreshToken: string
}

/** Who began a connection, and what it is for. */
export type BegunConnection = Pick<Begun, 'teamId' | 'type' | 'name' | 'sessionId' | 'createdBy' | 'mail'>

/** The browser that the issuer sent back. */
export interface OAuthBrowser {
  /** Null without a session. */
  sessionId: string | null
  /** Whether the person or key that began it may still connect accounts of the team. */
  mayConnect(begun: BegunConnection): boolean
}

export const NAME_MAX = 255
export const REDIRECT_MAX = 2000
// Codes of both issuers are far shorter.
const CODE_MAX = 8192

const OPERATOR = { sessionId: null, createdBy: 'operator' }
const STRANGER: OAuthBrowser = { sessionId: null, mayConnect: ({ createdBy }) => createdBy === OPERATOR.createdBy }

export class OAuth {
  readonly #deps: OAuthDeps
  readonly #states: OAuthStates
  readonly #client: ApiClient

  constructor(deps: OAuthDeps) {
    this.#deps = deps
    this.#states = new OAuthStates(deps)
    this.#client = new ApiClient(deps.clock)
  }

  /**
   * Starts the authorization flow for an account.
   * @param input.mail for an outside account; null: for a sending account
   * @param input.redirectAfter where the browser continues afterwards: a path or URL of the console
   * @param by who begins it (default: the operator, at the machine); a person completes it in the same session
   * @throws ProductError service_unavailable (no client is configured), validation_error
   */
  async authorize(
    teamId: string,
    input: { type: ConnectedType; name: string; redirectAfter: string | null; mail?: MailTarget | null },
    by: Pick<Begun, 'sessionId' | 'createdBy'> = OPERATOR,
  ): Promise<{ authorizationUrl: string; stateExpiresAt: number }> {
    const { config } = this.#deps
    const { mail = null } = input
    const issuer = issuerOf(config, input.type, mail === null ? 'send' : 'mail')
    if (issuer === null) {
      const { name } = serviceOfType(input.type)
      throw new ProductError('service_unavailable', `No OAuth client for ${name} is configured on this appliance.`)
    }
    const name = checkName(input.name, NAME_MAX)
    const redirectAfter = input.redirectAfter === null ? null : consoleUrl(config.APP_ORIGIN, input.redirectAfter)
    const verifier = randomBytes(32).toString('base64url')
    const { state, expiresAt } = await this.#states.begin({
      ...{ teamId, type: input.type, name, verifier, redirectAfter, mail },
      ...by,
    })
    const query = new URLSearchParams({
      client_id: issuer.clientId,
      redirect_uri: this.#callbackUrl(input.type),
      response_type: 'code',
      scope: issuer.scopes.join(' '),
      ...issuer.ask,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })
    return { authorizationUrl: `${issuer.authorizeUrl}?${query}`, stateExpiresAt: expiresAt }
  }

  /**
   * What a person who was given the link is to confirm before `callback` completes it: they may know nothing of who began it.
   * @returns null when there is nothing to confirm: it was begun in this browser, or cannot be completed
   */
  toConfirm(
    type: ConnectedType,
    { state = '', code }: { state?: string; code?: string },
    browser: OAuthBrowser,
  ): BegunConnection | null {
    const read = this.#states.read(type, state, browser.sessionId)
    if (read.kind !== 'fresh' || read.begun.sessionId !== null || code === undefined) return null
    return browser.mayConnect(read.begun) ? read.begun : null
  }

  /**
   * Completes the flow with the query parameters of the issuer's redirect.
   * @param browser default: without a session, for what the operator began
   */
  async callback(
    type: ConnectedType,
    query: { state?: string; code?: string; error?: string },
    browser: OAuthBrowser = STRANGER,
  ): Promise<OAuthCallbackResult> {
    const returned = await this.#states.take(type, query.state ?? '', browser.sessionId)
    if (returned.kind !== 'fresh') return returned
    const { begun } = returned
    const purpose = begun.mail === null ? 'send' : 'mail'
    if (!browser.mayConnect(begun)) return { kind: 'not_allowed' }
    const { redirectAfter } = begun
    const issuer = issuerOf(this.#deps.config, type, purpose)
    if (issuer === null) return { kind: 'failed', reason: 'The appliance has no OAuth client any more.', redirectAfter }
    if (query.error === 'access_denied') return { kind: 'denied', redirectAfter }
    if (query.code === undefined || query.code.length > CODE_MAX) {
      const word = /^[a-z_]{1,64}$/.exec(query.error ?? '')?.[0]
      const reason = `${issuer.name} gave no consent${word === undefined ? '' : ` (${word})`}.`
      return { kind: 'failed', reason, redirectAfter }
    }
    return this.#connect(issuer, begun, query.code)
  }

  /** Forgets flows that were not completed in time. @returns how many */
  prune(): Promise<number> {
    return this.#states.prune()
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #connect(issuer: Issuer, begun: Begun, code: string): Promise<OAuthCallbackResult> {
    const { teamId, type, name, verifier, redirectAfter, mail } = begun
    const fail = (reason: string): OAuthCallbackResult => ({ kind: 'failed', reason, redirectAfter })
    const redirectUri = this.#callbackUrl(type)
    const answer = await requestToken(this.#client, issuer, { kind: 'code', code, redirectUri, verifier })
    if (answer.kind === 'refused')
      return fail(`${issuer.name} did not accept its own code; it may have been used before.`)
    if (answer.kind === 'failed') return fail(answer.text)
    // The user may decline single scopes.
    if (answer.scope !== null && missingScopes(issuer, answer.scope).length > 0) {
      return { kind: 'incomplete', redirectAfter }
    }
    const { refreshToken } = answer
    if (refreshToken === null) return fail(`${issuer.name} returned no refresh token. Connect the account again.`)
    const oauthEmail = await readAddress(this.#client, issuer, answer)
    if (oauthEmail === null) return fail(`${issuer.name} returned no address for the account.`)
    if (mail !== null) {
      const { auth } = serviceOfType(type)
      const consent = { ...mail, teamId, auth, name, email: oauthEmail, refreshToken } as const
      return { kind: 'mail', consent, redirectAfter, createdBy: begun.createdBy }
    }
    try {
      const account = { teamId, type, name, oauthEmail, refreshToken }
      const provider = await this.#deps.db.write((tx) => this.#deps.providers.createOAuth(tx, account))
      return { kind: 'connected', provider, redirectAfter, createdBy: begun.createdBy }
    } catch (error) {
      if (error instanceof ProductError) return fail(error.message)
      throw error
    }
  }

  #callbackUrl(type: ConnectedType): string {
    return `${this.#deps.config.APP_ORIGIN}/oauth/callback/${type}`
  }
}

/** The only pages that a consent may lead to: no link of ours sends a person on to what the API answers, or out of the appliance. */
const CONSOLE = /^\/console(?:\/|$)/

/** @throws ProductError validation_error for anything but a page of the console */
function consoleUrl(origin: string, text: string): string {
  const field = 'redirect_after'
  if (text.length > REDIRECT_MAX)
    throw invalid(field, 'too_big', `${field} must have at most ${REDIRECT_MAX} characters.`)
  // The URL parser drops tabs and line breaks, reads "\" as "/" and resolves "..", also encoded, exactly as browsers do.
  const url = URL.parse(text, origin)
  if (url === null) throw invalid(field, 'invalid_format', `${field} must be a path or URL of this appliance.`)
  const { pathname } = url
  const isOurs = url.origin === new URL(origin).origin && url.username === '' && url.password === ''
  if (!isOurs || !CONSOLE.test(pathname) || /%(?:2f|5c)/i.test(pathname)) {
    throw invalid(field, 'forbidden_value', `${field} must be a page of the console: ${origin}/console, or below it.`)
  }
  return url.href
}
