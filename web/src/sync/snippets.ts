// Where a search matched the messages that are shown: read a moment after they come into view, for the search that runs.

import { type Signal, signal } from '@preact/signals'
import type { Api } from '../api/client.ts'
import { readSnippets, type Snippet } from '../api/mail.ts'

/** After the first message of a group. */
const GATHER_MS = 80
/** Messages of one request. */
const AT_ONCE = 50

export class Snippets {
  readonly #api: Api
  #q = ''
  readonly #shown = new Map<string, Signal<Snippet | null>>()
  readonly #wanted = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #request = new AbortController()

  constructor(api: Api) {
    this.#api = api
  }

  /** Null until it is read, and where nothing of the text matches. */
  of(q: string, messageId: string): Signal<Snippet | null> {
    if (q !== this.#q) this.#begin(q)
    const known = this.#shown.get(messageId)
    if (known !== undefined) return known
    const shown = signal<Snippet | null>(null)
    this.#shown.set(messageId, shown)
    this.#wanted.add(messageId)
    this.#timer ??= setTimeout(() => void this.#ask(), GATHER_MS)
    return shown
  }

  /** Another search: what the earlier one asked is of no use. */
  #begin(q: string): void {
    this.#request.abort()
    this.#request = new AbortController()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#q = q
    this.#shown.clear()
    this.#wanted.clear()
  }

  async #ask(): Promise<void> {
    const { signal: aborted } = this.#request
    const ids = [...this.#wanted].slice(0, AT_ONCE)
    for (const id of ids) this.#wanted.delete(id)
    // The beginning of a text is shown where its match is not known.
    const found = await readSnippets(this.#api, this.#q, ids, aborted).catch(() => null)
    if (aborted.aborted) return
    for (const [id, snippet] of found ?? []) {
      const shown = this.#shown.get(id)
      if (shown !== undefined) shown.value = snippet
    }
    this.#timer = this.#wanted.size > 0 ? setTimeout(() => void this.#ask(), GATHER_MS) : undefined
  }
}
