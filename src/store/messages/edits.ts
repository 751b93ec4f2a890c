// Edits of messages: keywords, folders and deletion, with the resulting changes of counts, threads and the change ledger.

import type { Clock } from '../../base/clock.ts'
import type { ErrorCode } from '../../base/errors.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import type { ErasedContents } from '../content/erased-content.ts'
import {
  foldersByMessage,
  insertFolderEntries,
  messagesIn,
  removeFolderEntries,
  renewFolderEntry,
  servedSize,
  setServedSize,
  touchEntries,
} from '../entries/folders-entries.ts'
import {
  applySetChange,
  FLAG_KEYWORDS,
  isSameSet,
  isTooMany,
  JUNK,
  KEYWORDS_MAX,
  NOT_JUNK,
  type SetChange,
  withoutOpposite,
} from '../entries/keywords.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { Change, ChangeLedger } from '../rows/changes.ts'
import { type FolderKey, type Folders, isListedIn } from '../rows/folders.ts'
import { type RemovedEntry, recordExpunged } from '../rows/folders-expunged.ts'
import type { Account, ChangeType } from '../rows/records.ts'
import {
  deleteMessageRows,
  type EditedMessage,
  type EditRow,
  editRows,
  editRowsByNumber,
  idsOf,
  writeEdits,
} from './edit-rows.ts'
import { type Labeling, type LabelSource, labelingBy, noteLabels } from './spam-labels.ts'
import { type CountedEdit, countEdits } from './thread-counts.ts'
import { type UndoEdit, withSaid } from './undo-edits.ts'

/** A requested change. Keywords are lower-case and include those of the flags (`$seen` …); folders are public ids. */
export interface MessageChange {
  keywords?: SetChange
  folders?: SetChange
  /** A folder in which a message gets a new UID if it is there already. */
  renewed?: string
  /** Whose change it is, if it says of a message whether it is junk; without it nothing is learned of the change. */
  teaches?: LabelSource
  /** What it says, where this is not told by the keywords and folders that change. */
  says?: Labeling['says']
  /** Collects what is needed to undo the change. */
  undo?: UndoEdit[]
}

/** Why a message was not updated; `about` names the invalid part of the change. */
export interface EditRefusal {
  about: 'keywords' | 'folders'
  code: ErrorCode
  message: string
}

/** The result for each requested message. */
export interface EditResult {
  updated: string[]
  notFound: string[]
  notUpdated: ({ id: string } & EditRefusal)[]
}

/** Maximum folders of a message (docs/design/mailbox.md §3). */
export const FOLDERS_MAX = 10

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  folders: Folders
  changes: ChangeLedger
  erased: Pick<ErasedContents, 'add'>
}

/** Changes of a unit of work that are still to be written, counted and recorded in the ledger. */
interface PendingChanges {
  edits: EditedMessage[]
  /** Messages that enter and leave folders, by number of the folder. */
  entered: Map<number, number[]>
  left: Map<number, number[]>
  /** Messages whose keywords changed, or that got new UIDs. */
  touched: number[]
  messages: Change[]
  /** Folder entries that were deleted. */
  removed: RemovedEntry[]
  /** What changes the counts of threads and folders, for each changed message. */
  counted: CountedEdit[]
  labelings: Labeling[]
  /** By number of the message. */
  undo: Map<number, UndoEdit>
  bytes: number
  count: number
}

type NamedFolder = FolderKey & { name: string }

export class MessageEdits {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Updates messages in one unit of work; an invalid change of one message does not affect the others. */
  change(account: Account, ids: readonly string[], change: MessageChange): Promise<EditResult> {
    return this.#deps.db.writeFreeing((tx) => this.changeIn(tx, account, ids, change))
  }

  /** {@link change} inside a unit of work of the caller. */
  changeIn(tx: Tx, account: Account, ids: readonly string[], change: MessageChange): EditResult {
    return this.#changeRows(tx, account, { ids, rows: editRows(tx, account, ids), change, moves: true })
  }

