// Domains whose proof has gone: verified once, failed since (decisions §4.3).

import type { Reader } from '../db/db.ts'

export interface LapsedDomain {
  id: string
  teamId: string
  name: string
  /** When it was last verified, ms: tells one lapse from the next. */
  verifiedAt: number
}

export async function lapsedDomains(reader: Reader): Promise<LapsedDomain[]> {
  const rows = await reader.all<{ id: string; team_id: string; name: string; verified_at: number }>(
    `SELECT id, team_id, name, verified_at FROM domains
     WHERE verification_status = 'failed' AND verified_at IS NOT NULL AND missing_days > 0`,
  )
  return rows.map(({ id, team_id: teamId, name, verified_at: verifiedAt }) => ({ id, teamId, name, verifiedAt }))
}
