// Puts an arriving mail into mailboxes: content first, then every copy in one unit of work.

import type { Clock } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import type { Db, Tx } from '../db/db.ts'
import type { SieveOutcome } from '../sieve/outcome.ts'
import type { Inspection } from '../workers/inspection.ts'
import type { Accounts } from './accounts.ts'
import type { BlobNames } from './blob-names.ts'
import type { Blobs } from './blobs.ts'
import type { ChangeLedger } from './changes.ts'
import { type DeliveryFolders, resolveFolders } from './filing.ts'
import type { Folders } from './folders.ts'
import type { FolderEdits } from './folders-edit.ts'
import { flagsOf } from './messages/keywords.ts'
import { storeMessage } from './place.ts'
import { RecentCopies } from './recent-copies.ts'
import type { Account, MessageAuthentication } from './records.ts'
import type { Joined } from './threads/join.ts'

/** The mail as it was inspected, and the envelope it came in. */
export interface IncomingMessage {
  inspection: Inspection
  /** "" for the null sender. */
  mailFrom: string
  receivedAt: number
  /** `eml_…` of a message that was sent from here: each mailbox gets one copy of it, however often it is delivered. */
  emailId?: string
}

/** One mailbox that gets a copy, and how the judgement turned out for it. */
export interface DeliverTarget {
  mailboxId: string
  rcptTo: string
  /** Address of the mailbox itself, which differs from `rcptTo` for tags and aliases. */
  email: string
  quotaBytes: number
  junk: boolean
  authentication: MessageAuthentication
  spam: { score: number; isSpam: boolean; reasons: string[] }
  /** What the script of the mailbox says; left out where there is none. */
  ruling?: SieveOutcome | null
}

/**
 * What became of one copy. `duplicate` names the message that was there already; `full` stored nothing, `discarded` neither,
 * because the script of the mailbox said so.
 */
export interface Delivered {
  mailboxId: string
  rcptTo: string
  outcome: 'stored' | 'duplicate' | 'full' | 'discarded'
  /** Whether it lies in Junk and nowhere else. */
  junk: boolean
  /** Why the script of the mailbox was given up, one sentence; null where it was not. */
  scriptFault: string | null
  messageId: string | null
  /** Ids of what was stored, none for the other outcomes: the folders, and attachments in the order of the mail. */
  folderIds: readonly string[]
  attachmentIds: readonly string[]
  threadId: string | null
  threadBy: 'id' | 'subject' | 'new' | null
  threadRef: string | null
  /** The mailbox answers by itself at the moment. */
  isAway: boolean
}

/** Ends links that sign in, by their secrets, in the unit of work that makes the message readable. */
export type CloseLinks = (tx: Tx, tokens: readonly string[]) => Promise<void>

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
   * Stores one copy per target. All of them and whatever `note` writes are one unit of work: durable together or not at all.
   * @param note runs inside the unit of work, after the last copy
   * @returns the outcomes in the order of the targets, after the commit
   */
  async deliver(
    mail: IncomingMessage,
    targets: readonly DeliverTarget[],
    note: (tx: Tx, delivered: Delivered[]) => Promise<void>,
  ): Promise<Delivered[]> {
    const { db, blobs, closeLinks } = this.#deps
    const { hash, sizeBytes, chunks, linkTokens } = mail.inspection
    if (targets.some((target) => !isDiscarded(target))) await blobs.put(hash, sizeBytes, chunks)
    return db.write(async (tx) => {
      await this.#copies.prune(tx)
      // Forwarded mail too: what a key of a mailbox can read never signs in a person.
      if (linkTokens.length > 0) await closeLinks(tx, linkTokens)
      const delivered: Delivered[] = []
      for (const target of targets) delivered.push(await this.#one(tx, mail, target))
      await note(tx, delivered)
      return delivered
    })
  }

  /** Erases what is remembered of the copies of an account that ends. See `PurgePart`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>, limit: number): Promise<number> {
    return this.#copies.purgeIn(tx, account.n, limit)
  }

  async #one(tx: Tx, mail: IncomingMessage, target: DeliverTarget): Promise<Delivered> {
    const { accounts, clock } = this.#deps
    const account = await accounts.byMailbox(target.mailboxId, tx)
    if (!account) throw new Error(`Mailbox ${target.mailboxId} has no account.`)
    const copy = {
      mailboxId: target.mailboxId,
      rcptTo: target.rcptTo,
      messageId: null,
      junk: false,
      scriptFault: null,
      folderIds: [],
      attachmentIds: [],
      threadId: null,
      threadBy: null,
      threadRef: null,
      isAway: account.isAway,
    }
    const known = await this.#copies.find(tx, account.n, mail)
    if (known !== undefined) return { ...copy, outcome: 'duplicate', messageId: known }
    if (isDiscarded(target)) return { ...copy, outcome: 'discarded' }
    if (account.usedBytes + mail.inspection.sizeBytes > target.quotaBytes) {
      await accounts.markFull(tx, account.n, clock.now())
      return { ...copy, outcome: 'full' }
    }
    const { id, filing, attachmentIds, joined } = await this.#keep(tx, account, mail, target)
    await this.#copies.remember(tx, account.n, mail, id)
    return {
      ...copy,
      outcome: 'stored',
      messageId: id,
      junk: isJunk(filing),
      scriptFault: filing.fault,
      folderIds: filing.folders.map((folder) => folder.id),
      attachmentIds,
      threadId: joined.id,
      threadBy: joined.by,
      threadRef: joined.ref,
    }
  }

  async #keep(
    tx: Tx,
    account: Account,
    mail: IncomingMessage,
    target: DeliverTarget,
  ): Promise<{ id: string; filing: DeliveryFolders; attachmentIds: string[]; joined: Joined }> {
    const { clock, folders, names } = this.#deps
    const { inspection, receivedAt } = mail
    const id = newId('message')
    const usual = await folders.byRole(account.n, target.junk ? 'junk' : 'inbox', tx)
    const filing = await resolveFolders(tx, this.#deps, account, { ruling: target.ruling ?? null, usual })
    const { keywords } = filing
    const { attachmentIds, joined } = await storeMessage(tx, this.#deps, {
      id,
      account: account.n,
      folders: filing.folders,
      own: [target.email, target.rcptTo].map((address) => address.toLowerCase()),
      blob: inspection.hash,
      nameOf: names.of(account.mailboxId),
      sizeBytes: inspection.sizeBytes,
      mail: inspection.message,
      envelope: { mailFrom: mail.mailFrom, rcptTo: target.rcptTo },
      authentication: target.authentication,
      spam: target.spam,
      keywords: isJunk(filing) ? [...keywords, '$junk'] : keywords,
      flags: flagsOf(keywords),
      receivedAt,
      createdAt: clock.now(),
    })
    return { id, filing, attachmentIds, joined }
  }
}

function isDiscarded({ ruling }: DeliverTarget): boolean {
  return ruling?.targets.length === 0
}

function isJunk({ folders }: DeliveryFolders): boolean {
  return folders.every(({ role }) => role === 'junk')
}
