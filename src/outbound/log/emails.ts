// The messages accepted for sending, and one delivery for each of their recipients.

import type { Clock } from '../../base/clock.ts'
import { CLOCK_JUMP_MS } from '../../base/clock-guard.ts'
import { ID_PREFIX, newId } from '../../base/ids.ts'
import { searchText } from '../../base/words.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import { domainOf } from '../../mime/address.ts'
import type { Counters } from '../../store/log/counters.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { BounceKey } from '../model/envelope-sender.ts'
import { type MessageLabels, NO_LABELS } from '../model/message-labels.ts'
import { type Carrier, DELIVERIES, type Delivery, EMAILS, type Email } from '../model/records.ts'
import { factOf } from './facts.ts'
import { countOpen } from './kept-contents.ts'
import { type EmailRow, emailOf } from './rows.ts'
import { stepLine, stepsOf, TIMELINE_MAX } from './timeline.ts'

/** A message to be accepted; its id exists already, because the Message-ID contains it. */
export interface NewEmail extends Omit<Email, 'n' | 'hash'> {
  hash: Uint8Array
  /** `mdom_…` of the From domain if it is one of the team's: subscriptions can filter by it. */
  domainId: string | null
  /** Envelope recipients, at least one, each once. */
  recipients: readonly string[]
  /** Earliest time of the first attempt (ms); by default when it was queued. */
  sendAt?: number
  labels?: MessageLabels
  /** `dlog_…` of the failed delivery that it repeats. */
  resentFrom?: string
}

/** An accepted message and its deliveries, in the order of its recipients. */
export interface Accepted {
  email: Email
  deliveries: { n: number; id: string; to: string }[]
}

/** A delivery with the last entries of its timeline. */
export interface DeliveryState extends Delivery {
  /** Time of its last step, ms. */
  updatedAt: number
  /** The last reply of a server; null before the first. */
  lastReply: string | null
  /** True while a DSN about its final failure is due. */
  noticeDue: boolean
}

/** The message of a bounce address; undefined when it is no longer stored. */
export function messageOfKey(emails: Pick<Emails, 'byN' | 'deliveriesByN'>, { of, n }: BounceKey): Email | undefined {
  const emailN = of === 'message' ? n : emails.deliveriesByN([n])[0]?.email
  return emailN === undefined ? undefined : emails.byN([emailN])[0]
}

/** Maximum number of ids a provider assigns to one message, and characters of one. */
const REMOTE_IDS_MAX = 20
const REMOTE_ID_MAX = 255
const WITH_TIMELINE = DELIVERIES.and('notice_due', 'timeline')
const SERVER_STEPS = new Set(['sent', 'deferred', 'bounced', 'expired'])

export class Emails {
  readonly #db: Db
  readonly #clock: Clock
  readonly #counters: Pick<Counters, 'count'>

  constructor({
    db,
    clock,
    store,
  }: Pick<OutboundDeps, 'db' | 'clock'> & { store: { log: { counters: Pick<Counters, 'count'> } } }) {
    this.#db = db
    this.#clock = clock
    this.#counters = store.log.counters
  }

  /** Inserts a message and a pending delivery per recipient in a unit of work. */
  insert(tx: Tx, { domainId, recipients, sendAt, labels = NO_LABELS, resentFrom, ...email }: NewEmail): Accepted {
    const n = EMAILS.insert(tx, {
      ...email,
      ...labels,
      fromEmail: email.from.email,
      fromName: email.from.name,
      domainId,
      openDeliveries: recipients.length,
      sendAt: sendAt ?? email.queuedAt,
      resentFrom,
    })
    const deliveries: Accepted['deliveries'] = []
    for (const to of recipients) {
      const id = newId('deliveryLog')
      const delivery = DELIVERIES.insert(tx, {
        id,
        email: n,
        teamId: email.teamId,
        mailboxId: email.mailboxId,
        to,
        domain: domainOf(to),
        sentFromEmail: email.from.email,
        status: 'pending',
        createdAt: email.queuedAt,
        words: searchText([to, email.from.email, email.id, email.subject]),
      })
      deliveries.push({ n: delivery, id, to })
      const fact = factOf({ ...email, domainId, to }, email.queuedAt)
      const counts = { accepted: 1 }
      if (fact !== null) this.#counters.count(tx, { ...fact, tags: labels.tags, provider: null, reason: null, counts })
    }
    return { email: { n, ...email }, deliveries }
  }

