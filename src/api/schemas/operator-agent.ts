// A registration of an agent, for the operator.

import { type Static, Type } from 'typebox'
import type { Registration } from '../../agents/records.ts'
import { isoTime } from '../../base/clock.ts'
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
})
export type OperatorAgent = Static<typeof OperatorAgent>

export function presentAgent(registration: Registration): OperatorAgent {
  const { id, state, email, clientName, teamId, mailboxId, source, createdAt, lastUsedAt, endedAt } = registration
  return {
    ...{ id, state, email, client_name: clientName, team_id: teamId, mailbox_id: mailboxId },
    source_hash: source === null ? null : Buffer.from(source).toString('hex'),
    created_at: isoTime(createdAt),
    last_used_at: lastUsedAt === null ? null : isoTime(lastUsedAt),
    ended_at: endedAt === null ? null : isoTime(endedAt),
  }
}
