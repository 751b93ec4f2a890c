// Accepts messages for sending: one path for every API, from the request to committed rows.

import { type Issue, ProductError } from '../../base/errors.ts'
import { newId, randomName } from '../../base/ids.ts'
import type { Tx } from '../../db/db.ts'
import { domainOf } from '../../mime/address.ts'
import type { ComposedContent } from '../../mime/compose/outgoing-content.ts'
import type { Address } from '../../mime/message.ts'
import type { OriginalMessage } from '../../store/messages/original.ts'
import { Composer } from '../../workers/composer.ts'
import type { NewMail, Sender, Submitted } from '../model/new-message.ts'
import type { Router } from '../routing/router.ts'
import { Acceptance, type AcceptanceDeps, hasRoom, mailboxFull, type Ready } from './acceptance.ts'
import { type CheckedMail, checkDraft, checkMail, headersMember } from './checked-message.ts'
import { type From, SenderContext } from './sender-context.ts'

type Deps = AcceptanceDeps & { router: Pick<Router, 'defaultFrom' | 'sharedFullUntil' | 'hasAccountFor'> }

/** The message of a draft as it is stored, and the message it replies to. */
export interface ComposedDraft {
  written: ComposedContent
  original: OriginalMessage | null
  /** Those of the identity, if the draft has none of its own. */
  bcc: readonly Address[]
  from: Address
}

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
    messages: readonly NewMail[],
    extra: (tx: Tx, submitted: readonly Submitted[]) => void = () => {},
  ): Promise<Submitted[]> {
    const context = openContext(this.#deps, sender)
    if (context instanceof ProductError) return messages.map(() => failed(context))
    const prepared = await this.#prepareAll(context, messages)
    const ready = prepared.filter((one): one is Ready => !(one instanceof ProductError))
    if (ready.length === 0) return prepared.map((one) => failed(one as ProductError))
    try {
      await this.#deps.store.blobs.putAll(ready.map(({ written }) => written))
      // A batch of a hundred messages takes some thousand statements.
      const acceptance = this.#acceptance
      return await this.#deps.db.writeInSteps(function* (tx) {
        const accepted = yield* acceptance.accept(tx, context, ready)
        const submitted = prepared.map((one) => (one instanceof ProductError ? failed(one) : accepted.shift()!))
        if (submitted.some(({ kind }) => kind === 'accepted')) extra(tx, submitted)
        return submitted
      })
    } catch (error) {
      if (error instanceof ProductError) throw error
      this.#deps.log.error({ event: 'submit.queue_failed', err: error }, 'Messages not queued')
      const unavailable = new ProductError('service_unavailable', 'The message could not be queued. Try again later.')
      return prepared.map((one) => failed(one instanceof ProductError ? one : unavailable))
    }
  }

  /**
   * Composes the message of a draft, with its Bcc field; what is missing for sending may be missing.
   * @param id `dft_…`: its Message-ID is the same in all versions
   * @throws ProductError validation_error, payload_too_large; conflict for a mailbox that may not send now
   */
  async composeDraft(sender: Sender, message: NewMail, id: string): Promise<ComposedDraft> {
    const context = SenderContext.open(this.#deps, sender)
    const author = await context.from(message.from, message.identityId)
    const checked = checkDraft(message)
    const original = context.original(message)
    const { textBody, htmlBody } = message
    const draft = {
      ...{ ...checked, from: author.from, bcc: message.bcc === null ? author.bcc : checked.bcc, textBody, htmlBody },
      ...{ headers: [], ...referencesTo(original), date: this.#deps.clock.now() },
      ...{ messageId: `${id}@${domainOf(author.from.email)}`, seed: randomName() },
      isUnsent: true,
    }
    return { written: await this.#composer.compose(draft, true), original, bcc: draft.bcc, from: author.from }
  }

  /** What would make sending the message fail; its bodies and the content of its files are not read. */
  async problems(sender: Sender, message: NewMail): Promise<Issue[]> {
    const { clock, config } = this.#deps
    const rules = { now: clock.now(), extra: config.ATTACHMENT_EXTRA_EXTENSIONS, oneTo: false }
    const context = openContext(this.#deps, sender)
    if (context instanceof ProductError) return issuesOf(context)
    const checks: (() => unknown)[] = [
      () => checkMail(message, rules),
      () => context.original(message),
      async () => {
        const { from } = await context.from(message.from, message.identityId)
        context.checkNames(from, message.replyTo ?? [], 'reply_to')
        context.requireSendable(from)
      },
    ]
    const found: Issue[] = []
    for (const check of checks) {
      try {
        await check()
      } catch (error) {
        if (!(error instanceof ProductError)) throw error
        found.push(...issuesOf(error))
      }
    }
    return found
  }

  /** Stops the worker thread that composes large messages. */
  close(): Promise<void> {
    return this.#composer.close()
  }

  async #prepareAll(context: SenderContext, messages: readonly NewMail[]): Promise<(Ready | ProductError)[]> {
    const prepared: (Ready | ProductError)[] = []
    let bytes = 0
    for (const message of messages) {
      const one = await this.#prepare(context, message).catch((error: unknown) => this.#explain(error))
      prepared.push(one)
      bytes += one instanceof ProductError ? 0 : one.written.sizeBytes
      if (bytes < TURN_BYTES) continue
      bytes = 0
      await new Promise(setImmediate)
    }
    return prepared
  }

  /** Checks and composes one message, outside the transaction. @throws ProductError when it is invalid */
  async #prepare(context: SenderContext, message: NewMail): Promise<Ready> {
    const { clock, config } = this.#deps
    const oneTo = context.sender.source === 'batch_api'
    const rules = { now: clock.now(), extra: config.ATTACHMENT_EXTRA_EXTENSIONS, oneTo }
    const author = await context.from(message.from, message.identityId)
    // The Bcc addresses of the identity count as named recipients.
    const checked = checkMail({ ...message, bcc: message.bcc ?? author.bcc }, rules)
    context.checkNames(
      author.from,
      checked.replyTo,
      message.replyTo?.length ? 'reply_to' : `${headersMember(message)}.Reply-To`,
    )
    const { email } = author.from
    const returnPath = message.returnPath === null ? null : context.returnPath(message.returnPath)
    context.requireSendable(author.from)
    const original = context.original(message)
    await context.requireRoom(author.from, checked.sendAt)
    const id = newId('email')
    const internetMessageId = `${id}@${domainOf(email)}`
    const answered = original && referencesTo(original)
    const draft = { ...draftOf(message, checked, author), ...answered, messageId: internetMessageId }
    const written = await this.#composer.compose(draft, context.box !== null && message.saveToSent)
    // Checked again in the unit of work; here it avoids storing content that no row would reference.
    const { freedBytes = 0 } = message
    if (context.box !== null && !hasRoom(context.box, { written, freedBytes })) throw mailboxFull()
    const { bcc, recipients, subject, sendAt, labels } = checked
    const domainId = context.domainOf(email)?.id ?? null
    return {
      ...{ id, from: author.from, bcc, recipients, returnPath, subject, internetMessageId },
      ...{ domainId, original, sendAt, labels, freedBytes, written, identityId: author.identityId },
      answers: [...(checked.inReplyTo === null ? [] : [checked.inReplyTo]), ...checked.references],
    }
  }

  /** Turns an internal error in one message into its result, so that the other messages are still accepted. */
  #explain(error: unknown): ProductError {
    if (error instanceof ProductError) return error
    this.#deps.log.error({ event: 'submit.compose_failed', err: error }, 'Message not composed')
    return new ProductError('internal_error', 'Something went wrong on our side.')
  }
}

