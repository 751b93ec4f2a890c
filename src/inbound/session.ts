// One SMTP session: the commands of a mail transaction, strictly read and answered, and its deadlines.

import { isAscii, isUtf8 } from 'node:buffer'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { SMTPServer } from 'smtp-server'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'
import type { Clock } from '../base/clock.ts'
import { randomName } from '../base/ids.ts'
import type { RemoteName } from '../net/reverse-name.ts'
import { CommandReader, type LineError, type MessageStream } from '../smtp/command-reader.ts'
import { isReply, type RecipientPath, readRecipient, readSender } from '../smtp/envelope.ts'
import {
  COMMAND_MS,
  CONTENT_BYTES_PER_S,
  CONTENT_MS,
  MAX_ERRORS,
  MAX_MESSAGE_BYTES,
  MAX_RECIPIENTS,
  PAUSE_MS,
} from '../smtp/limits.ts'
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

/** A DATA transfer in progress. */
interface ContentTransfer {
  stream: MessageStream
  since: number
  lastByteAt: number
}

type Done = () => void

/** smtp-server's connection with its own command reader, its own MAIL, RCPT and DATA, and deadlines by the injected clock. */
export class SmtpSession extends SMTPConnection {
  readonly #handler: SessionHandler
  #transaction: MailTransaction | null = null
  #content: ContentTransfer | null = null
  #errors = 0
  #lastCommandAt: number
  #closing = false
  #isClosed = false
  #name: RemoteName = 'unknown'

  constructor(server: SMTPServer, socket: Socket, source: { address: string; port: number }, handler: SessionHandler) {
    super(server, socket, { remoteAddress: source.address, remotePort: source.port })
    this.#handler = handler
    this.#lastCommandAt = handler.clock.now()
    this.on('error', (error) => server.emit('error', error))
    handler.lookupName(source.address).then((name) => {
      this.#name = name
    })
  }

  /** Replies 421 and ends the session when the client has exceeded a timeout (RFC 5321 §4.5.3.2). */
  checkDeadline(now: number): void {
    if (this.#isLate(now)) this.#reply(replies.tooSlow)
  }

  /** Ends the session: immediately when idle, otherwise after the current transaction. */
  retire(): void {
    this.#closing = true
    if (!this.#transaction && !this._handlerPending) this.#reply(replies.closing)
  }

  /** Destroys the socket. */
  cut(): void {
    this._socket.destroy()
  }

  // Called by the super constructor, before the fields above are initialised.
  override _createParser(): CommandReader {
    const reader = new CommandReader()
    reader.oncommand = (command: Buffer, done?: Done) => this._onCommand(command, done)
    reader.onlineerror = (error) => this.#refuseLine(error)
    reader.onprogress = () => {
      if (this.#content) this.#content.lastByteAt = this.#handler.clock.now()
    }
    // The client has closed its half, and all its commands have been answered.
    reader.once('finish', () => this.close())
    return reader
  }

  override _onCommand(command: Buffer, done: Done = () => {}): void {
    const delay = this.#handler.delay(this.remoteAddress)
    if (delay === 0) this.#runCommand(command, done)
    else if (delay === null) this.#reply(replies.blocked)
    else {
      this.#handler.clock.after(delay, () => {
        // The session may have been closed during the delay.
        if (this._socket.writable) this.#runCommand(command, done)
      })
    }
  }

  #runCommand(command: Buffer, done: Done): void {
    const next = () => {
      this.#lastCommandAt = this.#handler.clock.now()
      if (this.#closing && !this.#transaction) this.#reply(replies.closing)
      done()
    }
    // RFC 6531 §3.3: UTF-8 is allowed in addresses only.
    if (isAscii(command) || (isUtf8(command) && /^(mail|rcpt) /i.test(command.toString('latin1', 0, 5)))) {
      super._onCommand(command, next)
    } else this.#answer(replies.notAscii, next)
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    if (code !== 220) this.#gatherReplies()
    if (this._socket.readyState === 'writeOnly') reportOpen(this._socket)
    super.send(code, data, context)
    if (code < 500) return
    if (isProtocolError(code)) this.#handler.noteProtocolError(this.remoteAddress)
    this.#errors++
    if (this.#errors > MAX_ERRORS) this.#reply(replies.tooManyErrors)
  }

  /** Sends replies to pipelined commands in one write. A 220 is sent alone: the TLS handshake may follow it. */
  #gatherReplies(): void {
    const socket = this._socket
    if (socket.writableCorked > 0) return
    socket.cork()
    setImmediate(() => socket.uncork())
  }

  /** Called with each socket of the session, including the TLS socket. */
  override _armTimeout(socket: Socket = this._socket): void {
    super._armTimeout(socket)
    // During the TLS handshake nothing is read and no reply can be sent.
    socket.once('end', () => {
      if (this._upgrading) socket.destroy()
    })
  }

  override _resetSession(): void {
    super._resetSession()
    this.#transaction = null
  }

  override handler_MAIL(command: Buffer, done: Done): void {
    this.#answer(this.#begin(command.toString()), done)
  }

  override handler_RCPT(command: Buffer, done: Done): void {
    const transaction = this.#transaction
    if (!transaction) {
      this.#answer(replies.senderFirst, done)
      return
    }
    const path = readRecipient(command.toString(), transaction.sender.utf8)
    if (isReply(path)) this.#answer(path, done)
    else this.#addRecipient(transaction, path).then((reply) => this.#answer(reply, done))
  }

  override handler_DATA(command: Buffer, done: Done): void {
    const transaction = this.#transaction
    if (!transaction) this.#answer(replies.senderFirst, done)
    else if (transaction.recipients.length === 0 && !transaction.report) this.#answer(replies.recipientFirst, done)
    else if (command.length > 'DATA'.length) this.#answer(replies.noArguments, done)
    else {
      this.#readContent(transaction)
      this.#answer(replies.content, done)
    }
  }

  override _onClose(): void {
    super._onClose()
    if (this.#isClosed) return
    this.#isClosed = true
    this.#handler.sessionClosed(this)
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

  #readContent(transaction: MailTransaction): void {
    const reader = this._parser as CommandReader
    const stream = reader.startDataMode(MAX_MESSAGE_BYTES)
    this._dataStream = stream
    const now = this.#handler.clock.now()
    this.#content = { stream, since: now, lastByteAt: now }
    this.#handler.receive(stream, transaction, this.#peer(transaction)).then((reply) => {
      this._dataStream = false
      this.#content = null
      this._resetSession()
      if (reply.code < 300) this.#errors = 0
      this.#lastCommandAt = this.#handler.clock.now()
      this.#reply(reply)
      if (this.#closing) this.#reply(replies.closing)
      // Servers disagree on where such a message ends (SMTP smuggling): what follows may be part of it, not commands.
      if (stream.byteError) this.close()
      reader.continue()
    })
  }

  #refuseLine(error: LineError): void {
    if (this._upgrading) return
    this.#handler.noteLineError(error, this.#peer(this.#transaction))
    this.#reply(error === 'too_long' ? replies.lineTooLong : replies.badBytes)
    // What follows may be injected content (SMTP smuggling): nothing more is read.
    this.close()
  }

