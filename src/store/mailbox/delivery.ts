// Delivers an incoming message to mailboxes: stores the content first, then all copies in one unit of work.

import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import { WriteBatches } from '../../base/write-batches.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { AddressStep } from '../../directory/mailboxes/receiver.ts'
import type { SieveOutcome } from '../../sieve/outcome.ts'
import type { ScriptNotification, ScriptVacation } from '../../sieve/script.ts'
import type { InspectedContent, Inspection } from '../../workers/inspection.ts'
import type { BlobNames } from '../content/blob-names.ts'
import type { Blobs } from '../content/blobs.ts'
import { flagsOf } from '../entries/keywords.ts'
import { type FiledMessage, type MessageFiling, storeMessages } from '../messages/file-message.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { ChangeLedger } from '../rows/changes.ts'
import type { ArrivalFolders, Folders } from '../rows/folders.ts'
import type { Account, MessageAuthentication, MessageSpam } from '../rows/records.ts'
import { type DeliveryFolders, resolveFolders } from './delivery-folders.ts'
import type { FolderEdits } from './folders-edits.ts'
import type { ForwardingRecord, ForwardingSetting } from './forwarded.ts'
import { RecentCopies } from './recent-copies.ts'

/** An inspected message with its envelope. */
export interface IncomingMessage {
  inspection: Inspection
  /** "" for the null sender. */
  mailFrom: string
  receivedAt: number
  /** `eml_…` of a message that this appliance sent: each mailbox gets one copy of it, even if the delivery is repeated. */
  emailId?: string
  /** It was sent to a bounce address, and goes to the mailbox that sent the message it is about. */
  isToReportAddress?: boolean
}

/** A mailbox that gets a copy, with the decision for this recipient. */
export interface DeliveryTarget {
  mailboxId: string
  rcptTo: string
  /** The address or alias that `rcptTo` leads to, without its tag, lower-case. */
  reached: string
  step: AddressStep
  /** The domain whose pattern led here, for an address that is no mailbox and no alias; null otherwise. */
  patternOf: string | null
  /** Address of the mailbox itself, which differs from `rcptTo` for tags and aliases. */
  email: string
  quotaBytes: number
  junk: boolean
  authentication: MessageAuthentication
  spam: MessageSpam
  /** Outcome of the mailbox's Sieve script; left out without a script. */
  scriptOutcome?: SieveOutcome | null
  /** The message as the script has changed it, stored in place of the one that was received. */
  content?: InspectedContent
  /** Setting of the mailbox or of the alias in `rcptTo`. The store itself forwards nothing (outbound/receive/deliver-received.ts). */
  forward?: ForwardingSetting
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
  /** The message as it is stored, where the script has changed it. */
  changed?: InspectedContent
  /** The automatic reply that the script asks for, where it first had to be decided which of its outcomes holds. */
  vacation?: ScriptVacation
  /** The same for the notifications that it asks for. */
  notifications?: readonly ScriptNotification[]
  /** To whom it was forwarded; null without a redirect or a forwarding setting. The store itself forwards nothing. */
  forwarding: ForwardingRecord | null
}

/** Invalidates sign-in links by their tokens, in the unit of work that makes the message readable. */
export type CloseLinks = (tx: Tx, tokens: readonly string[]) => readonly string[]

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

/** Messages in one unit of work. More would hold up the calling thread for longer than some milliseconds. */
const BATCH_MAX = 32

/**
 * Writes what follows from the copies of a message, in the unit of work that stores them, and again when the unit of work is repeated.
 * @returns the outcome of the delivery: with `Tx.undo` that of one that stores nothing
 */
export type RecordResults<R> = (tx: Tx, results: DeliveryResult[]) => R

interface Delivery {
  message: IncomingMessage
  targets: readonly DeliveryTarget[]
  record: RecordResults<unknown>
}

/** One message for one mailbox. */
interface MessageCopy {
  delivery: Delivery
  message: IncomingMessage
  target: DeliveryTarget
  account: Account
  /** `msg_…` */
  messageId: string
}

/** Why a copy is not stored although it is no duplicate; null if it is stored. */
type NotStored = 'full' | 'discarded' | null

