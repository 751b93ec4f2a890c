// One SMTP session: the commands of a mail transaction, strictly read and answered, and its deadlines.

import { isAscii, isUtf8 } from 'node:buffer'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { SMTPServer } from 'smtp-server'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'
import type { Clock } from '../base/clock.ts'
import { randomName } from '../base/ids.ts'
import type { RemoteName } from '../net/reverse-name.ts'
import { type LineFault, type MailStream, Wire } from '../smtp/command-reader.ts'
import { isReply, type RecipientPath, readRecipient, readSender } from '../smtp/envelope.ts'
import {
  COMMAND_MS,
  CONTENT_BYTES_PER_S,
  CONTENT_MS,
  MAX_ERRORS,
  MAX_MAIL_BYTES,
  MAX_RECIPIENTS,
  PAUSE_MS,
} from '../smtp/limits.ts'
import { type Reply, replies } from '../smtp/replies.ts'
import { isForReports, type Recipient, type ReportRecipient } from './recipients.ts'
import { refusals } from './refusals.ts'
import type { Peer, Transaction } from './transaction.ts'

/** What a session asks of the house. Nothing here rejects: a failure is a reply. */
export interface Desk {
  readonly clock: Clock
  findName(address: string): Promise<RemoteName>
  judge(path: RecipientPath, transaction: Transaction, peer: Peer): Promise<Recipient | ReportRecipient | Reply>
  /** Reads the content to its end, whatever comes of it. */
  receive(content: MailStream, transaction: Transaction, peer: Peer): Promise<Reply>
  /** How long (ms) a command of that address waits, for what its source did before; null when the source is put off. */
  delay(address: string): number | null
  /** A command that was none, or not one for now. */
  noteProtocolError(address: string): void
  /** A line or a mail that broke the rules of RFC 5321 2.3.8. */
  noteFault(fault: LineFault, peer: Peer): void
  left(session: Session): void
}

/** Content under way. `over` once its end mark was read and the peer waits for us. */
interface Content {
  stream: MailStream
  since: number
  lastByteAt: number
}

type Done = () => void

/** smtp-server's connection with our reading of lines and content, our MAIL, RCPT and DATA, and deadlines by our clock. */
export class Session extends SMTPConnection {
  readonly #desk: Desk
  #transaction: Transaction | null = null
  #content: Content | null = null
  #errors = 0
  #lastCommandAt: number
  #closing = false
  #left = false
  #name: RemoteName = 'unknown'

  constructor(server: SMTPServer, socket: Socket, source: { address: string; port: number }, desk: Desk) {
    super(server, socket, { remoteAddress: source.address, remotePort: source.port })
    this.#desk = desk
    this.#lastCommandAt = desk.clock.now()
    this.on('error', (error) => server.emit('error', error))
    desk.findName(source.address).then((name) => {
      this.#name = name
    })
  }

