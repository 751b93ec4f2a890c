// Outside accounts: mail accounts at other servers that a mailbox is (`mirror`) or collects from (`collect`) (docs/design/outside-accounts.md §1).

import { bytes, integer, json, key, type RecordOf, table, text, time } from '../../db/table.ts'
import type { ConnectedAuth } from '../../outbound/model/connected-services.ts'

/** `mirror`: the mailbox is the account, both ways. `collect`: new mail is copied here, nothing is changed there. */
export type RemoteMode = 'mirror' | 'collect'
export type RemoteAuth = 'password' | ConnectedAuth
/** `ssl`: TLS from the first byte; `starttls`: mandatory; `none`: only with ALLOW_PRIVATE_IMAP_HOSTS. */
export type RemoteProtocol = 'ssl' | 'starttls' | 'none'
export type RemoteStatus = 'pending' | 'importing' | 'active' | 'delayed' | 'paused' | 'error'
/** Why an account is in `error`, or what the event `remote_account.failed` reports. */
export type RemoteErrorKind = 'credentials' | 'consent' | 'certificate' | 'host' | 'quota' | 'mass_removal'
/** By capabilities and greeting; see quirks.ts. */
export type RemoteKind = 'gmail' | 'microsoft' | 'dovecot' | 'cyrus' | 'icloud' | 'yahoo' | 'other'
/** Of messages that are stored on the other side as well. */
export type CarryDirection = 'in' | 'out'
/**
 * Why a message of the server is not here. `refused`: the server refuses to give it; `broken`: the connection ends each time it is asked
 * for; `absent`: the server lists it and does not give it; `large`: it has more bytes than are fetched.
 */
export const SKIP_REASONS = ['refused', 'broken', 'absent', 'large'] as const
export type SkipReason = (typeof SKIP_REASONS)[number]
export type ImportState = 'waiting' | 'running' | 'done'

/** Where and as whom to sign in. */
export interface ImapSettings {
  host: string
  port: number
  protocol: RemoteProtocol
  username: string
}

export const REMOTE_ACCOUNTS = table('remote_accounts', {
  n: key(),
  /** `racc_` */
  id: text(),
  team_id: text(),
  mailbox_id: text(),
  /** Number of the mailbox's mail account in the store. */
  account: integer(),
  mode: text<RemoteMode>(),
  name: text(),
  /** Lower-case. */
  email: text(),
  auth: text<RemoteAuth>(),
  /** Null for Google and Microsoft, whose servers are known. */
  imap_host: text().orNull(),
  imap_port: integer().orNull(),
  imap_protocol: text<RemoteProtocol>().orNull(),
  imap_username: text().orNull(),
  secret_sealed: bytes().orNull().hidden(),
  /** The sending account made with it. */
  provider_id: text().orNull(),
  /** `collect`: where mail goes; null: the Inbox. */
  folder_id: text().orNull(),
  /** `collect`: only mail received after it. */
  since: time().orNull(),
  status: text<RemoteStatus>(),
  /** One sentence. */
  status_reason: text().orNull(),
  error_kind: text<RemoteErrorKind>().orNull(),
  status_since: time(),
  /** What a delayed, paused or failed account goes on as. */
  resumes_as: text<'pending' | 'importing' | 'active'>().orNull(),
  next_try_at: time().orNull(),
  /** Attempts in a row that failed. */
  failures: integer(),
  /** Grows with each change of host, user or secret, and of its sending account: a worker with an older one ends. */
  settings_version: integer(),
  kind: text<RemoteKind>().orNull(),
  push: text<'idle' | 'poll'>(),
  facts: text().orNull().hidden(),
  lease_token: text().orNull().hidden(),
  lease_until: time().orNull().hidden(),
  /** Asked for by a person at this time (`/sync`); a round starts when it is after `synced_at`. */
  wanted_at: time(),
  /** Changes of the mailbox up to this number of the ledger are at the server. */
  pushed_seq: integer(),
  tree_at: time().orNull(),
  synced_at: time().orNull(),
  /** A removal at the server that is held back here. */
  removal: json<HeldRemoval>().orNull(),
  import_state: text<ImportState>(),
  import_total: integer(),
  import_done: integer(),
  import_bytes: integer(),
  import_folders_total: integer(),
  import_folders_done: integer(),
  import_started_at: time().orNull(),
  import_finished_at: time().orNull(),
  /** Bytes fetched on `day` (days since 1970, UTC): Gmail allows a number a day. */
  day: integer(),
  day_bytes: integer(),
  created_at: time(),
  updated_at: time(),
  links_at: time().orNull().hidden(),
  /** A removal here that is held back from the server. */
  removal_there: json<HeldRemoval>().orNull(),
  /** Messages taken out here since `taken_at`, because they were gone at the server. */
  taken: integer().or(0),
  taken_at: time().orNull(),
  /** Messages of the server that are not here, as of the end of the last round. */
  skipped: json<SkippedMessages>().orNull(),
  /** As of the last round. */
  differences: json<RemoteDifference[]>().orNull(),
})
type StoredAccount = RecordOf<typeof REMOTE_ACCOUNTS>

