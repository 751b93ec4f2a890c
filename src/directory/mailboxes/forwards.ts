// Forwarding of mailboxes and aliases to other addresses, which their owners confirm first and can end at any time.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS, HOUR_MS } from '../../base/durations.ts'
import { conflict, notFound, ProductError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { sha256 } from '../../base/secrets.ts'
import type { Db, Reader, SqlValue, Tx } from '../../db/db.ts'
import { RowCache } from '../../db/row-cache.ts'
import { bytes, flag, key, type RecordOf, table, text, time } from '../../db/table.ts'
import { countedMailbox } from '../../mime/local-part.ts'
import type { Mailbox } from './mailbox-record.ts'

/**
 * `pending`: the receiver has not answered; `expired`: not in time. `declined` and `ended`: refused by the receiver, before or after
 * messages were forwarded.
 */
export const FORWARD_STATUSES = ['pending', 'active', 'expired', 'declined', 'ended'] as const
export type ForwardStatus = (typeof FORWARD_STATUSES)[number]

export const FORWARDS = table('forwards', {
  n: key().hidden(),
  id: text(),
  team_id: text(),
  mailbox_id: text(),
  /** Lower-case; '' for everything the mailbox receives. */
  alias: text(),
  /** As written. */
  email: text(),
  /** Lower-case. */
  folded: text().hidden(),
  keeps_copy: flag(),
  /** Never `expired`: that depends on the time. */
  state: text<ForwardStatus>().as('status'),
  /** SHA-256 of the token in the link that the receiver has. */
  token_hash: bytes().hidden(),
  /** `key_…` or `operator`. */
  created_by: text(),
  created_at: time(),
  /** Until when the receiver can confirm. */
  expires_at: time(),
  confirmed_at: time().orNull(),
  ended_at: time().orNull(),
})

/** An address that receives what a mailbox, or one of its aliases, receives. */
export interface Forward extends Omit<RecordOf<typeof FORWARDS>, 'alias'> {
  /** Null: everything the mailbox receives. */
  alias: string | null
}

export interface NewForward {
  /** Lower-case; null: everything the mailbox receives. */
  alias: string | null
  email: string
  keepsCopy: boolean
  createdBy: string
  /** The secret of the link. */
  token: string
}

/** Statuses that count for the limit of addresses. */
export function isLive({ status }: Pick<Forward, 'status'>): boolean {
  return status === 'pending' || status === 'active'
}

function forwardOf(stored: RecordOf<typeof FORWARDS>, now: number): Forward {
  const isLate = stored.status === 'pending' && stored.expiresAt <= now
  return { ...stored, alias: stored.alias || null, status: isLate ? 'expired' : stored.status }
}

/** Addresses of a mailbox, its aliases included, that are active or can be confirmed. */
export const FORWARDS_MAX = 10
/** How long the receiver can confirm, ms. */
const CONFIRMATION_MS = 7 * DAY_MS
/** Messages that ask for confirmation: to one address within a day, of a team within a day, of all within an hour. */
export const REQUESTS_PER_ADDRESS = 3
const REQUESTS_PER_TEAM = 100
/** Those of a mailbox and of a team within a day to addresses that have not confirmed, whether their forwards are still there or not. */
export const UNCONFIRMED_PER_MAILBOX = FORWARDS_MAX
export const UNCONFIRMED_PER_TEAM = 20
const REQUESTS_IN_ALL = 1000
/** How long a team cannot ask an address again that has refused, ms. */
const REFUSAL_MS = 365 * DAY_MS
/** Forwards that have ended, kept for each mailbox. */
const ENDED_MAX = 20

/** What the receiver decides. */
export type ForwardAnswer = 'confirm' | 'refuse'

interface Deps {
  db: Db
  clock: Clock
}

const SETTING = FORWARDS.only('email', 'keeps_copy')
/** Settings in memory. */
const KNOWN_MAX = 1000

export class Forwards {
  readonly #deps: Deps
  /** By mailbox and alias: read for each copy of a message that is delivered. */
  readonly #settings: RowCache<string, readonly RecordOf<typeof SETTING>[]>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#settings = new RowCache(deps.db, KNOWN_MAX)
  }

  /**
   * To whom a message to an address of a mailbox is forwarded: by the mailbox, and by the alias it came to. A copy stays unless no
   * address wants one. One index read.
   * @param alias the address that was reached, without its tag, lower-case
   */
  settingFor(mailboxId: string, alias: string): { to: string[]; keepsCopy: boolean } | undefined {
    const rest = `WHERE mailbox_id = ? AND alias IN ('', ?) AND state = 'active' ORDER BY n`
    const { readWarm } = this.#deps.db
    const settings = this.#settings.get(`${mailboxId} ${alias}`, () => SETTING.all(readWarm, rest, [mailboxId, alias]))!
    if (settings.length === 0) return undefined
    return { to: settings.map(({ email }) => email), keepsCopy: settings.some(({ keepsCopy }) => keepsCopy) }
  }

  /** Newest first. */
  list(mailboxId: string, reader: Reader = this.#deps.db.read): Forward[] {
    return this.#all(reader, 'WHERE mailbox_id = ? ORDER BY n DESC', [mailboxId])
  }

  get(mailboxId: string, id: string, reader: Reader = this.#deps.db.read): Forward | undefined {
    return this.#all(reader, 'WHERE mailbox_id = ? AND id = ?', [mailboxId, id])[0]
  }

  /** The forward of a link; undefined for one that is unknown, was replaced or removed. */
  byToken(token: string, reader: Reader = this.#deps.db.read): Forward | undefined {
    return this.#all(reader, 'WHERE token_hash = ?', [sha256(token)])[0]
  }

  /**
   * Adds a forward that waits for its confirmation, and counts the message that asks for it.
   * @throws ProductError conflict (it exists, there are too many, the receiver has refused), rate_limit_exceeded
   */
  addIn(tx: Tx, mailbox: Mailbox, { alias, email, keepsCopy, createdBy, token }: NewForward): Forward {
    const now = this.#deps.clock.now()
    const folded = email.toLowerCase()
    const all = this.list(mailbox.id, tx)
    const same = all.find((one) => one.alias === alias && one.email.toLowerCase() === folded)
    if (same !== undefined && isLive(same)) throw conflict(`Forwarding to this address is ${same.status} already.`)
    if (same !== undefined) remove(tx, same.id)
    requireRoom(all)
    this.#countRequest(tx, mailbox, email)
    const ended = all.filter((one) => !isLive(one) && one !== same)
    for (const { id } of ended.slice(ENDED_MAX - 1)) remove(tx, id)
    const id = newId('forward')
    FORWARDS.insert(tx, {
      id,
      teamId: mailbox.teamId,
      mailboxId: mailbox.id,
      alias: alias ?? '',
      email,
      folded,
      keepsCopy,
      status: 'pending',
      tokenHash: sha256(token),
      createdBy,
      createdAt: now,
      expiresAt: now + CONFIRMATION_MS,
    })
    return this.get(mailbox.id, id, tx)!
  }

  /**
   * Replaces the link of a forward that was not answered, and counts the message with the new one.
   * @throws ProductError not_found, conflict (it was answered, there are too many), rate_limit_exceeded
   */
  renewIn(tx: Tx, mailbox: Mailbox, id: string, token: string): Forward {
    const found = this.get(mailbox.id, id, tx)
    if (found === undefined) throw notFound('forward')
    if (found.status !== 'pending' && found.status !== 'expired') throw conflict(`The forward is ${found.status}.`)
    if (found.status === 'expired') requireRoom(this.list(mailbox.id, tx))
    this.#countRequest(tx, mailbox, found.email)
    const expiresAt = this.#deps.clock.now() + CONFIRMATION_MS
    tx.run('UPDATE forwards SET token_hash = ?, expires_at = ? WHERE id = ?', [sha256(token), expiresAt, id])
    return this.get(mailbox.id, id, tx)!
  }

  /** @throws ProductError not_found */
  update(mailboxId: string, id: string, { keepsCopy }: { keepsCopy: boolean }): Promise<Forward> {
    return this.#deps.db.write((tx) => {
      tx.run('UPDATE forwards SET keeps_copy = ? WHERE mailbox_id = ? AND id = ?', [keepsCopy, mailboxId, id])
      const found = this.get(mailboxId, id, tx)
      if (found === undefined) throw notFound('forward')
      return found
    })
  }

  /** @returns what it was @throws ProductError not_found */
  removeIn(tx: Tx, mailboxId: string, id: string): Forward {
    const found = this.get(mailboxId, id, tx)
    if (found === undefined) throw notFound('forward')
    remove(tx, id)
    return found
  }

  /** Those that one of these members and keys made, whatever their status, newest first. */
  madeBy(teamId: string, makers: readonly string[], reader: Reader = this.#deps.db.read): Forward[] {
    const rest = 'WHERE created_by IN (SELECT value FROM json_each(?)) AND team_id = ? ORDER BY n DESC'
    return this.#all(reader, rest, [JSON.stringify(makers), teamId])
  }

  /**
   * Records what the receiver decides. A refusal keeps the team from asking again; a later confirmation takes it back.
   * @returns the forward as it is then; `changed` is false when it was so before, or has expired
   * @throws ProductError not_found, conflict (the mailbox has too many)
   */
  answerIn(tx: Tx, token: string, answer: ForwardAnswer): { forward: Forward; changed: boolean } {
    const found = this.byToken(token, tx)
    if (found === undefined) throw notFound('forward')
    const now = this.#deps.clock.now()
    if (answer === 'confirm') {
      if (found.status === 'active' || found.status === 'expired') return { forward: found, changed: false }
      if (found.status !== 'pending') requireRoom(this.list(found.mailboxId, tx))
      tx.run(`UPDATE forwards SET state = 'active', confirmed_at = ?, ended_at = NULL WHERE id = ?`, [now, found.id])
      const values = [found.teamId, countedMailbox(found.email)]
      tx.run('DELETE FROM forward_refusals WHERE team_id = ? AND folded = ?', [found.teamId, found.email.toLowerCase()])
      tx.run('DELETE FROM forward_refusals WHERE team_id = ? AND folded = ?', values)
      tx.run('UPDATE forward_requests SET is_confirmed = 1 WHERE team_id = ? AND folded = ?', values)
    } else {
      if (!isLive(found)) return { forward: found, changed: false }
      const state = found.status === 'active' ? 'ended' : 'declined'
      tx.run('UPDATE forwards SET state = ?, ended_at = ? WHERE id = ?', [state, now, found.id])
      tx.run(
        `INSERT INTO forward_refusals (team_id, folded, at) VALUES (?, ?, ?)
         ON CONFLICT (team_id, folded) DO UPDATE SET at = excluded.at`,
        [found.teamId, countedMailbox(found.email), now],
      )
    }
    return { forward: this.byToken(token, tx)!, changed: true }
  }

  /** @throws ProductError conflict when the receiver has refused, rate_limit_exceeded */
  #countRequest(tx: Tx, { id: mailboxId, teamId }: Pick<Mailbox, 'id' | 'teamId'>, email: string): void {
    const folded = countedMailbox(email)
    const now = this.#deps.clock.now()
    tx.run('DELETE FROM forward_requests WHERE at <= ?', [now - DAY_MS])
    // Refusals of earlier versions have the whole address.
    const sql = 'SELECT 1 AS found FROM forward_refusals WHERE team_id = ? AND folded IN (?, ?) AND at > ?'
    if (tx.get(sql, [teamId, folded, email.toLowerCase(), now - REFUSAL_MS]) !== undefined) {
      throw conflict('The owner of this address has refused messages forwarded by your team.')
    }
    checkRate(tx, { condition: 'folded = ?', values: [folded], max: REQUESTS_PER_ADDRESS, ms: DAY_MS, now })
    checkRate(tx, { condition: 'team_id = ?', values: [teamId], max: REQUESTS_PER_TEAM, ms: DAY_MS, now })
    const open = [
      { condition: 'mailbox_id = ? AND is_confirmed = 0', values: [mailboxId], max: UNCONFIRMED_PER_MAILBOX },
      { condition: 'team_id = ? AND is_confirmed = 0', values: [teamId], max: UNCONFIRMED_PER_TEAM },
    ]
    for (const limit of open) checkRate(tx, { ...limit, ms: DAY_MS, now })
    checkRate(tx, { condition: '1 = 1', values: [], max: REQUESTS_IN_ALL, ms: HOUR_MS, now })
    tx.insert('forward_requests', { team_id: teamId, mailbox_id: mailboxId, folded, at: now })
  }

  #all(reader: Reader, rest: string, values: readonly SqlValue[]): Forward[] {
    const now = this.#deps.clock.now()
    return FORWARDS.all(reader, rest, values).map((stored) => forwardOf(stored, now))
  }
}