  /** The messages with these keys, unordered; unknown keys are omitted. */
  byN(ns: readonly number[]): Email[] {
    if (ns.length === 0) return []
    const sql = `SELECT ${EMAILS.columns} FROM emails WHERE n IN (SELECT value FROM json_each(?))`
    return this.#db.read.all<EmailRow>(sql, [JSON.stringify(ns)]).map(emailOf)
  }

  /** The pending deliveries of a message, with their number of attempts. */
  pendingOfEmail(reader: Reader, email: number): { n: number; attempts: number }[] {
    return reader.all(`SELECT n, attempts FROM deliveries WHERE email = ? AND status = 'pending' ORDER BY n`, [email])
  }

  /** The same with their recipients. */
  pendingRecipients(reader: Reader, email: number): { n: number; to: string }[] {
    return DELIVERIES.all(reader, `WHERE email = ? AND status = 'pending' ORDER BY n`, [email])
  }

  /** All recipients of a message, whatever their status. */
  recipientsOf(reader: Reader, email: number): string[] {
    const rows = reader.all<{ to_email: string }>('SELECT to_email FROM deliveries WHERE email = ? ORDER BY n', [email])
    return rows.map(({ to_email }) => to_email)
  }

  /** The earliest time of the first attempt of a message, ms. */
  sendAtOf(reader: Reader, email: number): number {
    const sql = 'SELECT coalesce(send_at, queued_at) AS at FROM emails WHERE n = ?'
    return reader.get<{ at: number }>(sql, [email])!.at
  }

  /** `mdom_…` of the From domain of a message; null where it is none of the team. */
  domainOf(reader: Reader, email: number): string | null {
    return reader.get<{ domain_id: string | null }>('SELECT domain_id FROM emails WHERE n = ?', [email])!.domain_id
  }

  /** Sets when (ms) the last attempt of a message is due. */
  extend(tx: Tx, email: number, expiresAt: number): void {
    tx.run('UPDATE emails SET expires_at = ? WHERE n = ?', [expiresAt, email])
  }

  /** Whether the delivery to any recipient of a message has begun, whatever its outcome. */
  hasBegun(reader: Reader, email: number): boolean {
    const sql = 'SELECT 1 AS found FROM deliveries WHERE email = ? AND attempts > 0 LIMIT 1'
    return reader.get(sql, [email]) !== undefined
  }

  /** Records when (ms) a message was canceled. */
  markCanceled(tx: Tx, email: number, at: number): void {
    tx.run('UPDATE emails SET canceled_at = ? WHERE n = ?', [at, email])
  }

  /** Keys of the pending deliveries of a mailbox, oldest first, at most `limit`. Reads by index. */
  pendingOf(reader: Reader, mailboxId: string, limit = Number.MAX_SAFE_INTEGER): number[] {
    const rows = reader.all<{ n: number }>(
      `SELECT n FROM deliveries WHERE mailbox_id = ? AND status = 'pending' ORDER BY n LIMIT ?`,
      [mailboxId, limit],
    )
    return rows.map(({ n }) => n)
  }

  byId(id: string, reader: Reader = this.#db.read): Email | undefined {
    const row = reader.get<EmailRow>(`SELECT ${EMAILS.columns} FROM emails WHERE id = ?`, [id])
    return row && emailOf(row)
  }

  /** @param internetMessageId without angle brackets; ours are `eml_…@from-domain` (docs/design/sending.md §12) */
  byMessageId(internetMessageId: string): Email | undefined {
    if (!internetMessageId.startsWith(ID_PREFIX.email)) return undefined
    const email = this.byId(internetMessageId.slice(0, internetMessageId.indexOf('@')))
    return email?.internetMessageId === internetMessageId ? email : undefined
  }

