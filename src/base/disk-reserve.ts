// A file that keeps disk space for deleting: released when the disk is full, and made again when there is room.

import { randomBytes } from 'node:crypto'
import { statSync, truncateSync } from 'node:fs'
import { open, rename, statfs, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

const MIB = 2 ** 20
/** What deleting may write: the write-ahead log grows to this until it is copied. */
export const RESERVE_BYTES = 16 * MIB
/** A smaller reserve is not worth keeping. */
const RESERVE_MIN_BYTES = 4 * MIB
/** The first time it is made only where it takes a small part of the free space. */
const PLENTY = 4
/** Left free when a reserve is made of what there is. */
const LEFT_BYTES = MIB

/** Free space of the disk, bytes. */
export type FreeBytes = () => Promise<number>

/**
 * Without it, deleting a message on a full disk would fail: SQLite writes a log before it frees a page. While the reserve is released (a
 * file of no bytes), no new content is stored.
 */
export class DiskReserve {
  readonly #file: string
  readonly #free: FreeBytes
  #making: Promise<void> | undefined

  constructor(file: string, free?: FreeBytes) {
    this.#file = file
    this.#free = free ?? (async () => statfs(dirname(file)).then(({ bavail, bsize }) => bavail * bsize))
  }

  /** False also where it was never made. */
  get isReleased(): boolean {
    return this.#bytes === 0
  }

  /** Frees its space. @returns whether it has freed some, now or before */
  release(): boolean {
    const bytes = this.#bytes
    if (bytes !== null && bytes > 0) truncateSync(this.#file)
    return bytes !== null
  }

  /** Makes it, or makes it again, where there is room. */
  keep(): Promise<void> {
    this.#making ??= this.#keep().finally(() => {
      this.#making = undefined
    })
    return this.#making
  }

  async #keep(): Promise<void> {
    const bytes = this.#bytes ?? 0
    if (bytes === RESERVE_BYTES) return
    const free = await this.#free()
    const isPlenty = free >= PLENTY * RESERVE_BYTES
    // After it was released, what is left of it is kept as well: SQLite reuses freed pages, and the disk stays as full as it was.
    const size = isPlenty ? RESERVE_BYTES : this.isReleased ? Math.min(RESERVE_BYTES, free - LEFT_BYTES) : 0
    if (size >= RESERVE_MIN_BYTES && size > bytes) await this.#write(size)
  }

  /** Bytes that no file system compresses, under another name until all of them are there. */
  async #write(size: number): Promise<void> {
    const part = `${this.#file}.part`
    const handle = await open(part, 'w', 0o600)
    try {
      for (let at = 0; at < size; at += MIB) await handle.write(randomBytes(Math.min(MIB, size - at)))
      await handle.sync()
      await rename(part, this.#file)
    } catch (error) {
      await unlink(part)
      throw error
    } finally {
      await handle.close()
    }
  }

  /** Null when there is none. */
  get #bytes(): number | null {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? null
  }
}
