// The path of one mail through the house, step by step, from its first byte to the answer after its last.

import { Semaphore } from '../base/semaphore.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import { domainName } from '../directory/domain-name.ts'
import type { Mailbox } from '../directory/mailboxes.ts'
import { recordReceived } from '../events/received.ts'

import type { MailStream } from '../smtp/command-reader.ts'
import { AT_WORK_BYTES, AT_WORK_LEAST, MAX_WAITING } from '../smtp/limits.ts'
import { type Reply, replies } from '../smtp/replies.ts'
import { type Spool, SpoolFull } from '../smtp/spool.ts'
import type { DeliverTarget } from '../store/deliver.ts'
import type { InboundReason } from '../store/inbound-log.ts'
import { scriptCalls } from '../store/script-calls.ts'
import type { Inspection, InspectionRequest } from '../workers/inspection.ts'
import type { Bounces } from './bounces.ts'
import { type Judgement, judge } from './decision.ts'
import type { Journal } from './journal.ts'
import type { Passage } from './received-transaction.ts'
import type { Recipient, Recipients } from './recipients.ts'
import { type Refusal, refusals } from './refusals.ts'
import type { SourceThrottle } from './source-throttle.ts'
import type { Divisions } from './split-recipients.ts'
import type { Peer, Transaction } from './transaction.ts'

/** Bytes at work for each byte of a mail: as it came, as it will be stored, and in between. */
const COPIES = 3
/** Reasons to refuse a message that speak against its source. */
const OFFENSIVE: ReadonlySet<InboundReason> = new Set(['bad_bytes', 'dmarc_reject', 'spam'])

/** From addresses whose domains are compared with those of this appliance. */
const AUTHORS_MAX = 20

interface Parts {
  app: Context
  spool: Spool
  journal: Journal
  recipients: Recipients
  divisions: Divisions
  bounces: Bounces
  throttle: SourceThrottle
}

export class Receiver {
  readonly #parts: Parts
  readonly #atWork = new Semaphore(AT_WORK_BYTES)

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Takes a mail from its content to its answer. Never rejects, and always reads the content to its end. */
  async receive(content: MailStream, transaction: Transaction, peer: Peer): Promise<Reply> {
    const passage: Passage = { transaction, peer, receivedAt: 0, sizeBytes: null, inspection: null, judgement: null }
    let refusal: Refusal | null
    try {
      refusal = await this.#take(content, passage)
    } catch (error) {
      // Nobody waits for an answer, and nothing was asked for yet.
      if (!content.readableEnded) return replies.closing
      refusal = this.#explain(error, passage)
    }
    this.#rate(passage, refusal)
    if (refusal === null) return replies.queued(transaction.queueId)
    await this.#parts.journal.refuseMail(passage, refusal)
    return refusal.reply
  }

