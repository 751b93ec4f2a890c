// Moves and expunges messages of a folder by UID, and the parts of a copy, as mail programs ask for it (RFC 9051 §6.4.3, §6.4.7, §6.4.8).

import { notFound } from '../../base/errors.ts'
import type { Db, Tx } from '../../db/db.ts'
import { foldersByMessage, markDeleted, uidsIn } from '../entries/folders-entries.ts'
import type { FolderEntry, FolderViews } from '../entries/folders-views.ts'
import { ENTRY_FLAGS, JUNK, NOT_JUNK } from '../entries/keywords.ts'
import type { FolderKey, Folders } from '../rows/folders.ts'
import { rangesOf } from '../rows/folders-expunged.ts'
import type { Account } from '../rows/records.ts'
import { ascending, inBatches } from './batches.ts'
import { idsOf } from './edit-rows.ts'
import { FOLDERS_MAX, type MessageChange, type MessageEdits } from './edits.ts'

/** Messages in one unit of work. */
export const MESSAGES_PER_BATCH = 100
/** The same for moves, which cost twice as much into Trash and out of it. */
const MOVED_PER_BATCH = 50

/** Messages of a folder, and another folder of the account, both by number. */
export interface UidTransfer {
  from: number
  to: number
  /** Distinct. */
  uids: readonly number[]
}

/** A message under its UID in the first folder and in the second one (COPYUID, RFC 4315). */
export interface CopiedUid {
  uid: number
  newUid: number
}

export interface CopyResult {
  copied: CopiedUid[]
  /**
   * UIDs whose messages the second folder has already, or that are in as many folders as a message may be: a second message over the
   * same content is to be stored, see `second-copies.ts`.
   */
  again: number[]
}

export interface ExpungeResult {
  /** What left the folder, ascending. */
  uids: number[]
  /** HIGHESTMODSEQ of the folder after it. */
  modSeq: number
}

export interface MoveOptions {
  /** Called after each batch, so that its answer can be sent. */
  onBatch?(moved: CopiedUid[]): void
  /** Ends the move between two batches. */
  signal?: AbortSignal
}

interface Deps {
  db: Db
  folders: Folders
  edits: MessageEdits
  views: FolderViews
}

export class Moves {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Adds messages to another folder inside a unit of work of the caller, all at once. See {@link Copies.copy}. */
  copyIn(tx: Tx, account: Account, { from, to, uids }: UidTransfer): CopyResult {
    const [source, target] = this.#folders(tx, account, from, to)
    const entries = this.#entries(tx, from, uids)
    const filed = foldersByMessage(tx, numbersOf(entries))
    const isAgain = ({ message }: FolderEntry) => {
      const folders = filed.get(message)!
      return folders.length >= FOLDERS_MAX || folders.some(({ n }) => n === to)
    }
    const copied = entries.filter((entry) => !isAgain(entry))
    const change = { folders: { add: [target.id] }, ...junkMarks(source, target) }
    this.#change(tx, account, copied, change)
    return {
      copied: pairs(copied, uidsIn(tx, to, numbersOf(copied))),
      again: entries.filter(isAgain).map(({ uid }) => uid),
    }
  }

  /**
   * Moves messages to another folder, in batches: each is in one of the two at any time. A message that the second folder has already
   * gets a new UID there.
   * @throws ProductError not_found when one of the folders does not exist; the reason of the signal: what was moved by then stays moved
   */
  async move(
    account: Account,
    { from, to, uids }: UidTransfer,
    { onBatch = () => {}, signal }: MoveOptions = {},
  ): Promise<CopiedUid[]> {
    const all: CopiedUid[] = []
    const write = (batch: number[]) =>
      this.#deps.db.writeFreeing((tx) => this.moveIn(tx, account, { from, to, uids: batch }))
    const onDone = (moved: CopiedUid[]) => {
      onBatch(moved)
      all.push(...moved)
    }
    await inBatches(uids.toSorted(ascending), write, { most: MOVED_PER_BATCH, onDone, signal })
    return all
  }

