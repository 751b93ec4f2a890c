// Creates the first team of an empty appliance with a root key.

import type { Directory } from './directory.ts'
import type { IssuedKey } from './keys/key-record.ts'
import type { Team } from './keys/teams.ts'

export interface FirstTeam {
  team: Team
  /** Its secret is shown only once. */
  key: IssuedKey
}

/**
 * Creates a team and a root key with every permission in one unit of work.
 * @returns undefined when there is a team already
 */
export function firstTeam({ teams, keys }: Directory, name = 'First team'): Promise<FirstTeam | undefined> {
  return teams.createFirst(name, (tx, team) =>
    keys.issueIn(tx, {
      teamId: team.id,
      kind: 'root',
      name: 'setup',
      role: 'root:full',
      createdBy: 'operator',
    }),
  )
}
