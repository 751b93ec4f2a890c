// Which teams have subscriptions that want events.

import type { Reader } from '../../db/db.ts'

/** Those of some teams that have an enabled subscription. */
export function subscribedTeams(reader: Reader, teamIds: ReadonlySet<string>): Set<string> {
  const rows = reader.all<{ team_id: string }>(
    `SELECT DISTINCT team_id FROM webhooks
     WHERE team_id IN (SELECT value FROM json_each(?)) AND status = 'enabled'`,
    [JSON.stringify([...teamIds])],
  )
  return new Set(rows.map((row) => row.team_id))
}
