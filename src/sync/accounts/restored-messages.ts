// Restores messages that were removed at the server of an outside account: stored here again, and by the worker at the server.

import { conflict, ProductError } from '../../base/errors.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { Directory } from '../../directory/directory.ts'
import { DamagedContent } from '../../store/content/damaged-content.ts'
import { readFully } from '../../store/content/pack-content.ts'
import type { NewFolder } from '../../store/mailbox/folders-edits.ts'
import type { RemovedChoice, RemovedFrom, RemovedMessage } from '../../store/messages/removed.ts'
import type { FolderKey } from '../../store/rows/folders.ts'
import type { Account } from '../../store/rows/records.ts'
import type { Store } from '../../store/store.ts'
import type { MessageReading } from '../../workers/inspection.ts'
import type { Inspector } from '../../workers/inspector.ts'

/** Messages, and their bytes, that one request restores; a single message is restored whatever its size. */
export const RESTORED_MAX = 100
const RESTORED_BYTES = 64 * 1024 * 1024
/** Messages stored in one unit of work. */
const BATCH = 20

export interface RestoreDeps {
  db: Db
  store: Store
  directory: Pick<Directory, 'mailboxes'>
  inspector: Pick<Inspector, 'read'>
}

export interface RestoredMessages {
  /** New ids of the messages by that under which they were held; null for those that were in their folders already. */
  restored: { id: string; messageId: string | null }[]
  /** Ids of messages whose content is damaged. */
  damaged: string[]
  /** Whether the mailbox has no room for the others. */
  isFull: boolean
  /** Chosen messages that another request restores. */
  remaining: number
}

interface ReadMessage {
  held: RemovedMessage
  reading: MessageReading
}

/**
 * Stores messages of a choice again, the last removed first, in the folders they were in. Each is stored and no longer held in one unit of work.
 * @throws ProductError conflict for a mailbox that is suspended or deleted, or that has room for none
 */
export async function restoreRemoved(
  deps: RestoreDeps,
  account: Account,
  choice: RemovedChoice,
): Promise<RestoredMessages> {
  requireWritable(deps, account)
  const result: RestoredMessages = { restored: [], damaged: [], isFull: false, remaining: 0 }
  let [after, bytes, isOver]: [RemovedMessage | null, number, boolean] = [null, 0, false]
  while (!isOver && !result.isFull && result.restored.length < RESTORED_MAX) {
    const limit = Math.min(BATCH, RESTORED_MAX - result.restored.length)
    const page = deps.store.edit.removed.chosen(account, choice, { after, limit })
    if (page.length === 0) break
    const batch: ReadMessage[] = []
    for (const held of page) {
      isOver = bytes > 0 && bytes + held.sizeBytes > RESTORED_BYTES
      if (isOver) break
      const reading = await readUnlessDamaged(deps, held)
      after = held
      bytes += held.sizeBytes
      if (reading === null) result.damaged.push(held.id)
      else batch.push({ held, reading })
    }
    const stored = await deps.db.write((tx) => storeBatch(tx, deps, account, batch))
    result.restored.push(...stored.restored)
    result.isFull = stored.isFull
  }
  if (result.isFull && result.restored.length === 0)
    throw conflict('The mailbox is full. Delete messages or ask for a larger quota, then restore them.')
  result.remaining = remainingOf(deps, account, choice, result)
  return result
}