  #answer(reply: SmtpReply, done: Done): void {
    this.#reply(reply)
    done()
  }

  #reply({ code, enhanced, text }: SmtpReply): void {
    this.send(code, enhanced === '' ? text : `${enhanced} ${text}`, false)
  }

  #peer(transaction: MailTransaction | null): Peer {
    const { hostNameAppearsAs, openingCommand } = this
    const utf8 = transaction?.sender.utf8 === true
    const base = utf8 ? 'UTF8SMTP' : openingCommand === 'EHLO' ? 'ESMTP' : 'SMTP'
    return {
      address: this.remoteAddress,
      name: this.#name,
      helo: hostNameAppearsAs || '',
      tls: this.#tls(),
      protocol: this.secure && base !== 'SMTP' ? `${base}S` : base,
    }
  }

  #tls(): string | null {
    const socket = this._socket
    return this.secure && socket instanceof TLSSocket ? `${socket.getProtocol()} ${socket.getCipher().name}` : null
  }

  #isLate(now: number): boolean {
    const content = this.#content
    // No timeout while the client waits for a reply.
    if (content?.stream.writableEnded || this._handlerPending) return false
    if (!content) return now - this.#lastCommandAt > COMMAND_MS
    const allowed = CONTENT_MS + (Math.min(content.stream.byteLength, MAX_MESSAGE_BYTES) / CONTENT_BYTES_PER_S) * 1000
    return now - content.lastByteAt > PAUSE_MS || now - content.since > allowed
  }
}

/** RFC 5321 §4.2.2 and §4.1.1.11; other 5xx replies refuse an address or a message. */
function isProtocolError(code: number): boolean {
  return (code >= 500 && code <= 504) || code === 555
}

/** smtp-server writes only to a socket whose readyState is "open"; a socket half-closed by the client is still writable. */
function reportOpen(socket: Socket): void {
  Object.defineProperty(socket, 'readyState', { get: () => (socket.writable ? 'open' : 'closed') })
}