  /** Ends the session when the peer has kept us waiting too long. */
  checkDeadline(now: number): void {
    if (this.#isLate(now)) this.#say(replies.tooSlow)
  }

  /** Asks the session to end: at once when nothing is under way, else after the transaction. */
  retire(): void {
    this.#closing = true
    if (!this.#transaction && !this._handlerPending) this.#say(replies.closing)
  }

  /** Ends it now. */
  cut(): void {
    this._socket.destroy()
  }

  // Called by the constructor of the library's class, before the fields above exist.
  override _createParser(): Wire {
    const wire = new Wire()
    wire.oncommand = (command: Buffer, done?: Done) => this._onCommand(command, done)
    wire.onfault = (fault) => this.#refuseLine(fault)
    wire.onprogress = () => {
      if (this.#content) this.#content.lastByteAt = this.#desk.clock.now()
    }
    // The peer has closed its half, and all it sent before has been answered.
    wire.once('finish', () => this.close())
    return wire
  }

  override _onCommand(command: Buffer, done: Done = () => {}): void {
    const delay = this.#desk.delay(this.remoteAddress)
    if (delay === 0) this.#runCommand(command, done)
    else if (delay === null) this.#say(replies.blocked)
    else {
      this.#desk.clock.after(delay, () => {
        // A session that was closed meanwhile has nobody left to answer.
        if (this._socket.writable) this.#runCommand(command, done)
      })
    }
  }

  #runCommand(command: Buffer, done: Done): void {
    const next = () => {
      this.#lastCommandAt = this.#desk.clock.now()
      if (this.#closing && !this.#transaction) this.#say(replies.closing)
      done()
    }
    // RFC 6531 3.3: UTF-8 may stand in addresses only.
    if (isAscii(command) || (isUtf8(command) && /^(mail|rcpt) /i.test(command.toString('latin1', 0, 5)))) {
      super._onCommand(command, next)
    } else this.#answer(replies.notAscii, next)
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    if (code !== 220) this.#gatherReplies()
    if (this._socket.readyState === 'writeOnly') showOpen(this._socket)
    super.send(code, data, context)
    if (code < 500) return
    if (isProtocolError(code)) this.#desk.noteProtocolError(this.remoteAddress)
    this.#errors++
    if (this.#errors > MAX_ERRORS) this.#say(replies.tooManyErrors)
  }

  /** Replies to pipelined commands leave in one piece. A 220 stays alone: after it the socket may belong to TLS. */
  #gatherReplies(): void {
    const socket = this._socket
    if (socket.writableCorked > 0) return
    socket.cork()
    setImmediate(() => socket.uncork())
  }

  /** Called with each socket of the session, the one inside TLS too. */
  override _armTimeout(socket: Socket = this._socket): void {
    super._armTimeout(socket)
    // Nothing is read, and nothing can be answered, while TLS is being agreed on.
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
    if (this.#left) return
    this.#left = true
    this.#desk.left(this)
  }

  #begin(command: string): Reply {
    if (this.#transaction) return replies.senderTwice
    const sender = readSender(command)
    if (isReply(sender)) return sender
    this.#transaction = { queueId: randomName(16), sender, recipients: [], report: null }
    return replies.sender
  }

  async #addRecipient(transaction: Transaction, path: RecipientPath): Promise<Reply> {
    const { recipients } = transaction
    const known = [...recipients, ...(transaction.report ? [transaction.report] : [])]
    if (known.some(({ rcptTo }) => rcptTo === path.address)) return replies.recipient
    if (recipients.length >= MAX_RECIPIENTS) return refusals.manyRecipients.reply
    const verdict = await this.#desk.judge(path, transaction, this.#peer(transaction))
    if (isReply(verdict)) return verdict
    if (isForReports(verdict)) transaction.report = verdict
    else recipients.push(verdict)
    return replies.recipient
  }

  #readContent(transaction: Transaction): void {
    const wire = this._parser as Wire
    const stream = wire.startDataMode(MAX_MAIL_BYTES)
    this._dataStream = stream
    const now = this.#desk.clock.now()
    this.#content = { stream, since: now, lastByteAt: now }
    this.#desk.receive(stream, transaction, this.#peer(transaction)).then((reply) => {
      this._dataStream = false
      this.#content = null
      this._resetSession()
      if (reply.code < 300) this.#errors = 0
      this.#lastCommandAt = this.#desk.clock.now()
      this.#say(reply)
      if (this.#closing) this.#say(replies.closing)
      // Where such a mail ends is seen in more than one way: what follows may be a part of it that wants to be commands.
      if (stream.fault) this.close()
      wire.continue()
    })
  }

  #refuseLine(fault: LineFault): void {
    if (this._upgrading) return
    this.#desk.noteFault(fault, this.#peer(this.#transaction))
    this.#say(fault === 'too_long' ? replies.lineTooLong : replies.badBytes)
    // What follows may have been put there by somebody else than the one who wrote the line: nothing more is read.
    this.close()
  }

  #answer(reply: Reply, done: Done): void {
    this.#say(reply)
    done()
  }

  #say({ code, enhanced, text }: Reply): void {
    this.send(code, enhanced === '' ? text : `${enhanced} ${text}`, false)
  }

  #peer(transaction: Transaction | null): Peer {
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
    // While the peer waits for us the time is ours.
    if (content?.stream.writableEnded || this._handlerPending) return false
    if (!content) return now - this.#lastCommandAt > COMMAND_MS
    const allowed = CONTENT_MS + (Math.min(content.stream.byteLength, MAX_MAIL_BYTES) / CONTENT_BYTES_PER_S) * 1000
    return now - content.lastByteAt > PAUSE_MS || now - content.since > allowed
  }
}

/** RFC 5321 4.2.2 and 4.1.1.11; other 5xx replies say no to an address or a message. */
function isProtocolError(code: number): boolean {
  return (code >= 500 && code <= 504) || code === 555
}

/** smtp-server writes to a socket only while it is "open": for a peer that has closed its own half, that is as long as we have not. */
function showOpen(socket: Socket): void {
  Object.defineProperty(socket, 'readyState', { get: () => (socket.writable ? 'open' : 'closed') })
}
