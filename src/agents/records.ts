// Records of agents: registrations and invitations to own them.

import { bytes, flag, integer, key, type RecordOf, table, text, time } from '../db/table.ts'

/** unclaimed → invited → accepted ↔ approved; revoked and expired are final (docs/design/agents.md §4). */
export type RegistrationState = 'unclaimed' | 'invited' | 'accepted' | 'approved' | 'revoked' | 'expired'

export const AGENT_REGISTRATIONS = table('agent_registrations', {
  n: key(),
  /** `areg_…` */
  id: text(),
  team_id: text(),
  mailbox_id: text(),
  /** Address of the inbox. */
  email: text(),
  /** Name given by the agent; not verified. */
  client_name: text().orNull(),
  /** HMAC of the client IP address, kept for 32 days at most; null afterwards. */
  source: bytes().orNull(),
  request_scope: bytes().hidden(),
  state: text<RegistrationState>(),
  claim_hash: bytes().orNull().hidden(),
  /** Null for agents with a durable token. */
  claim_expires_at: time().orNull(),
  durable_hash: bytes().orNull().hidden(),
  created_at: time(),
  /** When the inbox was set up; null only for a moment after an upgrade from a version that did it later. */
  provisioned_at: time().orNull(),
  last_used_at: time().orNull(),
  ended_at: time().orNull(),
  delete_at: time().orNull().hidden(),
  /** When it first asked to send after a person became its owner; null until then. */
  sending_asked_at: time().orNull(),
  /** When its owner decided against it; null while they have not. */
  sending_refused_at: time().orNull(),
  /** Recipients per hour and per day that the operator set for it; null for those of the settings. */
  send_hourly: integer().orNull(),
  send_daily: integer().orNull(),
  /** HMACs of the networks of the client IP address, kept as long. */
  network: bytes().orNull(),
  wide_network: bytes().orNull(),
})
export type Registration = RecordOf<typeof AGENT_REGISTRATIONS>

export type InviteState = 'pending' | 'accepted' | 'approved' | 'declined' | 'expired' | 'revoked'

export const OWNER_INVITES = table('owner_invites', {
  n: key(),
  /** `ainv_…` */
  id: text(),
  /** Key of the registration. */
  registration: integer(),
  /** Lower-case. */
  email: text(),
  token_hash: bytes().hidden(),
  state: text<InviteState>(),
  created_at: time(),
  expires_at: time(),
  decided_at: time().orNull(),
  /** The mailbox of this appliance its link was mailed to; null for an address elsewhere, or without a message. */
  mailbox_id: text().orNull(),
  /** Whether its link was shown by the operator rather than mailed. */
  shown: flag().or(0).as('is_shown'),
})
export type Invite = RecordOf<typeof OWNER_INVITES>

/** False in a final state. */
export function isAlive({ state }: Registration): boolean {
  return state !== 'revoked' && state !== 'expired'
}