  /** {@link move} inside a unit of work of the caller, all at once. */
  moveIn(tx: Tx, account: Account, { from, to, uids }: UidTransfer): CopiedUid[] {
    const [source, target] = this.#folders(tx, account, from, to)
    const entries = this.#entries(tx, from, uids)
    this.#change(tx, account, entries, {
      folders: { add: [target.id], remove: from === to ? [] : [source.id] },
      renewed: target.id,
      ...junkMarks(source, target),
    })
    const newUids = uidsIn(tx, to, numbersOf(entries))
    this.#keepDeleted(tx, to, pairs(entries.filter(isDeleted), newUids))
    return pairs(entries, newUids)
  }

  /** A moved message keeps its flags (RFC 6851 §3.3): `\\Deleted`, a flag of the entry alone, is set again in the new one. */
  #keepDeleted(tx: Tx, folder: number, moved: readonly CopiedUid[]): void {
    if (moved.length === 0) return
    const uids = moved.map(({ newUid }) => newUid)
    markDeleted(tx, folder, uids, { deleted: true, modSeq: this.#deps.views.head(folder, tx)!.modSeq })
  }

  /**
   * Removes messages marked `\Deleted` from a folder, in batches; those that are in no other folder are erased.
   * @param uids of which; null: all of the folder
   * @throws the reason of the signal: what was removed by then stays removed
   */
  async expunge(
    account: Account,
    folder: number,
    uids: readonly number[] | null,
    signal?: AbortSignal,
  ): Promise<ExpungeResult> {
    const { db, views } = this.#deps
    const gone: number[] = []
    const write = (batch: number[]) => db.writeFreeing((tx) => this.expungeIn(tx, account, folder, batch))
    const onDone = (left: number[]) => void gone.push(...left)
    await inBatches(await views.deletedUids(folder, uids), write, { most: MESSAGES_PER_BATCH, onDone, signal })
    return { uids: gone.sort(ascending), modSeq: views.head(folder)?.modSeq ?? 0 }
  }

  /** {@link expunge} inside a unit of work of the caller, all at once. @returns the UIDs that left */
  expungeIn(tx: Tx, account: Account, folder: number, uids: readonly number[]): number[] {
    return this.removeIn(tx, account, folder, this.#entries(tx, folder, uids).filter(isDeleted))
  }

  /**
   * Removes entries of a folder; messages that are in no other folder are erased.
   * @returns the UIDs that left; none when the account has no such folder
   */
  removeIn(tx: Tx, account: Account, folder: number, entries: readonly FolderEntry[]): number[] {
    const { edits, folders } = this.#deps
    const key = folders.keys(account, tx).find(({ n }) => n === folder)
    if (key === undefined || entries.length === 0) return []
    edits.removeFromFolder(tx, account, key.id, idsOf(tx, numbersOf(entries)), false)
    return entries.map(({ uid }) => uid)
  }

  #entries(tx: Tx, folder: number, uids: readonly number[]): FolderEntry[] {
    return this.#deps.views.entries(folder, rangesOf(uids), uids.length, tx)
  }

  #folders(tx: Tx, account: Account, ...numbers: [number, number]): [FolderKey, FolderKey] {
    const keys = this.#deps.folders.keys(account, tx)
    const [from, to] = numbers.map((number) => keys.find(({ n }) => n === number))
    if (from === undefined || to === undefined) throw notFound('folder')
    return [from, to]
  }

  #change(tx: Tx, account: Account, entries: readonly FolderEntry[], change: MessageChange): void {
    if (entries.length === 0) return
    const { edits } = this.#deps
    const taught = { ...change, teaches: 'mail_program' } as const
    const { notUpdated } = edits.changeNumbersIn(tx, account, numbersOf(entries), taught, { moves: false })
    // A message with the maximum of keywords goes without a mark.
    const unmarked = notUpdated.filter(({ about }) => about === 'keywords').map(({ id }) => id)
    const { keywords: _, ...folders } = taught
    if (unmarked.length > 0) edits.changeIn(tx, account, unmarked, folders)
  }
}

/** What is moved or copied into Junk is junk, and what leaves it is not, but for Trash: the spam filter learns from it. */
export function junkMarks(from: FolderKey, to: FolderKey): Pick<MessageChange, 'keywords'> {
  const [wasJunk, isJunk] = [from.role === 'junk', to.role === 'junk']
  if (wasJunk === isJunk || to.role === 'trash') return {}
  return { keywords: isJunk ? { add: [JUNK], remove: [NOT_JUNK] } : { add: [NOT_JUNK], remove: [JUNK] } }
}

function pairs(entries: readonly FolderEntry[], uids: ReadonlyMap<number, number>): CopiedUid[] {
  return entries.flatMap(({ uid, message }) => {
    const newUid = uids.get(message)
    return newUid === undefined ? [] : [{ uid, newUid }]
  })
}

function isDeleted({ flags }: FolderEntry): boolean {
  return (flags & ENTRY_FLAGS.deleted) !== 0
}

function numbersOf(entries: readonly FolderEntry[]): number[] {
  return entries.map(({ message }) => message)
}
