// Messages to the addresses that scripts notify (RFC 5435, RFC 5436): recorded with the message they tell of, composed and queued later.

import { DAY_MS } from '../../base/durations.ts'
import { ProductError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Tx } from '../../db/db.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { domainOf } from '../../mime/address.ts'
import { checkRecipient } from '../../mime/compose/draft-rules.ts'
import { composeContent } from '../../mime/compose/outgoing-content.ts'
import { quotedSubject } from '../../mime/one-line.ts'
import type { DueNotification } from '../../store/mailbox/script-notifications.ts'
import type { StoredCopy } from '../../store/mailbox/vacations.ts'
import type { SendRules } from '../held/rules.ts'
import type { Emails, NewEmail } from '../log/emails.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { isBounceDomain } from '../model/envelope-sender.ts'
import { LIFETIME_MS } from '../model/limits.ts'
import type { Queue } from '../queue/queue.ts'
import type { Suppressions } from '../queue/suppressions.ts'

interface Deps extends OutboundDeps {
  emails: Pick<Emails, 'insert'>
  queue: Pick<Queue, 'add'>
  suppressions: Pick<Suppressions, 'of'>
  rules: Pick<SendRules, 'refusedOfScript'>
}

/** Notifications older than this are dropped, ms. */
const STALE_MS = DAY_MS
const PAGE = 100
/** Values of the field Importance (RFC 2156 §5.3.4); the usual one is left out. */
const IMPORTANCES = { 1: 'high', 2: null, 3: 'low' } as const

export class NotificationMessages {
  readonly #deps: Deps
  #running: Promise<number> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Records what the scripts of the copies that a unit of work stores ask for. */
  note(tx: Tx, copies: readonly StoredCopy[]): void {
    const { store, notifier, guard, trustedClock, log } = this.#deps
    for (const copy of copies) {
      const at = guard.isHeld() ? trustedClock.now() : copy.message.receivedAt
      const { recorded, refused } = store.delivery.notifications.enqueue(tx, copy, at)
      if (recorded > 0) tx.afterCommit(() => notifier.notify('deliver'))
      if (refused > 0) {
        const facts = { event: 'notification.limited', mailbox: copy.target.mailboxId, notifications: refused }
        log.info(facts, 'Notifications of a script not sent: the limit of the day is reached')
      }
    }
  }

  /** Composes and queues what is due; one run at a time. @returns the number of messages queued */
  run(): Promise<number> {
    this.#running ??= this.#runOnce().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #runOnce(): Promise<number> {
    const { store, db, log } = this.#deps
    let sent = 0
    for (let after = 0; ; ) {
      const page = store.delivery.notifications.due(db.read, after, PAGE)
      for (const due of page) {
        try {
          if (await this.#send(due)) sent++
        } catch (error) {
          log.error({ event: 'notification.failed', err: error }, 'Notification of a script not queued; will retry')
        }
      }
      if (page.length < PAGE) return sent
      after = page.at(-1)!.n
    }
  }

  /** Queuing a message and settling its record are one unit of work. */
  async #send(due: DueNotification): Promise<boolean> {
    const { db, store, emails, queue, suppressions, notifier } = this.#deps
    const email = await this.#prepare(due)
    return db.write((tx) => {
      if (!store.delivery.notifications.complete(tx, due.n) || email === null) return false
      if (suppressions.of(tx, email.teamId, email.recipients).size > 0) return false
      const accepted = emails.insert(tx, email)
      queue.add(tx, accepted.email, accepted.deliveries, email.queuedAt)
      tx.afterCommit(() => notifier.notify('deliver'))
      return true
    })
  }

  /** Null when it is no longer wanted, or its address is none to notify. */
  async #prepare(due: DueNotification): Promise<NewEmail | null> {
    const { trustedClock, db, directory, store, config, rules } = this.#deps
    if (trustedClock.now() - due.createdAt > STALE_MS) return null
    const mailboxId = store.accounts.mailboxOf(due.account)
    const mailbox = mailboxId === undefined ? undefined : directory.mailboxes.byId(mailboxId)
    // docs/design/mailbox.md §13: agents send no automatic messages.
    if (mailbox?.status !== 'active' || mailbox.isAgent) return null
    try {
      const to = checkRecipient('to', { email: due.notification.to[0]! })
      const at = to.email.lastIndexOf('@')
      const [local, domain] = [to.email.slice(0, at), to.email.slice(at + 1)]
      const receiver = directory.mailboxes.receiver(local, domain)
      const isOwn = 'mailbox' in receiver && receiver.mailbox?.id === mailbox.id
      if (isOwn || isBounceDomain(config, domain)) return null
      if (rules.refusedOfScript(db.read, mailbox, to.email) !== null) return null
      return await this.#compose(mailbox, due, to.email)
    } catch (error) {
      if (!(error instanceof ProductError) || error.code === 'service_unavailable') throw error
      this.#deps.log.info({ event: 'notification.dropped', err: error }, 'Notification dropped: invalid address')
      return null
    }
  }

  async #compose(mailbox: Mailbox, { account, notification, author, subject: about }: DueNotification, to: string) {
    const { clock, directory, store, db } = this.#deps
    const now = clock.now()
    const id = newId('email')
    const primary = store.sending.identities.list({ n: account }).find(({ isPrimary }) => isPrimary)
    const { from: asked, importance } = notification
    const email = asked !== null && directory.aliases.mayWriteAs(db.read, mailbox, asked) ? asked : mailbox.email
    const from = { email, name: primary?.name || mailbox.displayName || '' }
    const subject = notification.subject || `New message: ${quotedSubject(about) || '(no subject)'}`
    const level = IMPORTANCES[importance]
    const messageId = `${id}@${domainOf(email)}`
    const written = composeContent(
      {
        ...{ from, to: [{ email: to, name: '' }], cc: [], bcc: [], replyTo: [], subject, htmlBody: null },
        textBody: notification.body || bodyOf(mailbox.email, author, about),
        ...{ attachments: [], messageId, date: now, inReplyTo: null, references: [] },
        headers: [
          // RFC 5436 §2.7.1.
          { name: 'Auto-Submitted', value: `auto-notified; owner-email="${mailbox.email}"` },
          ...(level === null ? [] : [{ name: 'Importance', value: level }]),
        ],
      },
      false,
    )
    await store.blobs.put(written.hash, written.sizeBytes, written.chunks)
    const sender = { teamId: mailbox.teamId, mailboxId: mailbox.id }
    const domain = directory.domains.statusFor(db.read, sender, email)
    return {
      ...{ id, ...sender, source: 'system' as const, scope: mailbox.sendScope, from, subject },
      internetMessageId: messageId,
      // The null reverse-path prevents bounces, and answers to it.
      returnPath: '',
      ...{ domainId: domain?.id ?? null, hash: written.hash, sizeBytes: written.sizeBytes },
      ...{ queuedAt: now, expiresAt: now + LIFETIME_MS, recipients: [to] },
    }
  }
}

/** The words of a stranger, without links. */
function bodyOf(mailbox: string, author: string, subject: string): string {
  const lines = [`${mailbox} has received a message.`, '', `From: ${author || '(unknown)'}`]
  return `${[...lines, `Subject: ${quotedSubject(subject) || '(none)'}`].join('\n')}\n`
}
