// Sending limits of agents: recipients per hour and per day (docs/design/agents.md §7).

import type { Clock } from '../base/clock.ts'
import { HOUR_MS } from '../base/durations.ts'
import { ProductError } from '../base/errors.ts'
import type { Config } from '../config/config.ts'
import type { Tx } from '../db/db.ts'
import { AGENT_REGISTRATIONS, type Registration } from './records.ts'

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
    const { clock } = this.#deps
    const agent = this.#agentOf(tx, mailboxId)
    if (agent === undefined) return null
    const limits = this.limitsOf(agent)
    const now = clock.now()
    const hour = Math.floor(now / HOUR_MS)
    const rows = tx.all<{ hour: number; recipients: number }>(
      'SELECT hour, recipients FROM agent_sends WHERE registration = ? AND hour > ? ORDER BY hour',
      [agent.n, hour - HOURS_PER_DAY],
    )
    const inHour = rows.find((row) => row.hour === hour)?.recipients ?? 0
    const inDay = rows.reduce((sum, row) => sum + row.recipients, 0)
    if (inHour + recipients > limits.hourly) {
      return tooMany(
        `This agent may send to ${limits.hourly} recipients per hour. Try again later.`,
        (hour + 1) * HOUR_MS - now,
      )
    }
    if (inDay + recipients > limits.daily) {
      const first = rows[0]?.hour ?? hour
      const opensAt = (first + HOURS_PER_DAY) * HOUR_MS
      return tooMany(`This agent may send to ${limits.daily} recipients per day. Try again later.`, opensAt - now)
    }
    tx.run('DELETE FROM agent_sends WHERE registration = ? AND hour <= ?', [agent.n, hour - HOURS_PER_DAY])
    tx.run(
      `INSERT INTO agent_sends (registration, hour, recipients) VALUES (?, ?, ?)
       ON CONFLICT (registration, hour) DO UPDATE SET recipients = recipients + excluded.recipients`,
      [agent.n, hour, recipients],
    )
    return null
  }

  /** Recipients per hour and day: those the operator set for the agent, else those of the settings. */
  limitsOf({ sendHourly, sendDaily }: Pick<Registration, 'sendHourly' | 'sendDaily'>): {
    hourly: number
    daily: number
  } {
    const { AGENT_SEND_HOURLY, AGENT_SEND_DAILY } = this.#deps.config
    return { hourly: sendHourly ?? AGENT_SEND_HOURLY, daily: sendDaily ?? AGENT_SEND_DAILY }
  }

  /** Recipients per day that the agent of a mailbox may send to; null for other mailboxes. */
  dailyLimit(reader: Pick<Tx, 'get'>, mailboxId: string): number | null {
    const agent = this.#agentOf(reader, mailboxId)
    return agent === undefined ? null : this.limitsOf(agent).daily
  }

  #agentOf(reader: Pick<Tx, 'get'>, mailboxId: string): Registration | undefined {
    return AGENT_REGISTRATIONS.get(reader, 'WHERE mailbox_id = ?', [mailboxId])
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