export class Deliverer {
  readonly #deps: Deps
  readonly #recent: RecentCopies
  readonly #batches: WriteBatches<Delivery, unknown>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#recent = new RecentCopies(deps.clock)
    this.#batches = new WriteBatches({
      most: BATCH_MAX,
      overlap: true,
      write: (take) => deps.db.write((tx) => this.#deliverAll(tx, take())),
    })
  }

  /**
   * Stores one copy per target. All copies and the writes of `record` are one unit of work: all are durable or none is. Messages that
   * wait together are stored together.
   * @param record runs after the last copy, with results in the order of the targets
   * @returns the outcome that `record` has returned, after the commit
   */
  async deliver<R>(message: IncomingMessage, targets: readonly DeliveryTarget[], record: RecordResults<R>): Promise<R> {
    const kept = targets.filter((target) => !isDiscarded(target))
    for (const { hash, sizeBytes, chunks } of new Set(kept.map(({ content = message.inspection }) => content))) {
      await this.#deps.blobs.put(hash, sizeBytes, chunks)
    }
    return (await this.#batches.write({ message, targets, record })) as R
  }

  /** Deletes the duplicate-detection rows of a deleted account. See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>, limit: number): number {
    return this.#recent.purgeIn(tx, account.n, limit)
  }

  /** @returns an outcome for each delivery; null when they have to be stored one by one */
  #deliverAll(tx: Tx, deliveries: readonly Delivery[]): unknown[] | null {
    this.#recent.prune(tx)
    for (const { message } of deliveries) {
      const { linkTokens } = message.inspection
      // Forwarded messages too: a link that a mailbox key can read must not sign in a person.
      if (linkTokens.length > 0) this.#deps.closeLinks(tx, linkTokens)
    }
    const results = this.#storeAll(tx, this.#copiesOf(tx, deliveries))
    if (results === null) return tx.undo(null)
    const outcomes: unknown[] = []
    for (const { targets, record } of deliveries) {
      outcomes.push(record(tx, results.splice(0, targets.length)))
      // A delivery that stores nothing must not take the others with it.
      if (tx.isUndone && deliveries.length > 1) return null
    }
    return outcomes
  }

  #copiesOf(tx: Tx, deliveries: readonly Delivery[]): MessageCopy[] {
    const all = deliveries.flatMap((delivery) => delivery.targets.map((target) => ({ delivery, target })))
    const accounts = this.#deps.accounts.byMailboxes(new Set(all.map(({ target }) => target.mailboxId)), tx)
    return all.map(({ delivery, target }) => {
      const account = accounts.get(target.mailboxId)
      if (!account) throw new Error(`Mailbox ${target.mailboxId} has no account.`)
      return { delivery, message: delivery.message, target, account, messageId: newId('message') }
    })
  }

  /** @returns null when only one by one is decided correctly */
  #storeAll(tx: Tx, copies: readonly MessageCopy[]): DeliveryResult[] | null {
    const notStored = whatIsNotStored(copies)
    const wanted = copies.filter((copy) => notStored.get(copy) === null)
    const recorded = this.#recent.record(tx, wanted)
    const stored = wanted.filter((copy) => recorded.has(copy))
    if (areDependent(notStored, recorded)) return null
    const results = this.#store(tx, stored)
    return copies.map((copy) => results.get(copy) ?? this.#withoutCopy(tx, copy, notStored.get(copy)!))
  }

  /** The outcome of a copy that is not stored, or has been stored before. */
  #withoutCopy(tx: Tx, copy: MessageCopy, reason: NotStored): DeliveryResult {
    const { accounts, clock } = this.#deps
    const earlier = this.#recent.find(tx, copy.account.n, copy.message)
    if (earlier !== undefined) return { ...emptyResult(copy), outcome: 'duplicate', messageId: earlier }
    if (reason === 'discarded') return { ...emptyResult(copy), outcome: 'discarded' }
    accounts.markFull(tx, copy.account.n, clock.now())
    return { ...emptyResult(copy), outcome: 'full' }
  }

  #store(tx: Tx, copies: readonly MessageCopy[]): Map<MessageCopy, DeliveryResult> {
    const { folders } = this.#deps
    const defaults = folders.arrivalFolders(new Set(copies.map(({ account }) => account.n)), tx)
    const resolved = copies.map(({ account, target }) => {
      const { scriptOutcome = null, junk } = target
      const { inbox, junk: junkFolder } = defaults.get(account.n)!
      return resolveFolders(tx, this.#deps, account, { scriptOutcome, defaultFolder: junk ? junkFolder : inbox })
    })
    const filed = storeMessages(
      tx,
      this.#deps,
      copies.map((copy, index) => this.#filingOf(copy, resolved[index]!, defaults.get(copy.account.n)!)),
    )
    const results = copies.map((copy, index) => [copy, storedResult(copy, resolved[index]!, filed[index]!)] as const)
    return new Map(results)
  }

  #filingOf(copy: MessageCopy, filing: DeliveryFolders, { inbox, archive }: ArrivalFolders): MessageFiling {
    const { message, target, account, messageId } = copy
    const { receivedAt } = message
    const content = target.content ?? message.inspection
    const { folders, keywords } = filing
    const isInInbox = folders.every(({ n }) => n === inbox.n)
    return {
      id: messageId,
      account: account.n,
      folders,
      // A message that names the mailbox in To is shown, muted or not.
      ...(isInInbox && !isAddressed(copy, content) ? { ifMuted: [archive] } : {}),
      ownAddresses: [target.email, target.rcptTo].map((address) => address.toLowerCase()),
      blob: content.hash,
      nameOf: this.#deps.names.of(account.mailboxId),
      sizeBytes: content.sizeBytes,
      parsed: content.message,
      envelope: { mailFrom: message.mailFrom, rcptTo: target.rcptTo },
      authentication: target.authentication,
      spam: target.spam,
      keywords: isJunk(filing) ? [...keywords, '$junk'] : keywords,
      flags: flagsOf(keywords),
      receivedAt,
      createdAt: this.#deps.clock.now(),
    }
  }
}

