// One submission session (RFC 6409): sign-in, and the transactions of the mailbox that signed in, on the shared SMTP engine.

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { SMTPServer } from 'smtp-server'
import { type SaslResult, TRIES_MAX } from '../access/access.ts'
import type { SignedIn } from '../access/signed-in.ts'
import type { Clock } from '../base/clock.ts'
import { mechanismOf, offeredMechanisms, type SaslMechanism, type TlsEnd } from '../net/sasl.ts'
import { channelBindings } from '../net/tls.ts'
import type { MessageStream } from '../smtp/command-reader.ts'
import { type CommandDone, SmtpEngine } from '../smtp/engine.ts'
import { type EnvelopeSender, isReply, type RecipientPath, readRecipient, readSender } from '../smtp/envelope.ts'
import { replies, type SmtpReply } from '../smtp/replies.ts'
import { AUTH_LINE_BYTES, SIGN_IN_MS, SUBMITTED_BYTES_MAX, SUBMITTED_RECIPIENTS_MAX } from './limits.ts'
import { signInReplies, submissionReplies } from './replies.ts'

/** A mail transaction of the mailbox that signed in. */
export interface SubmittedTransaction {
  sender: EnvelopeSender
  /** Each once, in order. */
  recipients: string[]
}

/** The mailbox that signed in. */
export interface SubmissionUser {
  access: SignedIn
  /** Ends the count of the session and its watch. */
  release(): void
}

/** One exchange of AUTH; the session carries its messages. */
export interface SignInExchange {
  mechanism: SaslMechanism
  source: string
  bindings: ReadonlyMap<string, Uint8Array>
  initial: Buffer | null
  challenge(data: Buffer): Promise<Buffer | null>
}

/** What a session needs from its listener. No method throws or rejects: a failure is returned as a reply. */
export interface SubmissionHandler {
  readonly clock: Clock
  signIn(exchange: SignInExchange): Promise<SaslResult>
  /** Begins the session of a mailbox. @returns null when the mailbox has too many */
  admit(session: SubmissionSession, access: SignedIn): SubmissionUser | null
  /** @returns the reply that refuses the envelope sender; null when it is accepted */
  senderRefusal(user: SubmissionUser, address: string): SmtpReply | null
  /** @returns the address as it is stored, or the reply that refuses it */
  evaluate(user: SubmissionUser, path: RecipientPath, transaction: SubmittedTransaction): string | SmtpReply
  /** Reads the content to its end, also when the message is refused. */
  receive(content: MessageStream, transaction: SubmittedTransaction, user: SubmissionUser): Promise<SmtpReply>
  sessionClosed(session: SubmissionSession): void
}

export class SubmissionSession extends SmtpEngine {
  readonly #handler: SubmissionHandler
  readonly #openedAt: number
  #user: SubmissionUser | null = null
  #transaction: SubmittedTransaction | null = null
  #failures = 0

  /** @param isSecure whether TLS has begun already, here or at a trusted proxy */
  constructor(
    server: SMTPServer,
    socket: Socket,
    source: { address: string; port: number },
    { handler, isSecure }: { handler: SubmissionHandler; isSecure: boolean },
  ) {
    super(server, socket, source, handler.clock)
    this.#handler = handler
    this.#openedAt = handler.clock.now()
    this.secure = this.session.secure = isSecure
  }

  get user(): SubmissionUser | null {
    return this.#user
  }

  override checkDeadline(now: number): void {
    const isLate = this.#user === null && !this._handlerPending && now - this.#openedAt > SIGN_IN_MS
    if (isLate) this.reply(replies.tooSlow)
    else super.checkDeadline(now)
  }

  protected get isInTransaction(): boolean {
    return this.#transaction !== null
  }

  protected get maxMessageBytes(): number {
    return SUBMITTED_BYTES_MAX
  }

  protected override maxCommandBytes(): number {
    return AUTH_LINE_BYTES
  }

  protected closed(): void {
    this.#user?.release()
    this.#handler.sessionClosed(this)
  }

  override _resetSession(): void {
    super._resetSession()
    this.#transaction = null
  }

  // The reply to EHLO is the only one of several lines.
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    super.send(code, Array.isArray(data) ? [data[0]!, ...this.#extensions()] : data, context)
  }

  #extensions(): string[] {
    const mechanisms = this.#user === null ? offeredMechanisms(this.#tlsEnd) : []
    return [
      'PIPELINING',
      `SIZE ${SUBMITTED_BYTES_MAX}`,
      '8BITMIME',
      'SMTPUTF8',
      'ENHANCEDSTATUSCODES',
      `LIMITS RCPTMAX=${SUBMITTED_RECIPIENTS_MAX}`,
      ...(mechanisms.length > 0 ? [`AUTH ${mechanisms.join(' ')}`] : []),
      ...(this.secure ? [] : ['STARTTLS']),
    ]
  }

