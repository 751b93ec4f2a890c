// Vacation responses (RFC 5230): recorded with the message they answer, composed and queued later.

import { DAY_MS } from '../../base/durations.ts'
import { ProductError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Tx } from '../../db/db.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { domainOf } from '../../mime/address.ts'
import { sortParts } from '../../mime/bodies.ts'
import { checkRecipient } from '../../mime/compose/draft-rules.ts'
import { composeContent } from '../../mime/compose/outgoing-content.ts'
import type { Part } from '../../mime/message.ts'
import { quotedSubject } from '../../mime/one-line.ts'
import { partText } from '../../mime/parse.ts'
import { readStructure } from '../../mime/structure.ts'
import type { ScriptVacation } from '../../sieve/script.ts'
import type { Identity } from '../../store/mailbox/identities.ts'
import {
  BODY_MAX,
  type DueReply,
  isActiveAt,
  type StoredCopy,
  type VacationResponse,
} from '../../store/mailbox/vacations.ts'
import type { SendRules } from '../held/rules.ts'
import { type Emails, messageOfKey, type NewEmail } from '../log/emails.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { isBounceDomain, readBounceAddress } from '../model/envelope-sender.ts'
import { LIFETIME_MS } from '../model/limits.ts'
import type { Queue } from '../queue/queue.ts'
import type { Suppressions } from '../queue/suppressions.ts'

interface Deps extends OutboundDeps {
  emails: Pick<Emails, 'insert' | 'byN' | 'deliveriesByN'>
  queue: Pick<Queue, 'add'>
  suppressions: Pick<Suppressions, 'of'>
  rules: Pick<SendRules, 'forbidsReply'>
}

/** Responses older than this are dropped, ms. */
const STALE_MS = DAY_MS
const PAGE = 100
/** Subject of a response to a message without a subject. */
const BARE_SUBJECT = 'Automatic reply'

export class VacationReplies {
  readonly #deps: Deps
  #running: Promise<number> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Records which copies stored by a unit of work need a response; see `Vacations.note`. Does nothing while the feature is gated. */
  note(tx: Tx, copies: readonly StoredCopy[]): void {
    const { store, notifier, config, guard, trustedClock } = this.#deps
    if (config.MAILBOX_GATED.includes('vacation_response')) return
    let isDue = false
    for (const copy of copies) {
      const at = guard.isHeld() ? trustedClock.now() : copy.message.receivedAt
      if (store.delivery.vacations.enqueueReply(tx, copy, at)) isDue = true
    }
    if (isDue) tx.afterCommit(() => notifier.notify('deliver'))
  }

  /**
   * Composes the responses that are due and queues them. Queuing a response and settling its record are one unit of work: a
   * response that fails stays due. One run at a time.
   * @returns the number of responses queued
   */
  run(): Promise<number> {
    this.#running ??= this.#runOnce().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #runOnce(): Promise<number> {
    const { store, log } = this.#deps
    let sent = 0
    for (let after = 0; ; ) {
      const page = store.delivery.vacations.dueReplies(after, PAGE)
      for (const answer of page) {
        try {
          if (await this.#answer(answer)) sent++
        } catch (error) {
          log.error({ event: 'vacation.response_failed', err: error }, 'Vacation response not queued; will retry')
        }
      }
      if (page.length < PAGE) return sent
      after = page.at(-1)!.n
    }
  }

  async #answer(due: DueReply): Promise<boolean> {
    const { db, store, emails, queue, suppressions, notifier } = this.#deps
    const email = await this.#prepare(due).catch((error: unknown) => this.#dropInvalid(error))
    return db.write((tx) => {
      if (!store.delivery.vacations.complete(tx, due.n) || email === null) return false
      if (suppressions.of(tx, email.teamId, email.recipients).size > 0) return false
      const accepted = emails.insert(tx, email)
      queue.add(tx, accepted.email, accepted.deliveries, email.queuedAt)
      tx.afterCommit(() => notifier.notify('deliver'))
      return true
    })
  }

