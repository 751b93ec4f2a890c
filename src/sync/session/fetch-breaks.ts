// Messages at which connections break: fetched alone the next time, and left for later when it happens again.

import { ServerError } from '../model/server.ts'

/** How often the connection may break at one message before the others go on without it. */
const BREAKS_MAX = 3
/** Folders of which something is known. */
const FOLDERS_MAX = 1000

export class FetchBreaks {
  /** By number of a remote folder: UIDs that were asked for when a connection broke, and how often that was each alone. */
  readonly #folders = new Map<number, Map<number, number>>()

  /** Notes that a fetch failed, if the connection broke at it. @param error of the fetch */
  note(folder: number, uids: readonly number[], error: unknown): void {
    if (!(error instanceof ServerError) || error.effect !== 'delay' || error.retryAfterMs !== null) return
    const known = this.#folders.get(folder) ?? new Map<number, number>()
    for (const uid of uids) known.set(uid, (known.get(uid) ?? 0) + (uids.length === 1 ? 1 : 0))
    this.#folders.set(folder, known)
    const [oldest] = this.#folders.keys()
    if (this.#folders.size > FOLDERS_MAX) this.#folders.delete(oldest!)
  }

  /** Whether a message is to be fetched alone. */
  isAlone(folder: number, uid: number): boolean {
    return this.#folders.get(folder)?.has(uid) === true
  }

  /** Whether a message is left for later. */
  isLeft(folder: number, uid: number): boolean {
    return (this.#folders.get(folder)?.get(uid) ?? 0) >= BREAKS_MAX
  }

  /** Messages are asked for once more, each alone. */
  askAgain(folder: number, uids: readonly number[]): void {
    const known = this.#folders.get(folder)
    for (const uid of uids) if (known?.has(uid) === true) known.set(uid, BREAKS_MAX - 1)
  }

  /** What was stored, or is known to be missing, is as others are. */
  forget(folder: number, uids: readonly number[]): void {
    const known = this.#folders.get(folder)
    for (const uid of uids) known?.delete(uid)
    if (known?.size === 0) this.#folders.delete(folder)
  }
}
