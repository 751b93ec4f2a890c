// What a mailbox has done with messages of a sender, read from its messages and labels: for the spam score of the next one.

import type { Clock } from '../../base/clock.ts'
import { SECOND_MS } from '../../base/durations.ts'
import type { Db, Reader } from '../../db/db.ts'
import { domainOf } from '../../mime/address.ts'
import type { Acquaintance } from '../../spam/history.ts'
import { foldersByMessage } from '../entries/folders-entries.ts'
import type { MessageAuthentication } from '../rows/records.ts'
import { hasCorrespondent } from '../search/correspondents.ts'
import { newestWithKeys } from '../search/hits.ts'
import { addressKey, domainKey } from '../search/text.ts'
import { senderLabels } from './spam-labels.ts'

/** Newest messages of a sender, and to it, that are looked at. */
const LOOKED_AT = 10
/** A sender of many messages is looked up once in this time. */
const KEPT_MS = 30 * SECOND_MS
const KEPT_MAX = 2000

type Deeds = Pick<Acquaintance, 'kept' | 'answered' | 'written'>
const NO_DEEDS: Deeds = { kept: 0, answered: 0, written: 0 }

export class Acquaintances {
  readonly #db: Db
  readonly #clock: Clock
  readonly #deeds = new Map<string, { deeds: Deeds; until: number }>()

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** @param account its number */
  withAddress(account: number, address: string): Acquaintance {
    const sender = address.toLowerCase()
    const labels = senderLabels(this.#db.read, account, sender)
    const find = () =>
      hasCorrespondent(this.#db.read, account, sender)
        ? deedsOf(this.#db.read, account, { from: addressKey('from', sender), to: recipientKeys(addressKey, sender) })
        : NO_DEEDS
    return { ...this.#known(`${account} ${sender}`, find), junked: labels.spam, rescued: labels.ham }
  }

  /** The same for all addresses at the domain of an address. */
  withDomain(account: number, address: string): Acquaintance {
    const domain = domainOf(address).toLowerCase()
    const labels = senderLabels(this.#db.read, account, `@${domain}`)
    const keys = { from: domainKey('from', domain), to: recipientKeys(domainKey, domain) }
    const deeds = this.#known(`${account} @${domain}`, () => deedsOf(this.#db.read, account, keys))
    return { ...deeds, junked: labels.spam, rescued: labels.ham }
  }

  #known(key: string, find: () => Deeds): Deeds {
    const now = this.#clock.monotonic()
    const known = this.#deeds.get(key)
    if (known !== undefined && now < known.until) return known.deeds
    const deeds = find()
    this.#deeds.delete(key)
    this.#deeds.set(key, { deeds, until: now + KEPT_MS })
    if (this.#deeds.size > KEPT_MAX) this.#deeds.delete(this.#deeds.keys().next().value!)
    return deeds
  }
}

function recipientKeys(keyOf: typeof addressKey, value: string): string[] {
  return (['to', 'cc', 'bcc'] as const).map((field) => keyOf(field, value))
}

interface Row {
  n: number
  listed: number
  seen: number
  answered: number
  authentication: string
}

function deedsOf(reader: Reader, account: number, { from, to }: { from: string; to: string[] }): Deeds {
  const received = newestWithKeys(reader, account, [from], LOOKED_AT)
  const rows = reader
    .all<Row>(
      `SELECT n, listed, seen, answered, authentication FROM messages WHERE n IN (SELECT value FROM json_each(?))`,
      [JSON.stringify(received)],
    )
    // A name that nothing proves has no history.
    .filter(({ authentication }) => (JSON.parse(authentication) as MessageAuthentication).fromAligned)
  const sent = foldersByMessage(reader, newestWithKeys(reader, account, to, LOOKED_AT))
  return {
    kept: rows.filter(({ listed, seen }) => listed === 1 && seen === 1).length,
    answered: rows.filter(({ answered }) => answered === 1).length,
    // Only the mailbox itself puts messages there.
    written: [...sent.values()].filter((folders) => folders.some(({ role }) => role === 'sent')).length,
  }
}
