// Mailboxes as they are stored, and as records.

import type { Reader, SqlValue, Tx } from '../../db/db.ts'
import { flag, integer, json, key, type RecordOf, table, text, time } from '../../db/table.ts'
import type { SendScope } from './mailbox-input.ts'

export type MailboxStatus = 'active' | 'suspended' | 'deleted'

export const MAILBOXES = table('mailboxes', {
  n: key().hidden(),
  id: text(),
  team_id: text(),
  /** {@link OUTSIDE} for one that is an account at another server. */
  domain_id: text(),
  email: text(),
  display_name: text().orNull(),
  /** The text that a search looks in. */
  search_text: text().hidden(),
  quota_bytes: integer(),
  send_scope: json<SendScope>(),
  status: text<MailboxStatus>(),
  status_reason: text().orNull(),
  is_agent: flag().or(0),
  agent_registration_id: text().orNull(),
  created_at: time(),
  updated_at: time(),
  suspended_at: time().orNull(),
  deleted_at: time().orNull(),
  /** Hash of its active Sieve script (see sieve-scripts.ts); null without one. */
  script_key: text().orNull(),
  /** When its settings and its content were erased, or begin to be. */
  purged_at: time().orNull().hidden(),
})
type StoredMailbox = RecordOf<typeof MAILBOXES>

export interface Mailbox extends Omit<StoredMailbox, 'domainId'> {
  /** Null for one that is an account at another server. */
  domainId: string | null
}

/** `domain_id` of a mailbox that is an account at another server: no lookup by domain finds it. */
export const OUTSIDE = ''

/** @param rest the statement from WHERE on */
export function readMailbox(reader: Reader, rest: string, values: readonly SqlValue[]): Mailbox | undefined {
  const stored = MAILBOXES.get(reader, rest, values)
  return stored && mailboxOf(stored)
}

/** The same for all rows. */
export function readMailboxes(reader: Reader, rest: string, values: readonly SqlValue[]): Mailbox[] {
  return MAILBOXES.all(reader, rest, values).map(mailboxOf)
}

export function mailboxOf(stored: StoredMailbox): Mailbox {
  return { ...stored, domainId: stored.domainId === OUTSIDE ? null : stored.domainId }
}

export function insertMailbox(tx: Tx, mailbox: Mailbox): void {
  MAILBOXES.insert(tx, storedOf(mailbox))
}

/** Writes all of a mailbox but its script, which `setScript` writes. */
export function updateMailbox(tx: Tx, mailbox: Mailbox): void {
  MAILBOXES.update(tx, { ...storedOf(mailbox), scriptKey: undefined }, 'WHERE id = ?', [mailbox.id])
}

function storedOf(mailbox: Mailbox) {
  const searchText = `${mailbox.email}\n${mailbox.displayName ?? ''}`.toLowerCase()
  return { ...mailbox, domainId: mailbox.domainId ?? OUTSIDE, searchText }
}
