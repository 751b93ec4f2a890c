// A client that delivers messages over SMTP (RFC 5321) or LMTP (RFC 2033), one recipient each.

import { connect, type Socket } from 'node:net'
import { SENDER, SENDER_DOMAIN } from './mails.ts'

/** One SMTP or LMTP dialogue as a client sees it; commands go in groups, as RFC 2920 allows. */
export class DeliveryClient {
  readonly #socket: Socket
  #text = ''
  #reply: ((reply: string) => void) | undefined
  #fail: ((error: Error) => void) | undefined
  #end: Error | undefined

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.setEncoding('latin1').on('data', (text: string) => {
      this.#text += text
      this.#deliver()
    })
    this.#socket.on('error', (error) => this.#close(error))
    this.#socket.on('close', () => this.#close(new Error('The server closed the connection.')))
  }

  async open(greeting: 'EHLO' | 'LHLO' = 'EHLO'): Promise<void> {
    await this.#next()
    await this.#command(`${greeting} mx.${SENDER_DOMAIN}`)
  }

  /** @returns the reply to the final dot, and how long it took in ms */
  async send(to: string, bytes: Buffer): Promise<{ reply: string; wait: number }> {
    this.#socket.write(`MAIL FROM:<${SENDER}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`)
    for (const _ of ['MAIL', 'RCPT', 'DATA']) {
      const reply = await this.#next()
      if (!/^[23]/.test(reply)) return { reply, wait: 0 }
    }
    this.#socket.write(bytes)
    this.#socket.write('\r\n.\r\n')
    const started = performance.now()
    const reply = await this.#next()
    return { reply, wait: performance.now() - started }
  }

  async quit(): Promise<void> {
    await this.#command('QUIT').catch(() => {})
    this.#socket.destroy()
  }

  async #command(line: string): Promise<string> {
    this.#socket.write(`${line}\r\n`)
    return this.#next()
  }

  #next(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#reply = resolve
      this.#fail = reject
      this.#deliver()
    })
  }

  /** Hands over one whole reply: the lines up to the first without a hyphen after its code. */
  #deliver(): void {
    const whole = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\n/.exec(this.#text)?.[0]
    if (this.#reply === undefined) return
    if (whole !== undefined) {
      this.#text = this.#text.slice(whole.length)
      const answer = this.#reply
      this.#reply = undefined
      answer(whole.trim())
    } else if (this.#end !== undefined) this.#fail?.(this.#end)
  }

  #close(error: Error): void {
    this.#end ??= error
    this.#deliver()
  }
}
