// Maps messages and deliveries to their rows.

import type { Row } from '../../db/db.ts'
import type { SendScope } from '../../directory/mailboxes/mailbox-input.ts'
import type { Delivery, DeliveryStatus, Email, EmailSource } from '../model/records.ts'

export interface EmailRow {
  n: number
  id: string
  team_id: string
  mailbox_id: string | null
  source: EmailSource
  scope: string
  from_email: string
  from_name: string
  return_path: string | null
  subject: string
  internet_message_id: string
  blob: Uint8Array | null
  size_bytes: number
  queued_at: number
  expires_at: number
  is_changed: number
}

export const EMAIL_COLUMNS = `n, id, team_id, mailbox_id, source, scope, from_email, from_name, return_path, subject,
  internet_message_id, blob, size_bytes, queued_at, expires_at, is_changed`

export function presentEmail(row: EmailRow): Email {
  return {
    n: row.n,
    id: row.id,
    teamId: row.team_id,
    mailboxId: row.mailbox_id,
    source: row.source,
    scope: JSON.parse(row.scope) as SendScope,
    from: { email: row.from_email, name: row.from_name },
    returnPath: row.return_path,
    subject: row.subject,
    internetMessageId: row.internet_message_id,
    hash: row.blob,
    sizeBytes: row.size_bytes,
    queuedAt: row.queued_at,
    expiresAt: row.expires_at,
    ...(row.is_changed === 1 ? { isChanged: true } : {}),
  }
}

/** The columns of an accepted message, without those for the release of its content and the count of open deliveries. */
export function emailRow(email: Omit<Email, 'n'>): Row {
  return {
    id: email.id,
    team_id: email.teamId,
    mailbox_id: email.mailboxId,
    source: email.source,
    scope: JSON.stringify(email.scope),
    from_email: email.from.email,
    from_name: email.from.name,
    return_path: email.returnPath,
    subject: email.subject,
    internet_message_id: email.internetMessageId,
    blob: email.hash,
    size_bytes: email.sizeBytes,
    queued_at: email.queuedAt,
    expires_at: email.expiresAt,
    is_changed: email.isChanged === true,
  }
}

export interface DeliveryColumns {
  n: number
  id: string
  email: number
  to_email: string
  status: DeliveryStatus
  status_reason: string | null
  attempts: number
  provider_id: string | null
  provider_name: string | null
  sent_from_email: string
  sent_at: number | null
  created_at: number
}

/** Columns of {@link DeliveryColumns}, with the table alias `d`. */
export const DELIVERY_COLUMNS = `d.n, d.id, d.email, d.to_email, d.status, d.status_reason, d.attempts, d.provider_id,
  d.provider_name, d.sent_from_email, d.sent_at, d.created_at`

export function presentDelivery(row: DeliveryColumns): Delivery {
  return {
    n: row.n,
    id: row.id,
    email: row.email,
    to: row.to_email,
    status: row.status,
    statusReason: row.status_reason,
    attempts: row.attempts,
    providerId: row.provider_id,
    providerName: row.provider_name,
    sentFromEmail: row.sent_from_email,
    sentAt: row.sent_at,
    createdAt: row.created_at,
  }
}