  /**
   * {@link changeIn} for messages by number. With `moves: false` `$junk` and `$notjunk` only mark a message: mail programs move it
   * themselves.
   */
  changeNumbersIn(
    tx: Tx,
    account: Account,
    numbers: readonly number[],
    change: MessageChange,
    { moves }: { moves: boolean },
  ): EditResult {
    const byNumber = editRowsByNumber(tx, account, numbers)
    const ids = numbers.flatMap((n) => byNumber.get(n)?.id ?? [])
    const rows = new Map([...byNumber.values()].map((row) => [row.id, row]))
    return this.#changeRows(tx, account, { ids, rows, change, moves })
  }

  #changeRows(tx: Tx, account: Account, { ids, rows, change, moves }: RowsChange): EditResult {
    const folderKeys = this.#deps.folders.keys(account, tx)
    const filed = foldersByMessage(
      tx,
      [...rows.values()].map(({ n }) => n),
    )
    const result: EditResult = { updated: [], notFound: [], notUpdated: [] }
    const pending = nothingPending()
    // Each once: what they change is added up.
    for (const id of new Set(ids)) {
      const row = rows.get(id)
      if (row === undefined) {
        result.notFound.push(id)
        continue
      }
      const target = resolveEdit(row, filed.get(row.n)!, folderKeys, { ...change, moves })
      if ('refused' in target) result.notUpdated.push({ id, ...target.refused })
      else {
        result.updated.push(id)
        this.#apply(tx, row, filed.get(row.n)!, target, pending)
        if (change.says !== undefined) pending.labelings.push({ message: row.n, says: change.says })
      }
    }
    this.#recordChanges(tx, account, folderKeys, pending)
    const taught = change.teaches === undefined ? [] : pending.labelings.map(({ message }) => message)
    change.undo?.push(...withSaid(tx, account.n, pending.undo, taught))
    this.#teach(tx, account, pending.labelings, change)
    return result
  }

  #teach(tx: Tx, account: Account, labelings: readonly Labeling[], { teaches: source, says }: MessageChange): void {
    if (source === undefined) return
    // What is said expressly is the last word.
    const said = says === undefined ? labelings : labelings.filter((labeling) => labeling.says === says)
    noteLabels(tx, account.n, said, { source, now: this.#deps.clock.now() })
  }

  /** Gives a message a new UID in each of its folders if it is served with another size than before. */
  renewIn(tx: Tx, account: Account, id: string, sizeBytes: number): void {
    const row = editRows(tx, account, [id]).get(id)
    if (row === undefined || servedSize(tx, row.n) === sizeBytes) return
    const pending = nothingPending()
    const now = this.#deps.clock.now()
    const folders = foldersByMessage(tx, [row.n]).get(row.n)!
    for (const { n } of folders) pending.removed.push(renewFolderEntry(tx, n, row.n, now))
    setServedSize(tx, row.n, sizeBytes)
    pending.messages.push({ type: 'messages', n: row.n, object: row.id, kind: 'updated' })
    pending.touched.push(row.n)
    pending.counted.push(countedEdit(row, { keywords: row.keywords, listed: row.listed }, folders, folders))
    this.#recordChanges(tx, account, this.#deps.folders.keys(account, tx), pending)
  }

  /** Deletes messages permanently. @returns how many existed */
  deleteIn(tx: Tx, account: Account, ids: readonly string[]): number {
    const rows = editRows(tx, account, ids)
    const folderKeys = this.#deps.folders.keys(account, tx)
    const pending = nothingPending()
    const filed = foldersByMessage(
      tx,
      [...rows.values()].map(({ n }) => n),
    )
    for (const row of rows.values()) {
      const { n, id, sizeBytes } = row
      const folders = filed.get(n)!
      for (const folder of folders) addTo(pending.left, folder.n, n)
      pending.messages.push({ type: 'messages', n, object: id, kind: 'destroyed' })
      pending.counted.push(countedEdit(row, { keywords: row.keywords, listed: null }, folders, []))
      pending.bytes -= sizeBytes
      pending.count--
    }
    const erased = deleteMessageRows(
      tx,
      account,
      [...rows.values()].map(({ n }) => n),
    )
    tx.afterCommit(() => this.#deps.erased.add(account.n, erased))
    this.#recordChanges(tx, account, folderKeys, pending)
    return rows.size
  }

  /**
   * Removes messages from a folder that is emptied or deleted. Those in no other folder are moved to Trash or deleted.
   * @param ids messages of the folder
   */
  removeFromFolder(tx: Tx, account: Account, folderId: string, ids: readonly string[], toTrash: boolean): void {
    const rows = editRows(tx, account, ids)
    const filed = foldersByMessage(
      tx,
      [...rows.values()].map(({ n }) => n),
    )
    const isOnlyHere = (id: string) => (filed.get(rows.get(id)?.n ?? 0)?.length ?? 0) === 1
    const only = ids.filter(isOnlyHere)
    const others = ids.filter((id) => !isOnlyHere(id))
    if (others.length > 0) this.changeIn(tx, account, others, { folders: { remove: [folderId] } })
    if (only.length === 0) return
    const trash = this.#deps.folders.keys(account, tx).find(({ role }) => role === 'trash')!
    if (toTrash) this.changeIn(tx, account, only, { folders: { set: [trash.id] } })
    else this.deleteIn(tx, account, only)
  }

  /** Ids of the first messages of a folder in order of UID, to process it in batches. */
  messageIdsIn(reader: Reader, account: Account, folderId: string, limit: number): string[] {
    const folder = this.#deps.folders.keys(account, reader).find(({ id }) => id === folderId)
    return folder === undefined ? [] : idsOf(reader, messagesIn(reader, folder.n, limit))
  }

  #apply(
    tx: Tx,
    row: EditRow,
    before: readonly FolderKey[],
    { keywords, folders, renewed }: MessageTarget,
    pending: PendingChanges,
  ): void {
    const isSame = isSameSet(keywords, row.keywords)
    const left = before.filter(({ n }) => !folders.some((folder) => folder.n === n))
    const entered = folders.filter(({ n }) => !before.some((folder) => folder.n === n))
    const again = before.filter(({ id }) => id === renewed)
    if (isSame && left.length === 0 && entered.length === 0 && again.length === 0) return
    const now = this.#deps.clock.now()
    for (const { n } of again) pending.removed.push(renewFolderEntry(tx, n, row.n, now))
    for (const { n } of entered) addTo(pending.entered, n, row.n)
    for (const { n } of left) addTo(pending.left, n, row.n)
    const listed = folders.some(isListedIn)
    pending.edits.push({ row, keywords, listed })
    pending.messages.push({ type: 'messages', n: row.n, object: row.id, kind: 'updated' })
    if (!isSame || again.length > 0) pending.touched.push(row.n)
    pending.counted.push(countedEdit(row, { keywords, listed }, before, folders))
    pending.undo.set(row.n, {
      id: row.id,
      before: { keywords: row.keywords, folders: before.map(({ id }) => id) },
      after: { keywords, folders: folders.map(({ id }) => id) },
      said: null,
    })
    const labeling = labelingBy(row.n, { keywords: row.keywords, folders: before }, { keywords, folders })
    if (labeling !== null) pending.labelings.push(labeling)
  }

  /** Writes edited messages, updates the counts of changed threads and folders, and records all changes in the ledger. */
  #recordChanges(tx: Tx, account: Account, folderKeys: readonly NamedFolder[], pending: PendingChanges): void {
    if (pending.messages.length === 0) return
    const now = this.#deps.clock.now()
    const added = [...pending.entered].map(([folder, messages]) => insertFolderEntries(tx, folder, messages, now))
    for (const [folder, messages] of pending.left) pending.removed.push(...removeFolderEntries(tx, folder, messages))
    writeEdits(tx, account, pending.edits)
    const recorded: Change[] = [...pending.messages]
    const { threads, folders } = countEdits(tx, pending.counted)
    for (const { n, id, isDeleted } of threads) {
      recorded.push({ type: 'threads', n, object: id, kind: isDeleted ? 'destroyed' : 'updated' })
    }
    for (const { n, id } of folderKeys) {
      if (folders.includes(n)) recorded.push({ type: 'folders', n, object: id, kind: 'updated', countsOnly: true })
    }
    const types = new Set<ChangeType>(recorded.map(({ type }) => type))
    if (pending.count !== 0) types.add('quotas')
    const seq = this.#deps.accounts.advance(tx, account.n, [...types], {
      bytes: pending.bytes,
      messages: pending.count,
    })
    this.#deps.changes.record(tx, account.n, seq, recorded, now)
    touchEntries(tx, seq, { messages: pending.touched, added, removed: pending.removed })
    recordExpunged(tx, seq, pending.removed, now)
  }
}