  /** Drops a response with an invalid address: the sender chose it, so a retry fails too. @throws any other error */
  #dropInvalid(error: unknown): null {
    if (!(error instanceof ProductError) || error.code === 'service_unavailable') throw error
    this.#deps.log.info(
      { event: 'vacation.response_dropped', err: error },
      'Vacation response dropped: invalid address',
    )
    return null
  }

  /** Composes a response and stores its content; null when it is no longer wanted or has no recipient. */
  async #prepare(due: DueReply): Promise<NewEmail | null> {
    const { trustedClock, db, directory, store, rules } = this.#deps
    if (trustedClock.now() - due.createdAt > STALE_MS) return null
    const mailboxId = store.accounts.mailboxOf(due.account)
    const mailbox = mailboxId === undefined ? undefined : directory.mailboxes.byId(mailboxId)
    // docs/design/mailbox.md §13: agents send no vacation responses.
    if (mailbox?.status !== 'active' || mailbox.isAgent) return null
    const account = { n: due.account }
    const response = due.script === null ? store.delivery.vacations.get(account) : responseOf(due.script)
    if (!isActiveAt(response, due.createdAt)) return null
    const to = this.#responseAddress(due.to)
    if (to === null || rules.forbidsReply(db.read, mailbox.id, to)) return null
    const identities = store.sending.identities.list(account)
    const identity = identities.find(({ id }) => id === due.identityId) ?? identities[0]!
    if (!directory.aliases.mayWriteAs(db.read, mailbox, identity.email)) return null
    return this.#compose(mailbox, { due, response, identity, to })
  }

  /**
   * The address that receives the response. Our own VERP address maps to the From address of its message; null when a root key
   * sent that message, because no mailbox reads the response.
   */
  #responseAddress(address: string): string | null {
    const { vault, config, emails } = this.#deps
    if (!isBounceDomain(config, domainOf(address))) return address
    const key = readBounceAddress(vault, config, address)
    const email = key === null ? undefined : messageOfKey(emails, key)
    return email?.mailboxId ? email.from.email : null
  }

  async #compose(
    mailbox: Mailbox,
    answer: { due: DueReply; response: VacationResponse; identity: Identity; to: string },
  ): Promise<NewEmail> {
    const { clock, directory, store, db } = this.#deps
    const { due, response, identity } = answer
    const now = clock.now()
    const id = newId('email')
    const author = due.script?.from ?? null
    const isOwn = author !== null && directory.aliases.mayWriteAs(db.read, mailbox, author)
    const email = isOwn ? author : identity.email
    const from = { email, name: identity.name || mailbox.displayName || '' }
    const to = checkRecipient('to', { email: answer.to })
    // RFC 5230 §5.3.
    const subject = response.subject ?? (due.subject === '' ? BARE_SUBJECT : `Auto: ${quotedSubject(due.subject)}`)
    const messageId = `${id}@${domainOf(from.email)}`
    const { textBody, htmlBody } = response
    const { messageId: original, references } = due
    const written = composeContent(
      {
        ...{ from, to: [to], cc: [], bcc: [], replyTo: identity.replyTo ?? [], subject, textBody, htmlBody },
        ...{ attachments: [], messageId, date: now },
        // RFC 3834 §5.
        headers: [{ name: 'Auto-Submitted', value: 'auto-replied' }],
        // RFC 5230 §5.8.
        inReplyTo: original,
        references: original === null ? [] : [...references, original],
      },
      false,
    )
    await store.blobs.put(written.hash, written.sizeBytes, written.chunks)
    const sender = { teamId: mailbox.teamId, mailboxId: mailbox.id }
    const domain = directory.domains.statusFor(db.read, sender, from.email)
    return {
      ...{ id, ...sender, source: 'system', scope: mailbox.sendScope, from, subject, internetMessageId: messageId },
      // RFC 3834 §3.3: a null reverse-path prevents bounces of the response.
      returnPath: '',
      ...{ domainId: domain?.id ?? null, hash: written.hash, sizeBytes: written.sizeBytes },
      ...{ queuedAt: now, expiresAt: now + LIFETIME_MS, recipients: [to.email] },
    }
  }
}

/** The reply of a script as a response that is always active. Of a MIME entity the text and the HTML are taken (RFC 5230 §4.4). */
function responseOf({ subject, isMime, reason }: ScriptVacation): VacationResponse {
  const always = { isEnabled: true, fromDate: null, toDate: null, subject }
  if (!isMime) return { ...always, textBody: reason, htmlBody: null }
  const bytes = Buffer.from(`MIME-Version: 1.0\r\n${reason}`)
  const { textPart, htmlPart } = sortParts(readStructure(bytes).root)
  const read = (part: Part | null) => (part === null ? null : partText(bytes, part, BODY_MAX))
  return { ...always, textBody: read(textPart), htmlBody: read(htmlPart) }
}
