// Maps rows of `forwards` to records.

import type { Row } from '../../db/db.ts'

/**
 * `pending`: the receiver has not answered; `expired`: not in time. `declined` and `ended`: refused by the receiver, before or after
 * messages were forwarded.
 */
export const FORWARD_STATUSES = ['pending', 'active', 'expired', 'declined', 'ended'] as const
export type ForwardStatus = (typeof FORWARD_STATUSES)[number]

/** An address that receives what a mailbox, or one of its aliases, receives. */
export interface Forward {
  id: string
  teamId: string
  mailboxId: string
  /** Null: everything the mailbox receives. */
  alias: string | null
  /** As written. */
  email: string
  keepsCopy: boolean
  status: ForwardStatus
  /** `key_…` or `operator`. */
  createdBy: string
  createdAt: number
  /** Until when the receiver can confirm. */
  expiresAt: number
  confirmedAt: number | null
  endedAt: number | null
}

export interface NewForward {
  /** Lower-case; null: everything the mailbox receives. */
  alias: string | null
  email: string
  keepsCopy: boolean
  createdBy: string
  /** The secret of the link. */
  token: string
}

/** Statuses that count for the limit of addresses. */
export function isLive({ status }: Pick<Forward, 'status'>): boolean {
  return status === 'pending' || status === 'active'
}

export function presentForward(row: Row, now: number): Forward {
  const isLate = row.state === 'pending' && (row.expires_at as number) <= now
  return {
    id: row.id as string,
    teamId: row.team_id as string,
    mailboxId: row.mailbox_id as string,
    alias: (row.alias as string) || null,
    email: row.email as string,
    keepsCopy: row.keeps_copy === 1,
    status: isLate ? 'expired' : (row.state as ForwardStatus),
    createdBy: row.created_by as string,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
    confirmedAt: row.confirmed_at as number | null,
    endedAt: row.ended_at as number | null,
  }
}
