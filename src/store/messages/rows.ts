// The rows of messages, and the records that readers get of them.

import type { Reader } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { Address } from '../../mime/message.ts'
import { keywordsOf } from '../entries/keywords.ts'
import { folderIdsOf } from '../rows/folders.ts'
import type { Flags, MessageSummary } from '../rows/records.ts'

/** The columns of a message that lists use. */
export interface SummaryRow {
  n: number
  id: string
  received_at: number
  sent_at: number | null
  seen: number
  flagged: number
  draft: number
  answered: number
  has_attachments: number
  size_bytes: number
  keywords: string
  subject: string
  preview: string
  from_email: string
  from_name: string
  addresses: string
}

/** The addresses of a message as stored in its row. */
export interface StoredAddresses {
  sender: Address | null
  from: Address[]
  to: Address[]
  cc: Address[]
  bcc: Address[]
  replyTo: Address[]
}

const SUMMARY_COLUMNS = [
  'n',
  'id',
  'received_at',
  'sent_at',
  'seen',
  'flagged',
  'draft',
  'answered',
  'has_attachments',
  'size_bytes',
  'keywords',
  'subject',
  'preview',
  'from_email',
  'from_name',
  'addresses',
] as const satisfies (keyof SummaryRow)[]

/** Column list of a summary for SELECT. */
export function summaryColumns(alias: string): string {
  return SUMMARY_COLUMNS.map((name) => `${alias}.${name}`).join(', ')
}

/** Summaries of messages by number; deleted ones are left out. @param threadIds returns thread ids by number */
export function summariesOf(
  reader: Reader,
  numbers: readonly number[],
  threadIds: (threads: readonly number[]) => Map<number, string>,
): Map<number, MessageSummary> {
  if (numbers.length === 0) return new Map()
  const rows = reader.all<SummaryRow & { thread: number }>(
    `SELECT ${summaryColumns('m')}, m.thread FROM messages m WHERE m.n IN (${placeholders(numbers)})`,
    numbers,
  )
  const threads = threadIds([...new Set(rows.map((row) => row.thread))])
  const folders = folderIdsOf(reader, numbers)
  return new Map(
    rows.map((row) => [row.n, presentSummary(row, threads.get(row.thread) ?? '', folders.get(row.n) ?? [])]),
  )
}

export function presentSummary(row: SummaryRow, threadId: string, folderIds: string[]): MessageSummary {
  const { to, cc, bcc } = JSON.parse(row.addresses) as StoredAddresses
  const flags = flagsOf(row)
  return {
    id: row.id,
    threadId,
    folderIds,
    subject: row.subject,
    preview: row.preview,
    from: { email: row.from_email, name: row.from_name },
    to,
    cc,
    bcc,
    receivedAt: row.received_at,
    sentAt: row.sent_at,
    sizeBytes: row.size_bytes,
    hasAttachments: row.has_attachments === 1,
    keywords: keywordsOf(flags, JSON.parse(row.keywords) as string[]),
    flags,
  }
}

function flagsOf(row: SummaryRow): Flags {
  return { seen: row.seen === 1, flagged: row.flagged === 1, draft: row.draft === 1, answered: row.answered === 1 }
}
