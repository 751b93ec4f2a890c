// Delivers an incoming message to mailboxes: stores the content first, then all copies in one unit of work.

import type { Clock } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import type { Db, Tx } from '../db/db.ts'
import type { SieveOutcome } from '../sieve/outcome.ts'
import type { Inspection } from '../workers/inspection.ts'
import type { Accounts } from './accounts.ts'
import type { BlobNames } from './blob-names.ts'
import type { Blobs } from './blobs.ts'
import type { ChangeLedger } from './changes.ts'
import { type DeliveryFolders, resolveFolders } from './delivery-folders.ts'
import { storeMessage } from './file-message.ts'
import type { Folders } from './folders.ts'
import type { FolderEdits } from './folders-edits.ts'
import { flagsOf } from './messages/keywords.ts'
import { RecentCopies } from './recent-copies.ts'
import type { Account, MessageAuthentication } from './records.ts'
import type { JoinedThread } from './threads/join.ts'

/** An inspected message with its envelope. */
export interface IncomingMessage {
  inspection: Inspection
  /** "" for the null sender. */
  mailFrom: string
  receivedAt: number
  /** `eml_…` of a message that this appliance sent: each mailbox gets one copy of it, even if the delivery is repeated. */
  emailId?: string
}

/** A mailbox that gets a copy, with the decision for this recipient. */
export interface DeliveryTarget {
  mailboxId: string
  rcptTo: string
  /** Address of the mailbox itself, which differs from `rcptTo` for tags and aliases. */
  email: string
  quotaBytes: number
  junk: boolean
  authentication: MessageAuthentication
  spam: { score: number; isSpam: boolean; reasons: string[] }
  /** Outcome of the mailbox's Sieve script; left out without a script. */
  scriptOutcome?: SieveOutcome | null
}

/**
 * The outcome for one copy. `duplicate` names the message stored earlier; `full` (over quota) and `discarded` (by the mailbox's
 * script) store nothing.
 */
export interface DeliveryResult {
  mailboxId: string
  rcptTo: string
  outcome: 'stored' | 'duplicate' | 'full' | 'discarded'
  /** The copy is in Junk and in no other folder. */
  junk: boolean
  /** Why the mailbox's script was aborted, one sentence; null if it was not. */
  scriptError: string | null
  messageId: string | null
  /** Only for `stored`: ids of the folders, and of the attachments in the order of the message. */
  folderIds: readonly string[]
  attachmentIds: readonly string[]
  threadId: string | null
  threadBy: 'id' | 'subject' | 'new' | null
  threadRef: string | null
  /** The mailbox's vacation response is active. */
  isAway: boolean
}

/** Invalidates sign-in links by their tokens, in the unit of work that makes the message readable. */
export type CloseLinks = (tx: Tx, tokens: readonly string[]) => void

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  folders: Folders
  folderEdits: FolderEdits
  changes: ChangeLedger
  blobs: Blobs
  names: BlobNames
  closeLinks: CloseLinks
}

export class Deliverer {
  readonly #deps: Deps
  readonly #copies: RecentCopies

  constructor(deps: Deps) {
    this.#deps = deps
    this.#copies = new RecentCopies(deps.clock)
  }

  /**
   * Stores one copy per target. All copies and the writes of `record` are one unit of work: all are durable or none is.
   * @param record runs inside the unit of work, after the last copy
   * @returns results in the order of the targets, after the commit
   */
  async deliver(
    message: IncomingMessage,
    targets: readonly DeliveryTarget[],
    record: (tx: Tx, results: DeliveryResult[]) => void,
  ): Promise<DeliveryResult[]> {
    const { db, blobs, closeLinks } = this.#deps
    const { hash, sizeBytes, chunks, linkTokens } = message.inspection
    if (targets.some((target) => !isDiscarded(target))) await blobs.put(hash, sizeBytes, chunks)
    return db.write((tx) => {
      this.#copies.prune(tx)
      // Forwarded messages too: a link that a mailbox key can read must not sign in a person.
      if (linkTokens.length > 0) closeLinks(tx, linkTokens)
      const results: DeliveryResult[] = []
      for (const target of targets) results.push(this.#deliverCopy(tx, message, target))
      record(tx, results)
      return results
    })
  }

  /** Deletes the duplicate-detection rows of a deleted account. See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>, limit: number): number {
    return this.#copies.purgeIn(tx, account.n, limit)
  }

  #deliverCopy(tx: Tx, message: IncomingMessage, target: DeliveryTarget): DeliveryResult {
    const { accounts, clock } = this.#deps
    const account = accounts.byMailbox(target.mailboxId, tx)
    if (!account) throw new Error(`Mailbox ${target.mailboxId} has no account.`)
    const base = {
      mailboxId: target.mailboxId,
      rcptTo: target.rcptTo,
      messageId: null,
      junk: false,
      scriptError: null,
      folderIds: [],
      attachmentIds: [],
      threadId: null,
      threadBy: null,
      threadRef: null,
      isAway: account.isAway,
    }
    const isOver = account.usedBytes + message.inspection.sizeBytes > target.quotaBytes
    if (isOver || isDiscarded(target)) {
      const earlier = this.#copies.find(tx, account.n, message)
      if (earlier !== undefined) return { ...base, outcome: 'duplicate', messageId: earlier }
      if (isDiscarded(target)) return { ...base, outcome: 'discarded' }
      accounts.markFull(tx, account.n, clock.now())
      return { ...base, outcome: 'full' }
    }
    const id = newId('message')
    const earlier = this.#copies.record(tx, account.n, message, id)
    if (earlier !== undefined) return { ...base, outcome: 'duplicate', messageId: earlier }
    const { filing, attachmentIds, joined } = this.#storeCopy(tx, id, account, message, target)
    return {
      ...base,
      outcome: 'stored',
      messageId: id,
      junk: isJunk(filing),
      scriptError: filing.error,
      folderIds: filing.folders.map((folder) => folder.id),
      attachmentIds,
      threadId: joined.id,
      threadBy: joined.by,
      threadRef: joined.ref,
    }
  }

  #storeCopy(
    tx: Tx,
    id: string,
    account: Account,
    message: IncomingMessage,
    target: DeliveryTarget,
  ): { filing: DeliveryFolders; attachmentIds: string[]; joined: JoinedThread } {
    const { clock, folders, names } = this.#deps
    const { inspection, receivedAt } = message
    const defaultFolder = folders.byRole(account.n, target.junk ? 'junk' : 'inbox', tx)
    const { scriptOutcome = null } = target
    const filing = resolveFolders(tx, this.#deps, account, { scriptOutcome, defaultFolder })
    const { keywords } = filing
    const { attachmentIds, joined } = storeMessage(tx, this.#deps, {
      id,
      account: account.n,
      folders: filing.folders,
      ownAddresses: [target.email, target.rcptTo].map((address) => address.toLowerCase()),
      blob: inspection.hash,
      nameOf: names.of(account.mailboxId),
      sizeBytes: inspection.sizeBytes,
      parsed: inspection.message,
      envelope: { mailFrom: message.mailFrom, rcptTo: target.rcptTo },
      authentication: target.authentication,
      spam: target.spam,
      keywords: isJunk(filing) ? [...keywords, '$junk'] : keywords,
      flags: flagsOf(keywords),
      receivedAt,
      createdAt: clock.now(),
    })
    return { filing, attachmentIds, joined }
  }
}

function isDiscarded({ scriptOutcome }: DeliveryTarget): boolean {
  return scriptOutcome?.targets.length === 0
}

function isJunk({ folders }: DeliveryFolders): boolean {
  return folders.every(({ role }) => role === 'junk')
}