function draftOf(message: NewMail, checked: CheckedMail, { from, replyTo }: From) {
  const { to, cc, bcc, subject, headers, attachments, inReplyTo, references, sendAt } = checked
  const { textBody, htmlBody } = message
  return {
    ...{ from, to, cc, bcc, subject, headers, attachments, inReplyTo, references, textBody, htmlBody },
    replyTo: checked.replyTo.length > 0 || message.replyTo !== null ? checked.replyTo : replyTo,
    date: sendAt,
  }
}

/** In-Reply-To and References of a reply (RFC 5322 §3.6.4). */
function referencesTo(original: OriginalMessage | null): { inReplyTo: string | null; references: string[] } {
  if (original === null) return { inReplyTo: null, references: [] }
  const { internetMessageId: id, references } = original
  return { inReplyTo: id, references: [...references, id].filter((ref) => ref !== null) }
}

function issuesOf({ code, message, param, issues }: ProductError): Issue[] {
  return issues ?? [{ field: param ?? '', code, message }]
}

function openContext(deps: Deps, sender: Sender): SenderContext | ProductError {
  try {
    return SenderContext.open(deps, sender)
  } catch (error) {
    if (error instanceof ProductError) return error
    throw error
  }
}

function failed(error: ProductError): Submitted {
  return { kind: 'failed', error }
}
