// Drafts: messages in the folder Drafts that can be edited. The message is what other programs see; the row has what a message cannot
// say, and both are replaced together. A draft exists exactly as long as its message does, and can be used while that is in Drafts.

import type { Clock } from '../../base/clock.ts'
import { conflict } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { pageOf } from '../../db/page.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { Address, ParsedMessage } from '../../mime/message.ts'
import type { BlobNames } from '../content/blob-names.ts'
import type { NamedContent } from '../content/blobs.ts'
import { foldersByMessage, isMessageInFolder } from '../entries/folders-entries.ts'
import { flagsOf } from '../entries/keywords.ts'
import { editRows } from '../messages/edit-rows.ts'
import type { MessageEdits } from '../messages/edits.ts'
import { storeMessages } from '../messages/file-message.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { ChangeLedger } from '../rows/changes.ts'
import type { FolderKey, Folders } from '../rows/folders.ts'
import type { Account, MessageAuthentication, Page, PageKey } from '../rows/records.ts'

/** Maximum number of drafts of a mailbox. */
export const DRAFTS_MAX = 200

/** A file of a draft, by reference to content of the mailbox. */
export interface DraftFile {
  blobId: string
  filename: string
  /** Null: by the extension of the name. */
  type: string | null
  disposition: 'attachment' | 'inline'
  /** Without angle brackets. */
  contentId: string | null
}

/** What a draft has besides its two bodies. */
export interface DraftMembers {
  /** `idn_…`; null: that of `from`, or the primary one. */
  identityId: string | null
  /** The author; null: the address and name of the identity. */
  from: Address | null
  to: Address[]
  cc: Address[]
  /** Null: those of the identity. */
  bcc: Address[] | null
  replyTo: Address[] | null
  subject: string
  attachments: DraftFile[]
  /** `msg_…` of the message it replies to. */
  inReplyTo: string | null
  /** The message that is quoted below the text, if `all`. */
  quote: { messageId: string; mode: 'all' | 'none' } | null
  forward: { messageId: string; mode: 'inline' | 'attached' } | null
  /** ms */
  sendAt: number | null
  undoSeconds: number
  /** UTF-8 bytes of the bodies in their content, the text first; null: there is none. */
  textBytes: number | null
  htmlBytes: number | null
}

export interface StoredDraft {
  n: number
  /** `dft_…` */
  id: string
  messageId: string
  /** Grows with each edit. */
  revision: number
  members: DraftMembers
  /** SHA-256 of the bodies; null without any. */
  bodies: Uint8Array | null
  /** ms */
  createdAt: number
  updatedAt: number
}

/** What a draft was composed from; its bodies are in the blob store. */
export type DraftSource = Pick<StoredDraft, 'members' | 'bodies'>

/** A new or edited draft; its contents are in the blob store. */
export interface DraftContent extends DraftSource {
  /** The composed message. */
  message: { parsed: ParsedMessage; bcc: readonly Address[]; hash: Uint8Array; sizeBytes: number }
  /** Number of the thread it belongs to; undefined: its own, or that of its earlier version. */
  thread: number | undefined
}

/** The mailbox of a draft. */
export interface DraftTarget {
  account: Account
  /** Lower-case. */
  ownAddresses: readonly string[]
  quotaBytes: number
}

interface DraftRow {
  n: number
  id: string
  message_id: string
  revision: number
  members: string
  bodies: Uint8Array | null
  created_at: number
  updated_at: number
}

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  folders: Folders
  changes: ChangeLedger
  edits: MessageEdits
  names: BlobNames
}

// Not checked: the message was not received.
const LOCAL: MessageAuthentication = {
  ...{ spf: 'none', dkim: 'none', dmarc: 'none', arc: 'none' },
  fromAligned: true,
  reasons: ['Written in this mailbox.'],
}
const COLUMNS = 'n, id, message_id, revision, members, bodies, created_at, updated_at'

