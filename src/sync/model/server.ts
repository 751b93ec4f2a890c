// What the synchronisation needs of an outside account's server: one signed-in connection, and what it says.

import type { FolderRole } from '../../store/rows/records.ts'
import type { RemoteAccount, RemoteErrorKind, RemoteKind } from './records.ts'

/** Larger messages are not fetched (docs/design/outside-accounts.md §5), bytes. */
export const MESSAGE_BYTES_MAX = 52_428_800

/** How much of a message is read to compare it: its header and the beginning of its body, bytes. */
export const PIECE_BYTES = 16_384

/** What is known of a server after the sign-in. */
export interface ServerFacts {
  kind: RemoteKind
  /** From ID, at most 200 characters. */
  name: string | null
  capabilities: readonly string[]
  hasIdle: boolean
  hasCondstore: boolean
  hasQresync: boolean
  hasMove: boolean
  hasUidPlus: boolean
  /** X-GM-EXT-1: labels are folders. */
  hasLabels: boolean
  /** RFC822.SIZE can be trusted in a message's key. */
  hasExactSizes: boolean
}

export interface ListedFolder {
  /** Unicode, with the server's delimiter. */
  path: string
  delimiter: string | null
  /** MAILBOXID (RFC 8474). */
  objectId: string | null
  role: FolderRole | null
  canSelect: boolean
  /** It shows messages of other folders. */
  isView: boolean
  isSubscribed: boolean
  /** Null where it was not given with LIST. */
  status: RemoteFolderStatus | null
}

export interface RemoteFolderStatus {
  uidValidity: number
  uidNext: number
  /** Null without CONDSTORE. */
  modSeq: number | null
  messages: number
}

/** First and last UID, both included. */
export type UidSpan = readonly [first: number, last: number]

export interface RemoteFlags {
  uid: number
  /** As the server writes them. */
  flags: readonly string[]
  /** Gmail only. */
  labels: readonly string[] | null
  modSeq: number | null
}

/** What is known of a message without its content. */
export interface RemoteHead extends RemoteFlags {
  sizeBytes: number
  /** INTERNALDATE, ms. */
  receivedAt: number
  messageId: string | null
  /** X-GM-MSGID or EMAILID: names the message in every folder. */
  objectId: string | null
}

/** A selected folder. With QRESYNC what changed since the `known` state is in it. */
export interface OpenedFolder extends RemoteFolderStatus {
  /** Keywords that the server keeps; null: all. */
  keywords: readonly string[] | null
  isWritable: boolean
  /** Null when the server did not say what changed (no QRESYNC, or UIDVALIDITY differs). */
  difference: { vanished: readonly UidSpan[]; changed: readonly RemoteFlags[] } | null
}

export interface LastSelected {
  uidValidity: number
  modSeq: number | null
}

export interface RemoteFlagChange {
  add: readonly string[]
  remove: readonly string[]
}

/** Runs a wait in which nothing is done. */
export type Idle = (wait: () => Promise<void>) => Promise<void>

/**
 * One connection, one call at a time. Every call throws `ServerError`. UIDs belong to the folder that was selected last.
 */
