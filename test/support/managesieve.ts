// A ManageSieve client for tests: sends lines, reads replies with their strings and literals.

import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { TestAppliance } from './appliance.ts'

/** One reply: the lines in front of it, and its last line. */
export interface SieveAnswer {
  /** Literals are in quotes, as JSON. */
  lines: string[]
  /** Condition, code and text. */
  end: string
}

export class SieveClient implements AsyncDisposable {
  #socket: Socket
  #data = Buffer.alloc(0)
  #wake: (() => void) | null = null
  hasEnded = false

  constructor(socket: Socket) {
    this.#socket = socket
    this.#listen()
  }

  static async connect(appliance: TestAppliance): Promise<{ client: SieveClient; greeting: SieveAnswer }> {
    const socket = connectTcp(appliance.ports.managesieve, '127.0.0.1')
    await once(socket, 'connect')
    const client = new SieveClient(socket)
    return { client, greeting: await client.answer() }
  }

  /** Connects, starts TLS, and signs in with PLAIN. */
  static async signedIn(appliance: TestAppliance, email: string, secret: string): Promise<SieveClient> {
    const { client } = await SieveClient.connect(appliance)
    await client.startTls()
    const { end } = await client.login(email, secret)
    if (!end.startsWith('OK')) throw new Error(end)
    return client
  }

  async startTls(): Promise<SieveAnswer> {
    const { end } = await this.ask('STARTTLS')
    if (!end.startsWith('OK')) throw new Error(end)
    this.#socket.removeAllListeners()
    const secured = connectTls({ socket: this.#socket, rejectUnauthorized: false, ALPNProtocols: ['managesieve'] })
    await once(secured, 'secureConnect')
    this.#socket = secured
    this.#listen()
    return this.answer()
  }

  login(email: string, secret: string): Promise<SieveAnswer> {
    const initial = Buffer.from(`\0${email}\0${secret}`).toString('base64')
    return this.ask(`AUTHENTICATE "PLAIN" "${initial}"`)
  }

  send(text: string | Buffer): void {
    this.#socket.write(text)
  }

  ask(line: string): Promise<SieveAnswer> {
    this.send(`${line}\r\n`)
    return this.answer()
  }

  /** With a literal as last argument. */
  askWith(command: string, literal: string): Promise<SieveAnswer> {
    return this.ask(`${command} {${Buffer.byteLength(literal)}+}\r\n${literal}`)
  }

  async answer(): Promise<SieveAnswer> {
    const lines: string[] = []
    for (;;) {
      const line = await this.line()
      if (/^(?:OK|NO|BYE)\b/.test(line)) return { lines, end: line }
      lines.push(line)
    }
  }

  /** One line, with literals written as JSON. */
  async line(): Promise<string> {
    let line = ''
    for (;;) {
      const end = this.#data.indexOf('\r\n')
      if (end < 0) {
        await this.#more()
        continue
      }
      const text = this.#data.toString('utf8', 0, end)
      const literal = /\{(\d+)\}$/.exec(text)
      if (literal === null) {
        this.#data = this.#data.subarray(end + 2)
        return line + text
      }
      const bytes = Number(literal[1])
      while (this.#data.length < end + 2 + bytes) await this.#more()
      const content = this.#data.toString('utf8', end + 2, end + 2 + bytes)
      this.#data = this.#data.subarray(end + 2 + bytes)
      line += text.slice(0, literal.index) + JSON.stringify(content)
    }
  }

  /** Resolves when the server has closed the connection. @returns what it sent last */
  async ended(): Promise<string> {
    while (!this.hasEnded) await this.#more().catch(() => {})
    return this.#data.toString()
  }

  close(): void {
    this.#socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy()
  }

  #listen(): void {
    this.#socket.on('data', (data: Buffer) => {
      this.#data = Buffer.concat([this.#data, data])
      this.#notify()
    })
    for (const event of ['close', 'error', 'end']) {
      this.#socket.on(event, () => {
        this.hasEnded = true
        this.#notify()
      })
    }
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }

  async #more(): Promise<void> {
    if (this.hasEnded) throw new Error(`The connection has ended: ${this.#data}`)
    await new Promise<void>((resolve) => (this.#wake = resolve))
  }
}
