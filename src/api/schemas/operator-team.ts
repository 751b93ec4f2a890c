// A team as the operator sees it: with its share of the shared Amazon SES account.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import type { Context } from '../../context.ts'
import type { Team } from '../../directory/teams.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

export const TeamStatus = Words(
  ['active', 'suspended'],
  'Every credential of a suspended team is refused, its mail is deferred.',
)

export const OperatorTeam = record('OperatorTeam', 'A team, with what it may send through the shared account.', {
  id: Id('team'),
  name: Type.String(),
  status: TeamStatus,
  ses_enabled: Type.Boolean({ description: 'It may use the shared Amazon SES account.' }),
  ses_daily_limit: Nullable(Type.Integer({ minimum: 0, description: 'Recipients a day; null for no limit.' })),
  created_at: TimeOf('When it was made.'),
})
export type OperatorTeam = Static<typeof OperatorTeam>

/** A team with its share as it is now. */
export async function operatorTeam({ outbound: { sharedLimit } }: Context, team: Team): Promise<OperatorTeam> {
  const { dailyLimit } = await sharedLimit.limitOf(team.id)
  return present(team, await sharedLimit.isEnabled(team.id), dailyLimit)
}

/** A team that was just made: it has no share. */
export function presentNewTeam(team: Team): OperatorTeam {
  return present(team, false, null)
}

function present({ id, name, status, createdAt }: Team, enabled: boolean, limit: number | null): OperatorTeam {
  return { id, name, status, ses_enabled: enabled, ses_daily_limit: limit, created_at: isoTime(createdAt) }
}