function requireWritable({ directory, db }: RestoreDeps, { mailboxId }: Account, tx?: Tx) {
  const mailbox = directory.mailboxes.byId(mailboxId, tx ?? db.read)
  if (mailbox === undefined || mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
  if (mailbox.status === 'suspended') throw conflict('The mailbox is suspended: it can be read, but not changed.')
  return mailbox
}

/** One damaged message must not keep the others from being restored. */
async function readUnlessDamaged({ store, inspector }: RestoreDeps, { hash, sizeBytes }: RemovedMessage) {
  try {
    return await inspector.read(sizeBytes, () => readFully(store.blobs.read(hash, 0, sizeBytes), sizeBytes))
  } catch (error) {
    if (error instanceof DamagedContent) return null
    throw error
  }
}

/** Messages that are held no longer were restored by another request. */
function storeBatch(
  tx: Tx,
  deps: RestoreDeps,
  account: Account,
  batch: readonly ReadMessage[],
): Pick<RestoredMessages, 'restored' | 'isFull'> {
  const { imports, removed } = deps.store.edit
  const { email, quotaBytes } = requireWritable(deps, account, tx)
  const held = removed.heldIn(
    tx,
    batch.map((one) => one.held.n),
  )
  const open = batch
    .filter((one) => held.has(one.held.n))
    .map((one) => ({ ...one, folders: foldersFor(tx, deps, account, one.held.folders) }))
  const isFiled = ({ held: { hash }, folders }: (typeof open)[number]) => {
    const numbers = folders.map(({ n }) => n)
    return removed.isFiled(tx, account, hash, numbers)
  }
  const { here = [], gone = [] } = Object.groupBy(open, (one) => (isFiled(one) ? 'here' : 'gone'))
  const stored = imports.importAll(
    tx,
    { account, ownAddresses: [email.toLowerCase()], quotaBytes },
    gone.map(({ held: { bcc, hash, sizeBytes, receivedAt, keywords, ...message }, reading, folders }) => ({
      // Bcc recipients of a sent message are only in its record.
      parsed: { ...reading.message, bcc },
      ...{ hash, sizeBytes, receivedAt, keywords, folders, folderIds: null },
      ...{ authentication: message.authentication, spam: message.spam, envelope: message.envelope },
    })),
  )
  const restored = [
    ...here.map((one) => ({ ...one.held, messageId: null })),
    ...stored.map(({ id }, index) => ({ ...gone[index]!.held, messageId: id })),
  ]
  removed.forgetIn(
    tx,
    restored.map(({ n }) => n),
  )
  return {
    restored: restored.map(({ id, messageId }) => ({ id, messageId })),
    isFull: stored.length < gone.length,
  }
}

/** The folders a message was in: those that were deleted since are created again; the Inbox where they cannot be. */
function foldersFor(tx: Tx, { store }: RestoreDeps, account: Account, from: readonly RemovedFrom[]): FolderKey[] {
  const numbers = new Set(from.map((folder) => folderFor(tx, store, account, folder)))
  const keys = store.read.folders.keys(account, tx)
  const filed = keys.filter(({ n }) => numbers.has(n))
  return filed.length > 0 ? filed : keys.filter(({ role }) => role === 'inbox')
}

function folderFor(
  tx: Tx,
  { read: { folders }, edit: { folders: folderEdits } }: Store,
  account: Account,
  { id, path }: RemovedFrom,
) {
  let all = folders.paths(account, tx)
  const same = all.find((folder) => folder.id === id) ?? all.find((folder) => folder.path === path)
  if (same !== undefined) return same.n
  let parentId: string | null = null
  const names = path.split('/')
  for (const [depth, name] of names.entries()) {
    const above = names.slice(0, depth + 1).join('/')
    const existing = all.find((folder) => folder.path === above)
    const created: string | null = existing?.id ?? createFolder(folderEdits, tx, account, { name, parentId })
    if (created === null) return undefined
    parentId = created
    all = folders.paths(account, tx)
  }
  return all.find((folder) => folder.id === parentId)?.n
}

/** @returns its id; null where it cannot be created */
function createFolder(edits: Store['edit']['folders'], tx: Tx, account: Account, folder: NewFolder): string | null {
  try {
    return edits.createIn(tx, account, folder)
  } catch (error) {
    if (error instanceof ProductError) return null
    throw error
  }
}

/** Messages of the choice that are still held and are not damaged. */
function remainingOf(
  {
    store: {
      edit: { removed },
    },
  }: RestoreDeps,
  account: Account,
  choice: RemovedChoice,
  { damaged }: Pick<RestoredMessages, 'damaged'>,
): number {
  const { ids, since } = choice
  const all = { after: null, limit: RESTORED_MAX }
  const held = ids === undefined ? removed.totals(account, since).messages : removed.chosen(account, choice, all).length
  return held - damaged.length
}
