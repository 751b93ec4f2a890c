// Fetches the remote pictures of messages for their readers, so that the sender learns neither who reads nor where.

import { FairTurns, type TurnOwner } from '../base/fair-turns.ts'
import type { SafeFetch } from '../base/safe-fetch.ts'

/** Bytes of a picture, and redirects that are followed. */
export const PICTURE_BYTES_MAX = 5 * 1024 * 1024
const REDIRECTS_MAX = 3
/** Pictures that are fetched at a time, and that wait: of one owner, and of all. */
const AT_ONCE = 20
const PICTURES_EACH = 500
const QUEUE_MAX = 2000
/** Pictures that stay in memory, in bytes: what several people or devices read is fetched once. */
const KEPT_BYTES_MAX = 24 * 1024 * 1024

/** The same for every reader of every appliance. */
const HEADERS = {
  'user-agent': 'Mozilla/5.0 (compatible; picture proxy)',
  accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif',
}

export interface Picture {
  type: string
  bytes: Uint8Array
}

export class RemotePictures {
  readonly #fetch: Pick<SafeFetch, 'request' | 'close'>
  readonly #turns = new FairTurns({ atOnce: AT_ONCE, each: PICTURES_EACH, waiting: QUEUE_MAX })
  readonly #kept = new Map<string, Picture>()
  readonly #running = new Map<string, Promise<Picture | null>>()
  #keptBytes = 0

  constructor(fetch: Pick<SafeFetch, 'request' | 'close'>) {
    this.#fetch = fetch
  }

  /** @returns null for what is no picture, is too large, or cannot be fetched from the public Internet */
  get(url: string, owner: TurnOwner): Promise<Picture | null> {
    const key = `${owner.source} ${url}`
    const kept = this.#kept.get(key)
    if (kept !== undefined) return Promise.resolve(kept)
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const fetching = this.#inTurn(key, url, owner).finally(() => this.#running.delete(key))
    this.#running.set(key, fetching)
    return fetching
  }

  async close(): Promise<void> {
    await this.#fetch.close()
  }

  async #inTurn(key: string, url: string, owner: TurnOwner): Promise<Picture | null> {
    const turn = this.#turns.take(owner)
    if (turn === null) return null
    const end = await turn
    try {
      const picture = await this.#follow(url)
      if (picture !== null) this.#keep(key, picture)
      return picture
    } finally {
      end()
    }
  }

  async #follow(first: string): Promise<Picture | null> {
    let url = first
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const { status, headers, bytes } = await this.#fetch.request(
        url,
        { method: 'GET', headers: HEADERS },
        PICTURE_BYTES_MAX,
        'bytes',
      )
      if (status < 300 || status > 399) return status === 200 ? pictureOf(bytes) : null
      const next = typeof headers.location === 'string' ? URL.parse(headers.location, url) : null
      if (next === null || !/^https?:$/.test(next.protocol)) return null
      url = next.href
    }
    return null
  }

  #keep(key: string, picture: Picture): void {
    this.#kept.set(key, picture)
    this.#keptBytes += picture.bytes.length
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#keptBytes <= KEPT_BYTES_MAX) return
      this.#kept.delete(oldest)
      this.#keptBytes -= bytes.length
    }
  }
}

/** By its first bytes: what a server calls it does not count. SVG is none, as it can hold scripts. */
function pictureOf(bytes: Buffer | null): Picture | null {
  if (bytes === null || bytes.length >= PICTURE_BYTES_MAX) return null
  const type = typeOf(bytes)
  return type === null ? null : { type, bytes }
}

function typeOf(bytes: Buffer): string | null {
  const start = bytes.toString('latin1', 0, 12)
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (/^GIF8[79]a/.test(start)) return 'image/gif'
  if (/^RIFF[\s\S]{4}WEBP/.test(start)) return 'image/webp'
  return /^[\s\S]{4}ftypavi[fs]/.test(start) ? 'image/avif' : null
}
