// The messages of threads that were opened or will be next: the last few are kept, so that the way back and forth is instant.

import { type Signal, signal } from '@preact/signals'
import type { Api } from '../api/client.ts'
import { type ApiError, toApiError } from '../api/errors.ts'
import { readMessages } from '../api/mail.ts'
import type { Message } from '../api/types.ts'

const MOST_KEPT = 30

/** The messages of one thread, oldest first. */
export interface Conversation {
  /** Null before the first answer. */
  messages: Message[] | null
  /** Cursor of the messages that were not read; null when all were. */
  next: string | null
  error: ApiError | null
}

export class Conversations {
  readonly #api: Api
  readonly #kept = new Map<string, Signal<Conversation>>()

  constructor(api: Api) {
    this.#api = api
  }

  /** The messages of a thread; they are asked for when they are not known. */
  open(threadId: string): Signal<Conversation> {
    const kept = this.#kept.get(threadId)
    if (kept !== undefined) {
      this.#kept.delete(threadId)
      this.#kept.set(threadId, kept)
      if (kept.peek().error !== null) void this.#read(threadId, kept)
      return kept
    }
    const conversation = signal<Conversation>({ messages: null, next: null, error: null })
    this.#kept.set(threadId, conversation)
    for (const id of this.#kept.keys()) {
      if (this.#kept.size <= MOST_KEPT) break
      this.#kept.delete(id)
    }
    void this.#read(threadId, conversation)
    return conversation
  }

  /** Reads those again that are kept of these threads. */
  refresh(threadIds: Iterable<string>): void {
    for (const id of threadIds) {
      const kept = this.#kept.get(id)
      if (kept !== undefined) void this.#read(id, kept)
    }
  }

  /** Reads the messages that follow those that are shown. */
  async readMore(threadId: string): Promise<void> {
    const conversation = this.#kept.get(threadId)
    const { messages, next } = conversation?.peek() ?? {}
    if (conversation === undefined || !messages || !next) return
    const part = await readMessages(this.#api, threadId, next)
    conversation.value = { messages: [...messages, ...part.items], next: part.next, error: null }
  }

  async #read(threadId: string, conversation: Signal<Conversation>): Promise<void> {
    try {
      const { items, next } = await readMessages(this.#api, threadId)
      conversation.value = { messages: items, next, error: null }
    } catch (error) {
      conversation.value = { ...conversation.peek(), error: toApiError(error) }
    }
  }
}
