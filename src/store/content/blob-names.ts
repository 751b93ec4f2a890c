// Blob ids: the same for the same content in one mailbox, and unrelated to the ids in other mailboxes.

import type { Vault } from '../../base/secrets.ts'

const LENGTH = 24
// A SHA-256 has at most this many digits in base 36.
const DIGITS = 50
/** Mailboxes whose key is cached, because deriving it costs more than using it. The least recently used is evicted. */
const CACHED_MAX = 1000

/** Computes the blob id in one mailbox from the SHA-256 of the content. */
export type BlobNamer = (hash: Uint8Array) => string

export class BlobNames {
  readonly #vault: Vault
  readonly #namers = new Map<string, BlobNamer>()

  constructor(vault: Vault) {
    this.#vault = vault
  }

  /** docs/design/http.md §1: base 36 of HMAC-SHA-256(key of the mailbox, SHA-256 of the content), its first 24 characters. */
  of(mailboxId: string): BlobNamer {
    const namer = this.#namers.get(mailboxId) ?? this.#make(mailboxId)
    this.#namers.delete(mailboxId)
    this.#namers.set(mailboxId, namer)
    if (this.#namers.size > CACHED_MAX) this.#namers.delete(this.#namers.keys().next().value!)
    return namer
  }

  #make(mailboxId: string): BlobNamer {
    const mac = this.#vault.macer(`blob id/${mailboxId}`)
    return (hash) => {
      const number = BigInt(`0x${mac(hash).toString('hex')}`)
      return `blob_${number.toString(36).padStart(DIGITS, '0').slice(0, LENGTH)}`
    }
  }
}
