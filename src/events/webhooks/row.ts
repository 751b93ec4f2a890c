// Maps rows of `webhooks` to records.

import type { Row, SqlValue } from '../../db/db.ts'
import type { DisabledReason, Webhook } from './records.ts'

export function listOrNull(list: readonly string[] | null | undefined): string | null {
  return list == null ? null : JSON.stringify(list)
}

export function presentWebhook(row: Row): Webhook {
  const list = (text: SqlValue) => (text === null ? null : (JSON.parse(text as string) as string[]))
  return {
    n: row.n as number,
    id: row.id as string,
    teamId: row.team_id as string,
    url: row.url as string,
    description: row.description as string | null,
    eventTypes: list(row.event_types)!,
    mailboxIds: list(row.mailbox_ids),
    domainIds: list(row.domain_ids),
    status: row.status as Webhook['status'],
    disabledReason: row.disabled_reason as DisabledReason | null,
    secretHint: row.secret_hint as string,
    secretRotatedAt: row.secret_rotated_at as number | null,
    previousSecretUntil: row.previous_until as number | null,
    consecutiveFailures: row.consecutive_failures as number,
    lastDeliveryAt: row.last_delivery_at as number | null,
    lastSuccessAt: row.last_success_at as number | null,
    setBy: row.set_by as string | null,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  }
}
