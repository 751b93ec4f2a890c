// COPY of messages by UID: all of them or none (RFC 9051 §6.4.7, RFC 3501 §6.4.7), also when the process ends before the copy does.

import { notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { BlobNames } from '../content/blob-names.ts'
import type { Blobs } from '../content/blobs.ts'
import { foldersByMessage } from '../entries/folders-entries.ts'
import type { FolderEntry, FolderViews } from '../entries/folders-views.ts'
import type { Folders } from '../rows/folders.ts'
import { rangesOf } from '../rows/folders-expunged.ts'
import type { Account } from '../rows/records.ts'
import { ascending, inBatches } from './batches.ts'
import type { FilingDeps } from './file-message.ts'
import {
  type CopiedUid,
  type CopyResult,
  junkMarks,
  MESSAGES_PER_BATCH,
  type Moves,
  type UidTransfer,
} from './moves.ts'
import { type MessageReader, readSources, storeSecondCopies } from './second-copies.ts'
import {
  type CopiedRange,
  copiedRanges,
  endCopy,
  forgetCopied,
  recordCopied,
  unfinishedCopies,
} from './unfinished-copies.ts'

/**
 * Second messages in one unit of work. They are parsed before and indexed in it: it blocks other writes no longer than some deliveries do.
 */
const SECOND_PER_BATCH = 25

/** How a copy runs. */
export interface CopyOptions {
  /** Reads content for second messages. */
  reader: MessageReader
  /** The quota of the mailbox, bytes. */
  quotaBytes(tx: Tx): number
  /** Ends the copy between two units of work: it fails with the reason of the signal. */
  signal?: AbortSignal
  /** Called with the number of messages that have been copied. */
  onProgress?(copied: number): void
}

interface Deps extends FilingDeps {
  db: Db
  folders: Folders
  views: FolderViews
  moves: Moves
  blobs: Blobs
  names: BlobNames
}

export class Copies {
  readonly #deps: Deps
  readonly #closing = new AbortController()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Adds messages to another folder, in batches. A message that the folder has already, or that is in as many folders as a message may
   * be, gets a second message over the same content. A copy that fails is taken back; what cannot be taken back now is at the next start.
   * @returns the UIDs of those that exist, in the order of the source
   * @throws ProductError not_found when one of the folders does not exist; MailboxFull; the reason of the signal
   */
  async copy(account: Account, transfer: UidTransfer, options: CopyOptions): Promise<CopiedUid[]> {
    const running = new RunningCopy(this.#deps, account, transfer, options)
    try {
      return await running.run()
    } catch (error) {
      await this.#takeBack(running.id).catch(() => {})
      throw error
    }
  }

  /** Takes back what copies of earlier runs of the process have left. To be called before copies are made. */
  async takeBackUnfinished(): Promise<void> {
    for (const copy of unfinishedCopies(this.#deps.db.read)) await this.#takeBack(copy)
  }

  /** Nothing more is taken back: the rest is at the next start. */
  close(): void {
    this.#closing.abort()
  }

  async #takeBack(copy: string): Promise<void> {
    const { db } = this.#deps
    const { signal } = this.#closing
    const write = ([range]: CopiedRange[]) => db.writeFreeing((tx) => this.#takeBackIn(tx, range!))
    try {
      await inBatches(copiedRanges(db.read, copy), write, { most: 1, signal })
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** A message that has meanwhile left the folder it was copied from stays: it would be lost. */
  #takeBackIn(tx: Tx, range: CopiedRange): void {
    const { accounts, views, moves } = this.#deps
    forgetCopied(tx, range)
    const account = accounts.byNumber(range.account, tx)
    if (account === undefined) return
    const entries = views.entries(range.folder, [range], range.last - range.first + 1, tx)
    const filed = foldersByMessage(tx, numbersOf(entries))
    const isRemovable = ({ message }: FolderEntry) => range.erases || filed.get(message)!.length > 1
    moves.removeIn(tx, account, range.folder, entries.filter(isRemovable))
  }
}

/** One copy. */
class RunningCopy {
  readonly id = newId('request')
  readonly #deps: Deps
  readonly #account: Account
  readonly #transfer: UidTransfer
  readonly #options: CopyOptions
  readonly #copied: CopiedUid[] = []
  #isRecorded = false

  constructor(deps: Deps, account: Account, transfer: UidTransfer, options: CopyOptions) {
    this.#deps = deps
    this.#account = account
    this.#transfer = transfer
    this.#options = options
  }

  async run(): Promise<CopiedUid[]> {
    const { db, folders } = this.#deps
    const { signal } = this.#options
    const again: number[] = []
    const target = folders.keys(this.#account).find(({ n }) => n === this.#transfer.to)
    const isInTrash = target?.role === 'trash'
    const add = (uids: number[]) => {
      const work = (tx: Tx) => this.#addIn(tx, uids)
      // Mail programs without MOVE delete by a copy in Trash, which must be possible on a full disk.
      return isInTrash ? db.writeFreeing(work) : db.write(work)
    }
    await inBatches(this.#transfer.uids.toSorted(ascending), add, {
      ...{ most: MESSAGES_PER_BATCH, signal },
      onDone: (done) => {
        this.#done(done.copied)
        again.push(...done.again)
      },
    })
    if (again.length > 0) await this.#copyAgain(again)
    if (this.#isRecorded) await db.writeFreeing((tx) => endCopy(tx, this.id))
    return this.#copied.sort((a, b) => a.uid - b.uid)
  }

  #done(copied: readonly CopiedUid[]): void {
    this.#copied.push(...copied)
    this.#options.onProgress?.(this.#copied.length)
  }

  #addIn(tx: Tx, uids: readonly number[]): CopyResult {
    const { from, to } = this.#transfer
    const done = this.#deps.moves.copyIn(tx, this.#account, { from, to, uids })
    // A copy in one unit of work is whole in itself.
    if (uids.length < this.#transfer.uids.length || done.again.length > 0) this.#recordIn(tx, done.copied, false)
    return done
  }

  #recordIn(tx: Tx, copied: readonly CopiedUid[], erases: boolean): void {
    const range = { account: this.#account.n, folder: this.#transfer.to, erases }
    if (copied.length > 0) this.#isRecorded = true
    recordCopied(
      tx,
      this.id,
      range,
      copied.map(({ newUid }) => newUid),
    )
  }

  /** The next messages are read while those before them are written. */
  async #copyAgain(uids: readonly number[]): Promise<void> {
    const { db, views, blobs } = this.#deps
    const { signal, reader } = this.#options
    const { from } = this.#transfer
    let writing: Promise<void> | null = null
    try {
      for (let at = 0; at < uids.length; at += SECOND_PER_BATCH) {
        signal?.throwIfAborted()
        const some = uids.slice(at, at + SECOND_PER_BATCH)
        const entries = views.entries(from, rangesOf(some), some.length)
        const sources = await readSources({ read: db.read, blobs, reader }, this.#account, entries)
        await writing
        writing = db.write((tx) => this.#addSecondIn(tx, sources)).then((copied) => this.#done(copied))
        // It is awaited behind the next reading, and may fail before.
        writing.catch(() => {})
      }
    } finally {
      await writing
    }
  }

  #addSecondIn(tx: Tx, sources: Parameters<typeof storeSecondCopies>[2]): CopiedUid[] {
    const { folders, names } = this.#deps
    const { from, to, uids } = this.#transfer
    const keys = folders.keys(this.#account, tx)
    const [source, target] = [from, to].map((number) => keys.find(({ n }) => n === number))
    if (source === undefined || target === undefined) throw notFound('folder')
    const marks = junkMarks(source, target).keywords
    const nameOf = names.of(this.#account.mailboxId)
    const quotaBytes = this.#options.quotaBytes(tx)
    const copied = storeSecondCopies(tx, this.#deps, sources, {
      account: this.#account,
      target,
      marks,
      quotaBytes,
      nameOf,
    })
    if (sources.length < uids.length) this.#recordIn(tx, copied, true)
    return copied
  }
}

function numbersOf(entries: readonly FolderEntry[]): number[] {
  return entries.map(({ message }) => message)
}
