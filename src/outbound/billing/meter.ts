// Usage metering: pending recipients are held against the balance, sent ones are counted by hour and provider (docs/design/sending.md §9).

import { isoTime } from '../../base/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import { conflict, type ProductError } from '../../base/errors.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { DeferredWrites } from '../../db/deferred-writes.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { Ledger } from './ledger.ts'
import { MICRO } from './money.ts'

interface Deps extends Pick<OutboundDeps, 'db' | 'clock' | 'guard' | 'trustedClock' | 'config'> {
  ledger: Pick<Ledger, 'enter' | 'balance'>
}

interface MeterRow {
  team_id: string
  hour: number
  provider_id: string
  provider_name: string
  quantity: number
}

/** A recipient that a message was sent to. */
type Sent = Omit<MeterRow, 'quantity'>

/** Order among the deferred writes at the end of a transaction; any order works. */
const ORDER = 0
/** Maximum number of rows per statement. */
const ROWS_MAX = 32
/** Delay in ms after an hour before it is entered: a unit of work that started in it may still be running. */
const GRACE_MS = 5 * MINUTE_MS
const BATCH = 100
/** The `hour` value of rows that count pending recipients. */
const PENDING_HOUR = 0

const COUNT = `INSERT INTO billing_meters (team_id, hour, provider_id, provider_name, quantity)`
const ADD = `ON CONFLICT (team_id, hour, provider_id) DO UPDATE SET quantity = quantity + excluded.quantity`

export class Meter {
  readonly #deps: Deps
  readonly #price: number
  readonly #sent = new DeferredWrites<Sent>((tx, all) => this.#writeSent(tx, all), ORDER)

  constructor(deps: Deps) {
    this.#deps = deps
    this.#price = Math.round(deps.config.BILLING_UNIT_PRICE * MICRO)
  }

  /**
   * Checks whether the balance, minus pending recipients and usage not entered yet, covers more recipients.
   * @returns the error to report when it does not; null when it does or billing is not enforced
   */
  refusal(reader: Reader, teamId: string, recipients: number): ProductError | null {
    if (!this.#deps.config.BILLING_ENFORCE || this.#price === 0) return null
    const owed = this.#owed(reader, teamId) + recipients
    if (this.#deps.ledger.balance(reader, teamId) >= owed * this.#price) return null
    return conflict('The balance of the team does not cover this message. Ask the operator for credit.')
  }

  /** Holds recipients against the balance until their deliveries end. */
  hold(tx: Tx, teamId: string, recipients: number): void {
    tx.run(`${COUNT} VALUES (?, ?, '', '', ?) ${ADD}`, [teamId, PENDING_HOUR, recipients])
  }

  /**
   * Ends the hold of one recipient.
   * @param carrier the provider that accepted the message; null if none did, then nothing is charged
   */
  settle(tx: Tx, teamId: string, carrier: { id: string | null; name: string | null } | null, at: number): void {
    if (carrier === null) {
      this.hold(tx, teamId, -1)
      return
    }
    const { guard, trustedClock } = this.#deps
    const time = guard.isHeld() ? trustedClock.now() : at
    const name = carrier.name ?? 'direct delivery'
    this.#sent.add(tx, {
      team_id: teamId,
      hour: time - (time % HOUR_MS),
      provider_id: carrier.id ?? '',
      provider_name: name,
    })
  }

  /** Moves recipients from pending to sent. The amount owed stays the same, so the write can wait for the end of the transaction. */
  #writeSent(tx: Tx, all: readonly Sent[]): void {
    const rows = new Map<string, MeterRow>()
    const count = (row: Sent, quantity: number) => {
      const key = `${row.team_id} ${row.hour} ${row.provider_id}`
      const known = rows.get(key) ?? { ...row, quantity: 0 }
      rows.set(key, { ...known, quantity: known.quantity + quantity })
    }
    for (const sent of all) {
      count({ team_id: sent.team_id, hour: PENDING_HOUR, provider_id: '', provider_name: '' }, -1)
      count(sent, 1)
    }
    const list = [...rows.values()]
    for (let at = 0; at < list.length; at += ROWS_MAX) {
      const some = list.slice(at, at + ROWS_MAX)
      tx.run(
        `${COUNT} VALUES ${some.map(() => '(?, ?, ?, ?, ?)').join(', ')} ${ADD}`,
        some.flatMap(({ team_id, hour, provider_id, provider_name, quantity }) => [
          ...[team_id, hour, provider_id, provider_name, quantity],
        ]),
      )
    }
  }

  /**
   * Enters completed hours into the ledgers. The unit of work that enters a row also deletes it, so an interrupted run never
   * charges twice.
   * @returns the number of rows entered
   */
  async enter(signal: AbortSignal): Promise<number> {
    const now = this.#deps.clock.now()
    let entered = 0
    while (!signal.aborted) {
      const rows = this.#deps.db.read.all<MeterRow>(
        'SELECT * FROM billing_meters WHERE hour > ? AND hour <= ? ORDER BY hour LIMIT ?',
        [PENDING_HOUR, now - HOUR_MS - GRACE_MS, BATCH],
      )
      for (const row of rows) await this.#deps.db.write((tx) => this.#enterOne(tx, row))
      entered += rows.length
      if (rows.length < BATCH) break
    }
    return entered
  }

  #enterOne(tx: Tx, { team_id, hour, provider_id }: MeterRow): void {
    const key = [team_id, hour, provider_id]
    const row = tx.get<MeterRow>('SELECT * FROM billing_meters WHERE team_id = ? AND hour = ? AND provider_id = ?', key)
    if (row === undefined) return
    tx.run('DELETE FROM billing_meters WHERE team_id = ? AND hour = ? AND provider_id = ?', key)
    this.#deps.ledger.enter(tx, team_id, {
      type: 'consumption',
      amount: 0 - row.quantity * this.#price,
      quantity: row.quantity,
      unitPrice: this.#price,
      description: `Sent through ${row.provider_name} in the hour from ${isoTime(hour)}`,
    })
  }

  /** Pending recipients, plus sent ones that are not in the ledger yet. */
  #owed(reader: Reader, teamId: string): number {
    const row = reader.get<{ owed: number }>(
      'SELECT coalesce(sum(quantity), 0) AS owed FROM billing_meters WHERE team_id = ?',
      [teamId],
    )
    return row!.owed
  }
}
