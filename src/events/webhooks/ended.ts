// Subscriptions that were ended because they did not work, not because somebody wanted it (decisions §9.5).

import type { Reader } from '../../db/db.ts'
import type { Webhook } from './records.ts'
import { presentWebhook } from './row.ts'

export async function endedWebhooks(reader: Reader): Promise<Webhook[]> {
  const rows = await reader.all(
    `SELECT * FROM webhooks WHERE status = 'disabled' AND disabled_reason IN ('too_many_failures', 'url_not_allowed')`,
  )
  return rows.map(presentWebhook)
}
