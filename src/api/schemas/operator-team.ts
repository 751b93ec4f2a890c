// A team for the operator: with its limit at the shared Amazon SES account.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import type { Context } from '../../context.ts'
import type { Team } from '../../directory/keys/teams.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

export const TeamStatus = Words(
  ['active', 'suspended'],
  'All credentials of a suspended team are rejected, and its mail is deferred.',
)

export const OperatorTeam = record('OperatorTeam', 'A team, with its permission to send through the shared account.', {
  id: Id('team'),
  name: Type.String(),
  status: TeamStatus,
  ses_enabled: Type.Boolean({ description: 'It can use the shared Amazon SES account.' }),
  ses_daily_limit: Nullable(Type.Integer({ minimum: 0, description: 'Recipients a day; null for no limit.' })),
  created_at: TimeOf('When it was created.'),
})
export type OperatorTeam = Static<typeof OperatorTeam>

/** A team with its present limit. */
export function operatorTeam(
  {
    outbound: {
      accounts: { sharedLimit },
    },
  }: Context,
  team: Team,
): OperatorTeam {
  const { dailyLimit } = sharedLimit.limitOf(team.id)
  return present(team, sharedLimit.isEnabled(team.id), dailyLimit)
}

/** A team that was just created: it has no limit record yet. */
export function presentNewTeam(team: Team): OperatorTeam {
  return present(team, false, null)
}

function present({ id, name, status, createdAt }: Team, enabled: boolean, limit: number | null): OperatorTeam {
  return { id, name, status, ses_enabled: enabled, ses_daily_limit: limit, created_at: isoTime(createdAt) }
}
