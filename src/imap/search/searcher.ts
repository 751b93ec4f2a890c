// The thread in which large searches run, one page at a time in turn, and how many searches may hold what they found.

import { entryFile } from '../../base/entry.ts'
import { type ErrorCode, ProductError } from '../../base/errors.ts'
import { Semaphore } from '../../base/semaphore.ts'
import { ThreadPool } from '../../base/thread-pool.ts'
import type { MatchingUids } from '../../store/entries/folders-search.ts'
import { SEARCHES_AT_ONCE, SEARCHES_PER_MAILBOX } from '../grammar/limits.ts'
import type { Ordered, OrderTask } from './hit-facts.ts'
import type { InsertionTask } from './insertion.ts'
import type { FolderOrderTask, FolderThreadsTask, MatchTask } from './keyed-folders.ts'
import type { PageResult, PageTask } from './page.ts'
import type { FileTask, SearchFiles, WordsTask } from './search-thread.ts'

/** A program sorts or searches again when its user has read something: a new thread compiles everything once more. */
const IDLE_MS = 60_000
/** MiB: a search that needs more ends the thread and not the process. */
const MEMORY = { young: 32, old: 1024 }

export class Searcher {
  readonly #files: SearchFiles
  readonly #pool = new ThreadPool<FileTask<unknown>, unknown>({
    file: entryFile(new URL('./search-thread.ts', import.meta.url)),
    idleMs: IDLE_MS,
    memory: MEMORY,
  })
  readonly #slots = new Semaphore(SEARCHES_AT_ONCE)
  /** By number of the account; only those with searches. */
  readonly #mailboxes = new Map<number, Semaphore>()

  constructor(files: SearchFiles) {
    this.#files = files
  }

  /** Runs a large search when its mailbox and the process have room for one. */
  async during<T>(account: number, work: () => Promise<T>): Promise<T> {
    const mailbox = this.#mailboxes.get(account) ?? new Semaphore(SEARCHES_PER_MAILBOX)
    this.#mailboxes.set(account, mailbox)
    try {
      return await mailbox.during(1, () => this.#slots.during(1, work))
    } finally {
      if (mailbox.isIdle && mailbox.waiting === 0) this.#mailboxes.delete(account)
    }
  }

  page(task: PageTask): Promise<PageResult> {
    return this.#run<PageResult>('pageTask', task)
  }

  /** Numbers of the messages of an account with the words of a text, ascending; null when it has none. */
  words(task: WordsTask): Promise<Float64Array | null> {
    return this.#run<Float64Array | null>('wordsTask', task)
  }

  /** All UIDs of a folder in order; null when keys are missing. */
  folderOrder(task: FolderOrderTask): Promise<Uint32Array | null> {
    return this.#run<Uint32Array | null>('folderOrderTask', task)
  }

  /** The text of THREAD; null when keys are missing. */
  folderThreads(task: FolderThreadsTask): Promise<Uint8Array | null> {
    return this.#run<Uint8Array | null>('folderThreadsTask', task)
  }

  /** UIDs of a folder that match a condition. */
  matching(task: MatchTask): Promise<MatchingUids> {
    return this.#run<MatchingUids>('matchTask', task)
  }

  /** The order is handed over. */
  insert(task: InsertionTask): Promise<Uint32Array> {
    return this.#run<Uint32Array>('insertionTask', task, [task.order.buffer])
  }

  /** The pages are handed over. */
  order(task: OrderTask): Promise<Ordered> {
    return this.#run<Ordered>(
      'orderTask',
      task,
      task.pages.map(({ buffer }) => buffer),
    )
  }

  /** @throws ProductError as the task throws it; Error with `errcode` of SQLite */
  async #run<R>(name: string, task: unknown, transfer: readonly ArrayBufferLike[] = []): Promise<R> {
    try {
      return await this.#pool.run<R>({ files: this.#files, task } as FileTask<unknown>, { task: name, transfer })
    } catch (error) {
      const { message, cause } = error as Error
      if (typeof cause === 'string') throw new ProductError(cause as ErrorCode, message)
      throw typeof cause === 'number' ? Object.assign(error as Error, { errcode: cause }) : error
    }
  }

  /** Ends the thread; searches that run are rejected. */
  close(): Promise<void> {
    return this.#pool.close()
  }
}
