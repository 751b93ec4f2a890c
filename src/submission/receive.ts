// Receives a submitted message: spooled, prepared and accepted durably, and the reply to the end of data.

import { ProductError } from '../base/errors.ts'
import type { LargeMemory } from '../base/lent-memory.ts'
import type { Log } from '../base/log.ts'
import { LARGE_FROM_BYTES, MemoryExhausted } from '../base/memory-shares.ts'
import { Semaphore } from '../base/semaphore.ts'
import { isDiskFull } from '../base/storage-error.ts'
import type { RawSubmitter } from '../outbound/submit/raw-submitter.ts'
import type { MessageStream } from '../smtp/command-reader.ts'
import { IN_FLIGHT_MIN_BYTES } from '../smtp/limits.ts'
import { replies, type SmtpReply } from '../smtp/replies.ts'
import { type Spool, type SpooledMessage, SpoolFull } from '../smtp/spool.ts'
import { PREPARED_BYTES, SUBMITTED_BYTES_MAX, WAITING_MAX } from './limits.ts'
import { replyOf, submissionReplies } from './replies.ts'
import type { SubmissionUser, SubmittedTransaction } from './session.ts'

interface Deps {
  log: Log
  memory: Pick<LargeMemory, 'during'>
  spool: Spool
  submitter: Pick<RawSubmitter, 'submit' | 'count'>
}

/** Memory per byte of a small message: as received, as prepared, and its chunks. */
const COPIES = 3

export class SubmissionReceiver {
  readonly #deps: Deps
  readonly #inFlight = new Semaphore(PREPARED_BYTES)

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Never rejects, and reads the content to its end. */
  async receive(
    content: MessageStream,
    transaction: SubmittedTransaction,
    { access }: SubmissionUser,
  ): Promise<SmtpReply> {
    const { log, submitter } = this.#deps
    const facts = { mailbox: access.principal.mailboxId, recipients: transaction.recipients.length }
    try {
      const reply = await this.#receive(content, transaction, access)
      // The client went away before the end of data: no reply is expected.
      if (reply === null) return replies.closing
      if (reply.code === 250) return reply
      submitter.count(reply.code >= 500 ? 'refused' : 'deferred')
      log.info({ event: 'submission.message_refused', ...facts, reply: `${reply.code} ${reply.enhanced}` }, 'Refused')
      return reply
    } catch (error) {
      submitter.count('deferred')
      log.error({ event: 'submission.failed', ...facts, err: error }, 'Submitted message could not be accepted')
      return isDiskFull(error) ? submissionReplies.noRoom : submissionReplies.failure
    }
  }

  async #receive(
    content: MessageStream,
    transaction: SubmittedTransaction,
    access: SubmissionUser['access'],
  ): Promise<SmtpReply | null> {
    let spooled: SpooledMessage
    try {
      spooled = await this.#deps.spool.receive(content, access.principal.teamId)
    } catch (error) {
      if (!content.readableEnded) return null
      // A defect of the message takes precedence over a local failure.
      const defect = defectOf(content)
      if (defect !== null) return defect
      if (error instanceof SpoolFull) return submissionReplies.noRoom
      throw error
    }
    try {
      const defect = defectOf(content)
      if (defect !== null) return defect
      return await this.#withMemory(spooled, access, () => this.#submit(spooled, transaction, access))
    } finally {
      await this.#release(spooled)
    }
  }

  /** Large messages share the memory of the process by their mailboxes; small ones do not wait for them. */
  async #withMemory(
    { sizeBytes }: SpooledMessage,
    { principal }: SubmissionUser['access'],
    work: () => Promise<SmtpReply>,
  ): Promise<SmtpReply> {
    if (sizeBytes < LARGE_FROM_BYTES) {
      if (this.#inFlight.waiting >= WAITING_MAX) return submissionReplies.busy
      return this.#inFlight.during(Math.max(sizeBytes * COPIES, IN_FLIGHT_MIN_BYTES), work)
    }
    try {
      return await this.#deps.memory.during(sizeBytes, principal.mailboxId, work)
    } catch (error) {
      if (error instanceof MemoryExhausted) return submissionReplies.noMemory
      throw error
    }
  }

  async #submit(
    { source, sizeBytes }: SpooledMessage,
    { recipients, sender }: SubmittedTransaction,
    { principal, savesSent }: SubmissionUser['access'],
  ): Promise<SmtpReply> {
    const { submitter, log } = this.#deps
    const { teamId, mailboxId, keyId } = principal
    const protocol = sender.utf8 ? 'UTF8SMTPSA' : 'ESMTPSA'
    try {
      const message = { recipients, source, protocol, savesSent }
      const { emailId, isRepeated } = await submitter.submit({ teamId, mailboxId, keyId }, message)
      submitter.count(isRepeated ? 'repeated' : 'accepted')
      const facts = { mailbox: mailboxId, email: emailId, recipients: recipients.length, bytes: sizeBytes, isRepeated }
      log.info({ event: 'submission.message_accepted', ...facts }, 'Message accepted')
      return replies.queued(emailId)
    } catch (error) {
      if (error instanceof ProductError) return replyOf(error)
      throw error
    }
  }

  async #release(spooled: SpooledMessage): Promise<void> {
    // A leftover file is removed at the next start; the reply does not depend on it.
    await spooled
      .release()
      .catch((error: unknown) =>
        this.#deps.log.warn({ event: 'submission.spool_cleanup_failed', err: error }, 'Spool file not removed'),
      )
  }
}

/** What the bytes of a message violate. */
function defectOf({ byteError, sizeExceeded }: MessageStream): SmtpReply | null {
  if (byteError !== null) return submissionReplies.badBytes
  return sizeExceeded ? replies.tooLarge(SUBMITTED_BYTES_MAX) : null
}
