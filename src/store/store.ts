// The message store: creates its parts and exposes them as one object.

import type { Clock } from '../base/clock.ts'
import type { Notifier } from '../base/notifier.ts'
import type { Vault } from '../base/secrets.ts'
import type { Db, Tx } from '../db/db.ts'
import { BlobNames } from './content/blob-names.ts'
import { Blobs } from './content/blobs.ts'
import { ErasedContents } from './content/erased-content.ts'
import { Uploads } from './content/uploads.ts'
import { FolderViews } from './entries/folders-views.ts'
import { purgeSnoozes } from './entries/snooze-rows.ts'
import { purgeReferences, purgeThreads } from './entries/thread-rows.ts'
import { Counters } from './log/counters.ts'
import { InboundLog } from './log/inbound-log.ts'
import { Reports } from './log/reports.ts'
import { RollUp } from './log/roll-up.ts'
import { SentHours } from './log/sent-hours.ts'
import { TagCounts } from './log/tags.ts'
import { Contents, namesInUse } from './mailbox/contents.ts'
import {
  type CloseLinks,
  Deliverer,
  type DeliveryTarget,
  type IncomingMessage,
  type RecordResults,
} from './mailbox/delivery.ts'
import { Drafts } from './mailbox/drafts.ts'
import { FolderEdits } from './mailbox/folders-edits.ts'
import { Forwarded } from './mailbox/forwarded.ts'
import { Identities } from './mailbox/identities.ts'
import { Imports } from './mailbox/imports.ts'
import { Purge, type PurgeStep } from './mailbox/purge.ts'
import { Quotas } from './mailbox/quotas.ts'
import { ScriptIds } from './mailbox/script-ids.ts'
import { ScriptNotifications } from './mailbox/script-notifications.ts'
import { SentCopies } from './mailbox/sent-copies.ts'
import { SentLinks } from './mailbox/sent-links.ts'
import { Snoozes } from './mailbox/snoozes.ts'
import { SpamLearning } from './mailbox/spam-learning.ts'
import { SpamModels } from './mailbox/spam-models.ts'
import { Submissions } from './mailbox/submissions.ts'
import { TrashRetention } from './mailbox/trash-retention.ts'
import { Vacations } from './mailbox/vacations.ts'
import { Acquaintances } from './messages/acquaintance.ts'
import { FlagEdits } from './messages/bulk-flags.ts'
import { Copies } from './messages/copies.ts'
import { MessageEdits } from './messages/edits.ts'
import { MailReads } from './messages/mail-reads.ts'
import { Messages } from './messages/messages.ts'
import { Moves } from './messages/moves.ts'
import { endOutlining, Outlining } from './messages/outlining.ts'
import { purgeCorrespondents, purgeMessages } from './messages/purge.ts'
import { Reindexing } from './messages/reindexing.ts'
import { RemovedMessages } from './messages/removed.ts'
import { purgeLabels } from './messages/spam-labels.ts'
import { UndoRecords } from './messages/undo-records.ts'
import { purgeCopies } from './messages/unfinished-copies.ts'
import { Accounts } from './rows/accounts.ts'
import { Annotations } from './rows/annotations.ts'
import { type Change, ChangeLedger } from './rows/changes.ts'
import { ChangeHistory } from './rows/changes-history.ts'
import { Folders } from './rows/folders.ts'
import { SubscribedNames } from './rows/folders-names.ts'
import { ThreadEdits } from './threads/edits.ts'
import { Threads } from './threads/threads.ts'

/** What of mailboxes is read. */
interface StoreReads {
  folders: Folders
  messages: Messages
  threads: Threads
  changes: ChangeLedger
  /** Content of messages, attachments and uploads, by blob id or file id. */
  contents: Contents
  /** Blob ids. */
  blobNames: BlobNames
}