  /** Only what the message itself earned: no failure of ours, no wish of its recipients. */
  #rate({ peer, judgement }: Passage, refusal: Refusal | null): void {
    const { throttle } = this.#parts
    if (refusal === null) {
      // Reports, and what is dropped at their well-known addresses, are judged by nobody: they make up for nothing.
      if (judgement?.junk === false) throttle.accepted(peer.address)
    } else if (refusal.reply.code >= 500 && refusal.reason !== null && OFFENSIVE.has(refusal.reason)) {
      throttle.offended(peer.address, 'refused_message')
    }
  }

  /** @returns why the mail is turned away, or null once it is stored for good */
  async #take(content: MailStream, passage: Passage): Promise<Refusal | null> {
    const { app, spool, journal } = this.#parts
    const held = await spool.hold(content).catch((error: unknown) => {
      // What is wrong with the mail comes before what is wrong with us.
      if (content.readableEnded && judgeForm(content)) return null
      throw error
    })
    try {
      passage.receivedAt = app.clock.now()
      passage.sizeBytes = content.byteLength
      const malformed = judgeForm(content)
      if (malformed?.reason === 'bad_bytes') journal.countFault(content.fault!, passage.peer)
      if (malformed || !held) return malformed
      if (this.#atWork.waiting >= MAX_WAITING) return refusals.busy
      const room = Math.max(held.sizeBytes * COPIES, AT_WORK_LEAST)
      return await this.#atWork.during(room, async () => {
        const inspection = await app.inspector.inspect(held.source, await this.#arrival(passage))
        return this.#settle(passage, inspection)
      })
    } finally {
      // A file that stays is removed at the next start; the mail's answer does not depend on it.
      await held?.release().catch((error: unknown) => app.log.warn({ err: error }, 'a spool file could not be removed'))
    }
  }

  async #settle(passage: Passage, inspection: Inspection): Promise<Refusal | null> {
    const { report } = passage.transaction
    passage.inspection = inspection
    if (report === null) return this.#deliver(passage, inspection)
    if (await this.#parts.bounces.take(passage, report, inspection)) return null
    const { address } = passage.transaction.sender
    const { autoSubmitted, wantsNoAnswer } = inspection.traits
    if (report.reader === null) {
      if (report.deferral !== null) return report.deferral
      const isAutomatic = address === '' || autoSubmitted || wantsNoAnswer
      return isAutomatic ? this.#drop(passage, refusals.noReport) : refusals.noReport
    }
    // RFC 3834 4: an auto-reply goes to the envelope sender, which stands for who sent the mail.
    passage.transaction.recipients.push(report.reader)
    const refusal = await this.#deliver(passage, inspection)
    return refusal !== null && refusal.reply.code >= 500 && address === '' ? this.#drop(passage, refusal) : refusal
  }

  /** Takes and forgets what nobody could be told of: a refusal would freeze in the queue of the other server. */
  async #drop(passage: Passage, why: Refusal): Promise<null> {
    await this.#parts.journal.noteDropped(passage, why)
    return null
  }

  async #deliver(passage: Passage, inspection: Inspection): Promise<Refusal | null> {
    const { transaction, peer } = passage
    const namesOwnDomain = await this.#namesOwnDomain(inspection)
    const judgement = judge(inspection, { transaction, peer, config: this.#parts.app.config, namesOwnDomain })
    passage.judgement = judgement
    if (judgement.divided) this.#parts.divisions.note(transaction.sender.address)
    if (judgement.refusal) return judgement.refusal
    const noRoom = await this.#findRoom(transaction, passage.sizeBytes!)
    if (noRoom) return noRoom
    await this.#store(passage, inspection, judgement)
    return null
  }

  /** Whether a message says without proof that it comes from a domain of this appliance. */
  async #namesOwnDomain({ verdict, mail }: Inspection): Promise<boolean> {
    if (verdict.fromAligned) return false
    const { domains } = this.#parts.app.directory
    const named = new Set(mail.from.slice(0, AUTHORS_MAX).map(({ email }) => domainOf(email)))
    for (const name of named) if (name !== null && (await domains.byName(name))) return true
    return false
  }

  /** Looked at again now that the size is known; what was said of it at MAIL may have been wrong. */
  async #findRoom({ recipients, sender }: Transaction, sizeBytes: number): Promise<Refusal | null> {
    for (const { mailbox } of recipients) {
      const full = await this.#parts.recipients.judgeRoom(mailbox, sizeBytes)
      if (!full) continue
      if (recipients.length === 1) return full
      // One answer for all: the others get theirs when it is sent again, because the full mailbox is told apart at RCPT then.
      return sizeBytes > (sender.declaredBytes ?? sizeBytes) ? refusals.largerThanDeclared : refusals.failure
    }
    return null
  }

  async #store(passage: Passage, inspection: Inspection, judgement: Judgement): Promise<void> {
    const { app, journal } = this.#parts
    const { transaction, receivedAt } = passage
    const mail = { inspection, mailFrom: transaction.sender.address, receivedAt }
    const targets = transaction.recipients.map((recipient, index) => ({
      ...target(recipient, inspection, judgement),
      ruling: inspection.rulings[index] ?? null,
    }))
    await app.store.deliver(mail, targets, async (tx, delivered) => {
      // Another mail was faster: all or nothing, because there is one answer.
      if (delivered.some(({ outcome }) => outcome === 'full')) throw new MailboxFilled('A mailbox filled up meanwhile.')
      for (const { mailbox } of transaction.recipients) await this.#requireSame(tx, mailbox)
      await journal.noteDelivered(tx, passage, delivered)
      const copies = delivered.map((copy, index) => ({ mail, target: targets[index]!, delivered: copy }))
      for (const [index, { teamId, mailbox }] of transaction.recipients.entries()) {
        const copy = copies[index]!
        // Where it lies counts, whatever it was taken for.
        const told = { ...copy.target, junk: copy.delivered.junk }
        await recordReceived(tx, app.outbox, { teamId, domainId: mailbox.domainId, ...copy, target: told })
      }
      await app.outbound.vacationReplies.note(tx, copies)
    })
  }

  /** Minutes may have passed since RCPT: whoever sends again is told there what is true now. @throws MailboxEnded */
  async #requireSame(tx: Tx, { id, quotaBytes }: Mailbox): Promise<void> {
    const now = await this.#parts.app.directory.mailboxes.byId(id, tx)
    if (now?.status !== 'active' || now.quotaBytes < quotaBytes)
      throw new MailboxEnded('A mailbox takes no mail by now.')
  }

  async #arrival({ transaction, peer, receivedAt }: Passage): Promise<InspectionRequest> {
    const { report, recipients } = transaction
    // What is no report goes on to the reader.
    const readers = report ? [report.reader].filter((reader) => reader !== null) : recipients
    const [first, ...others] = report ? [report] : recipients
    return {
      remoteAddress: peer.address,
      remoteName: typeof peer.name === 'object' ? peer.name.name : null,
      helo: peer.helo,
      mailFrom: transaction.sender.address,
      tls: peer.tls,
      protocol: peer.protocol,
      receivedAt,
      hostName: this.#parts.app.config.MAIL_HOSTS[0]!,
      queueId: transaction.queueId,
      rcptTo: first && others.length === 0 ? first.rcptTo : null,
      isForReports: report !== null,
      scripts: await scriptCalls(this.#parts.app, readers),
    }
  }

  #explain(error: unknown, { transaction }: Passage): Refusal {
    // Both happen to a mailbox in ordinary use: they are answered, and are no failure of ours.
    if (error instanceof MailboxFilled) return transaction.recipients.length > 1 ? refusals.oneFull : refusals.full
    if (error instanceof MailboxEnded) return refusals.failure
    this.#parts.app.log.error({ err: error, queueId: transaction.queueId }, 'a mail could not be taken')
    return isFull(error) ? refusals.noRoom : refusals.failure
  }
}