export interface AccountServer {
  readonly facts: ServerFacts
  /** LIST with SPECIAL-USE, and STATUS where it is offered in one go. At most 5,000 folders. */
  folders(): Promise<ListedFolder[]>
  status(path: string): Promise<RemoteFolderStatus>
  select(path: string, known: LastSelected | null): Promise<OpenedFolder>
  /** UIDs of the folder: all, or those that are there of some. */
  uids(of?: readonly UidSpan[]): Promise<UidSpan[]>
  /** All UIDs of the folder by FETCH: some servers leave out messages in a search. */
  fetchedUids(): Promise<UidSpan[]>
  /** FETCH 1:* (FLAGS) (CHANGEDSINCE modSeq). */
  changedSince(modSeq: number): Promise<RemoteFlags[]>
  flags(runs: readonly UidSpan[]): Promise<RemoteFlags[]>
  heads(runs: readonly UidSpan[]): Promise<RemoteHead[]>
  /**
   * To be called before contents are asked for: ends what the last answer holds, and waits as long as the account would be read too fast.
   * @param idle runs the wait, if there is one
   */
  ready(idle: Idle): Promise<void>
  /** Contents of messages whose sizes sum up to at most 4 MiB; a UID that the server does not give is missing in the result. */
  contents(uids: readonly number[]): Promise<Map<number, Uint8Array>>
  /** The first {@link PIECE_BYTES} of messages, at most 100; a UID that the server does not give is missing in the result. */
  pieces(uids: readonly number[]): Promise<Map<number, Uint8Array>>
  /** One message of any size within the limit, in pieces; null when the server does not give it. */
  content(uid: number): Promise<AsyncIterable<Uint8Array> | null>
  /** @returns the UIDs that changed since `unchangedSince` (RFC 7162), which were left alone */
  store(runs: readonly UidSpan[], change: RemoteFlagChange, unchangedSince?: number): Promise<number[]>
  /** Gmail's labels. */
  label(runs: readonly UidSpan[], change: RemoteFlagChange): Promise<void>
  /**
   * UID MOVE, or COPY, \Deleted and UID EXPUNGE.
   * @param uidValidity of the folder as far as it is known; null: any
   * @returns new UIDs by old ones; null without COPYUID, or when the folder was numbered again
   */
  move(uids: readonly number[], path: string, uidValidity?: number | null): Promise<Map<number, number> | null>
  copy(uids: readonly number[], path: string, uidValidity?: number | null): Promise<Map<number, number> | null>
  /** @returns the UID; null without APPENDUID */
  append(path: string, bytes: Uint8Array, flags: readonly string[], receivedAt: number): Promise<number | null>
  /**
   * \Deleted and UID EXPUNGE; without UIDPLUS, EXPUNGE only when nothing else is marked.
   * @returns the UIDs that are marked and still there
   */
  expunge(uids: readonly number[]): Promise<number[]>
  /** UIDs with this Message-ID. */
  find(messageId: string): Promise<number[]>
  createFolder(path: string): Promise<void>
  /** Whether the list of folders has one under exactly this name that can be selected. */
  isListed(path: string): Promise<boolean>
  renameFolder(path: string, to: string): Promise<void>
  deleteFolder(path: string): Promise<void>
  /** Waits in IDLE, or NOOP where there is none, until something of the folder changes, `ms` are past, or the signal. */
  wait(ms: number, signal: AbortSignal): Promise<'changed' | 'unchanged'>
  close(): Promise<void>
}

/**
 * `delay`: try again later, not before `retryAfterMs` if the server named a time; `refused`: this command only; `failed`: the account
 * cannot go on before a person or the operator of the server changes something.
 */
export class ServerError extends Error {
  readonly effect: 'delay' | 'refused' | 'failed'
  readonly kind: RemoteErrorKind | null
  readonly retryAfterMs: number | null
  /** The address did not take the connection: another address of the host may. */
  readonly isUnreachable: boolean
  /** `failed` at once: a second attempt with the same settings gives the same answer. */
  readonly isFinal: boolean
  /** The server ended a connection that was signed in, and named no time to come back. */
  readonly isEnd: boolean
  /** The server failed at this command, and the connection goes on: what it was asked for may be the cause. */
  readonly isFailure: boolean

  /** @param reason one sentence for people, without secrets */
  constructor(
    effect: ServerError['effect'],
    reason: string,
    options: {
      kind?: RemoteErrorKind
      retryAfterMs?: number
      isUnreachable?: boolean
      isFinal?: boolean
      isEnd?: boolean
      isFailure?: boolean
      cause?: unknown
    } = {},
  ) {
    super(reason, { cause: options.cause })
    this.effect = effect
    this.kind = options.kind ?? null
    this.retryAfterMs = options.retryAfterMs ?? null
    this.isUnreachable = options.isUnreachable ?? false
    this.isFinal = options.isFinal ?? false
    this.isEnd = options.isEnd ?? false
    this.isFailure = options.isFailure ?? false
  }
}

/** A message has more than {@link MESSAGE_BYTES_MAX}, whatever size its server named. */
export class MessageTooLarge extends ServerError {
  constructor() {
    super('refused', `The message has more than ${MESSAGE_BYTES_MAX} bytes.`)
  }
}

/** Whether an error is of one command only: the account goes on. */
export function isRefusal(error: unknown): error is ServerError {
  return error instanceof ServerError && error.effect === 'refused'
}

/** Connects and signs in. */
export type OpenServer = (account: RemoteAccount, signal: AbortSignal) => Promise<AccountServer>
