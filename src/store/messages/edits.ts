// Changes messages: their keywords, the folders they lie in, and their end; with everything that is counted, told and listed by them.

import type { Clock } from '../../base/clock.ts'
import type { ErrorCode } from '../../base/errors.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import type { Accounts } from '../accounts.ts'
import type { Change, ChangeLedger } from '../changes.ts'
import type { FolderKey, Folders } from '../folders.ts'
import { addToFolder, countInFolders, foldersOf, messagesIn, partsOf, takeFromFolder } from '../folders-filing.ts'
import type { Account, ChangeType } from '../records.ts'
import { threadIdsOf } from '../threads/numbers.ts'
import { recountThread } from '../threads/recount.ts'
import { type EditRow, editRows, eraseRows, idsOf, threadMessages, writeEdit } from './edit-rows.ts'
import { FLAG_KEYWORDS } from './keywords.ts'

/** What is to be changed. Keywords are lower-case, those of the flags (`$seen` …) included; folders are public ids. */
export interface MessageChange {
  keywords?: { add?: readonly string[]; remove?: readonly string[] } | { set: readonly string[] }
  folders?: { add?: readonly string[]; remove?: readonly string[] } | { set: readonly string[] }
}

/** Why a message was left as it is, and which part of the change is to blame. */
export interface EditRefusal {
  about: 'keywords' | 'folders'
  code: ErrorCode
  message: string
}

/** What became of each message that was named. */
export interface EditResult {
  updated: string[]
  notFound: string[]
  notUpdated: ({ id: string } & EditRefusal)[]
}

/** Keywords a message has at most (decisions §10.3), and folders it lies in. */
export const KEYWORDS_MAX = 100
export const FOLDERS_MAX = 10
const JUNK = '$junk'
const NOT_JUNK = '$notjunk'

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  folders: Folders
  changes: ChangeLedger
}

/** What a unit of work has touched, gathered for the ledger. */
interface Touched {
  messages: Change[]
  /** Threads with a message that changed, and those of them whose counts may have. */
  threads: Set<number>
  counted: Set<number>
  bytes: number
  count: number
}

type Named = FolderKey & { name: string }

export class MessageEdits {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Changes messages in one unit of work; what is wrong with one does not hinder the others. */
  change(account: Account, ids: readonly string[], change: MessageChange): Promise<EditResult> {
    return this.#deps.db.write((tx) => this.changeIn(tx, account, ids, change))
  }

  /** The same inside a unit of work of the caller. */
  async changeIn(tx: Tx, account: Account, ids: readonly string[], change: MessageChange): Promise<EditResult> {
    const rows = await editRows(tx, account, ids)
    const known = await this.#deps.folders.keys(account, tx)
    const filed = await foldersOf(
      tx,
      [...rows.values()].map(({ n }) => n),
    )
    const edited: EditResult = { updated: [], notFound: [], notUpdated: [] }
    const touched: Touched = { messages: [], threads: new Set(), counted: new Set(), bytes: 0, count: 0 }
    for (const id of ids) {
      const row = rows.get(id)
      if (row === undefined) {
        edited.notFound.push(id)
        continue
      }
      const wanted = editTargetOf(row, filed.get(row.n)!, known, change)
      if ('refused' in wanted) edited.notUpdated.push({ id, ...wanted.refused })
      else {
        edited.updated.push(id)
        await this.#apply(tx, account, row, filed.get(row.n)!, wanted, touched)
      }
    }
    await this.#tell(tx, account, known, touched)
    return edited
  }

  /** Erases messages for good. @returns how many there were */
  async eraseIn(tx: Tx, account: Account, ids: readonly string[]): Promise<number> {
    const rows = await editRows(tx, account, ids)
    const known = await this.#deps.folders.keys(account, tx)
    const touched: Touched = { messages: [], threads: new Set(), counted: new Set(), bytes: 0, count: 0 }
    const filed = await foldersOf(
      tx,
      [...rows.values()].map(({ n }) => n),
    )
    for (const { n, id, thread, sizeBytes } of rows.values()) {
      for (const folder of filed.get(n)!) await takeFromFolder(tx, folder.n, n)
      await eraseRows(tx, account, n)
      touched.messages.push({ type: 'messages', n, object: id, kind: 'destroyed' })
      touched.threads.add(thread)
      touched.counted.add(thread)
      touched.bytes -= sizeBytes
      touched.count--
    }
    await this.#tell(tx, account, known, touched)
    return rows.size
  }

