// Stored messages and log rows, read directly from the tables.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { namedBlobs } from '../../src/outbound/log/named-contents.ts'
import { SWEEP_GRACE_MS } from '../../src/store/content/blobs.ts'
import type { TestAppliance } from './appliance.ts'
import type { ManualClock } from './clock.ts'

/** A stored message, for tests of receiving. */
export interface StoredMessageRow {
  id: string
  subject: string
  /** The From address. */
  from: string
  /** Role of its folder. */
  role: string
  thread: number
  keywords: string[]
  rcptTo: string
  mailFrom: string
  authentication: { spf: string; dkim: string; dmarc: string; arc: string; fromAligned: boolean; reasons: string[] }
  spam: { score: number; isSpam: boolean; reasons: string[] }
}

/** A row of the inbound log. */
export interface LogRow {
  status: string
  reason: string | null
  detail: string
  smtp_reply: string
  mail_from: string
  rcpt_to: string
  header_from: string | null
  subject: string | null
  remote_address: string
  remote_name: string | null
  helo: string
  tls: string | null
  size_bytes: number | null
  authentication: Record<string, string> | null
  spam_score: number | null
  mailbox_id: string | null
  message_id: string | null
  domain: string
  evidence: { [name: string]: never }
}

/** The messages of a mailbox in the order they were stored. */
export async function storedMessages(appliance: TestAppliance, mailboxId: string): Promise<StoredMessageRow[]> {
  const rows = await appliance.app.db.scan.all<Record<string, string & number>>(
    `SELECT m.id, m.subject, m.from_email, f.role, m.thread, m.keywords, m.envelope, m.authentication, m.spam
     FROM messages m JOIN accounts a ON a.n = m.account JOIN message_folders mf ON mf.message = m.n
     JOIN folders f ON f.n = mf.folder WHERE a.mailbox_id = ? ORDER BY m.n`,
    [mailboxId],
  )
  return rows.map(({ id, subject, from_email, role, thread, keywords, envelope, authentication, spam }) => ({
    id: id!,
    subject: subject!,
    from: from_email!,
    role: role!,
    thread: thread!,
    keywords: JSON.parse(keywords!),
    ...JSON.parse(envelope!),
    authentication: JSON.parse(authentication!),
    spam: JSON.parse(spam!),
  }))
}

/** The rows of the inbound log of a team in the order they were written. */
export async function logOf(appliance: TestAppliance, teamId: string): Promise<LogRow[]> {
  const rows = await appliance.app.db.scan.all<Record<string, string>>(
    'SELECT * FROM inbound_log WHERE team_id = ? ORDER BY n',
    [teamId],
  )
  return rows.map((row) => ({
    ...(row as unknown as LogRow),
    authentication: row.authentication ? JSON.parse(row.authentication) : null,
    evidence: JSON.parse(row.evidence!),
  }))
}

/** The stored bytes of a message. */
export async function rawOf(appliance: TestAppliance, messageId: string): Promise<string> {
  const row = appliance.app.db.read.get<{ blob: Uint8Array }>('SELECT blob FROM messages WHERE id = ?', [messageId])
  const size = appliance.app.store.blobs.size(row!.blob)
  return Buffer.from(await appliance.app.store.blobs.bytes(row!.blob, 0, size!)).toString('latin1')
}

/** Names of the files in the spool. */
export function spooled(appliance: TestAppliance): Promise<string[]> {
  return readdir(join(appliance.dataDir, 'spool'))
}

/**
 * Advances the clock by the hour after which unused content is erased: a repeated or failed delivery leaves
 * some, because content is written before the rows that name it.
 */
export async function sweepContent(appliance: TestAppliance, clock: ManualClock): Promise<void> {
  clock.advance(SWEEP_GRACE_MS + 1)
  const { store, outbound } = appliance.app
  await store.blobs.sweep((hashes) => namedBlobs(store, outbound.log, hashes))
}
