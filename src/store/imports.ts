// Takes in mail that did not arrive: handed in by a client, or copied from another mailbox. Decisions §10.15.

import type { Clock } from '../base/clock.ts'
import { invalid } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import type { ParsedMessage } from '../mime/message.ts'
import type { Accounts } from './accounts.ts'
import type { BlobNames } from './blob-names.ts'
import type { ChangeLedger } from './changes.ts'
import type { FolderKey, Folders } from './folders.ts'
import { messageHolding } from './messages/contents.ts'
import { FLAG_KEYWORDS } from './messages/keywords.ts'
import { storeMessage } from './place.ts'
import type { Account, Flags, MessageDetail } from './records.ts'

/** A mail that is to be kept as it is; its content is in the content store. */
export interface Imported extends Pick<MessageDetail, 'authentication' | 'spam' | 'envelope'> {
  mail: ParsedMessage
  /** SHA-256 of its bytes. */
  hash: Uint8Array
  sizeBytes: number
  /** Null: the Inbox. */
  folderIds: readonly string[] | null
  /** Lower-case, those of the flags included. */
  keywords: readonly string[]
  /** ms. */
  receivedAt: number
}

/** Whose mailbox it comes into. */
export interface Into {
  account: Account
  /** The mailbox's own addresses, lower-case. */
  own: readonly string[]
  quotaBytes: number
}

/** What became of it: kept, in the mailbox already, or without room. */
export type Taken = { outcome: 'new' | 'held'; id: string } | { outcome: 'full' }

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  folders: Folders
  changes: ChangeLedger
  names: BlobNames
}

/**
 * The way of a delivery (store/deliver.ts) from the content on. It differs in this: nothing is judged, filtered or logged, nobody is told
 * but clients that ask for changes, the same bytes are kept once whenever they come, and the client says where to and since when.
 */
export class Imports {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Id of the newest message with exactly these bytes. */
  async holding(account: Account, hash: Uint8Array, reader: Reader = this.#deps.db.read): Promise<string | undefined> {
    return messageHolding(reader, account, hash)
  }

  /**
   * The folders of these ids, the Inbox where none are named.
   * @throws ProductError validation_error on `folder_ids`
   */
  async folders(account: Account, ids: readonly string[] | null, reader: Reader = this.#deps.db.read) {
    const { folders } = this.#deps
    if (ids === null) return [await folders.byRole(account.n, 'inbox', reader)]
    const keys = await folders.keys(account, reader)
    return ids.map((id, at): FolderKey => {
      const folder = keys.find((key) => key.id === id)
      if (folder === undefined) throw invalid(`folder_ids.${at}`, 'not_found', 'There is no such folder.')
      return folder
    })
  }

  /**
   * Keeps a mail unless the mailbox has it already.
   * @throws ProductError validation_error on `folder_ids`
   */
  async take(tx: Tx, into: Into, imported: Imported): Promise<Taken> {
    const { account, own, quotaBytes } = into
    const held = await this.holding(account, imported.hash, tx)
    if (held !== undefined) return { outcome: 'held', id: held }
    const now = await this.#deps.accounts.byMailbox(account.mailboxId, tx)
    // Decisions §10.9.
    if (now === undefined || now.usedBytes + imported.sizeBytes > quotaBytes) return { outcome: 'full' }
    const { hash: blob, keywords, folderIds, ...rest } = imported
    const id = newId('message')
    await storeMessage(tx, this.#deps, {
      ...rest,
      id,
      account: account.n,
      folders: await this.folders(account, folderIds, tx),
      own,
      blob,
      nameOf: this.#deps.names.of(account.mailboxId),
      keywords: [...keywords],
      flags: flagsOf(keywords),
      createdAt: this.#deps.clock.now(),
    })
    return { outcome: 'new', id }
  }
}

function flagsOf(keywords: readonly string[]): Flags {
  const has = (flag: keyof Flags) => keywords.includes(FLAG_KEYWORDS[flag])
  return { seen: has('seen'), flagged: has('flagged'), draft: has('draft'), answered: has('answered') }
}
