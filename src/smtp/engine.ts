// The SMTP dialogue that receiving and submission share: commands strictly read, replies, the content of DATA, and deadlines.

import { isAscii, isUtf8 } from 'node:buffer'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { SMTPServer } from 'smtp-server'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'
import type { Clock } from '../base/clock.ts'
import { CommandReader, type LineError, MAX_COMMAND_BYTES, type MessageStream } from './command-reader.ts'
import { COMMAND_MS, CONTENT_BYTES_PER_S, CONTENT_MS, MAX_ERRORS, PAUSE_MS } from './limits.ts'
import { replies, type SmtpReply } from './replies.ts'

/** A DATA transfer in progress. */
interface ContentTransfer {
  stream: MessageStream
  since: number
  lastByteAt: number
}

/** Continues with the next command. */
export type CommandDone = () => void

/** smtp-server's connection with its own command reader, its own DATA, and deadlines by the injected clock. */
export abstract class SmtpEngine extends SMTPConnection {
  protected readonly clock: Clock
  #content: ContentTransfer | null = null
  #errors = 0
  #lastCommandAt: number
  #closing: SmtpReply | null = null
  #isClosed = false

  constructor(server: SMTPServer, socket: Socket, source: { address: string; port: number }, clock: Clock) {
    super(server, socket, { remoteAddress: source.address, remotePort: source.port })
    this.clock = clock
    this.#lastCommandAt = clock.now()
    this.on('error', (error) => server.emit('error', error))
  }

  /** True between MAIL and the reply to the end of data. */
  protected abstract get isInTransaction(): boolean

  /** Largest message in bytes: what is read beyond is discarded. */
  protected abstract get maxMessageBytes(): number

  /** The reply that refuses DATA now; null when the content may come. */
  protected abstract contentRefusal(): SmtpReply | null

  /** Reads the content to its end, also when the message is refused. Does not reject. */
  protected abstract receive(content: MessageStream): Promise<SmtpReply>

  /** Called once, when the connection has closed. */
  protected abstract closed(): void

  /** Delay in ms before a command runs; null when the source is blocked. */
  protected commandDelay(): number | null {
    return 0
  }

  /** Called for an unknown command and for a bad sequence of commands. */
  protected noteProtocolError(): void {}

  /** Called for a line, or the bytes of a message, that RFC 5321 §2.3.8 forbids. */
  protected noteLineError(_error: LineError): void {}

  /** Longest command in bytes with its CRLF. Called by the constructor of the library. */
  protected maxCommandBytes(): number {
    return MAX_COMMAND_BYTES
  }

  /** Replies 421 and ends the session when the client has exceeded a timeout (RFC 5321 §4.5.3.2). */
  checkDeadline(now: number): void {
    if (this.#isLate(now)) this.reply(replies.tooSlow)
  }

  /** Ends the session: immediately when idle, otherwise after the current transaction. */
  retire(reply: SmtpReply = replies.closing): void {
    this.#closing ??= reply
    if (!this.isInTransaction && !this._handlerPending) this.reply(this.#closing)
  }

  /** Ends the session at once, but for a message that was received completely: its reply is sent first. */
  expire(reply: SmtpReply): void {
    this.#closing ??= reply
    if (this.#content?.stream.writableEnded !== true) this.reply(reply)
  }

  /** Destroys the socket. */
  cut(): void {
    this._socket.destroy()
  }

  // Called by the super constructor, before the fields above are initialised.
  override _createParser(): CommandReader {
    const reader = new CommandReader(this.maxCommandBytes())
    reader.oncommand = (command: Buffer, done?: CommandDone) => this._onCommand(command, done)
    reader.onlineerror = (error) => this.#refuseLine(error)
    reader.onprogress = () => {
      if (this.#content) this.#content.lastByteAt = this.clock.now()
    }
    // The client has closed its half, and all its commands have been answered.
    reader.once('finish', () => this.close())
    return reader
  }

  override _onCommand(command: Buffer, done: CommandDone = () => {}): void {
    const delay = this.commandDelay()
    if (delay === 0) this.#runCommand(command, done)
    else if (delay === null) this.reply(replies.blocked)
    else {
      this.clock.after(delay, () => {
        // The session may have been closed during the delay.
        if (this._socket.writable) this.#runCommand(command, done)
      })
    }
  }

  #runCommand(command: Buffer, done: CommandDone): void {
    const next = () => {
      this.#lastCommandAt = this.clock.now()
      if (this.#closing && !this.isInTransaction) this.reply(this.#closing)
      done()
    }
    // RFC 6531 §3.3: UTF-8 is allowed in addresses only.
    if (isAscii(command) || (isUtf8(command) && /^(mail|rcpt) /i.test(command.toString('latin1', 0, 5)))) {
      super._onCommand(command, next)
    } else this.answer(replies.notAscii, next)
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    if (code !== 220) this.#gatherReplies()
    if (this._socket.readyState === 'writeOnly') reportOpen(this._socket)
    super.send(code, data, context)
    if (code < 500) return
    if (isProtocolError(code)) this.noteProtocolError()
    this.#errors++
    if (this.#errors > MAX_ERRORS) this.reply(replies.tooManyErrors)
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

  override handler_DATA(command: Buffer, done: CommandDone): void {
    const refusal = this.contentRefusal()
    if (refusal) this.answer(refusal, done)
    else if (command.length > 'DATA'.length) this.answer(replies.noArguments, done)
    else {
      this.#readContent()
      this.answer(replies.content, done)
    }
  }

  override _onClose(): void {
    super._onClose()
    if (this.#isClosed) return
    this.#isClosed = true
    this.closed()
  }

  #readContent(): void {
    const reader = this._parser as CommandReader
    const stream = reader.startDataMode(this.maxMessageBytes)
    this._dataStream = stream
    const now = this.clock.now()
    this.#content = { stream, since: now, lastByteAt: now }
    this.receive(stream).then((reply) => {
      this._dataStream = false
      this.#content = null
      this._resetSession()
      if (reply.code < 300) this.#errors = 0
      this.#lastCommandAt = this.clock.now()
      this.reply(reply)
      if (this.#closing) this.reply(this.#closing)
      // Servers disagree on where such a message ends (SMTP smuggling): what follows may be part of it, not commands.
      if (stream.byteError) this.close()
      reader.continue()
    })
  }

  #refuseLine(error: LineError): void {
    if (this._upgrading) return
    this.noteLineError(error)
    this.reply(error === 'too_long' ? replies.lineTooLong : replies.badBytes)
    // What follows may be injected content (SMTP smuggling): nothing more is read.
    this.close()
  }

  protected answer(reply: SmtpReply, done: CommandDone): void {
    this.reply(reply)
    done()
  }

  protected reply({ code, enhanced, text }: SmtpReply): void {
    this.send(code, enhanced === '' ? text : `${enhanced} ${text}`, false)
  }

  /** "TLSv1.3 TLS_AES_256_GCM_SHA384"; null for plain text, and where a proxy has ended TLS. */
  protected get tlsName(): string | null {
    const socket = this._socket
    return this.secure && socket instanceof TLSSocket ? `${socket.getProtocol()} ${socket.getCipher().name}` : null
  }

  #isLate(now: number): boolean {
    const content = this.#content
    // No timeout while the client waits for a reply.
    if (content?.stream.writableEnded || this._handlerPending) return false
    if (!content) return now - this.#lastCommandAt > COMMAND_MS
    const allowed =
      CONTENT_MS + (Math.min(content.stream.byteLength, this.maxMessageBytes) / CONTENT_BYTES_PER_S) * 1000
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
