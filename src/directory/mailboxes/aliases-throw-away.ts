// Throw-away addresses: a mailbox makes one for each correspondent, and ends the one that brings unwanted mail.

import { randomInt } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import { conflict, invalid, notFound, ProductError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { ALIASES, aliasAt } from './aliases.ts'
import type { Mailbox } from './mailbox-record.ts'
import type { RetiredAddresses } from './retired-addresses.ts'

export interface ThrowAwayAddress {
  id: string
  mailboxId: string
  domainId: string
  /** Lower-case. */
  email: string
  /** What it was made for, as written: mostly a domain. */
  madeFor: string
  /** Since when mail to it is refused, ms; null while it receives. */
  pausedAt: number | null
  createdAt: number
}

export interface ThrowAwayChange {
  madeFor?: string
  isPaused?: boolean
}

/** Throw-away addresses of a mailbox. */
export const THROW_AWAY_MAX = 500
/** Made by a mailbox in a day, those that ended included: each of them stays retired. */
export const THROW_AWAY_PER_DAY = 100
/** Mailboxes that are counted; those that made none for longest are forgotten. */
const COUNTED_MAX = 10_000
/** Length of `madeFor`, characters. */
export const MADE_FOR_MAX = 100
// 31^7, some 10^10, so that a guess never meets one; without letters and digits that look alike.
const RANDOM = 'abcdefghjkmnpqrstuvwxyz23456789'
const RANDOM_LENGTH = 7
/** Of the readable beginning, characters. */
const WORD_MAX = 16
const TRIES = 5

interface Deps {
  db: Db
  clock: Clock
  mailboxes: {
    getIn(reader: Reader, teamId: string, id: string): Mailbox | undefined
    takeAddress(tx: Tx, teamId: string, written: string): { email: string; domainId: string }
  }
  retired: Pick<RetiredAddresses, 'addIn' | 'has'>
}

export class ThrowAwayAddresses {
  readonly #deps: Deps
  /** By mailbox: when the addresses of the last day were made, ms, the oldest first. */
  readonly #made = new Map<string, readonly number[]>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Newest first. */
  list(mailboxId: string, { limit, after }: { limit: number; after: PageKey | null }): Page<ThrowAwayAddress> {
    const rows = ALIASES.all(
      this.#deps.db.read,
      `WHERE mailbox_id = ? AND made_for IS NOT NULL${after === null ? '' : ' AND (created_at, n) < (?, ?)'}
       ORDER BY created_at DESC, n DESC LIMIT ?`,
      [mailboxId, ...(after ?? []), limit + 1],
    )
    return pageOf(rows, limit, ({ createdAt, n }) => [createdAt, n], present)
  }

  /** @throws ProductError not_found */
  get(mailboxId: string, id: string, reader: Reader = this.#deps.db.read): ThrowAwayAddress {
    const row = ALIASES.get(reader, 'WHERE id = ? AND mailbox_id = ? AND made_for IS NOT NULL', [id, mailboxId])
    if (row === undefined) throw notFound('throw-away address')
    return present(row)
  }

  /** The throw-away address of a mailbox with this address, in any case of its letters. */
  at(mailboxId: string, email: string): ThrowAwayAddress | undefined {
    const rest = 'WHERE mailbox_id = ? AND email = ? AND made_for IS NOT NULL'
    const row = ALIASES.get(this.#deps.db.read, rest, [mailboxId, email.toLowerCase()])
    return row && present(row)
  }

  /**
   * Makes an address at the domain of the mailbox: a word of what it is made for, and random characters.
   * @throws ProductError not_found, validation_error, insufficient_permissions (an agent's inbox), conflict (deleted, an outside account, too
   * many), rate_limit_exceeded
   */
  createIn(tx: Tx, teamId: string, mailboxId: string, written: string): ThrowAwayAddress {
    const { clock, mailboxes } = this.#deps
    const madeFor = checkMadeFor(written)
    const mailbox = this.#usable(tx, teamId, mailboxId)
    const sql = 'SELECT count(*) AS count FROM aliases WHERE mailbox_id = ? AND made_for IS NOT NULL'
    if (tx.get<{ count: number }>(sql, [mailboxId])!.count >= THROW_AWAY_MAX) {
      throw conflict(`The mailbox has ${THROW_AWAY_MAX} throw-away addresses. End one first.`)
    }
    this.#countOne(tx, mailboxId)
    const email = this.#freeAddress(tx, mailbox, madeFor)
    const address = mailboxes.takeAddress(tx, teamId, email)
    const id = newId('throwAwayAddress')
    const record = { ...address, id, mailboxId, madeFor, pausedAt: null, createdAt: clock.now() }
    ALIASES.insert(tx, record)
    return record
  }

  /** @throws ProductError not_found, validation_error */
  changeIn(tx: Tx, mailboxId: string, id: string, { madeFor, isPaused }: ThrowAwayChange): ThrowAwayAddress {
    const current = this.get(mailboxId, id, tx)
    const pausedSince = current.pausedAt ?? this.#deps.clock.now()
    const next = {
      ...current,
      madeFor: madeFor === undefined ? current.madeFor : checkMadeFor(madeFor),
      pausedAt: (isPaused ?? current.pausedAt !== null) ? pausedSince : null,
    }
    ALIASES.update(tx, { madeFor: next.madeFor, pausedAt: next.pausedAt }, 'WHERE id = ?', [id])
    return next
  }

  /**
   * Ends an address: mail to it is refused, and no pattern of the domain matches it. The caller ends the sign-ins through the mailbox and removes
   * the identities of the address in the same unit of work.
   * @throws ProductError not_found
   */
  endIn(tx: Tx, mailboxId: string, id: string): ThrowAwayAddress {
    const ended = this.get(mailboxId, id, tx)
    tx.run('DELETE FROM aliases WHERE id = ?', [id])
    this.#deps.retired.addIn(tx, ended.domainId, ended.email)
    return ended
  }

  #usable(tx: Tx, teamId: string, mailboxId: string): Mailbox {
    const mailbox = this.#deps.mailboxes.getIn(tx, teamId, mailboxId)
    if (mailbox === undefined) throw notFound('mailbox')
    if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
    if (mailbox.isAgent) throw new ProductError('insufficient_permissions', 'The inbox of an agent has one address.')
    if (mailbox.domainId === null) {
      throw conflict('The mailbox is an outside account: it has the addresses of that account.')
    }
    return mailbox
  }

  /** @throws ProductError rate_limit_exceeded */
  #countOne(tx: Tx, mailboxId: string): void {
    const now = this.#deps.clock.now()
    const recent = (this.#made.get(mailboxId) ?? []).filter((at) => at > now - DAY_MS)
    if (recent.length >= THROW_AWAY_PER_DAY) {
      const message = `A mailbox makes at most ${THROW_AWAY_PER_DAY} throw-away addresses a day. Try again later.`
      const retryAfter = Math.ceil((recent[0]! + DAY_MS - now) / 1000)
      throw new ProductError('rate_limit_exceeded', message, { retryAfter })
    }
    tx.afterCommit(() => {
      this.#made.delete(mailboxId)
      this.#made.set(mailboxId, [...recent, now])
      if (this.#made.size > COUNTED_MAX) this.#made.delete(this.#made.keys().next().value!)
    })
  }

  #freeAddress(tx: Tx, { domainId, email }: Mailbox, madeFor: string): string {
    const domain = email.slice(email.lastIndexOf('@') + 1)
    for (let tries = 0; tries < TRIES; tries++) {
      const address = `${wordOf(madeFor)}.${randomPart()}@${domain}`
      const isTaken = aliasAt(tx, domainId!, address) !== undefined || this.#deps.retired.has(domainId!, address)
      if (!isTaken) return address
    }
    throw conflict('No free address was found. Try again.')
  }
}

function present({
  n: _,
  madeFor,
  ...rest
}: { n: number; madeFor: string | null } & Omit<ThrowAwayAddress, 'madeFor'>) {
  return { ...rest, madeFor: madeFor! }
}

/** @throws ProductError validation_error */
function checkMadeFor(written: string): string {
  const text = written.trim()
  if (text === '' || text.length > MADE_FOR_MAX || /\p{C}/u.test(text)) {
    throw invalid('made_for', 'invalid_format', `Say in 1 to ${MADE_FOR_MAX} characters what the address is for.`)
  }
  return text
}

/** `shop` of `www.shop.example` or `shop: news`: what a person recognizes in a list of addresses. */
function wordOf(madeFor: string): string {
  const labels = madeFor
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .split(/[/:?#]/)[0]!
    .replace(/^www\./, '')
  const [word = ''] = /^[^.]+/.exec(labels) ?? []
  const plain = word.normalize('NFKD').replace(/[^a-z0-9]+/g, '')
  return plain.slice(0, WORD_MAX) || 'mail'
}

function randomPart(): string {
  return Array.from({ length: RANDOM_LENGTH }, () => RANDOM[randomInt(RANDOM.length)]).join('')
}
