// What is known of messages that were read: kept for those that were read last.

import type { Api } from '../api/client.ts'
import type { MessageView } from '../api/types.ts'
import { readView } from '../api/views.ts'

const MOST_KEPT = 100

export class MessageViews {
  readonly #api: Api
  readonly #kept = new Map<string, Promise<MessageView>>()

  constructor(api: Api) {
    this.#api = api
  }

  /** @throws ApiError; it is asked again the next time */
  read(messageId: string): Promise<MessageView> {
    const known = this.#kept.get(messageId)
    if (known !== undefined) return known
    const reading = readView(this.#api, messageId)
    this.#kept.set(messageId, reading)
    reading.catch(() => this.#kept.delete(messageId))
    for (const id of this.#kept.keys()) {
      if (this.#kept.size <= MOST_KEPT) break
      this.#kept.delete(id)
    }
    return reading
  }
}
