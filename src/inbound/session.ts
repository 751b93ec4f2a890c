// One SMTP session of a client that sends messages here: the envelope, and what its listener decides.

import type { Socket } from 'node:net'
import type { SMTPServer } from 'smtp-server'
import type { Clock } from '../base/clock.ts'
import { randomName } from '../base/ids.ts'
import type { RemoteName } from '../net/reverse-name.ts'
import type { LineError, MessageStream } from '../smtp/command-reader.ts'
import { type CommandDone, SmtpEngine } from '../smtp/engine.ts'
import { isReply, type RecipientPath, readRecipient, readSender } from '../smtp/envelope.ts'
import { MAX_MESSAGE_BYTES, MAX_RECIPIENTS } from '../smtp/limits.ts'
import { replies, type SmtpReply } from '../smtp/replies.ts'
import { type AcceptedRecipient, isForReports, type ReportRecipient } from './recipients.ts'
import { refusals } from './refusals.ts'
import type { MailTransaction, Peer } from './transaction.ts'

/** What a session needs from its listener. No method throws or rejects: a failure is returned as a reply. */
export interface SessionHandler {
  readonly clock: Clock
  lookupName(address: string): Promise<RemoteName>
  evaluateRecipient(
    path: RecipientPath,
    transaction: MailTransaction,
    peer: Peer,
  ): Promise<AcceptedRecipient | ReportRecipient | SmtpReply>
  /** Reads the content to its end, also when the message is refused. */
  receive(content: MessageStream, transaction: MailTransaction, peer: Peer): Promise<SmtpReply>
  /** Delay in ms before a command from that address runs (see source-throttle.ts); null when the source is blocked. */
  delay(address: string): number | null
  /** Counts an unknown command, or a bad sequence of commands. */
  noteProtocolError(address: string): void
  /** Counts a line or a message with bytes RFC 5321 §2.3.8 forbids. */
  noteLineError(error: LineError, peer: Peer): void
  sessionClosed(session: SmtpSession): void
}

/** MAIL, RCPT and DATA of receiving, on the shared engine. */
export class SmtpSession extends SmtpEngine {
  readonly #handler: SessionHandler
  #transaction: MailTransaction | null = null
  #name: RemoteName = 'unknown'

  constructor(server: SMTPServer, socket: Socket, source: { address: string; port: number }, handler: SessionHandler) {
    super(server, socket, source, handler.clock)
    this.#handler = handler
    handler.lookupName(source.address).then((name) => {
      this.#name = name
    })
  }

  protected get isInTransaction(): boolean {
    return this.#transaction !== null
  }

  protected get maxMessageBytes(): number {
    return MAX_MESSAGE_BYTES
  }

  protected override commandDelay(): number | null {
    return this.#handler.delay(this.remoteAddress)
  }

  protected override noteProtocolError(): void {
    this.#handler.noteProtocolError(this.remoteAddress)
  }

  protected override noteLineError(error: LineError): void {
    this.#handler.noteLineError(error, this.#peer(this.#transaction))
  }

  protected closed(): void {
    this.#handler.sessionClosed(this)
  }

  protected contentRefusal(): SmtpReply | null {
    const transaction = this.#transaction
    if (!transaction) return replies.senderFirst
    return transaction.recipients.length === 0 && !transaction.report ? replies.recipientFirst : null
  }

  protected receive(content: MessageStream): Promise<SmtpReply> {
    const transaction = this.#transaction!
    return this.#handler.receive(content, transaction, this.#peer(transaction))
  }

  override _resetSession(): void {
    super._resetSession()
    this.#transaction = null
  }

  override handler_MAIL(command: Buffer, done: CommandDone): void {
    this.answer(this.#begin(command.toString()), done)
  }

  override handler_RCPT(command: Buffer, done: CommandDone): void {
    const transaction = this.#transaction
    if (!transaction) {
      this.answer(replies.senderFirst, done)
      return
    }
    const path = readRecipient(command.toString(), transaction.sender.utf8)
    if (isReply(path)) this.answer(path, done)
    else this.#addRecipient(transaction, path).then((reply) => this.answer(reply, done))
  }

  #begin(command: string): SmtpReply {
    if (this.#transaction) return replies.senderTwice
    const sender = readSender(command)
    if (isReply(sender)) return sender
    this.#transaction = { queueId: randomName(16), sender, recipients: [], report: null }
    return replies.sender
  }

  async #addRecipient(transaction: MailTransaction, path: RecipientPath): Promise<SmtpReply> {
    const { recipients } = transaction
    const known = [...recipients, ...(transaction.report ? [transaction.report] : [])]
    if (known.some(({ rcptTo }) => rcptTo === path.address)) return replies.recipient
    if (recipients.length >= MAX_RECIPIENTS) return refusals.manyRecipients.reply
    const verdict = await this.#handler.evaluateRecipient(path, transaction, this.#peer(transaction))
    if (isReply(verdict)) return verdict
    if (isForReports(verdict)) transaction.report = verdict
    else recipients.push(verdict)
    return replies.recipient
  }

  #peer(transaction: MailTransaction | null): Peer {
    const { hostNameAppearsAs, openingCommand } = this
    const utf8 = transaction?.sender.utf8 === true
    const base = utf8 ? 'UTF8SMTP' : openingCommand === 'EHLO' ? 'ESMTP' : 'SMTP'
    return {
      address: this.remoteAddress,
      name: this.#name,
      helo: hostNameAppearsAs || '',
      tls: this.tlsName,
      protocol: this.secure && base !== 'SMTP' ? `${base}S` : base,
    }
  }
}