/** Times in ms. */
export interface RemoteAccount
  extends Omit<StoredAccount, `imap${string}` | `import${string}` | 'skipped' | 'differences'> {
  /** Null for Google and Microsoft, whose servers are known. */
  imap: ImapSettings | null
  hasSecret: boolean
  import: ImportProgress
  skipped: SkippedMessages
  differences: RemoteDifference[]
}

/** A server that was found for an address. */
export interface DiscoveredServer {
  host: string
  port: number
  protocol: Exclude<RemoteProtocol, 'none'>
  /** Null: the address. */
  username: string | null
}

/** What is known of the servers of an address, and how. */
export interface DiscoveredAccount {
  imap: DiscoveredServer | null
  smtp: DiscoveredServer | null
  /** How a person signs in there. */
  auth: RemoteAuth
  source: 'known' | 'srv' | 'autoconfig' | 'none'
}

/** Where messages are that a held removal would remove: in the mailbox here, or at the server. */
export const REMOVAL_SIDES = ['here', 'server'] as const
export type RemovalSide = (typeof REMOVAL_SIDES)[number]

export interface HeldRemoval {
  folders: readonly string[]
  messages: number
  /** ms */
  since: number
  /** By `confirm-removal`. */
  isConfirmed: boolean
  /** By `undo-removal`: the messages are put back on the side where they are gone. */
  isUndone?: boolean
  /** `here`: what is held in each folder, by the number of the remote folder. */
  parts?: Readonly<Record<string, HeldPart>>
}

/** What is held back here of one folder. */
export interface HeldPart {
  /** What a confirmation allows. */
  messages: number
  /** What a day allows, and since when (ms). */
  first: number
  since: number
}

/** Messages of a server that are not here. */
export interface SkippedMessages {
  messages: number
  /** Those of them that are too large to be fetched. */
  tooLarge: number
  /** When the first of the others is asked for again, ms; null: none is. */
  nextTryAt: number | null
}

/**
 * `folder_left_out`: not read; `folder_name`: refused by the server; `changes_refused`: of messages; `read_only`; `labels`: too many;
 * `skipped`: messages that are not here.
 */
export const DIFFERENCE_KINDS = [
  'folder_left_out',
  'folder_name',
  'changes_refused',
  'read_only',
  'labels',
  'skipped',
] as const

/** What of an account is lastingly not as it is at its server. */
export interface RemoteDifference {
  kind: (typeof DIFFERENCE_KINDS)[number]
  /** Path, here as far as the folder is here. */
  folder: string | null
  sentence: string
  /** What a person can do, in one sentence. */
  nextStep: string
}

export interface ImportProgress {
  state: ImportState
  foldersTotal: number
  foldersDone: number
  messagesTotal: number
  messagesDone: number
  bytesDone: number
  startedAt: number | null
  finishedAt: number | null
}
