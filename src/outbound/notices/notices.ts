// Sends DSNs to mailboxes for deliveries that failed: one DSN per message and run, never about a DSN.

import { newId } from '../../base/ids.ts'
import { sha256 } from '../../base/secrets.ts'
import type { Mailbox } from '../../directory/mailboxes/mailbox-record.ts'
import { chunksOf } from '../../mime/chunks.ts'
import { HEADER_BYTES_MAX } from '../../mime/headers.ts'
import { clean, quotedSubject } from '../../mime/one-line.ts'
import { findCodes } from '../../reports/codes.ts'
import { composeDsn, type FailedRecipient } from '../../reports/dsn.ts'
import { DamagedContent } from '../../store/content/damaged-content.ts'
import type { DeliveryState, Emails, NewEmail } from '../log/emails.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { LIFETIME_MS } from '../model/limits.ts'
import type { Email } from '../model/records.ts'
import type { Queue } from '../queue/queue.ts'

interface Deps extends OutboundDeps {
  emails: Pick<Emails, 'insert' | 'byN' | 'deliveriesOf' | 'noticesDue' | 'clearNoticeDue'>
  queue: Pick<Queue, 'add'>
}

/** Messages per run whose senders get a DSN. */
const RUN_MAX = 100
const REASON_MAX = 300
/** A forwarded message up to this size is returned whole, bytes. */
const RETURNED_BYTES_MAX = 10 * 1024 * 1024

/** The explanation for people of each status reason (docs/design/sending.md §7, docs/design/events.md §4). */
const REASONS: ReadonlyMap<string, { status: string; reason: string }> = new Map([
  ['bounced', { status: '5.0.0', reason: 'The mail server of the recipient refused it.' }],
  ['bounced_after_accept', { status: '5.0.0', reason: 'It was accepted at first and returned later.' }],
  ['expired', { status: '4.4.7', reason: 'No mail server accepted it for two days.' }],
  ['suppressed', { status: '5.7.1', reason: 'The recipient is on the suppression list.' }],
  ['unverified_domain', { status: '5.7.1', reason: 'The domain of the sender is not verified any more.' }],
  ['no_provider', { status: '5.3.3', reason: 'There is no sending account that may carry it.' }],
  ['content_refused', { status: '5.6.0', reason: 'Its content was refused.' }],
  ['message_too_large', { status: '5.3.4', reason: 'It is too large.' }],
  ['policy', { status: '5.7.1', reason: 'It may not be sent.' }],
  ['sending_not_approved', { status: '5.7.1', reason: 'Sending is not approved.' }],
  ['approval_denied', { status: '5.7.1', reason: 'A person decided against it.' }],
  ['approval_expired', { status: '5.7.1', reason: 'It was not approved in time.' }],
])
const UNKNOWN = { status: '5.0.0', reason: 'It failed.' }

export class Notices {
  readonly #deps: Deps
  #running: Promise<number> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Composes the DSNs that are due and queues them. Queuing a DSN and clearing its due mark are one unit of work: a DSN that
   * fails stays due. One run at a time.
   * @returns the number of DSNs queued
   */
  run(): Promise<number> {
    this.#running ??= this.#runOnce().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #runOnce(): Promise<number> {
    const { emails, log } = this.#deps
    let made = 0
    for (const n of emails.noticesDue(RUN_MAX)) {
      try {
        if (await this.#notify(n)) made++
      } catch (error) {
        log.error({ event: 'dsn.failed', err: error, email: n }, 'DSN not queued; will retry')
      }
    }
    return made
  }

  async #notify(emailN: number): Promise<boolean> {
    const { db, directory, emails, store } = this.#deps
    const email = emails.byN([emailN])[0]
    const due = emails.deliveriesOf(emailN).filter(({ noticeDue }) => noticeDue)
    const ns = due.map(({ n }) => n)
    // RFC 5321 §6.1: no DSN is sent about a message with a null reverse-path.
    const isNotifiable = email !== undefined && email.mailboxId !== null && email.returnPath !== ''
    const mailbox = isNotifiable ? directory.mailboxes.get(email.teamId, email.mailboxId!) : undefined
    if (!isNotifiable || mailbox === undefined || mailbox.status === 'deleted') {
      await db.write((tx) => emails.clearNoticeDue(tx, emailN, ns))
      return false
    }
    const { bytes, report } = await this.#compose(email, mailbox, due)
    await store.blobs.put(report.hash, bytes.length, chunksOf(bytes))
    await this.#submit(emailN, ns, report)
    return true
  }

