// The records of the message store. Times are in ms, ids are public.

import type { Address, AuthResult } from '../../mime/message.ts'

export type { Page, PageKey } from '../../db/page.ts'

/** Object types whose changes clients can query. */
export type ChangeType = 'messages' | 'threads' | 'folders' | 'submissions' | 'identities' | 'quotas'

export const CHANGE_TYPES: readonly ChangeType[] = [
  'messages',
  'folders',
  'threads',
  'submissions',
  'identities',
  'quotas',
]

export type FolderRole = 'inbox' | 'drafts' | 'sent' | 'junk' | 'trash' | 'archive'

/** The account of a mailbox in the message store. `n` is its key inside the store. */
export interface Account {
  n: number
  mailboxId: string
  usedBytes: number
  messageCount: number
  /** Decoded bytes of the attachments of its messages. */
  attachmentBytes: number
  /** The vacation response is enabled; its dates decide when it is sent. */
  isAway: boolean
  /** Since when the quota is exhausted; null while it is not. */
  fullSince: number | null
  lastActivityAt: number | null
  /** As of when the account was read. */
  states: States
}

/** Opaque states by type; a state changes whenever an object of the type changes. */
export type States = Record<ChangeType, string>

export interface Folder {
  id: string
  name: string
  parentId: string | null
  path: string
  role: FolderRole | null
  sortOrder: number
  totalMessages: number
  unreadMessages: number
  totalThreads: number
  unreadThreads: number
  isSubscribed: boolean
  createdAt: number
  updatedAt: number
}

/** The spam score of a message at receipt, for its mailbox. */
export interface MessageSpam {
  score: number
  isSpam: boolean
  /** Names of the facts, the heaviest first. */
  reasons: string[]
  /** From 0 to 1; missing in messages of earlier versions and in those that were not received by SMTP. */
  probability?: number
  parts?: { reason: string; points: number; detail: string | null }[]
}

export interface Flags {
  seen: boolean
  flagged: boolean
  draft: boolean
  answered: boolean
}

/** A message as shown in lists (docs/design/contract.md §2.5 last_message). */
export interface MessageSummary {
  id: string
  threadId: string
  folderIds: string[]
  subject: string
  preview: string
  from: Address
  to: Address[]
  cc: Address[]
  bcc: Address[]
  receivedAt: number
  sentAt: number | null
  sizeBytes: number
  hasAttachments: boolean
  /** System keywords and labels, sorted. */
  keywords: string[]
  flags: Flags
}

export interface Attachment {
  id: string
  messageId: string
  partId: string
  filename: string
  contentType: string
  sizeBytes: number
  sha256: Uint8Array
  disposition: 'attachment' | 'inline'
  contentId: string | null
  inline: boolean
}

/** Authentication results stored with the message. */
export interface MessageAuthentication {
  spf: AuthResult
  dkim: AuthResult
  dmarc: AuthResult
  arc: AuthResult
  fromAligned: boolean
  /** One short sentence per check: why. */
  reasons: string[]
}

export interface MessageDetail extends MessageSummary {
  blobHash: Uint8Array
  internetMessageId: string | null
  inReplyTo: string[]
  references: string[]
  replyTo: Address[]
  sender: Address | null
  parsed: boolean
  attachments: Attachment[]
  authentication: MessageAuthentication
  spam: MessageSpam
  envelope: { mailFrom: string; rcptTo: string }
}

export interface Thread {
  id: string
  subject: string
  messageCount: number
  unreadCount: number
  hasAttachments: boolean
  folderIds: string[]
  /** Distinct keywords of its messages, with those of the flags. */
  keywords: string[]
  /** When it returns to its folder, ms; null when it does not wait. */
  snoozedUntil: number | null
  participants: Address[]
  lastMessage: MessageSummary
}

/** The filters of docs/design/contract.md §4.1 threads and docs/design/mailbox.md §3 messages, as product values. */
export interface MessageFilter {
  q?: string
  folderId?: string
  threadId?: string
  from?: string
  to?: string
  subject?: string
  participant?: string
  /** ms, inclusive, on received_at. */
  after?: number
  /** ms, exclusive. */
  before?: number
  hasAttachment?: boolean
  isUnread?: boolean
  isFlagged?: boolean
  keyword?: string
  notKeyword?: string
  minSize?: number
  maxSize?: number
  /** Include Trash and Junk even if no filter names these folders. */
  inTrashOrJunk?: boolean
}

export type SortDirection = 'asc' | 'desc'
export type MessageSort = 'received_at' | 'sent_at' | 'subject' | 'from' | 'size'
