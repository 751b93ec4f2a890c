// Creates a team and invites its owner in one unit of work (docs/design/directory.md §4).

import type { Db, Tx } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import type { Team } from '../directory/keys/teams.ts'
import type { People } from './people.ts'

/**
 * @param also runs in the same unit of work
 * @throws ProductError validation_error for an invalid name or address, rate_limit_exceeded for a person invited too often
 */
export async function newTeam(
  { db, directory: { teams }, people }: { db: Db; directory: Pick<Directory, 'teams'>; people: People },
  { name, ownerEmail }: { name: string; ownerEmail?: string },
  also: (tx: Tx, team: Team) => void = () => {},
): Promise<Team> {
  const inviteIn =
    ownerEmail === undefined
      ? undefined
      : await people.prepareInvitation({ email: ownerEmail, role: 'owner' }, { name }, 'owner_email')
  return db.write((tx) => {
    const team = teams.createIn(tx, name)
    inviteIn?.(tx, team.id)
    also(tx, team)
    return team
  })
}