function nothingPending(): PendingChanges {
  const entries = { entered: new Map(), left: new Map(), touched: [], removed: [] }
  return { ...entries, edits: [], messages: [], counted: [], labelings: [], undo: new Map(), bytes: 0, count: 0 }
}

function addTo(lists: Map<number, number[]>, key: number, value: number): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** @param edited what the message has after the edit */
function countedEdit(
  row: EditRow,
  edited: { keywords: readonly string[]; listed: boolean | null },
  before: readonly FolderKey[],
  after: readonly FolderKey[],
): CountedEdit {
  const unread = (list: readonly string[]) => (list.includes(FLAG_KEYWORDS.seen) ? 0 : 1)
  const numbers = (folders: readonly FolderKey[]) => folders.map(({ n }) => n)
  return {
    thread: row.thread,
    listed: { before: row.listed, after: edited.listed },
    unread: { before: unread(row.keywords), after: unread(edited.keywords) },
    folders: { before: numbers(before), after: numbers(after) },
  }
}

interface RowsChange {
  ids: readonly string[]
  rows: ReadonlyMap<string, EditRow>
  change: MessageChange
  moves: boolean
}

/** The keywords and folders of a message after the edit. */
interface MessageTarget {
  keywords: string[]
  folders: FolderKey[]
  /** See {@link MessageChange}. */
  renewed: string | undefined
}

