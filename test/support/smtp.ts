// The client side of SMTP: a client that sends exact bytes, and nodemailer for whole messages.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { createTransport, type SendMailOptions, type SentMessageInfo } from 'nodemailer'

/** One reply: its code, and the text of each of its lines without the code. */
export interface SmtpReply {
  code: number
  lines: string[]
  /** `code` and the last line, as in a log. */
  text: string
}

/** A message in three commands: sender, recipients, and bytes (dots are stuffed and the end mark is added). */
export interface RawMail {
  from: string
  to: string | string[]
  content: string | Buffer
}

export class SmtpClient implements AsyncDisposable {
  #socket: Socket | TLSSocket
  #received = ''
  #closed = false
  #wake: (() => void) | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#listen()
  }

  /** Connects and reads nothing yet. @param from local address to connect from */
  static async connect(port: number, from?: string): Promise<SmtpClient> {
    const socket = connect({ port, host: '127.0.0.1', ...(from ? { localAddress: from } : {}) })
    await once(socket, 'connect')
    return new SmtpClient(socket)
  }

  /** Connects with TLS from the first byte, with any certificate, and reads nothing yet. @param from local address to connect from */
  static async secure(port: number, from?: string): Promise<SmtpClient> {
    const local = from === undefined ? {} : { localAddress: from }
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...local })
    await once(socket, 'secureConnect')
    return new SmtpClient(socket)
  }

  /** Connects, reads the greeting and says EHLO. */
  static async greet(port: number, helo = 'client.test'): Promise<SmtpClient> {
    const client = await SmtpClient.connect(port)
    await client.expect(220)
    await client.command(`EHLO ${helo}`, 250)
    return client
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Writes bytes as they are; text as UTF-8. */
  write(bytes: string | Uint8Array): void {
    this.#socket.write(bytes)
  }

  /** Writes bytes and waits until the system has accepted them, or the connection is closed. */
  push(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#socket.write(bytes, () => resolve()))
  }

  /** The next reply, whole. Throws when the connection ends before. */
  async reply(): Promise<SmtpReply> {
    for (;;) {
      const match = /^(?:\d{3}-[^\r\n]*\r\n)*\d{3}(?: [^\r\n]*)?\r\n/.exec(this.#received)
      if (match) {
        this.#received = this.#received.slice(match[0].length)
        const lines = match[0].split('\r\n').slice(0, -1)
        const code = Number(match[0].slice(0, 3))
        return { code, lines: lines.map((text) => text.slice(4)), text: lines.at(-1)! }
      }
      if (this.#closed) throw new Error(`The connection ended; unread: ${JSON.stringify(this.#received)}`)
      await new Promise<void>((wake) => (this.#wake = wake))
    }
  }

  /** The next reply, which must have that code. */
  async expect(code: number): Promise<SmtpReply> {
    const reply = await this.reply()
    if (reply.code !== code) throw new Error(`Expected ${code}, got: ${reply.text}`)
    return reply
  }

  /** Sends a line with its CRLF and reads the reply. */
  async command(text: string, code?: number): Promise<SmtpReply> {
    this.write(`${text}\r\n`)
    return code === undefined ? this.reply() : this.expect(code)
  }

  /** Sends a message; returns the reply after its content, or the first rejection. */
  async mail({ from, to, content }: RawMail): Promise<SmtpReply> {
    for (const command of [`MAIL FROM:<${from}>`, ...[to].flat().map((each) => `RCPT TO:<${each}>`), 'DATA']) {
      const reply = await this.command(command)
      if (reply.code >= 400) return reply
    }
    this.write(stuffed(content))
    return this.reply()
  }

  /** Sends STARTTLS and continues inside TLS, with any certificate. */
  async startTls(behind = ''): Promise<void> {
    this.write(`STARTTLS\r\n${behind}`)
    await this.expect(220)
    const plain = this.#socket
    plain.removeAllListeners('data').removeAllListeners('close')
    this.#socket = connectTls({ socket: plain, rejectUnauthorized: false })
    this.#listen()
    await once(this.#socket, 'secureConnect')
  }

  /** Fingerprint of the certificate of the server, once inside TLS. */
  get certificate(): string {
    return (this.#socket as TLSSocket).getPeerCertificate().fingerprint256
  }

  /** Keying material of the TLS connection (RFC 9266 §2). */
  get exporter(): Buffer {
    return (this.#socket as TLSSocket).exportKeyingMaterial(32, 'EXPORTER-Channel-Binding', Buffer.alloc(0))
  }

  /** Half-closes: the peer sees the end of the stream. */
  end(): void {
    this.#socket.end()
  }

  /** Destroys the connection. */
  drop(): void {
    this.#socket.destroy()
  }

  /** Waits until the connection is closed, and ignores further replies. */
  async closed(): Promise<string> {
    while (!this.#closed) await new Promise<void>((wake) => (this.#wake = wake))
    return this.#received
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drop()
    await this.closed()
  }

  #listen(): void {
    const wake = () => {
      this.#wake?.()
      this.#wake = undefined
    }
    this.#socket.on('data', (bytes: Buffer) => {
      this.#received += bytes.toString('utf8')
      wake()
    })
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      this.#closed = true
      wake()
    })
  }
}

/** The bytes of a message on the wire: dots stuffed, line break and end mark added. */
export function stuffed(content: string | Buffer): Buffer {
  const text = Buffer.from(content).toString('latin1')
  const ended = text.endsWith('\r\n') || text === '' ? text : `${text}\r\n`
  return Buffer.from(`${ended.replace(/^\./gm, '..')}.\r\n`, 'latin1')
}

/** A small message with the usual fields; `more` are further header lines. */
export function plainMail(fields: {
  from: string
  to: string
  subject?: string
  text?: string
  id?: string
  more?: string[]
}): string {
  const { from, to, subject = 'Hello', text = 'How are you?', id, more = [] } = fields
  return [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${subject}`,
    'Date: Thu, 01 Jan 2026 00:00:00 +0000',
    `Message-ID: <${id ?? `${Math.random().toString(36).slice(2)}@client.test`}>`,
    ...more,
    '',
    text,
    '',
  ].join('\r\n')
}

/** Sends a message with nodemailer, as an ordinary client does: STARTTLS when offered. */
export async function sendMail(port: number, mail: SendMailOptions): Promise<SentMessageInfo> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    tls: { rejectUnauthorized: false },
    name: 'client.test',
  })
  try {
    return await transport.sendMail(mail)
  } finally {
    transport.close()
  }
}
