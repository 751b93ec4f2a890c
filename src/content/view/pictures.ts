// The pictures of a message: which are its own, which are remote, and which only tell that it is read.

import { trackerName, trackerOf } from './trackers.ts'

/** Remote pictures of a message that are numbered, and characters of their addresses. */
export const PICTURES_MAX = 1000
const ADDRESS_MAX = 2048
/** Hosts and trackers that are named. */
const NAMED_MAX = 50
/** Characters of a picture inside the message: 1 MiB in base64. */
const DATA_MAX = 1_398_104
const DATA = /^data:image\/(?:png|jpe?g|gif|webp);base64,[a-z0-9+/=\s]*$/i
/** Pixels up to which a picture is not there to be seen. */
export const TINY_PICTURE_PX = 3

export interface Tracker {
  host: string
  name: string
}

/** What a document does with a picture: load it from `address`, or leave it out. */
export type PictureUse = { kind: 'own' | 'remote'; address: string } | { kind: 'blocked' }

export interface PicturesOptions {
  /** Address of an own picture by its Content-ID; null for an unknown one. */
  own(contentId: string): string | null
  /** Address of the n-th remote picture at this server; null where remote pictures are not shown. */
  remote: ((n: number) => string) | null
}

export class Pictures {
  /** Addresses of the remote pictures that may be fetched, by their numbers. */
  readonly addresses: string[] = []
  /** How many remote pictures the message names. */
  count = 0
  readonly #options: PicturesOptions
  readonly #numbers = new Map<string, number>()
  readonly #hosts = new Set<string>()
  readonly #trackers = new Map<string, Tracker>()

  constructor(options: PicturesOptions) {
    this.#options = options
  }

  get hosts(): string[] {
    return [...this.#hosts]
  }

  get trackers(): Tracker[] {
    return [...this.#trackers.values()]
  }

  /** @param isUnseen it is hidden or too small to be seen: fetching it would serve the sender only */
  use(written: string, isUnseen: boolean): PictureUse {
    const address = written.slice(0, DATA_MAX + 1).trim()
    if (/^data:/i.test(address)) {
      return address.length <= DATA_MAX && DATA.test(address) ? { kind: 'own', address } : { kind: 'blocked' }
    }
    const contentId = /^cid:(.+)$/i.exec(address)?.[1]
    if (contentId !== undefined) {
      const own = this.#options.own(decodedId(contentId))
      return own === null ? { kind: 'blocked' } : { kind: 'own', address: own }
    }
    return this.#remote(address, isUnseen)
  }

  #remote(written: string, isUnseen: boolean): PictureUse {
    const absolute = written.startsWith('//') ? `https:${written}` : written
    const url = absolute.length > ADDRESS_MAX || !/^https?:/i.test(absolute) ? null : URL.parse(absolute)
    if (url === null || url.hostname === '') return { kind: 'blocked' }
    this.count++
    const name = isUnseen ? trackerName(url.hostname) : trackerOf(url.hostname)
    if (name !== null) {
      if (this.#trackers.size < NAMED_MAX) this.#trackers.set(url.hostname, { host: url.hostname, name })
      return { kind: 'blocked' }
    }
    if (this.#hosts.size < NAMED_MAX) this.#hosts.add(url.hostname)
    const n = this.#numberOf(url)
    return n === null || this.#options.remote === null
      ? { kind: 'blocked' }
      : { kind: 'remote', address: this.#options.remote(n) }
  }

  #numberOf(url: URL): number | null {
    url.hash = ''
    url.username = ''
    url.password = ''
    const known = this.#numbers.get(url.href)
    if (known !== undefined) return known
    if (this.addresses.length >= PICTURES_MAX) return null
    const n = this.addresses.push(url.href) - 1
    this.#numbers.set(url.href, n)
    return n
  }
}

/** RFC 2392: the id is written as in a URL. */
function decodedId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
