// Mails of which nobody knows whether the provider took them: looked for before they are sent again.

// The oldest is forgotten first; each came from a call that broke off, which is rare.
const KEPT_MAX = 10_000

/** What a lookup in Sent found. */
export type Finding =
  | { kind: 'found'; remoteIds: string[] }
  | { kind: 'missing' }
  /** The provider could not be asked now. */
  | { kind: 'unknown'; text: string }

export class Doubts {
  readonly #mails = new Set<string>()

  /** @param mark the mail and for whom it was */
  add(mark: string): void {
    this.#mails.add(mark)
    if (this.#mails.size > KEPT_MAX) this.#mails.delete(this.#mails.values().next().value!)
  }

  has(mark: string): boolean {
    return this.#mails.has(mark)
  }

  clear(mark: string): void {
    this.#mails.delete(mark)
  }
}