  /** Null for damaged content: the notice is sent without it. */
  async #original(hash: Uint8Array, length: number): Promise<Uint8Array | null> {
    try {
      return await this.#deps.store.blobs.bytes(hash, 0, length)
    } catch (error) {
      if (error instanceof DamagedContent) return null
      throw error
    }
  }

  async #compose(email: Email, mailbox: Mailbox, due: readonly DeliveryState[]) {
    const { clock, config } = this.#deps
    const host = config.MAIL_HOSTS[0]!
    const now = clock.now()
    const id = newId('email')
    const from = { email: `mailer-daemon@${host}`, name: 'Mail Delivery System' }
    const messageId = `${id}@${host}`
    const isForwarded = email.source === 'forward' && email.sizeBytes <= RETURNED_BYTES_MAX
    const length = isForwarded ? email.sizeBytes : Math.min(email.sizeBytes, HEADER_BYTES_MAX)
    const bytes = composeDsn({
      reportingMta: host,
      from,
      to: { email: mailbox.email, name: '' },
      messageId,
      date: now,
      arrivedAt: email.queuedAt,
      envelopeId: email.id,
      subject: quotedSubject(email.subject),
      originalMessageId: email.internetMessageId,
      recipients: due.map(failedOf),
      original: email.hash === null ? null : await this.#original(email.hash, length),
      isForwarded,
    })
    const report: NewEmail = {
      id,
      teamId: email.teamId,
      mailboxId: null,
      source: 'system',
      scope: { type: 'all' },
      from,
      returnPath: '',
      subject: `Not delivered: ${quotedSubject(email.subject)}`,
      internetMessageId: messageId,
      hash: sha256(bytes),
      sizeBytes: bytes.length,
      queuedAt: now,
      expiresAt: now + LIFETIME_MS,
      domainId: null,
      recipients: [mailbox.email],
    }
    return { bytes, report }
  }

  async #submit(emailN: number, deliveryNs: readonly number[], report: NewEmail): Promise<void> {
    const { db, emails, queue, notifier } = this.#deps
    await db.write((tx) => {
      emails.clearNoticeDue(tx, emailN, deliveryNs)
      const accepted = emails.insert(tx, report)
      queue.add(tx, accepted.email, accepted.deliveries, report.queuedAt)
      tx.afterCommit(() => notifier.notify('deliver'))
    })
  }
}

/** The reply of an SMTP server begins with its code; our own sentences and the answers of provider APIs do not. */
const SMTP_REPLY = /^[245]\d\d(?![\d.])/
/** An enhanced status code before a sentence (RFC 3463). */
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3} /

function failedOf({ to, statusReason, lastReply, updatedAt, attempts }: DeliveryState): FailedRecipient {
  const [word = '', ...rest] = (statusReason ?? '').split(': ')
  const { status, reason } = REASONS.get(word) ?? UNKNOWN
  const hasReply = word.startsWith('bounced') || word === 'expired'
  const text = hasReply ? (lastReply ?? rest.join(': ')) : ''
  const code = word.startsWith('bounced') ? findCodes(text).enhancedCode : null
  const recipient = { email: to, status: code ?? status, lastAttemptAt: attempts === 0 ? null : updatedAt }
  if (SMTP_REPLY.test(text)) return { ...recipient, reason, diagnostic: text }
  // RFC 3464 §2.3.6: a diagnostic code of the type smtp is the reply of an SMTP server. Without one no server refused the message.
  const sentences = hasReply
    ? [word === 'bounced' && text !== '' ? '' : reason, text.replace(ENHANCED, '')]
    : [reason, ...rest]
  return { ...recipient, reason: clean(sentences.join(' ').trim(), REASON_MAX), diagnostic: '' }
}
