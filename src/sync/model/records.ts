// Outside accounts: mail accounts at other servers that a mailbox is (`mirror`) or collects from (`collect`) (docs/design/outside-accounts.md §1).

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

/** Times in ms. */
export interface RemoteAccount {
  n: number
  /** `racc_` */
  id: string
  teamId: string
  mailboxId: string
  /** Number of the mailbox's mail account in the store. */
  account: number
  mode: RemoteMode
  name: string
  /** Lower-case. */
  email: string
  auth: RemoteAuth
  /** Null for Google and Microsoft, whose servers are known. */
  imap: ImapSettings | null
  hasSecret: boolean
  /** The sending account made with it. */
  providerId: string | null
  /** `collect`: where mail goes; null: the Inbox. */
  folderId: string | null
  /** `collect`: only mail received after it. */
  since: number | null
  status: RemoteStatus
  /** One sentence. */
  statusReason: string | null
  errorKind: RemoteErrorKind | null
  statusSince: number
  /** What a delayed, paused or failed account goes on as. */
  resumesAs: 'pending' | 'importing' | 'active' | null
  nextTryAt: number | null
  /** Attempts in a row that failed. */
  failures: number
  /** Grows with each change of host, user or secret, and of its sending account: a worker with an older one ends. */
  settingsVersion: number
  kind: RemoteKind | null
  push: 'idle' | 'poll'
  /** Asked for by a person at this time (`/sync`); a round starts when it is after `syncedAt`. */
  wantedAt: number
  /** Changes of the mailbox up to this number of the ledger are at the server. */
  pushedSeq: number
  treeAt: number | null
  syncedAt: number | null
  /** A removal at the server that is held back here. */
  removal: HeldRemoval | null
  /** A removal here that is held back from the server. */
  removalThere: HeldRemoval | null
  /** As of the last round. */
  differences: RemoteDifference[]
  /** Messages taken out here since `takenAt` (ms), because they were gone at the server. */
  taken: number
  takenAt: number | null
  import: ImportProgress
  /** Messages of the server that are not here, as of the end of the last round. */
  skipped: SkippedMessages
  /** Bytes fetched on `day` (days since 1970, UTC): Gmail allows a number a day. */
  day: number
  dayBytes: number
  createdAt: number
  updatedAt: number
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
