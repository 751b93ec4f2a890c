// The persons who decide about messages of a mailbox's programs: its owners; without one, and for an agent, those of its team.

import type { Reader } from '../db/db.ts'

/** Addresses (lower-case) of these persons. */
export function approversOf(reader: Reader, { id, teamId }: { id: string; teamId: string }): string[] {
  const owners = reader.all<{ email: string }>(
    `SELECT DISTINCT m.email FROM mailbox_grants g JOIN members m ON m.id = g.member_id
     WHERE g.mailbox_id = ? AND g.access = 'owner' AND m.team_id = ? ORDER BY m.email`,
    [id, teamId],
  )
  if (owners.length > 0) return owners.map(({ email }) => email)
  const sql = `SELECT email FROM members WHERE team_id = ? AND role = 'owner' ORDER BY email`
  return reader.all<{ email: string }>(sql, [teamId]).map(({ email }) => email)
}
