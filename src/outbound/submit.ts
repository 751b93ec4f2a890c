// Accepts messages for sending: one path for every API, from the request to committed rows.

import { ProductError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Tx } from '../db/db.ts'
import { Composer } from '../workers/composer.ts'
import type { Router } from './routing/router.ts'
import { Acceptance, type AcceptanceDeps, hasRoom, mailboxFull, type Ready } from './submit/acceptance.ts'
import { type CheckedMail, checkMail } from './submit/checked-mail.ts'
import type { NewMail, Sender, Submitted } from './submit/new-mail.ts'
import { type From, SenderContext } from './submit/sender-context.ts'

type Deps = AcceptanceDeps & { router: Pick<Router, 'defaultFrom' | 'sharedFullUntil'> }

/** Bytes composed on this thread before it yields to the event loop: about 1 ms. */
const TURN_BYTES = 64 * 1024

export class Submitter {
  readonly #deps: Deps
  readonly #acceptance: Acceptance
  readonly #composer = new Composer()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#acceptance = new Acceptance(deps)
  }

  /**
   * Checks, composes and accepts messages; an invalid message does not affect the others. All rows are written in one unit of
   * work: queue, delivery log, copies in Sent, submissions, and the writes of `extra`. Content is stored before it.
   * @param extra is not called when no message is accepted
   * @returns the result of each message, in their order, after the commit
   * @throws ProductError thrown by `extra`: then no message is accepted
   */
  async submit(
    sender: Sender,
    mails: readonly NewMail[],
    extra: (tx: Tx, submitted: readonly Submitted[]) => Promise<void> = async () => {},
  ): Promise<Submitted[]> {
    const desk = await SenderContext.open(this.#deps, sender).catch(expected)
    if (desk instanceof ProductError) return mails.map(() => failed(desk))
    const prepared = await this.#prepareAll(desk, mails)
    const ready = prepared.filter((one): one is Ready => !(one instanceof ProductError))
    if (ready.length === 0) return prepared.map((one) => failed(one as ProductError))
    try {
      await this.#deps.store.blobs.putAll(ready.map(({ written }) => written))
      return await this.#deps.db.write(async (tx) => {
        const accepted = await this.#acceptance.accept(tx, desk, ready)
        const submitted = prepared.map((one) => (one instanceof ProductError ? failed(one) : accepted.shift()!))
        if (submitted.some(({ kind }) => kind === 'accepted')) await extra(tx, submitted)
        return submitted
      })
    } catch (error) {
      if (error instanceof ProductError) throw error
      this.#deps.log.error({ err: error }, 'mails could not be queued')
      const unavailable = new ProductError('service_unavailable', 'The message could not be queued now; try again.')
      return prepared.map((one) => failed(one instanceof ProductError ? one : unavailable))
    }
  }

  /** Stops the worker thread that composes large messages. */
  close(): Promise<void> {
    return this.#composer.close()
  }

  async #prepareAll(desk: SenderContext, mails: readonly NewMail[]): Promise<(Ready | ProductError)[]> {
    const prepared: (Ready | ProductError)[] = []
    let bytes = 0
    for (const mail of mails) {
      const one = await this.#prepare(desk, mail).catch((error: unknown) => this.#explain(error))
      prepared.push(one)
      bytes += one instanceof ProductError ? 0 : one.written.sizeBytes
      if (bytes < TURN_BYTES) continue
      bytes = 0
      await new Promise(setImmediate)
    }
    return prepared
  }

  /** Checks and composes one message, outside the transaction. @throws ProductError when it is invalid */
  async #prepare(desk: SenderContext, mail: NewMail): Promise<Ready> {
    const { clock, config } = this.#deps
    const oneTo = desk.sender.source === 'batch_api'
    const rules = { now: clock.now(), extra: config.ATTACHMENT_EXTRA_EXTENSIONS, oneTo }
    const author = await desk.from(mail.from)
    // The Bcc addresses of the identity count as named recipients.
    const checked = checkMail({ ...mail, bcc: mail.bcc ?? author.bcc }, rules)
    desk.checkNames(author.from, checked.replyTo, mail.replyTo?.length ? 'reply_to' : 'custom_headers.Reply-To')
    const { email } = author.from
    const returnPath = mail.returnPath === null ? null : await desk.returnPath(mail.returnPath)
    const original = await desk.original(mail)
    await desk.requireRoom(author.from, checked.sendAt)
    const id = newId('email')
    const internetMessageId = `${id}@${email.slice(email.lastIndexOf('@') + 1)}`
    const answered = original && {
      inReplyTo: original.internetMessageId,
      references: [...original.references, original.internetMessageId].filter((ref) => ref !== null),
    }
    const draft = { ...draftOf(mail, checked, author), ...answered, messageId: internetMessageId }
    const written = await this.#composer.compose(draft, desk.box !== null && mail.saveToSent)
    // Checked again in the unit of work; here it avoids storing content that no row would reference.
    if (desk.box !== null && !hasRoom(desk.box, written)) throw mailboxFull()
    const { bcc, recipients, subject, sendAt } = checked
    const domainId = (await desk.domainOf(email))?.id ?? null
    return {
      ...{ id, from: author.from, bcc, recipients, returnPath, subject, internetMessageId },
      ...{ domainId, original, sendAt, written, identityId: author.identityId },
    }
  }

  /** Turns an internal error in one message into its result, so that the other messages are still accepted. */
  #explain(error: unknown): ProductError {
    if (error instanceof ProductError) return error
    this.#deps.log.error({ err: error }, 'a mail could not be composed')
    return new ProductError('internal_error', 'Something went wrong on our side.')
  }
}

function draftOf(mail: NewMail, checked: CheckedMail, { from, replyTo }: From) {
  const { to, cc, bcc, subject, headers, attachments, inReplyTo, references, sendAt } = checked
  const { textBody, htmlBody } = mail
  return {
    ...{ from, to, cc, bcc, subject, headers, attachments, inReplyTo, references, textBody, htmlBody },
    replyTo: checked.replyTo.length > 0 || mail.replyTo !== null ? checked.replyTo : replyTo,
    date: sendAt,
  }
}

function expected(error: unknown): ProductError {
  if (error instanceof ProductError) return error
  throw error
}

function failed(error: ProductError): Submitted {
  return { kind: 'failed', error }
}