class MailboxFilled extends Error {}
class MailboxEnded extends Error {}

/** In stored form; null for what is no domain. */
function domainOf(email: string): string | null {
  return domainName(email.slice(email.lastIndexOf('@') + 1))
}

/** What is wrong with a mail before anybody looks into it. */
function judgeForm(content: MailStream): Refusal | null {
  if (content.fault === 'bare_cr') return refusals.bareCr
  if (content.fault === 'bare_lf') return refusals.bareLf
  if (content.fault === 'nul') return refusals.nul
  return content.sizeExceeded ? refusals.tooLarge : null
}

function target(recipient: Recipient, inspection: Inspection, judgement: Judgement): DeliverTarget {
  const { verdict } = inspection
  const { spf, dkim, dmarc, arc, fromAligned } = verdict
  const signatures = verdict.signatures.map(({ domain, result, reason }) => `DKIM ${result} for ${domain}: ${reason}`)
  const reasons = [verdict.spfReason, ...signatures, verdict.dmarcReason].filter((reason) => reason !== '')
  const { junk, spam } = judgement
  return {
    mailboxId: recipient.mailbox.id,
    rcptTo: recipient.rcptTo,
    email: recipient.mailbox.email,
    quotaBytes: recipient.mailbox.quotaBytes,
    junk,
    authentication: { spf, dkim, dmarc, arc, fromAligned, reasons },
    spam: { score: spam.score, isSpam: junk, reasons: spam.parts.map(({ reason }) => reason) },
  }
}

// SQLITE_FULL is 13.
function isFull(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number }
  return error instanceof SpoolFull || code === 'ENOSPC' || code === 'EDQUOT' || (errcode ?? 0) % 256 === 13
}
