// The JSON form of a team.

import { isoTime } from '../../base/clock.ts'
import type { Team } from '../../directory/keys/teams.ts'

/** The record of docs/design/directory.md §3. */
export function presentTeam(team: Team): object {
  return { id: team.id, name: team.name, status: team.status, created_at: isoTime(team.createdAt) }
}
