// A registration of an agent, for the operator.

import { type Static, Type } from 'typebox'
import type { Registration } from '../../agents/records.ts'
import { isoTime } from '../../base/clock.ts'
import type { Context } from '../../context.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

export const AGENT_STATES = ['unclaimed', 'invited', 'accepted', 'approved', 'revoked', 'expired'] as const

export const OperatorAgent = record('OperatorAgent', 'A registration of an agent.', {
  id: Id('agentRegistration'),
  state: Words(AGENT_STATES),
  email: Type.String({ description: 'Address of the inbox.' }),
  client_name: Nullable(Type.String({ description: 'Name the agent gave itself; unverified.' })),
  team_id: Id('team'),
  mailbox_id: Id('mailbox'),
  source_hash: Nullable(
    Type.String({ description: 'The same for registrations from the same client address; null after 30 days.' }),
  ),
  created_at: TimeOf('When it registered.'),
  last_used_at: Nullable(TimeOf('When a token of it was last used.')),
  ended_at: Nullable(TimeOf('When it ended.')),
  sent_last_24h: Type.Integer({ minimum: 0, description: 'Recipients it sent to in the last 24 hours.' }),
  recipients_per_hour: Type.Integer({ minimum: 0, description: 'How many it may send to per hour.' }),
  recipients_per_day: Type.Integer({ minimum: 0, description: 'How many it may send to per day.' }),
  has_own_limits: Type.Boolean({
    description: 'Whether the operator set one of the two for it; else AGENT_SEND_HOURLY and AGENT_SEND_DAILY apply.',
  }),
})
export type OperatorAgent = Static<typeof OperatorAgent>

export function presentAgent({ agents: { allowance }, db }: Context, registration: Registration): OperatorAgent {
  const { id, state, email, clientName, teamId, mailboxId, source, createdAt, lastUsedAt, endedAt } = registration
  const limits = allowance.limitsOf(registration)
  return {
    ...{ id, state, email, client_name: clientName, team_id: teamId, mailbox_id: mailboxId },
    source_hash: source === null ? null : Buffer.from(source).toString('hex'),
    created_at: isoTime(createdAt),
    last_used_at: lastUsedAt === null ? null : isoTime(lastUsedAt),
    ended_at: endedAt === null ? null : isoTime(endedAt),
    sent_last_24h: allowance.sentInDay(db.read, registration.n),
    ...{ recipients_per_hour: limits.hourly, recipients_per_day: limits.daily },
    has_own_limits: registration.sendHourly !== null || registration.sendDaily !== null,
  }
}
