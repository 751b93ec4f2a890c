// Maps rows of `mailboxes` to records and back.

import type { Row } from '../../db/db.ts'
import type { SendScope } from './mailbox-input.ts'

export type MailboxStatus = 'active' | 'suspended' | 'deleted'

export interface Mailbox {
  id: string
  teamId: string
  /** Null for one that is an account at another server. */
  domainId: string | null
  email: string
  displayName: string | null
  quotaBytes: number
  sendScope: SendScope
  status: MailboxStatus
  statusReason: string | null
  isAgent: boolean
  agentRegistrationId: string | null
  createdAt: number
  updatedAt: number
  suspendedAt: number | null
  deletedAt: number | null
  /** Hash of its active Sieve script (see sieve-scripts.ts); null without one. */
  scriptKey: string | null
}

/** `domain_id` of a mailbox that is an account at another server: no lookup by domain finds it. */
export const OUTSIDE = ''

/** All columns but `script_key`, which `setScript` writes. */
export function mailboxRow(mailbox: Mailbox): Row {
  return {
    id: mailbox.id,
    team_id: mailbox.teamId,
    domain_id: mailbox.domainId ?? OUTSIDE,
    email: mailbox.email,
    display_name: mailbox.displayName,
    search_text: `${mailbox.email}\n${mailbox.displayName ?? ''}`.toLowerCase(),
    quota_bytes: mailbox.quotaBytes,
    send_scope: JSON.stringify(mailbox.sendScope),
    status: mailbox.status,
    status_reason: mailbox.statusReason,
    is_agent: mailbox.isAgent,
    agent_registration_id: mailbox.agentRegistrationId,
    created_at: mailbox.createdAt,
    updated_at: mailbox.updatedAt,
    suspended_at: mailbox.suspendedAt,
    deleted_at: mailbox.deletedAt,
  }
}

export function presentMailbox(row: Row): Mailbox {
  return {
    id: row.id as string,
    teamId: row.team_id as string,
    domainId: row.domain_id === OUTSIDE ? null : (row.domain_id as string),
    email: row.email as string,
    displayName: row.display_name as string | null,
    quotaBytes: row.quota_bytes as number,
    sendScope: JSON.parse(row.send_scope as string) as SendScope,
    status: row.status as MailboxStatus,
    statusReason: row.status_reason as string | null,
    isAgent: row.is_agent === 1,
    agentRegistrationId: row.agent_registration_id as string | null,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    suspendedAt: row.suspended_at as number | null,
    deletedAt: row.deleted_at as number | null,
    scriptKey: row.script_key as string | null,
  }
}
