// Tracks messages with an unknown send outcome: the transport searches Sent for them before sending again.

// Entries come from interrupted calls, which are rare; the oldest is evicted first.
const KEPT_MAX = 10_000

/** The result of a search in Sent. */
export type SentLookup =
  | { kind: 'found'; remoteIds: string[] }
  | { kind: 'missing' }
  /** The search failed. */
  | { kind: 'unknown'; text: string }

export class Doubts {
  readonly #marks = new Set<string>()

  /** @param mark identifies the message and its recipients */
  add(mark: string): void {
    this.#marks.add(mark)
    if (this.#marks.size > KEPT_MAX) this.#marks.delete(this.#marks.values().next().value!)
  }

  has(mark: string): boolean {
    return this.#marks.has(mark)
  }

  clear(mark: string): void {
    this.#marks.delete(mark)
  }
}