/** What clients of the API change in mailboxes. */
interface StoreEdits {
  folders: FolderEdits
  messages: MessageEdits
  threads: ThreadEdits
  /** Messages in Drafts that can be edited. */
  drafts: Drafts
  /** Changes that can be undone. */
  undo: UndoRecords
  /** Threads that wait to be seen again. */
  snoozes: Snoozes
  /** Files uploaded to be sent or imported later. */
  uploads: Uploads
  /** Imports messages that were not received by SMTP. */
  imports: Imports
  /** Messages that were removed at the server of an outside account, for as long as they can be restored. */
  removed: RemovedMessages
  /**
   * Creates the account of a new mailbox with its folders, its primary identity and its quotas, in the unit of work that creates
   * the mailbox.
   */
  openAccount(tx: Tx, mailboxId: string, email: string): void
}

/** What mail programs and outside accounts read and change, by UID. */
interface StorePrograms {
  /** Folders: status, UIDs, entries, and what changed or left. */
  views: FolderViews
  mail: MailReads
  moves: Moves
  copies: Copies
  /** Changes flags and keywords of many messages at once. */
  flags: FlagEdits
  /** Subscriptions to names without a folder. */
  names: SubscribedNames
  annotations: Annotations
  sentLinks: SentLinks
}

/** Received messages, and what their scripts remember. */
interface StoreDelivery {
  /** See {@link Deliverer.deliver}. */
  deliver<R>(message: IncomingMessage, targets: readonly DeliveryTarget[], record: RecordResults<R>): Promise<R>
  /** Ids of messages that scripts have seen. */
  scriptIds: ScriptIds
  /** What mailboxes have forwarded. */
  forwarded: Forwarded
  /** Vacation responses. */
  vacations: Vacations
  /** Notifications that scripts ask for. */
  notifications: ScriptNotifications
}

/** What the store knows of messages that a mailbox sends. */
interface StoreSending {
  submissions: Submissions
  /** Sender identities of mailboxes. */
  identities: Identities
  /** Quotas of mailboxes. */
  quotas: Quotas
  /** Records of sent messages in the sender's mailbox. */
  copies: SentCopies
  /** Messages and recipients per mailbox within a day. */
  hours: SentHours
}

/** Received messages, and hourly counts of message events. */
interface StoreLog {
  inbound: InboundLog
  counters: Counters
  rollUp: RollUp
  reports: Reports
  tagCounts: TagCounts
}

/** What periodic jobs delete and renew. */
interface StoreUpkeep {
  /** Deletes expired changes of the ledger. */
  history: ChangeHistory
  /** Content of messages that mailboxes have erased in bulk. */
  erased: ErasedContents
  /** Deletes old messages from Trash and Junk. */
  trashRetention: TrashRetention
  /** Deletes the remaining data of deleted mailboxes. */
  purge: Purge
  /** Re-indexes messages of earlier versions. */
  reindexing: Reindexing
  /** Stores what mail programs need of messages of earlier versions. */
  outlining: Outlining
}

export interface StoreSpam {
  /** What mailboxes know of senders. */
  acquaintances: Acquaintances
  /** The models in use. */
  models: SpamModels
  /** Makes the models from labels. */
  learning: SpamLearning
}

export interface Store {
  accounts: Accounts
  blobs: Blobs
  read: StoreReads
  edit: StoreEdits
  programs: StorePrograms
  delivery: StoreDelivery
  sending: StoreSending
  log: StoreLog
  upkeep: StoreUpkeep
  spam: StoreSpam
}

interface StoreDeps {
  db: Db
  blobsDb: Db
  clock: Clock
  /** Derives the keys of blob ids. */
  vault: Vault
  notifier: Notifier
  closeLinks: CloseLinks
}