function resolveEdit(
  row: EditRow,
  before: readonly FolderKey[],
  folderKeys: readonly NamedFolder[],
  change: MessageChange & { moves: boolean },
): MessageTarget | { refused: EditRefusal } {
  const keywords = applySetChange(row.keywords, change.keywords)
  if (isTooMany(row.keywords, keywords)) return refusal('keywords', `A message has at most ${KEYWORDS_MAX} keywords.`)
  const ids = applySetChange(
    before.map(({ id }) => id),
    change.folders ?? (change.moves ? foldersByJunkKeyword(row.keywords, keywords, before, folderKeys) : undefined),
  )
  const folders = ids.flatMap((id) => folderKeys.find((folder) => folder.id === id) ?? [])
  if (folders.length < ids.length) return refusal('folders', 'No folder of this mailbox has this id.')
  if (folders.length === 0) return refusal('folders', 'A message must be in at least one folder.')
  // A message of an outside account may have been stored in more.
  if (folders.length > Math.max(FOLDERS_MAX, before.length))
    return refusal('folders', `A message can be in at most ${FOLDERS_MAX} folders.`)
  return { keywords: withoutOpposite(row.keywords, keywords), folders, renewed: change.renewed }
}

/** Adding `$junk` moves to Junk, adding `$notjunk` moves from Junk to the Inbox (docs/design/mailbox.md §3). */
function foldersByJunkKeyword(
  before: readonly string[],
  after: readonly string[],
  folders: readonly FolderKey[],
  folderKeys: readonly NamedFolder[],
): MessageChange['folders'] {
  const isNew = (keyword: string) => after.includes(keyword) && !before.includes(keyword)
  const idOf = (role: string) => folderKeys.find((folder) => folder.role === role)!.id
  if (isNew(JUNK)) return { set: [idOf('junk')] }
  const isJunk = folders.some(({ role }) => role === 'junk')
  return isNew(NOT_JUNK) && isJunk ? { remove: [idOf('junk')], add: [idOf('inbox')] } : undefined
}

function refusal(about: EditRefusal['about'], message: string): { refused: EditRefusal } {
  return { refused: { about, code: 'validation_error', message } }
}
