// What is to be paid for: recipients that wait are held against the balance, those sent to are counted by hour and provider (decisions §7.1).

import { isoTime } from '../../base/clock.ts'
import { conflict, type ProductError } from '../../base/errors.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { Gathered } from '../../db/gathered.ts'
import type { OutboundParts } from '../deps.ts'
import type { Ledger } from './ledger.ts'
import { MICRO } from './money.ts'

interface Parts extends Pick<OutboundParts, 'db' | 'clock' | 'config'> {
  ledger: Pick<Ledger, 'enter' | 'balance'>
}

interface MeterRow {
  team_id: string
  hour: number
  provider_id: string
  provider_name: string
  quantity: number
}

/** A recipient sent to. */
type Sent = Omit<MeterRow, 'quantity'>

/** When it is counted within the end of a transaction does not matter. */
const PLACE = 0
/** Rows written by one statement. */
const ROWS_MAX = 32
const HOUR_MS = 60 * 60 * 1000
/** An hour is entered this long after its end: a unit of work that began within it may still be under way. ms */
const GRACE_MS = 5 * 60 * 1000
const BATCH = 100
/** Where recipients are counted that still wait. */
const WAITING = 0

const COUNT = `INSERT INTO billing_meters (team_id, hour, provider_id, provider_name, quantity)`
const ADD = `ON CONFLICT (team_id, hour, provider_id) DO UPDATE SET quantity = quantity + excluded.quantity`

export class Meter {
  readonly #parts: Parts
  readonly #price: number
  readonly #sent = new Gathered<Sent>((tx, all) => this.#writeSent(tx, all), PLACE)

  constructor(parts: Parts) {
    this.#parts = parts
    this.#price = Math.round(parts.config.BILLING_UNIT_PRICE * MICRO)
  }

  /**
   * Whether the team can pay for more recipients, what waits and what was not entered yet taken off.
   * @returns what it is told when it cannot, null when it can or nobody asks
   */
  async refusal(tx: Tx, teamId: string, recipients: number): Promise<ProductError | null> {
    if (!this.#parts.config.BILLING_ENFORCE || this.#price === 0) return null
    const owed = (await this.#owed(tx, teamId)) + recipients
    if ((await this.#parts.ledger.balance(tx, teamId)) >= owed * this.#price) return null
    return conflict('The balance of the team does not suffice for this mail; ask the operator for credit.')
  }

  /** Holds recipients against the balance until their fate is known. */
  async hold(tx: Tx, teamId: string, recipients: number): Promise<void> {
    await tx.run(`${COUNT} VALUES (?, ?, '', '', ?) ${ADD}`, [teamId, WAITING, recipients])
  }

  /**
   * A recipient waits no longer.
   * @param carrier who took the mail, null when nobody did: then there is nothing to pay
   */
  async settle(
    tx: Tx,
    teamId: string,
    carrier: { id: string | null; name: string | null } | null,
    at: number,
  ): Promise<void> {
    if (carrier === null) return this.hold(tx, teamId, -1)
    const name = carrier.name ?? 'direct delivery'
    this.#sent.add(tx, {
      team_id: teamId,
      hour: at - (at % HOUR_MS),
      provider_id: carrier.id ?? '',
      provider_name: name,
    })
  }

  /** What waited is sent: what a team owes stays the same, so that nobody needs to know of it before the transaction ends. */
  async #writeSent(tx: Tx, all: readonly Sent[]): Promise<void> {
    const rows = new Map<string, MeterRow>()
    const count = (row: Sent, quantity: number) => {
      const key = `${row.team_id} ${row.hour} ${row.provider_id}`
      const known = rows.get(key) ?? { ...row, quantity: 0 }
      rows.set(key, { ...known, quantity: known.quantity + quantity })
    }
    for (const sent of all) {
      count({ team_id: sent.team_id, hour: WAITING, provider_id: '', provider_name: '' }, -1)
      count(sent, 1)
    }
    const list = [...rows.values()]
    for (let at = 0; at < list.length; at += ROWS_MAX) {
      const some = list.slice(at, at + ROWS_MAX)
      await tx.run(
        `${COUNT} VALUES ${some.map(() => '(?, ?, ?, ?, ?)').join(', ')} ${ADD}`,
        some.flatMap(({ team_id, hour, provider_id, provider_name, quantity }) => [
          ...[team_id, hour, provider_id, provider_name, quantity],
        ]),
      )
    }
  }

  /**
   * Enters the hours that are over into the ledgers. A count goes in the unit of work that enters it, so nothing is charged
   * twice however often this is ended in the middle.
   * @returns rows entered
   */
  async enter(signal: AbortSignal): Promise<number> {
    const now = this.#parts.clock.now()
    let entered = 0
    while (!signal.aborted) {
      const rows = await this.#parts.db.read.all<MeterRow>(
        'SELECT * FROM billing_meters WHERE hour > ? AND hour <= ? ORDER BY hour LIMIT ?',
        [WAITING, now - HOUR_MS - GRACE_MS, BATCH],
      )
      for (const row of rows) await this.#parts.db.write((tx) => this.#enterOne(tx, row))
      entered += rows.length
      if (rows.length < BATCH) break
    }
    return entered
  }

  async #enterOne(tx: Tx, { team_id, hour, provider_id }: MeterRow): Promise<void> {
    const key = [team_id, hour, provider_id]
    const row = await tx.get<MeterRow>(
      'SELECT * FROM billing_meters WHERE team_id = ? AND hour = ? AND provider_id = ?',
      key,
    )
    if (row === undefined) return
    await tx.run('DELETE FROM billing_meters WHERE team_id = ? AND hour = ? AND provider_id = ?', key)
    await this.#parts.ledger.enter(tx, team_id, {
      type: 'consumption',
      amount: 0 - row.quantity * this.#price,
      quantity: row.quantity,
      unitPrice: this.#price,
      description: `Sent through ${row.provider_name} in the hour from ${isoTime(hour)}`,
    })
  }

  /** Recipients that wait, and those sent to that are in no ledger yet. */
  async #owed(reader: Reader, teamId: string): Promise<number> {
    const row = await reader.get<{ owed: number }>(
      'SELECT coalesce(sum(quantity), 0) AS owed FROM billing_meters WHERE team_id = ?',
      [teamId],
    )
    return row!.owed
  }
}
