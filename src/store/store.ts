// Where mail rests: the parts of the mail model, put together.

import type { Clock } from '../base/clock.ts'
import type { Notifier } from '../base/notifier.ts'
import type { Vault } from '../base/secrets.ts'
import type { Db, Tx } from '../db/db.ts'
import { Accounts } from './accounts.ts'
import { BlobNames } from './blob-names.ts'
import { Blobs } from './blobs.ts'
import { type Change, ChangeLedger } from './changes.ts'
import { ChangeHistory } from './changes-history.ts'
import { Contents, heldNames } from './contents.ts'
import { type CloseLinks, type Delivered, Deliverer, type DeliverTarget, type IncomingMessage } from './deliver.ts'
import { TrashRetention } from './emptying.ts'
import { Folders } from './folders.ts'
import { FolderEdits } from './folders-edit.ts'
import { Identities } from './identities.ts'
import { Imports } from './imports.ts'
import { InboundLog } from './inbound-log.ts'
import { MessageEdits } from './messages/edits.ts'
import { Messages } from './messages/messages.ts'
import { purgeCorrespondents, purgeMessages } from './messages/purge.ts'
import { Counters } from './metrics/counters.ts'
import { Reports } from './metrics/reports.ts'
import { RollUp } from './metrics/roll-up.ts'
import { Purge, type PurgePart } from './purge.ts'
import { Quotas } from './quotas.ts'
import { SentCopies } from './sent.ts'
import { SentHours } from './sent-hours.ts'
import { Submissions } from './submissions.ts'
import { TextRenewal } from './text-renewal.ts'
import { purgeReferences, purgeThreads } from './threads/purge.ts'
import { Threads } from './threads/threads.ts'
import { Uploads } from './uploads.ts'
import { Vacations } from './vacations.ts'

export interface Store {
  accounts: Accounts
  folders: Folders
  messages: Messages
  /** Makes, changes and removes folders. */
  folderEdits: FolderEdits
  /** Changes and erases messages. */
  edits: MessageEdits
  threads: Threads
  changes: ChangeLedger
  /** Forgets changes nobody may ask for any more. */
  history: ChangeHistory
  blobs: Blobs
  /** Public names of content. */
  blobNames: BlobNames
  /** Everything a mailbox holds as content, by public name or id. */
  contents: Contents
  /** Files given beforehand, to be sent or imported. */
  uploads: Uploads
  /** Takes in mail that did not arrive. */
  imports: Imports
  inboundLog: InboundLog
  /** What happens to mail, counted by the hour: written, kept and read. */
  counters: Counters
  rollUp: RollUp
  reports: Reports
  /** What mailboxes keep of the mail they send. */
  sent: SentCopies
  submissions: Submissions
  /** Empties Trash and Junk of old mail. */
  emptying: TrashRetention
  /** Erases what is left of mailboxes that ended for good. */
  purge: Purge
  /** Brings the search texts of earlier versions into today's form. */
  textRenewal: TextRenewal
  /** As whom mailboxes write. */
  identities: Identities
  /** The limits of mailboxes. */
  quotas: Quotas
  /** How much mailboxes sent within a day. */
  sentHours: SentHours
  /** What mailboxes answer by themselves. */
  vacations: Vacations
  /**
   * Makes the account of a new mailbox with its folders, its primary identity and its quotas, inside the unit of work that makes
   * the mailbox.
   */
  openAccount(tx: Tx, mailboxId: string, email: string): Promise<void>
  /** See {@link Deliverer.deliver}. */
  deliver(
    mail: IncomingMessage,
    targets: readonly DeliverTarget[],
    note: (tx: Tx, delivered: Delivered[]) => Promise<void>,
  ): Promise<Delivered[]>
}

interface StoreDeps {
  db: Db
  blobsDb: Db
  clock: Clock
  /** What the names of contents are made with. */
  vault: Vault
  notifier: Notifier
  closeLinks: CloseLinks
}

export function openStore(deps: StoreDeps): Store {
  const { db, blobsDb, clock, vault, notifier: wake, closeLinks } = deps
  const accounts = new Accounts(db, clock, wake)
  const folders = new Folders(db, clock)
  const changes = new ChangeLedger(db, accounts)
  const blobs = new Blobs(blobsDb, clock)
  const names = new BlobNames(vault)
  const uploads = new Uploads({ db, clock, names, heldNames })
  const submissions = new Submissions({ db, clock, accounts, changes })
  const counters = new Counters()
  const sentHours = new SentHours({ db, clock })
  const identities = new Identities({ db, clock, accounts, changes })
  const quotas = new Quotas({ db, clock, accounts, changes })
  const vacations = new Vacations({ db, clock, accounts, identities })
  const edits = new MessageEdits({ db, clock, accounts, folders, changes })
  const folderEdits = new FolderEdits({ db, clock, accounts, changes, edits })
  const deliverer = new Deliverer({ db, clock, accounts, folders, folderEdits, changes, blobs, names, closeLinks })
  const kept: PurgePart[] = [
    purgeMessages,
    purgeCorrespondents,
    purgeReferences,
    purgeThreads,
    (tx, account) => folders.purgeIn(tx, account),
    (tx, account, limit) => uploads.purgeIn(tx, account, limit),
    (tx, account, limit) => submissions.purgeIn(tx, account, limit),
    (tx, account, limit) => deliverer.purgeIn(tx, account, limit),
    (tx, account) => identities.purgeIn(tx, account),
    (tx, account) => quotas.purgeIn(tx, account),
    (tx, account) => sentHours.purgeIn(tx, account),
    (tx, account, limit) => vacations.purgeIn(tx, account, limit),
    (tx, account, limit) => changes.purgeIn(tx, account, limit),
    (tx, account) => accounts.purgeIn(tx, account),
  ]
  return {
    accounts,
    folders,
    changes,
    history: new ChangeHistory({ db, clock, accounts }),
    blobs,
    blobNames: names,
    contents: new Contents({ db, blobs, accounts, names, uploads }),
    uploads,
    messages: new Messages({ db, clock, accounts, blobs, folders }),
    edits,
    folderEdits,
    threads: new Threads({ db, clock, accounts, folders }),
    imports: new Imports({ db, clock, accounts, folders, changes, names }),
    inboundLog: new InboundLog(db, counters),
    counters,
    rollUp: new RollUp({ db, clock }),
    reports: new Reports(db),
    sent: new SentCopies({ clock, accounts, folders, changes, submissions, sentHours, names }),
    submissions,
    emptying: new TrashRetention({ db, accounts, edits }),
    purge: new Purge({ db, accounts, steps: kept }),
    textRenewal: new TextRenewal({ db, accounts, blobs }),
    identities,
    quotas,
    sentHours,
    vacations,
    async openAccount(tx, mailboxId, email) {
      const account = await accounts.open(tx, mailboxId)
      const made = await folders.open(tx, account)
      const rows: Change[] = made.map(({ n, id }) => ({ type: 'folders', n, object: id, kind: 'created' }))
      rows.push(await identities.open(tx, account, email), ...(await quotas.open(tx, account)))
      const types = ['folders', 'identities', 'quotas'] as const
      const seq = await accounts.advance(tx, account, types, { bytes: 0, messages: 0 })
      await changes.record(tx, account, seq, rows, clock.now())
    },
    deliver: (mail, targets, note) => deliverer.deliver(mail, targets, note),
  }
}