/** Erases what is counted of a mailbox whose content is erased. */
export function purgeForwardRequests(tx: Tx, mailboxId: string): void {
  tx.run('DELETE FROM forward_requests WHERE mailbox_id = ?', [mailboxId])
}

/** Deletes every forward of a mailbox, in the unit of work that deletes the mailbox. */
export function dropForwards(tx: Tx, mailboxId: string): void {
  tx.run('DELETE FROM forwards WHERE mailbox_id = ?', [mailboxId])
}

/** Deletes the forwards of an alias, in the unit of work that deletes the alias. @param alias lower-case */
export function dropForwardsOfAlias(tx: Tx, mailboxId: string, alias: string): void {
  tx.run('DELETE FROM forwards WHERE mailbox_id = ? AND alias = ?', [mailboxId, alias])
}

function remove(tx: Tx, id: string): void {
  tx.run('DELETE FROM forwards WHERE id = ?', [id])
}

function requireRoom(all: readonly Forward[]): void {
  if (all.filter(isLive).length < FORWARDS_MAX) return
  throw conflict(`The mailbox already forwards to ${FORWARDS_MAX} addresses. Remove one first.`)
}

interface RequestWindow {
  condition: string
  values: string[]
  max: number
  ms: number
  now: number
}

/** @throws ProductError rate_limit_exceeded until the oldest request leaves the window */
function checkRate(tx: Tx, { condition, values, max, ms, now }: RequestWindow): void {
  const sql = `SELECT at FROM forward_requests WHERE ${condition} AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?`
  const oldest = tx.get<{ at: number }>(sql, [...values, now - ms, max - 1])
  if (oldest === undefined) return
  throw new ProductError('rate_limit_exceeded', 'Too many confirmations were requested. Try again later.', {
    retryAfter: Math.ceil((oldest.at + ms - now) / 1000),
  })
}