/** Whether the mailbox is in To, by its address or the one that the message was sent to. */
function isAddressed({ target }: MessageCopy, { message }: InspectedContent): boolean {
  const own = [target.email, target.reached, target.rcptTo].map((address) => address.toLowerCase())
  return message.to.some(({ email }) => own.includes(email.toLowerCase()))
}

/** The message as one of its copies shows it. */
export function messageOf(message: IncomingMessage, { changed }: Pick<DeliveryResult, 'changed'>): IncomingMessage {
  return changed === undefined ? message : { ...message, inspection: { ...message.inspection, ...changed } }
}

/** Decides which copies are not stored, in their order: each one that is stored uses up quota. */
function whatIsNotStored(copies: readonly MessageCopy[]): Map<MessageCopy, NotStored> {
  const used = new Map<number, number>()
  return new Map(
    copies.map((copy) => {
      const { account, message, target } = copy
      const total = (used.get(account.n) ?? account.usedBytes) + (target.content ?? message.inspection).sizeBytes
      if (isDiscarded(target)) return [copy, 'discarded']
      if (total > target.quotaBytes) return [copy, 'full']
      used.set(account.n, total)
      return [copy, null]
    }),
  )
}

/** Whether a copy may exceed the quota only because of one that turned out to be a duplicate, which uses none. */
function areDependent(notStored: ReadonlyMap<MessageCopy, NotStored>, recorded: ReadonlySet<MessageCopy>): boolean {
  const copies = [...notStored]
  const duplicates = copies.flatMap(([copy, reason]) => (reason === null && !recorded.has(copy) ? [copy] : []))
  const sharesAccount =
    (copy: MessageCopy) =>
    ({ account, delivery }: MessageCopy) =>
      account.n === copy.account.n && delivery !== copy.delivery
  return copies.some(([copy, reason]) => reason === 'full' && duplicates.some(sharesAccount(copy)))
}

function emptyResult({ target, account }: MessageCopy): Omit<DeliveryResult, 'outcome'> {
  return {
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
    forwarding: null,
  }
}

function storedResult(
  copy: MessageCopy,
  filing: DeliveryFolders,
  { attachmentIds, joined, folders }: FiledMessage,
): DeliveryResult {
  return {
    ...emptyResult(copy),
    ...(copy.target.content ? { changed: copy.target.content } : {}),
    outcome: 'stored',
    messageId: copy.messageId,
    junk: isJunk(filing),
    scriptError: filing.error,
    folderIds: folders.map(({ id }) => id),
    attachmentIds,
    threadId: joined.id,
    threadBy: joined.by,
    threadRef: joined.ref,
  }
}

function isDiscarded({ scriptOutcome }: DeliveryTarget): boolean {
  return scriptOutcome?.targets.length === 0
}

function isJunk({ folders }: DeliveryFolders): boolean {
  return folders.every(({ role }) => role === 'junk')
}
