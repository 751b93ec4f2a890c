// Records of agents: registrations and invitations to own them.

import type { Row } from '../db/db.ts'

/** unclaimed → invited → accepted ↔ approved; revoked and expired are final (docs/design/agents.md §4). */
export type RegistrationState = 'unclaimed' | 'invited' | 'accepted' | 'approved' | 'revoked' | 'expired'

export interface Registration {
  n: number
  /** `areg_…` */
  id: string
  teamId: string
  mailboxId: string
  /** Address of the inbox. */
  email: string
  /** Name given by the agent; not verified. */
  clientName: string | null
  /** HMAC of the client IP address, kept for 32 days at most; null afterwards. */
  source: Uint8Array | null
  /** HMACs of the networks of that address, kept as long. */
  network: Uint8Array | null
  wideNetwork: Uint8Array | null
  state: RegistrationState
  /** ms; null for agents with a durable token. */
  claimExpiresAt: number | null
  createdAt: number
  /** When the inbox was set up; null only for a moment after an upgrade from a version that did it later. */
  provisionedAt: number | null
  lastUsedAt: number | null
  endedAt: number | null
  /** When it first asked to send after a person became its owner; null until then. */
  sendingAskedAt: number | null
  /** When its owner decided against it; null while they have not. */
  sendingRefusedAt: number | null
  /** Recipients per hour and per day that the operator set for it; null for those of the settings. */
  sendHourly: number | null
  sendDaily: number | null
}

export type InviteState = 'pending' | 'accepted' | 'approved' | 'declined' | 'expired' | 'revoked'

export interface Invite {
  n: number
  /** `ainv_…` */
  id: string
  registration: number
  /** Lower-case. */
  email: string
  state: InviteState
  createdAt: number
  expiresAt: number
  decidedAt: number | null
  /** The mailbox of this appliance its link was mailed to; null for an address elsewhere, or without a message. */
  mailboxId: string | null
  /** Whether its link was shown by the operator rather than mailed. */
  isShown: boolean
}

/** False in a final state. */
export function isAlive({ state }: Registration): boolean {
  return state !== 'revoked' && state !== 'expired'
}

export function registrationOf(row: Row): Registration {
  return {
    n: row.n as number,
    id: row.id as string,
    teamId: row.team_id as string,
    mailboxId: row.mailbox_id as string,
    email: row.email as string,
    clientName: row.client_name as string | null,
    source: row.source as Uint8Array | null,
    network: row.network as Uint8Array | null,
    wideNetwork: row.wide_network as Uint8Array | null,
    state: row.state as RegistrationState,
    claimExpiresAt: row.claim_expires_at as number | null,
    createdAt: row.created_at as number,
    provisionedAt: row.provisioned_at as number | null,
    lastUsedAt: row.last_used_at as number | null,
    endedAt: row.ended_at as number | null,
    sendingAskedAt: row.sending_asked_at as number | null,
    sendingRefusedAt: row.sending_refused_at as number | null,
    sendHourly: row.send_hourly as number | null,
    sendDaily: row.send_daily as number | null,
  }
}

export function inviteOf(row: Row): Invite {
  return {
    n: row.n as number,
    id: row.id as string,
    registration: row.registration as number,
    email: row.email as string,
    state: row.state as InviteState,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
    decidedAt: row.decided_at as number | null,
    mailboxId: row.mailbox_id as string | null,
    isShown: row.shown === 1,
  }
}