  get #tlsEnd(): TlsEnd {
    if (!this.secure) return null
    return this._socket instanceof TLSSocket ? 'here' : 'proxy'
  }

  override handler_AUTH(command: Buffer, done: CommandDone): void {
    const [, name = '', written, ...rest] = command.toString().trim().split(/ +/)
    const mechanism = mechanismOf(name, this.#tlsEnd)
    const initial = written === undefined ? null : decodeInitial(written)
    if (this.#user !== null || this.#transaction !== null) this.answer(submissionReplies.signedInAlready, done)
    else if (this.#tlsEnd === null) this.answer(submissionReplies.tlsFirst, done)
    else if (name === '' || rest.length > 0) this.answer(submissionReplies.badAuth, done)
    else if (mechanism === undefined) this.answer(submissionReplies.noMechanism, done)
    else if (initial === undefined) this.answer(submissionReplies.notBase64, done)
    else void this.#authenticate(mechanism, initial, done)
  }

  async #authenticate(mechanism: SaslMechanism, initial: Buffer | null, done: CommandDone): Promise<void> {
    let next = done
    const challenge = (data: Buffer) =>
      new Promise<Buffer | null>((resolve) => {
        this._nextHandler = (line: Buffer, read: CommandDone) => {
          next = read
          resolve(decodeBase64(line.toString('latin1')))
        }
        this.reply({ code: 334, enhanced: '', text: data.toString('base64') })
        next()
      })
    const socket = this._socket
    const bindings = socket instanceof TLSSocket ? channelBindings(socket) : new Map<string, Uint8Array>()
    const source = this.remoteAddress
    const result = await this.#handler.signIn({ mechanism, source, bindings, initial, challenge })
    this.#conclude(result)
    next()
  }

  #conclude(result: SaslResult): void {
    if (!this._socket.writable) return
    if (result.accepted) {
      this.#user = this.#handler.admit(this, result.session)
      this.reply(this.#user === null ? submissionReplies.tooManyOfMailbox : submissionReplies.signedIn)
      return
    }
    this.reply(signInReplies[result.reason])
    if (++this.#failures >= TRIES_MAX) this.reply(submissionReplies.tooManyTries)
  }

  override handler_MAIL(command: Buffer, done: CommandDone): void {
    this.answer(this.#begin(command.toString()), done)
  }

  #begin(command: string): SmtpReply {
    const user = this.#user
    if (user === null) return submissionReplies.signInFirst
    if (this.#transaction) return replies.senderTwice
    if (user.access.suspended) return submissionReplies.suspended
    // RFC 4954 §5: AUTH names who gave the message to the client.
    const sender = readSender(command, { maxBytes: SUBMITTED_BYTES_MAX, others: ['AUTH'] })
    if (isReply(sender)) return sender
    const refusal = this.#handler.senderRefusal(user, sender.address)
    if (refusal !== null) return refusal
    this.#transaction = { sender, recipients: [] }
    return replies.sender
  }

  override handler_RCPT(command: Buffer, done: CommandDone): void {
    this.answer(this.#addRecipient(command.toString()), done)
  }

  #addRecipient(command: string): SmtpReply {
    const user = this.#user
    const transaction = this.#transaction
    if (user === null) return submissionReplies.signInFirst
    if (transaction === null) return replies.senderFirst
    const path = readRecipient(command, transaction.sender.utf8)
    if (isReply(path)) return path
    const { recipients } = transaction
    // Few servers distinguish the case of local parts, and no recipient should get a message twice.
    const isKnown = (address: string) => recipients.some((one) => one.toLowerCase() === address.toLowerCase())
    if (isKnown(path.address)) return replies.recipient
    if (recipients.length >= SUBMITTED_RECIPIENTS_MAX) return submissionReplies.manyRecipients
    const address = this.#handler.evaluate(user, path, transaction)
    if (typeof address !== 'string') return address
    if (!isKnown(address)) recipients.push(address)
    return replies.recipient
  }

  override handler_VRFY(command: Buffer, done: CommandDone): void {
    if (this.#user === null) this.answer(submissionReplies.signInFirst, done)
    else super.handler_VRFY(command, done)
  }

  override handler_HELP(command: Buffer, done: CommandDone): void {
    if (this.#user === null) this.answer(submissionReplies.signInFirst, done)
    else super.handler_HELP(command, done)
  }

  protected contentRefusal(): SmtpReply | null {
    if (this.#user === null) return submissionReplies.signInFirst
    if (this.#transaction === null) return replies.senderFirst
    return this.#transaction.recipients.length === 0 ? replies.recipientFirst : null
  }

  protected receive(content: MessageStream): Promise<SmtpReply> {
    return this.#handler.receive(content, this.#transaction!, this.#user!)
  }
}

/** RFC 4954 §4: `=` is an empty initial response. @returns undefined for text that is not base64 */
function decodeInitial(text: string): Buffer | undefined {
  return text === '=' ? Buffer.alloc(0) : (decodeBase64(text) ?? undefined)
}

/** @returns null for other text, such as the `*` that cancels */
function decodeBase64(text: string): Buffer | null {
  const decoded = Buffer.from(text, 'base64')
  return decoded.toString('base64') === text ? decoded : null
}
