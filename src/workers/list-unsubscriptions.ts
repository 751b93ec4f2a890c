// Ends subscriptions to mailing lists by one POST to an address that the sender named (RFC 8058 §3.2).

import type { SafeFetch } from '../base/safe-fetch.ts'

const ANSWER_BYTES_MAX = 1024
/** No cookies, no credential, nothing of the reader (RFC 8058 §3.2). */
const HEADERS = {
  'content-type': 'application/x-www-form-urlencoded',
  'user-agent': 'Mozilla/5.0 (compatible; unsubscriber)',
}
const BODY = 'List-Unsubscribe=One-Click'

export class ListUnsubscriptions {
  readonly #fetch: Pick<SafeFetch, 'request' | 'close'>

  constructor(fetch: Pick<SafeFetch, 'request' | 'close'>) {
    this.#fetch = fetch
  }

  /** @param url https; redirects are not followed @returns why it was not accepted, one sentence; null when it was */
  async end(url: string): Promise<string | null> {
    const request = { method: 'POST', headers: HEADERS, body: BODY } as const
    const { accepted, status, text } = await this.#fetch.request(url, request, ANSWER_BYTES_MAX)
    if (accepted) return null
    return status === 0 ? (text ?? 'There was no answer.') : `The server answered ${status}.`
  }

  close(): Promise<void> {
    return this.#fetch.close()
  }
}
