// Mails while they arrive: the first MiB in memory, longer ones in a file that lives until the mail is stored.

import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomName } from '../base/ids.ts'
import { Semaphore } from '../base/semaphore.ts'
import { ALL_MEMORY_BYTES, ALL_SPOOL_BYTES, SPOOL_MEMORY_BYTES } from './limits.ts'

/** A mail that has arrived as a whole. `release` obliges: its place in memory or on the disk is taken until then. */
export interface HeldMail {
  sizeBytes: number
  source: { bytes: Uint8Array } | { file: string }
  release(): Promise<void>
}

/** The folder of the spool has no room left by its own limit. */
export class SpoolFull extends Error {}

export interface SpoolLimits {
  /** Bytes of one mail in memory. */
  memoryEach: number
  /** Bytes of all mails in memory, and in files. */
  memory: number
  disk: number
}

const LIMITS: SpoolLimits = { memoryEach: SPOOL_MEMORY_BYTES, memory: ALL_MEMORY_BYTES, disk: ALL_SPOOL_BYTES }

export class Spool {
  readonly #folder: string
  readonly #memoryEach: number
  readonly #memory: Semaphore
  readonly #disk: Semaphore

  constructor(folder: string, limits: SpoolLimits = LIMITS) {
    this.#folder = folder
    this.#memoryEach = limits.memoryEach
    this.#memory = new Semaphore(limits.memory)
    this.#disk = new Semaphore(limits.disk)
  }

  /** Makes the folder, and removes what a process that was killed left in it: nothing there was ever acknowledged. */
  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    for (const name of await readdir(this.#folder)) await rm(join(this.#folder, name), { force: true })
  }

  /**
   * Reads a mail to its end. When it cannot be kept it is read to its end all the same, so that the peer gets to the point
   * where it waits for the answer.
   * @throws SpoolFull, whatever the file system says, or the stream's error when the peer went away
   */
  async hold(stream: AsyncIterable<Buffer>): Promise<HeldMail> {
    const mail = new ArrivingMail(this.#folder, this.#memoryEach, this.#memory, this.#disk)
    let failure: unknown
    try {
      for await (const piece of stream) {
        if (failure === undefined) await mail.add(piece).catch((error: unknown) => (failure = error))
      }
      if (failure !== undefined) throw failure
      return await mail.whole()
    } catch (error) {
      await mail.release()
      throw error
    }
  }
}

class ArrivingMail {
  readonly #folder: string
  readonly #memoryEach: number
  readonly #memory: Semaphore
  readonly #disk: Semaphore
  #pieces: Buffer[] = []
  #inMemory = 0
  #onDisk = 0
  #file: { path: string; handle: FileHandle } | null = null

  constructor(folder: string, memoryEach: number, memory: Semaphore, disk: Semaphore) {
    this.#folder = folder
    this.#memoryEach = memoryEach
    this.#memory = memory
    this.#disk = disk
  }

  async add(piece: Buffer): Promise<void> {
    if (!this.#file && this.#inMemory + piece.length <= this.#memoryEach && this.#memory.tryAcquire(piece.length)) {
      this.#inMemory += piece.length
      this.#pieces.push(piece)
      return
    }
    if (!this.#file) await this.#moveToFile()
    await this.#write(piece)
  }

  async whole(): Promise<HeldMail> {
    const release = () => this.release()
    if (!this.#file) return { sizeBytes: this.#inMemory, source: { bytes: this.#joined() }, release }
    await this.#file.handle.close()
    return { sizeBytes: this.#onDisk, source: { file: this.#file.path }, release }
  }

  async release(): Promise<void> {
    const file = this.#file
    this.#leaveMemory()
    this.#disk.release(this.#onDisk)
    this.#onDisk = 0
    this.#file = null
    if (!file) return
    await file.handle.close().catch(() => {})
    await rm(file.path, { force: true })
  }

  /** Memory of its own: a piece of a shared pool would be sent to another thread with the whole pool. */
  #joined(): Uint8Array {
    const bytes = new Uint8Array(this.#inMemory)
    let at = 0
    for (const piece of this.#pieces) {
      bytes.set(piece, at)
      at += piece.length
    }
    this.#pieces = []
    return bytes
  }

  async #moveToFile(): Promise<void> {
    const path = join(this.#folder, `${randomName()}.eml`)
    this.#file = { path, handle: await open(path, 'wx', 0o600) }
    for (const piece of this.#pieces) await this.#write(piece)
    this.#leaveMemory()
  }

  async #write(piece: Buffer): Promise<void> {
    if (!this.#disk.tryAcquire(piece.length)) throw new SpoolFull('The spool has no room left.')
    this.#onDisk += piece.length
    await this.#file!.handle.appendFile(piece)
  }

  #leaveMemory(): void {
    this.#memory.release(this.#inMemory)
    this.#inMemory = 0
    this.#pieces = []
  }
}
