// The signed bytes of one message during its hand-overs: read and signed once for concurrent users, released by the last one.

import { freeBytes } from '../../base/free-bytes.ts'
import { parseAddressList } from '../../mime/address.ts'
import { withDate } from '../../mime/compose/with-date.ts'
import { headerText, readHeaders } from '../../mime/headers.ts'
import type { Email } from '../model/records.ts'
import type { DeliveryLimits } from './concurrency.ts'
import type { RunnerDeps } from './deps.ts'

interface Loaded {
  bytes: Uint8Array
  /** Forgets the bytes and gives their memory back. */
  release(): void
}

type ContentDeps = Pick<RunnerDeps, 'store' | 'signer' | 'sealer' | 'memory'>

const NO_BYTES = new Uint8Array()

export class SignedContent {
  readonly #deps: ContentDeps
  readonly #limits: DeliveryLimits
  readonly #email: Email
  /** The fields in front of the composed message: a message that is lent again is not signed again. */
  #front: Uint8Array | undefined
  /** Replaces the Date field of the composed message, ms. */
  date: number | null = null
  #users = 0
  #loading: Promise<Loaded> | undefined

  constructor(deps: ContentDeps, limits: DeliveryLimits, email: Email) {
    this.#deps = deps
    this.#limits = limits
    this.#email = email
  }

  /**
   * Lends the bytes while `use` runs, or until it calls `done` because it needs them no more: the reply to the end of data may take ten
   * minutes. Later users read and sign the message again. Callers must hold a slot at a carrier: bytes lent to a caller that still waits
   * for a slot could deadlock the callers that hold one.
   * @throws Error when the content is missing or damaged
   */
  async lend<T>(use: (bytes: Uint8Array, done: () => void) => Promise<T>): Promise<T> {
    this.#users++
    this.#loading ??= this.#load()
    const loading = this.#loading
    let isDone = false
    const done = () => {
      if (!isDone) this.#leave(loading)
      isDone = true
    }
    try {
      return await use((await loading).bytes, done)
    } finally {
      done()
    }
  }

  #leave(loading: Promise<Loaded>): void {
    this.#users--
    if (this.#users > 0) return
    this.#loading = undefined
    void loading.then(({ release }) => release()).catch(() => {})
  }

  async #prepared(stored: Uint8Array): Promise<Uint8Array> {
    const { signer, sealer } = this.#deps
    if (this.#email.source === 'forward') return sealer.seal(this.#email, stored)
    if (this.#front !== undefined) return Buffer.concat([this.#front, stored])
    const signed = await signer.sign(this.#email, stored)
    this.#front = Uint8Array.from(signed.subarray(0, signed.length - stored.length))
    return signed
  }

  async #load(): Promise<Loaded> {
    const { hash, sizeBytes, teamId } = this.#email
    if (hash === null) throw new Error('The content of a queued message is missing.')
    const { store, memory } = this.#deps
    const release = await this.#limits.acquireBytes(teamId, sizeBytes)
    try {
      // The composed and the signed bytes are in memory at the same time.
      const bytes = await memory.during(sizeBytes, teamId, async () => {
        const composed = await store.blobs.bytes(hash, 0, sizeBytes)
        const dated = this.date === null ? composed : withDate(composed, this.date)
        const prepared = await this.#prepared(dated)
        freeBytes([composed, dated], [prepared])
        return prepared
      })
      const loaded: Loaded = {
        bytes,
        release: () => {
          loaded.bytes = NO_BYTES
          release()
        },
      }
      return loaded
    } catch (error) {
      release()
      throw error
    }
  }
}

/** Recipients named neither in To nor in Cc. */
export function hiddenOf(bytes: Uint8Array, recipients: readonly string[]): string[] {
  const { fields } = readHeaders(bytes)
  const named = ['to', 'cc'].flatMap((name) => parseAddressList(headerText(fields, name) ?? ''))
  const shown = new Set(named.map(({ email }) => email.toLowerCase()))
  return recipients.filter((recipient) => !shown.has(recipient.toLowerCase()))
}
