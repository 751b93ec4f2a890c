// What a handler can know of the request itself.

import type { Tx } from '../db/db.ts'
import type { SignInSession } from '../people/sessions.ts'
import { bearer, credentialStatus } from './authenticate.ts'
import { expectMatch } from './etag.ts'
import { requireConfirmed } from './fresh-proof.ts'
import type { InnerAnswer, InnerOperation } from './inner-operation.ts'
import { callInside, type Serve } from './inner-request.ts'
import { ownerOf } from './owner.ts'
import type { RequestContext } from './request-context.ts'
import type { Answer, RequestFacts, ThrottleLimit } from './route.ts'
import { cookieOf } from './session-cookie.ts'

// A class, because an object literal with getters costs V8 a hidden class for every request.
export class ContextFacts implements RequestFacts {
  readonly #request: RequestContext
  readonly #serve: Serve

  /** @param serve answers a request of the same listener */
  constructor(request: RequestContext, serve: Serve) {
    this.#request = request
    this.#serve = serve
  }

  get id(): string {
    return this.#request.id
  }

  get source(): string {
    return this.#request.source
  }

  get host(): string {
    return (this.#request.header('host') ?? '').replace(/:\d*$/, '').toLowerCase()
  }

  get accepts(): string {
    return this.#request.accepts
  }

  get idempotencyKey(): string | null {
    return this.#request.header('idempotency-key') ?? null
  }

  header(name: string): string | null {
    return this.#request.header(name) ?? null
  }

  callApi(operation: InnerOperation): Promise<InnerAnswer> {
    return callInside(this.#request, operation, this.#serve)
  }

  cookie(name: string): string | null {
    return cookieOf(this.#request.header('cookie'), name)
  }

  get userAgent(): string {
    return this.#request.header('user-agent') ?? ''
  }

  admit(limit: ThrottleLimit & { shared: string }): void {
    this.#request.listener.throttle.admit(`${limit.shared} ${ownerOf(this.#request)}`, limit)
  }

  get acceptEncoding(): string {
    return this.#request.header('accept-encoding') ?? ''
  }

  get destination(): string {
    return this.#request.header('sec-fetch-dest') ?? ''
  }

  get session(): SignInSession | null {
    return this.#request.session
  }

  get sourceSecret(): string {
    return bearer(this.#request.header('x-source-authorization')) ?? ''
  }

  get range(): string | null {
    return this.#request.header('range') ?? null
  }

  get ifRange(): string | null {
    return this.#request.header('if-range') ?? null
  }

  get lastEventId(): string | null {
    return this.#request.header('last-event-id') || null
  }

  signedIn(session: SignInSession): void {
    this.#request.session = session
  }

  opens(what: string | null): void {
    this.#request.opens = what
  }

  requireFreshProof(): void {
    requireConfirmed(this.#request.listener.app.trustedClock, this.#request.session)
  }

  credentialStatus(): Promise<'in' | 'out' | 'suspended'> {
    return Promise.resolve(credentialStatus(this.#request))
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  get conditional(): boolean {
    return this.#request.header('if-match') !== undefined
  }

  matches(version: unknown): void {
    expectMatch(this.#request.header('if-match'), version)
  }

  keep(tx: Tx, value: Answer): void {
    this.#request.replay?.keep(tx, value)
  }
}