export function openStore(deps: StoreDeps): Store {
  const parts = openParts(deps)
  const { db, clock, vault } = deps
  const { accounts, blobs, names, counters, deliverer } = parts
  return {
    accounts,
    blobs,
    read: readsOf(parts, deps),
    edit: editsOf(parts, deps),
    programs: programsOf(parts, deps),
    delivery: {
      deliver: (message, targets, record) => deliverer.deliver(message, targets, record),
      scriptIds: parts.scriptIds,
      forwarded: parts.forwarded,
      vacations: parts.vacations,
      notifications: parts.notifications,
    },
    sending: {
      submissions: parts.submissions,
      identities: parts.identities,
      quotas: parts.quotas,
      copies: new SentCopies({ ...parts, clock, names }),
      hours: parts.sentHours,
    },
    log: {
      inbound: new InboundLog(db, counters),
      counters,
      rollUp: new RollUp({ db, clock }),
      reports: new Reports(db),
      tagCounts: new TagCounts(db),
    },
    upkeep: upkeepOf(parts, deps),
    spam: {
      acquaintances: new Acquaintances(db, clock),
      models: parts.spamModels,
      learning: new SpamLearning({ db, clock, vault, blobs, accounts, models: parts.spamModels }),
    },
  }
}

/** The parts that several groups of the store use. */
type StoreParts = ReturnType<typeof openParts>

function openParts({ db, blobsDb, clock, vault, notifier, closeLinks }: StoreDeps) {
  const accounts = new Accounts(db, clock, notifier)
  const folders = new Folders(db, clock)
  const changes = new ChangeLedger(db, accounts)
  const blobs = new Blobs(blobsDb, clock)
  const names = new BlobNames(vault)
  const identities = new Identities({ db, clock, accounts, changes })
  const scriptIds = new ScriptIds()
  const erased = new ErasedContents(blobs)
  const edits = new MessageEdits({ db, clock, accounts, folders, changes, erased })
  const folderEdits = new FolderEdits({ db, clock, accounts, changes, edits })
  const views = new FolderViews(db)
  return {
    accounts,
    folders,
    changes,
    blobs,
    names,
    identities,
    scriptIds,
    erased,
    edits,
    folderEdits,
    views,
    uploads: new Uploads({ db, clock, names, namesInUse }),
    submissions: new Submissions({ db, clock, accounts, changes }),
    counters: new Counters(),
    sentHours: new SentHours({ db, clock }),
    quotas: new Quotas({ db, clock, accounts, changes }),
    notifications: new ScriptNotifications({ accounts }),
    vacations: new Vacations({ db, clock, accounts, identities, scriptIds }),
    removed: new RemovedMessages({ db, folders, erased }),
    undo: new UndoRecords({ db, clock, edits }),
    threadEdits: new ThreadEdits({ db, edits }),
    subscribedNames: new SubscribedNames(db, notifier),
    annotations: new Annotations(db),
    moves: new Moves({ db, folders, edits, views }),
    deliverer: new Deliverer({ db, clock, accounts, folders, folderEdits, changes, blobs, names, closeLinks }),
    imports: new Imports({ db, clock, accounts, folders, changes, names }),
    drafts: new Drafts({ db, clock, accounts, folders, changes, edits, names }),
    forwarded: new Forwarded(),
    spamModels: new SpamModels(db),
  }
}

function readsOf(parts: StoreParts, { db, clock }: StoreDeps): StoreReads {
  const { accounts, blobs, folders, names, changes, uploads } = parts
  return {
    folders,
    messages: new Messages({ db, clock, accounts, blobs, folders }),
    threads: new Threads({ db, clock, accounts, folders }),
    changes,
    contents: new Contents({ db, blobs, accounts, names, uploads }),
    blobNames: names,
  }
}

function editsOf(parts: StoreParts, { db, clock }: StoreDeps): StoreEdits {
  const { accounts, folders, changes, folderEdits, edits, threadEdits, drafts, uploads, imports, removed, undo } = parts
  return {
    folders: folderEdits,
    messages: edits,
    threads: threadEdits,
    snoozes: new Snoozes({ db, clock, accounts, folders, folderEdits, changes, edits, threads: threadEdits }),
    drafts,
    uploads,
    imports,
    removed,
    undo,
    openAccount: (tx, mailboxId, email) => openAccount(tx, parts, clock, { mailboxId, email }),
  }
}

