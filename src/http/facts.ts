// What a handler may know of the request itself.

import type { Tx } from '../db/db.ts'
import { bearer, standing } from './authenticate.ts'
import { expectMatch } from './etag.ts'
import type { Visit } from './request-context.ts'
import type { Answer, RequestFacts } from './route.ts'

// A class, because an object literal with getters costs V8 a hidden class for every request.
export class Facts implements RequestFacts {
  readonly #visit: Visit

  constructor(visit: Visit) {
    this.#visit = visit
  }

  get id(): string {
    return this.#visit.id
  }

  get source(): string {
    return this.#visit.source
  }

  get accepts(): string {
    return this.#visit.accepts
  }

  get idempotencyKey(): string | null {
    return this.#visit.header('idempotency-key') ?? null
  }

  cookie(name: string): string | null {
    for (const pair of (this.#visit.header('cookie') ?? '').split(';')) {
      const cut = pair.indexOf('=')
      if (cut > 0 && pair.slice(0, cut).trim() === name) return pair.slice(cut + 1).trim()
    }
    return null
  }

  get sourceSecret(): string {
    return bearer(this.#visit.header('x-source-authorization')) ?? ''
  }

  get range(): string | null {
    return this.#visit.header('range') ?? null
  }

  get ifRange(): string | null {
    return this.#visit.header('if-range') ?? null
  }

  get lastEventId(): string | null {
    return this.#visit.header('last-event-id') || null
  }

  standing(): Promise<'in' | 'out' | 'suspended'> {
    return standing(this.#visit)
  }

  get signal(): AbortSignal {
    return this.#visit.signal
  }

  get conditional(): boolean {
    return this.#visit.header('if-match') !== undefined
  }

  matches(version: unknown): void {
    expectMatch(this.#visit.header('if-match'), version)
  }

  async keep(tx: Tx, value: Answer): Promise<void> {
    await this.#visit.replay?.keep(tx, value)
  }
}
