// Spools messages during DATA: up to 1 MiB in memory, larger ones in a file that is removed once the message is stored.

import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomName } from '../base/ids.ts'
import { Semaphore } from '../base/semaphore.ts'
import { ALL_MEMORY_BYTES, ALL_SPOOL_BYTES, SPOOL_MEMORY_BYTES } from './limits.ts'

/** A completely received message. The caller must call `release`, which frees its memory or disk space. */
export interface SpooledMessage {
  sizeBytes: number
  source: { bytes: Uint8Array } | { file: string }
  release(): Promise<void>
}

/** The disk limit of the spool is reached. */
export class SpoolFull extends Error {}

export interface SpoolLimits {
  /** Bytes of one message in memory. */
  memoryEach: number
  /** Bytes of all messages in memory, and in files. */
  memory: number
  disk: number
  /** Bytes in files of one owner; without it there is no such limit. */
  diskEach?: number
}

const LIMITS: SpoolLimits = { memoryEach: SPOOL_MEMORY_BYTES, memory: ALL_MEMORY_BYTES, disk: ALL_SPOOL_BYTES }

export class Spool {
  readonly #folder: string
  readonly #memoryEach: number
  readonly #memory: Semaphore
  readonly #disk: Semaphore
  readonly #diskEach: number
  /** Only owners with files. */
  readonly #owners = new Map<unknown, Semaphore>()

  constructor(folder: string, limits: SpoolLimits = LIMITS) {
    this.#folder = folder
    this.#memoryEach = limits.memoryEach
    this.#diskEach = limits.diskEach ?? limits.disk
    this.#memory = new Semaphore(limits.memory)
    this.#disk = new Semaphore(limits.disk)
  }

  /** Creates the folder and empties it of leftover files: none of them was acknowledged to a client. */
  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    for (const name of await readdir(this.#folder)) await rm(join(this.#folder, name), { force: true, recursive: true })
  }

  /**
   * Reads a message to its end, also when it cannot be stored: the client reads the reply only after the end of DATA.
   * @param owner shares the limit of one owner with the other messages of the same
   * @throws SpoolFull, an error of the file system, or the stream's error when the client disconnected
   */
  async receive(stream: AsyncIterable<Buffer>, owner?: unknown): Promise<SpooledMessage> {
    const [folder, memoryEach, memory] = [this.#folder, this.#memoryEach, this.#memory]
    const writer = new SpoolWriter({ folder, memoryEach, memory, disk: this.#diskOf(owner) })
    let failure: unknown
    try {
      for await (const piece of stream) {
        if (failure === undefined) await writer.add(piece).catch((error: unknown) => (failure = error))
      }
      if (failure !== undefined) throw failure
      return await writer.finish()
    } catch (error) {
      await writer.release()
      throw error
    }
  }

  #diskOf(owner: unknown): DiskSpace {
    const all = this.#disk
    if (owner === undefined) return all
    return {
      tryAcquire: (bytes) => {
        const own = this.#owners.get(owner) ?? new Semaphore(this.#diskEach)
        if (!own.tryAcquire(bytes)) return false
        this.#owners.set(owner, own)
        if (all.tryAcquire(bytes)) return true
        this.#leave(owner, bytes)
        return false
      },
      release: (bytes) => {
        if (bytes === 0) return
        all.release(bytes)
        this.#leave(owner, bytes)
      },
    }
  }

  #leave(owner: unknown, bytes: number): void {
    const own = this.#owners.get(owner)!
    own.release(bytes)
    if (own.isIdle) this.#owners.delete(owner)
  }
}

/** Space for files: of all, or of one owner and of all. */
type DiskSpace = Pick<Semaphore, 'tryAcquire' | 'release'>

interface WriterOptions {
  folder: string
  memoryEach: number
  memory: Semaphore
  disk: DiskSpace
}

class SpoolWriter {
  readonly #folder: string
  readonly #memoryEach: number
  readonly #memory: Semaphore
  readonly #disk: DiskSpace
  #pieces: Buffer[] = []
  #inMemory = 0
  #onDisk = 0
  #file: { path: string; handle: FileHandle } | null = null

  constructor({ folder, memoryEach, memory, disk }: WriterOptions) {
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

  async finish(): Promise<SpooledMessage> {
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

  /** Memory of its own: a slice of Node's shared buffer pool would transfer the whole pool to the worker. */
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
    if (!this.#disk.tryAcquire(piece.length)) throw new SpoolFull('The spool is full.')
    this.#onDisk += piece.length
    await this.#file!.handle.appendFile(piece)
  }

  #leaveMemory(): void {
    this.#memory.release(this.#inMemory)
    this.#inMemory = 0
    this.#pieces = []
  }
}
