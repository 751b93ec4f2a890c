// Imports messages that were not received by SMTP: uploaded by a client, or copied from another mailbox (docs/design/mailbox.md §15).

import type { Clock } from '../../base/clock.ts'
import { invalid } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import type { ParsedMessage } from '../../mime/message.ts'
import type { BlobNames } from '../content/blob-names.ts'
import { flagsOf } from '../entries/keywords.ts'
import { messageWithContent } from '../messages/contents.ts'
import { type MessageFiling, storeMessages } from '../messages/file-message.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { ChangeLedger } from '../rows/changes.ts'
import type { FolderKey, Folders } from '../rows/folders.ts'
import type { Account, MessageDetail } from '../rows/records.ts'

/** A message to store unchanged; its content is in the blob store. */
export interface ImportedMessage extends Pick<MessageDetail, 'authentication' | 'spam' | 'envelope'> {
  parsed: ParsedMessage
  /** SHA-256 of its bytes. */
  hash: Uint8Array
  sizeBytes: number
  /** Null: the Inbox. */
  folderIds: readonly string[] | null
  /** Lower-case, including those of the flags. */
  keywords: readonly string[]
  /** ms. */
  receivedAt: number
  /** Stores a message that the mailbox has already a second time (APPEND, and COPY into a folder that has it). */
  again?: boolean
}

/** The mailbox to import into. */
export interface ImportTarget {
  account: Account
  /** The mailbox's own addresses, lower-case. */
  ownAddresses: readonly string[]
  quotaBytes: number
}

/** `exists`: the mailbox already has a message with these bytes; `full`: over quota. */
export type ImportResult =
  | { outcome: 'new'; id: string; entries: ImportedEntry[] }
  | { outcome: 'exists'; id: string }
  | { outcome: 'full' }

/** A message of {@link Imports.importAll}. */
export interface StoredImport {
  /** Its number in the store. */
  n: number
  id: string
  threadId: string
  attachmentIds: string[]
}

/** Under which UID a message was added to a folder (APPENDUID, RFC 4315). */
export interface ImportedEntry {
  folder: number
  uid: number
}

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  folders: Folders
  changes: ChangeLedger
  names: BlobNames
}

/**
 * Stores a message like a delivery (delivery.ts) does, with these differences: it is not classified, filtered or logged and triggers no
 * webhook event, a message with the same bytes is stored only once, and the client chooses the folders and the time of receipt.
 */
export class Imports {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Id of the newest message with exactly these bytes. */
  messageWithContent(account: Account, hash: Uint8Array, reader: Reader = this.#deps.db.read): string | undefined {
    return messageWithContent(reader, account, hash)
  }

  /**
   * The folders with these ids; the Inbox for null.
   * @throws ProductError validation_error on `folder_ids`
   */
  folders(account: Account, ids: readonly string[] | null, reader: Reader = this.#deps.db.read) {
    const { folders } = this.#deps
    if (ids === null) return [folders.byRole(account.n, 'inbox', reader)]
    const keys = folders.keys(account, reader)
    return ids.map((id, index): FolderKey => {
      const folder = keys.find((key) => key.id === id)
      if (folder === undefined)
        throw invalid(`folder_ids.${index}`, 'not_found', 'No folder of this mailbox has this id.')
      return folder
    })
  }

  /**
   * Stores a message unless the mailbox already has it, or `again` is set.
   * @throws ProductError validation_error on `folder_ids`
   */
  import(tx: Tx, target: ImportTarget, imported: ImportedMessage): ImportResult {
    const { account, ownAddresses, quotaBytes } = target
    const existing = imported.again ? undefined : this.messageWithContent(account, imported.hash, tx)
    if (existing !== undefined) return { outcome: 'exists', id: existing }
    const current = this.#deps.accounts.byMailbox(account.mailboxId, tx)
    // docs/design/mailbox.md §9.
    if (current === undefined || current.usedBytes + imported.sizeBytes > quotaBytes) return { outcome: 'full' }
    const folders = this.folders(account, imported.folderIds, tx)
    const filing = this.#filing({ account, ownAddresses }, imported, folders)
    const [stored] = storeMessages(tx, this.#deps, [filing])
    const { uids } = stored!
    return { outcome: 'new', id: filing.id, entries: folders.map(({ n }, index) => ({ folder: n, uid: uids[index]! })) }
  }

  /**
   * Stores messages with few statements, each as a new one whatever the mailbox has already, up to the first that does not fit its quota.
   * @param all each with its folders, which exist
   * @returns those that were stored, in order: fewer than given when the mailbox is full
   */
  importAll(
    tx: Tx,
    { account, ownAddresses, quotaBytes }: ImportTarget,
    all: readonly (ImportedMessage & { folders: readonly FolderKey[] })[],
  ): StoredImport[] {
    const current = this.#deps.accounts.byMailbox(account.mailboxId, tx)
    if (current === undefined) return []
    const filings: MessageFiling[] = []
    let used = current.usedBytes
    for (const { folders, ...imported } of all) {
      used += imported.sizeBytes
      if (used > quotaBytes) break
      filings.push(this.#filing({ account, ownAddresses }, imported, folders))
    }
    const filed = storeMessages(tx, this.#deps, filings)
    return filed.map(({ n, attachmentIds, joined }, index) => {
      return { n, id: filings[index]!.id, threadId: joined.id, attachmentIds }
    })
  }

  #filing(
    { account, ownAddresses }: Pick<ImportTarget, 'account' | 'ownAddresses'>,
    { hash: blob, keywords, folderIds: _, again: __, ...rest }: ImportedMessage,
    folders: readonly FolderKey[],
  ): MessageFiling {
    return {
      ...rest,
      id: newId('message'),
      account: account.n,
      folders,
      ownAddresses,
      blob,
      nameOf: this.#deps.names.of(account.mailboxId),
      keywords: [...keywords],
      flags: flagsOf(keywords),
      createdAt: this.#deps.clock.now(),
    }
  }
}
