// Sending limits of agents: recipients per hour and per day (decisions §11.9).

import type { Clock } from '../base/clock.ts'
import { HOUR_MS } from '../base/durations.ts'
import { ProductError } from '../base/errors.ts'
import type { Config } from '../config/config.ts'
import type { Tx } from '../db/db.ts'

const HOURS_PER_DAY = 24

export class SendAllowance {
  readonly #deps: { clock: Clock; config: Config }

  constructor(deps: { clock: Clock; config: Config }) {
    this.#deps = deps
  }

  /**
   * Counts recipients for the agent of a mailbox in the unit of work that queues the message.
   * @returns null when the limits allow them or the mailbox is no agent's; otherwise the error, and nothing is counted
   */
  take(tx: Tx, mailboxId: string, recipients: number): ProductError | null {
    const { clock, config } = this.#deps
    const agent = tx.get<{ n: number }>('SELECT n FROM agent_registrations WHERE mailbox_id = ?', [mailboxId])
    if (agent === undefined) return null
    const now = clock.now()
    const hour = Math.floor(now / HOUR_MS)
    const rows = tx.all<{ hour: number; recipients: number }>(
      'SELECT hour, recipients FROM agent_sends WHERE registration = ? AND hour > ? ORDER BY hour',
      [agent.n, hour - HOURS_PER_DAY],
    )
    const inHour = rows.find((row) => row.hour === hour)?.recipients ?? 0
    const inDay = rows.reduce((sum, row) => sum + row.recipients, 0)
    if (inHour + recipients > config.AGENT_SEND_HOURLY) {
      return tooMany(
        `An agent may send to ${config.AGENT_SEND_HOURLY} recipients per hour. Try again later.`,
        (hour + 1) * HOUR_MS - now,
      )
    }
    if (inDay + recipients > config.AGENT_SEND_DAILY) {
      const first = rows[0]?.hour ?? hour
      const opensAt = (first + HOURS_PER_DAY) * HOUR_MS
      return tooMany(
        `An agent may send to ${config.AGENT_SEND_DAILY} recipients per day. Try again later.`,
        opensAt - now,
      )
    }
    tx.run('DELETE FROM agent_sends WHERE registration = ? AND hour <= ?', [agent.n, hour - HOURS_PER_DAY])
    tx.run(
      `INSERT INTO agent_sends (registration, hour, recipients) VALUES (?, ?, ?)
       ON CONFLICT (registration, hour) DO UPDATE SET recipients = recipients + excluded.recipients`,
      [agent.n, hour, recipients],
    )
    return null
  }

  /** Recipients an agent has sent to in the last 24 hours. */
  sentInDay(reader: Pick<Tx, 'get'>, registration: number): number {
    const hour = Math.floor(this.#deps.clock.now() / HOUR_MS)
    const row = reader.get<{ sent: number | null }>(
      'SELECT sum(recipients) AS sent FROM agent_sends WHERE registration = ? AND hour > ?',
      [registration, hour - HOURS_PER_DAY],
    )
    return row?.sent ?? 0
  }
}

function tooMany(message: string, waitMs: number): ProductError {
  return new ProductError('rate_limit_exceeded', message, { retryAfter: Math.ceil(waitMs / 1000) })
}