function programsOf(parts: StoreParts, { db, clock }: StoreDeps): StorePrograms {
  const { accounts, folders, changes, views, moves, blobs, names, annotations } = parts
  const { imports, edits, drafts, submissions } = parts
  return {
    views,
    moves,
    annotations,
    mail: new MailReads(db, blobs),
    copies: new Copies({ db, clock, accounts, folders, changes, views, moves, blobs, names }),
    flags: new FlagEdits({ db, clock, accounts, changes, views }),
    names: parts.subscribedNames,
    sentLinks: new SentLinks({ clock, folders, imports, edits, drafts, submissions }),
  }
}

function upkeepOf(parts: StoreParts, { db, clock }: StoreDeps): StoreUpkeep {
  const { accounts, blobs, edits, erased } = parts
  return {
    history: new ChangeHistory({ db, clock, accounts }),
    erased,
    trashRetention: new TrashRetention({ db, accounts, edits }),
    purge: new Purge({ db, accounts, steps: purgeSteps(parts) }),
    reindexing: new Reindexing({ db, accounts, blobs }),
    outlining: new Outlining({ db, accounts, blobs, edits }),
  }
}

/** Each part erases its own rows of a purged account; rows that others refer to come later. */
function purgeSteps(parts: StoreParts): PurgeStep[] {
  const { accounts, folders, changes, uploads, submissions, deliverer, identities, quotas } = parts
  const { sentHours, vacations, forwarded, scriptIds, notifications, subscribedNames, annotations, removed } = parts
  const { spamModels, undo } = parts
  return [
    purgeMessages,
    (tx, account, limit) => removed.purgeIn(tx, account, limit),
    (tx, account, limit) => undo.purgeIn(tx, account, limit),
    purgeSnoozes,
    purgeLabels,
    (tx, account) => spamModels.remove(tx, account.mailboxId),
    purgeCopies,
    (tx, account) => endOutlining(tx, account.n),
    purgeCorrespondents,
    purgeReferences,
    purgeThreads,
    (tx, account) => folders.purgeIn(tx, account),
    (tx, account) => subscribedNames.purgeIn(tx, account),
    (tx, account) => annotations.purgeIn(tx, account),
    (tx, account, limit) => uploads.purgeIn(tx, account, limit),
    (tx, account, limit) => submissions.purgeIn(tx, account, limit),
    (tx, account, limit) => deliverer.purgeIn(tx, account, limit),
    (tx, account) => identities.purgeIn(tx, account),
    (tx, account) => quotas.purgeIn(tx, account),
    (tx, account) => sentHours.purgeIn(tx, account),
    (tx, account, limit) => vacations.purgeIn(tx, account, limit),
    (tx, account, limit) => forwarded.purgeIn(tx, account, limit),
    (tx, account, limit) => scriptIds.purgeIn(tx, account, limit),
    (tx, account, limit) => notifications.purgeIn(tx, account, limit),
    (tx, account, limit) => changes.purgeIn(tx, account, limit),
    (tx, account) => accounts.purgeIn(tx, account),
  ]
}

/** See {@link StoreEdits.openAccount}. */
function openAccount(
  tx: Tx,
  { accounts, folders, changes, identities, quotas }: StoreParts,
  clock: Clock,
  { mailboxId, email }: { mailboxId: string; email: string },
): void {
  const account = accounts.create(tx, mailboxId)
  const made = folders.createInitial(tx, account)
  const rows: Change[] = made.map(({ n, id }) => ({ type: 'folders', n, object: id, kind: 'created' }))
  rows.push(identities.createPrimary(tx, account, email), ...quotas.createAll(tx, account))
  const types = ['folders', 'identities', 'quotas'] as const
  const seq = accounts.advance(tx, account, types, { bytes: 0, messages: 0 })
  changes.record(tx, account, seq, rows, clock.now())
}
