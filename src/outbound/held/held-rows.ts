// Held messages as they are stored: what waits, why, which version, and what was decided.

import { sha256 } from '../../base/secrets.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { bytes, integer, type RecordOf, table, text, time } from '../../db/table.ts'
import type { Email } from '../model/records.ts'

/** Why a message waits. */
export const HOLD_REASONS = ['first_contact', 'after_reading_strangers', 'always', 'changed'] as const
export type HoldReason = (typeof HOLD_REASONS)[number]
/** `edited`: sent as another message. `canceled`, `withdrawn`: by its sender; because sending was forbidden or the mailbox ended. */
export const HELD_STATES = ['held', 'approved', 'edited', 'rejected', 'expired', 'canceled', 'withdrawn'] as const
export type HeldState = (typeof HELD_STATES)[number]

export const HELD_MESSAGES = table('held_messages', {
  /** Key of the message. */
  email: integer(),
  /** `eml_…` */
  email_id: text(),
  team_id: text(),
  mailbox_id: text(),
  /** The key, app password or registration that sent it. */
  credential: text().orNull(),
  submission_id: text().orNull(),
  /** The copy in Sent. */
  stored_message_id: text().orNull(),
  reason: text<HoldReason>(),
  detail: text(),
  /** See {@link fingerprintOf}. */
  hash: bytes(),
  state: text<HeldState>(),
  created_at: time(),
  expires_at: time(),
  /** When its approvers were told. */
  noticed_at: time().orNull().hidden(),
  decided_at: time().orNull(),
  /** Address of the person; null for an expiry and for what the sender did. */
  decided_by: text().orNull(),
  note: text().orNull(),
  /** `eml_…` of the message that was sent instead. */
  sent_as: text().orNull(),
})
export type HeldMessage = RecordOf<typeof HELD_MESSAGES>

/**
 * The hash that an approval is bound to: SHA-256 over id, sender, return path, time, recipients (hidden ones too) and the SHA-256 of the composed
 * bytes, each after its length.
 */
export function fingerprintOf(
  email: Pick<Email, 'id' | 'from' | 'returnPath' | 'hash'>,
  recipients: readonly string[],
  sendAt: number,
): Buffer {
  const content = email.hash === null ? '' : Buffer.from(email.hash).toString('hex')
  const parts = [email.id, email.from.email, email.returnPath ?? '', String(sendAt), content, ...recipients.toSorted()]
  return sha256(parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join(''))
}

export function heldOf(reader: Reader, emailId: string): HeldMessage | undefined {
  return HELD_MESSAGES.get(reader, 'WHERE email_id = ?', [emailId])
}

/** The held message of a key; undefined for one that never waited. */
export function heldByKey(reader: Reader, email: number): HeldMessage | undefined {
  return HELD_MESSAGES.get(reader, 'WHERE email = ?', [email])
}

/** Erases decisions with the messages that the delivery log deletes (their keys): SQLite gives a key to another message later. */
export function eraseHeld(tx: Tx, emails: readonly number[]): void {
  for (const table of ['held_links', HELD_MESSAGES.name]) {
    tx.run(`DELETE FROM ${table} WHERE email IN (SELECT value FROM json_each(?))`, [JSON.stringify(emails)])
  }
}

/** Closes messages that no longer wait, because their sender or the appliance ended them. */
export function closeHeld(tx: Tx, emails: readonly number[], state: 'canceled' | 'withdrawn', at: number): void {
  if (emails.length === 0) return
  tx.run(
    `UPDATE held_messages SET state = ?, decided_at = ?
     WHERE state = 'held' AND email IN (SELECT value FROM json_each(?))`,
    [state, at, JSON.stringify(emails)],
  )
}
