// Whose a name is: one team's, the one that has proven it.

import { conflict } from '../base/errors.ts'
import type { Reader, Tx } from '../db/db.ts'

/** @throws ProductError conflict when the team has a domain of this name, or another team has proven it */
export async function refuseTaken(reader: Reader, teamId: string, name: string): Promise<void> {
  const own = await reader.get('SELECT 1 AS taken FROM domains WHERE team_id = ? AND name = ?', [teamId, name])
  if (own !== undefined) throw conflict('The team already has this domain.', 'domain')
  await refuseProven(reader, teamId, name)
}

/** @throws ProductError conflict when another team has proven the name */
export async function refuseProven(reader: Reader, teamId: string, name: string): Promise<void> {
  const other = await reader.get(
    `SELECT 1 AS taken FROM domains WHERE name = ? AND verification_status = 'verified' AND team_id <> ?`,
    [name, teamId],
  )
  if (other !== undefined) throw conflict('The domain is verified by another team.', 'domain')
}

/** The first to verify wins: others who wait have failed, and one whose proof has lapsed takes no more mail. */
export async function yieldTo(tx: Tx, name: string, winnerId: string): Promise<void> {
  await tx.run(
    `UPDATE domains SET verification_status = 'failed', receives = 0, next_check_at = NULL WHERE name = ? AND id <> ?`,
    [name, winnerId],
  )
}