  /** The newest message to which a provider assigned that id. */
  byRemoteId(remoteId: string): Email | undefined {
    const row = this.#db.read.get<{ email: number }>(
      'SELECT email FROM remote_ids WHERE remote_id = ? ORDER BY email DESC LIMIT 1',
      [remoteId],
    )
    return row && this.byN([row.email])[0]
  }

  /** Deliveries by their numbers, without their timelines. */
  deliveriesByN(ns: readonly number[]): Delivery[] {
    return DELIVERIES.all(this.#db.read, 'WHERE n IN (SELECT value FROM json_each(?))', [JSON.stringify(ns)])
  }

  /** All deliveries of a message, in the order of its recipients. */
  deliveriesOf(emailN: number): DeliveryState[] {
    return this.deliveriesOfAll([emailN])
  }

  /** All deliveries of some messages, in the order of the recipients of each. */
  deliveriesOfAll(emailNs: readonly number[]): DeliveryState[] {
    const rest = 'WHERE email IN (SELECT value FROM json_each(?)) ORDER BY n'
    return WITH_TIMELINE.all(this.#db.read, rest, [JSON.stringify(emailNs)]).map(({ timeline, ...delivery }) => {
      const steps = stepsOf(timeline)
      return {
        ...delivery,
        updatedAt: steps.at(-1)?.at ?? delivery.createdAt,
        lastReply: steps.findLast(({ type }) => SERVER_STEPS.has(type))?.detail ?? null,
      }
    })
  }

  /**
   * Records the carrier of the next hand-over, before it.
   * @param reason one sentence for the timeline
   * @param attempts added to the number of attempts
   */
  recordRoute(
    tx: Tx,
    deliveryNs: readonly number[],
    { carrier, reason, attempts = 0 }: { carrier: Carrier | null; reason: string; attempts?: number },
  ): void {
    if (deliveryNs.length === 0) return
    const at = this.#clock.now()
    const line = stepLine({ at, type: 'routed', detail: reason, smtpCode: null, nextAt: null })
    tx.run(
      `UPDATE deliveries SET provider_id = ?, provider_name = ?, attempts = attempts + ?,
         timeline = CASE WHEN length(timeline) < ? THEN timeline || ? ELSE timeline END
       WHERE n IN (SELECT value FROM json_each(?))`,
      [carrier?.id ?? null, carrier?.name ?? null, attempts, TIMELINE_MAX, line, JSON.stringify(deliveryNs)],
    )
  }

  /** Stores the ids a provider assigned to a message, because reports may refer to them. Longer strings are ignored. */
  addRemoteIds(tx: Tx, emailN: number, remoteIds: readonly string[]): void {
    const ids = remoteIds.filter((id) => id !== '' && id.length <= REMOTE_ID_MAX).slice(0, REMOTE_IDS_MAX)
    for (const id of ids) {
      tx.run('INSERT INTO remote_ids (remote_id, email) VALUES (?, ?) ON CONFLICT DO NOTHING', [id, emailN])
    }
  }

  /** Keys of messages with a due DSN, oldest first. */
  noticesDue(limit: number): number[] {
    const rows = this.#db.read.all<{ email: number }>(
      'SELECT DISTINCT email FROM deliveries WHERE notice_due = 1 ORDER BY email LIMIT ?',
      [limit],
    )
    return rows.map(({ email }) => email)
  }

  /** Clears the due mark of deliveries: the DSN is queued, or its mailbox is deleted. */
  clearNoticeDue(tx: Tx, emailN: number, deliveryNs: readonly number[]): void {
    if (deliveryNs.length === 0) return
    const { changes } = tx.run(
      `UPDATE deliveries SET notice_due = 0 WHERE notice_due = 1 AND email = ? AND n IN (${placeholders(deliveryNs)})`,
      [emailN, ...deliveryNs],
    )
    if (changes > 0) countOpen(tx, emailN, -changes)
  }

  /** Those of some messages that are to leave after a time (ms); not those accepted while a wrong clock was ahead of it. */
  scheduledAfter(ns: readonly number[], time: number): Set<number> {
    const rows = this.#db.read.all<{ n: number }>(
      'SELECT n FROM emails WHERE n IN (SELECT value FROM json_each(?)) AND send_at > ? AND queued_at <= ?',
      [JSON.stringify(ns), time, time + CLOCK_JUMP_MS],
    )
    return new Set(rows.map(({ n }) => n))
  }

  /** Limits the expiry of messages to a range of times (ms). @returns their new expiry */
  limitExpiry(
    tx: Tx,
    ns: readonly number[],
    { earliest, latest, instead }: { earliest: number; latest: number; instead: number },
  ): { n: number; expiresAt: number }[] {
    if (ns.length === 0) return []
    return tx.all(
      `UPDATE emails SET expires_at = CASE WHEN expires_at > ? THEN ? ELSE max(expires_at, ?) END
       WHERE n IN (${placeholders(ns)}) RETURNING n, expires_at AS expiresAt`,
      [latest, instead, earliest, ...ns],
    )
  }

  /** Filters the hashes to those that a message still references, in hexadecimal. */
  async namedBlobs(hashes: readonly Uint8Array[]): Promise<Set<string>> {
    if (hashes.length === 0) return new Set()
    const rows = await this.#db.scan.all<{ blob: Uint8Array }>(
      `SELECT DISTINCT blob FROM emails WHERE blob IN (${placeholders(hashes)})`,
      hashes,
    )
    return new Set(rows.map(({ blob }) => Buffer.from(blob).toString('hex')))
  }
}