  /**
   * Takes messages out of a folder that is emptied or about to end. Those that lie nowhere else go to Trash, or are erased.
   * @param ids messages of the folder
   */
  async leaveFolder(
    tx: Tx,
    account: Account,
    folderId: string,
    ids: readonly string[],
    toTrash: boolean,
  ): Promise<void> {
    const rows = await editRows(tx, account, ids)
    const filed = await foldersOf(
      tx,
      [...rows.values()].map(({ n }) => n),
    )
    const only = ids.filter((id) => (filed.get(rows.get(id)?.n ?? 0)?.length ?? 0) === 1)
    const others = ids.filter((id) => !only.includes(id))
    if (others.length > 0) await this.changeIn(tx, account, others, { folders: { remove: [folderId] } })
    if (only.length === 0) return
    const trash = (await this.#deps.folders.keys(account, tx)).find(({ role }) => role === 'trash')!
    if (toTrash) await this.changeIn(tx, account, only, { folders: { set: [trash.id] } })
    else await this.eraseIn(tx, account, only)
  }

  /** Ids of messages in a folder, the oldest there first: to go through it in pieces. */
  async inFolder(reader: Reader, account: Account, folderId: string, limit: number): Promise<string[]> {
    const folder = (await this.#deps.folders.keys(account, reader)).find(({ id }) => id === folderId)
    return folder === undefined ? [] : idsOf(reader, await messagesIn(reader, folder.n, limit))
  }

  async #apply(
    tx: Tx,
    account: Account,
    row: EditRow,
    before: readonly FolderKey[],
    { keywords, folders }: MessageTarget,
    touched: Touched,
  ): Promise<void> {
    const isSame = sameSet(keywords, row.keywords)
    const left = before.filter(({ n }) => !folders.some((folder) => folder.n === n))
    const entered = folders.filter(({ n }) => !before.some((folder) => folder.n === n))
    if (isSame && left.length === 0 && entered.length === 0) return
    for (const { n } of left) await takeFromFolder(tx, n, row.n)
    for (const { n } of entered) await addToFolder(tx, n, row, this.#deps.clock.now())
    await writeEdit(tx, account, row, { keywords, listed: folders.some(isOutside) })
    touched.messages.push({ type: 'messages', n: row.n, object: row.id, kind: 'updated' })
    touched.threads.add(row.thread)
    // Labels and the other flags are in no count.
    const isRead = (list: readonly string[]) => list.includes(FLAG_KEYWORDS.seen)
    const isCounted = left.length + entered.length > 0 || isRead(keywords) !== isRead(row.keywords)
    if (isCounted) touched.counted.add(row.thread)
  }

  /** Counts threads and folders anew where that may change them, and tells the ledger; nothing where nothing changed. */
  async #tell(tx: Tx, account: Account, known: readonly Named[], touched: Touched): Promise<void> {
    if (touched.messages.length === 0) return
    const told: Change[] = [...touched.messages]
    const changedFolders = new Set<number>()
    const uncounted = [...touched.threads.difference(touched.counted)]
    for (const [n, object] of await threadIdsOf(tx, uncounted)) {
      told.push({ type: 'threads', n, object, kind: 'updated' })
    }
    for (const thread of touched.counted) {
      const messages = await threadMessages(tx, thread)
      const deps = await partsOf(tx, new Map(messages.map(({ n, seen }) => [n, seen])))
      const { id, gone, lastReceivedAt } = await recountThread(tx, thread, messages)
      for (const folder of await countInFolders(tx, thread, deps, lastReceivedAt)) changedFolders.add(folder)
      told.push({ type: 'threads', n: thread, object: id, kind: gone ? 'destroyed' : 'updated' })
    }
    for (const { n, id } of known) {
      if (changedFolders.has(n)) told.push({ type: 'folders', n, object: id, kind: 'updated', countsOnly: true })
    }
    const types = new Set<ChangeType>(told.map(({ type }) => type))
    if (touched.count !== 0) types.add('quotas')
    const seq = await this.#deps.accounts.advance(tx, account.n, [...types], {
      bytes: touched.bytes,
      messages: touched.count,
    })
    await this.#deps.changes.record(tx, account.n, seq, told, this.#deps.clock.now())
  }
}

/** How a message is to be. */
interface MessageTarget {
  keywords: string[]
  folders: FolderKey[]
}

function editTargetOf(
  row: EditRow,
  before: readonly FolderKey[],
  known: readonly Named[],
  change: MessageChange,
): MessageTarget | { refused: EditRefusal } {
  const keywords = changed(row.keywords, change.keywords)
  if (keywords.length > KEYWORDS_MAX) return refused('keywords', `A message has at most ${KEYWORDS_MAX} keywords.`)
  const ids = changed(
    before.map(({ id }) => id),
    change.folders ?? moved(row.keywords, keywords, before, known),
  )
  const folders = ids.flatMap((id) => known.find((folder) => folder.id === id) ?? [])
  if (folders.length < ids.length) return refused('folders', 'There is no such folder.')
  if (folders.length === 0) return refused('folders', 'A message lies in at least one folder.')
  if (folders.length > FOLDERS_MAX) return refused('folders', `A message lies in at most ${FOLDERS_MAX} folders.`)
  // Each of the two takes the other back.
  const added = keywords.filter((keyword) => !row.keywords.includes(keyword))
  const dropped = added.includes(JUNK) ? NOT_JUNK : added.includes(NOT_JUNK) ? JUNK : null
  return { keywords: keywords.filter((keyword) => keyword !== dropped), folders }
}

/** Marking as junk moves to Junk, marking as not junk moves from there to the Inbox (decisions §10.3). */
function moved(
  before: readonly string[],
  after: readonly string[],
  folders: readonly FolderKey[],
  known: readonly Named[],
): MessageChange['folders'] {
  const isNew = (keyword: string) => after.includes(keyword) && !before.includes(keyword)
  const idOf = (role: string) => known.find((folder) => folder.role === role)!.id
  if (isNew(JUNK)) return { set: [idOf('junk')] }
  const isJunk = folders.some(({ role }) => role === 'junk')
  return isNew(NOT_JUNK) && isJunk ? { remove: [idOf('junk')], add: [idOf('inbox')] } : undefined
}

function changed(
  before: readonly string[],
  change: { add?: readonly string[]; remove?: readonly string[] } | { set: readonly string[] } | undefined,
): string[] {
  if (change === undefined) return [...before]
  if ('set' in change) return [...new Set(change.set)]
  const removed = new Set(change.remove ?? [])
  return [...new Set([...before.filter((one) => !removed.has(one)), ...(change.add ?? [])])]
}

function refused(about: EditRefusal['about'], message: string): { refused: EditRefusal } {
  return { refused: { about, code: 'validation_error', message } }
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item) => other.includes(item))
}

function isOutside({ role }: FolderKey): boolean {
  return role !== 'junk' && role !== 'trash'
}