export class Drafts {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The last edited first. */
  list(account: Account, { limit, after }: { limit: number; after: PageKey | null }): Page<StoredDraft> {
    const isUsable = this.#isUsable(account, this.#deps.db.read)
    const rows = this.#deps.db.read.all<DraftRow>(
      `SELECT ${COLUMNS} FROM drafts d WHERE account = ? AND ${isUsable.sql}${after ? ' AND (updated_at, n) < (?, ?)' : ''}
       ORDER BY updated_at DESC, n DESC LIMIT ?`,
      [account.n, ...isUsable.values, ...(after ?? []), limit + 1],
    )
    return pageOf(rows, limit, (row) => [row.updated_at, row.n], present)
  }

  /** Undefined if there is none, or its message is not in Drafts. */
  get(account: Account, id: string, reader: Reader = this.#deps.db.read): StoredDraft | undefined {
    return this.#find(account, 'id', id, reader)
  }

  /** The draft of a message in Drafts. */
  byMessage(account: Account, messageId: string, reader: Reader = this.#deps.db.read): StoredDraft | undefined {
    return this.#find(account, 'message_id', messageId, reader)
  }

  /** Whether a message is in Drafts. */
  isInDrafts(account: Account, messageId: string, reader: Reader = this.#deps.db.read): boolean {
    const { sql, values } = isMessageInFolder('?', this.#deps.folders.byRole(account.n, 'drafts', reader).n)
    return reader.get<{ found: number }>(`SELECT ${sql} AS found`, [messageId, ...values])!.found === 1
  }

  /** @param id `dft_…` @throws ProductError conflict if there are too many drafts, or the mailbox is full */
  create(tx: Tx, target: DraftTarget, id: string, content: DraftContent): void {
    const { account } = target
    this.#requireRoom(tx, account)
    const drafts = this.#deps.folders.byRole(account.n, 'drafts', tx)
    const messageId = this.#file(tx, target, content, { folders: [drafts], keywords: ['$draft', '$seen'], freed: 0 })
    this.#insert(tx, account, id, messageId, content)
  }

  /**
   * Makes a draft of a message in Drafts, which stays as it is.
   * @param draft `id`: `dft_…`
   * @throws ProductError conflict if there are too many drafts
   */
  open(tx: Tx, account: Account, { id, messageId }: { id: string; messageId: string }, content: DraftSource): void {
    this.#requireRoom(tx, account)
    // Of a message that was sent, and moved to Drafts later.
    tx.run('DELETE FROM drafts WHERE message_id = ? AND account = ?', [messageId, account.n])
    this.#insert(tx, account, id, messageId, content)
  }

  /**
   * Replaces the content of a draft: a new message takes the place of the earlier one, in its folders and with its keywords.
   * @param current as read in the same unit of work
   * @throws ProductError conflict if the mailbox is full
   */
  replace(tx: Tx, target: DraftTarget, current: StoredDraft, content: DraftContent): void {
    const { clock, edits } = this.#deps
    const { account } = target
    const before = editRows(tx, account, [current.messageId]).get(current.messageId)!
    const folders = foldersByMessage(tx, [before.n]).get(before.n)!
    const { keywords, sizeBytes: freed, thread } = before
    const messageId = this.#file(
      tx,
      target,
      { ...content, thread: content.thread ?? thread },
      { folders, keywords, freed },
    )
    tx.run(
      'UPDATE drafts SET message_id = ?, revision = revision + 1, members = ?, bodies = ?, updated_at = ? WHERE n = ?',
      [...[messageId, JSON.stringify(content.members), content.bodies], ...[clock.now(), current.n]],
    )
    edits.deleteIn(tx, account, [current.messageId])
  }

  /** Deletes a draft with its message. */
  remove(tx: Tx, account: Account, { messageId }: StoredDraft): void {
    this.#deps.edits.deleteIn(tx, account, [messageId])
  }

  /**
   * Removes a draft that was accepted for sending. Until `until` (ms) its row stays with the copy in Sent: if the submission is canceled,
   * that copy moves to Drafts, and the draft is there again.
   */
  removeSent(tx: Tx, account: Account, { n, messageId }: StoredDraft, copyId: string | null, until: number): void {
    const now = this.#deps.clock.now()
    tx.run('DELETE FROM drafts WHERE account = ? AND sent_until < ?', [account.n, now])
    if (copyId !== null && until > now) {
      tx.run('UPDATE drafts SET message_id = ?, sent_until = ? WHERE n = ?', [copyId, until, n])
    }
    this.#deps.edits.deleteIn(tx, account, [messageId])
  }

  /** Keeps the draft of a message whose submission was canceled. */
  keepCanceled(tx: Tx, account: Account, messageId: string): void {
    tx.run('UPDATE drafts SET sent_until = NULL, revision = revision + 1 WHERE message_id = ? AND account = ?', [
      ...[messageId, account.n],
    ])
  }

  /** The draft belongs to another message from now on. */
  moveTo(tx: Tx, account: Account, from: string, to: string): void {
    tx.run('UPDATE drafts SET message_id = ? WHERE message_id = ? AND account = ?', [to, from, account.n])
  }

  /** The hashes that a draft refers to, as hex. */
  async namedBlobs(hashes: readonly Uint8Array[]): Promise<Set<string>> {
    if (hashes.length === 0) return new Set()
    const rows = await this.#deps.db.scan.all<{ bodies: Uint8Array }>(
      `SELECT DISTINCT bodies FROM drafts WHERE bodies IN (${placeholders(hashes)})`,
      hashes,
    )
    return new Set(rows.map(({ bodies }) => Buffer.from(bodies).toString('hex')))
  }

  #find(account: Account, column: 'id' | 'message_id', value: string, reader: Reader): StoredDraft | undefined {
    const isUsable = this.#isUsable(account, reader)
    const row = reader.get<DraftRow>(
      `SELECT ${COLUMNS} FROM drafts d WHERE ${column} = ? AND account = ? AND ${isUsable.sql}`,
      [value, account.n, ...isUsable.values],
    )
    return row && present(row)
  }

  #isUsable(account: Account, reader: Reader) {
    const { sql, values } = isMessageInFolder('d.message_id', this.#deps.folders.byRole(account.n, 'drafts', reader).n)
    return { sql: `d.sent_until IS NULL AND ${sql}`, values }
  }

  #requireRoom(tx: Tx, account: Account): void {
    const isUsable = this.#isUsable(account, tx)
    const row = tx.get<{ count: number }>(
      `SELECT count(*) AS count FROM drafts d WHERE account = ? AND ${isUsable.sql}`,
      [...[account.n, ...isUsable.values]],
    )
    if (row!.count >= DRAFTS_MAX) throw conflict(`A mailbox has at most ${DRAFTS_MAX} drafts. Send or delete some.`)
  }

  #insert(tx: Tx, account: Account, id: string, messageId: string, { members, bodies }: DraftSource): void {
    const now = this.#deps.clock.now()
    tx.insert('drafts', {
      ...{ id, account: account.n, message_id: messageId, revision: 1, members: JSON.stringify(members), bodies },
      ...{ created_at: now, updated_at: now },
    })
  }

  /** Stores the message. @param as `freed`: bytes of the message it replaces @returns its id */
  #file(
    tx: Tx,
    { account, ownAddresses, quotaBytes }: DraftTarget,
    { message, thread }: DraftContent,
    as: { folders: readonly FolderKey[]; keywords: readonly string[]; freed: number },
  ): string {
    const { accounts, clock, names } = this.#deps
    const { usedBytes } = accounts.byMailbox(account.mailboxId, tx)!
    if (usedBytes - as.freed + message.sizeBytes > quotaBytes) {
      throw conflict('The mailbox quota has no room for the draft. Delete messages first.')
    }
    const id = newId('message')
    const now = clock.now()
    storeMessages(tx, this.#deps, [
      {
        ...{ id, account: account.n, folders: as.folders, ownAddresses, knownThread: thread },
        ...{ blob: message.hash, nameOf: names.of(account.mailboxId), sizeBytes: message.sizeBytes },
        parsed: { ...message.parsed, bcc: [...message.bcc] },
        envelope: { mailFrom: '', rcptTo: '' },
        authentication: LOCAL,
        spam: { score: 0, isSpam: false, reasons: [] },
        keywords: [...as.keywords],
        flags: flagsOf(as.keywords),
        ...{ receivedAt: now, createdAt: now },
      },
    ])
    return id
  }
}

function present(row: DraftRow): StoredDraft {
  return {
    n: row.n,
    id: row.id,
    messageId: row.message_id,
    revision: row.revision,
    // Drafts of earlier versions have no author of their own.
    members: { from: null, ...(JSON.parse(row.members) as Omit<DraftMembers, 'from'>) },
    bodies: row.bodies,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** The next contents of drafts after number `after` (0 at first), at most `limit`, for integrity checks. */
export function draftContents(reader: Reader, after: number, limit: number): NamedContent[] {
  return reader.all('SELECT n, bodies AS hash FROM drafts WHERE n > ? AND bodies IS NOT NULL ORDER BY n LIMIT ?', [
    ...[after, limit],
  ])
}
