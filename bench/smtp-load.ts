// Child process: sends messages as fast as the server accepts them, over persistent connections or a new one for each message.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import process from 'node:process'
import { type MailForm, mail, SENDER, SENDER_DOMAIN } from './mails.ts'

/** A request of the parent. */
export interface Load extends MailForm {
  messages: number
  connections: number
  /** A new connection for every message; `connections` is the number of concurrent ones. */
  fresh: boolean
}

export interface LoadResult {
  /** From the first byte to the last "250", ms. */
  elapsed: number
  /** From the last byte of each message to its "250", ms. */
  waits: number[]
  /** Replies other than 250, counted by text. */
  refusals: [string, number][]
}

/** One SMTP dialogue as a client sees it; commands go in groups, as RFC 2920 allows. */
class Client {
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

  async open(): Promise<void> {
    await this.#next()
    await this.#command(`EHLO mx.${SENDER_DOMAIN}`)
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

async function run(load: Load, mails: Buffer[], port: number): Promise<LoadResult> {
  const waits: number[] = []
  const refusals = new Map<string, number>()
  let next = 0
  const worker = async () => {
    let client: Client | undefined
    while (next < mails.length) {
      const bytes = mails[next++]!
      if (client === undefined) {
        client = new Client(port)
        await client.open()
      }
      const { reply, wait } = await client.send(load.to, bytes)
      if (reply.startsWith('250')) waits.push(wait)
      else refusals.set(reply, (refusals.get(reply) ?? 0) + 1)
      if (load.fresh) {
        await client.quit()
        client = undefined
      }
    }
    await client?.quit()
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: Math.min(load.connections, mails.length) }, worker))
  return { elapsed: performance.now() - started, waits, refusals: [...refusals] }
}

// All messages are generated first, so that it does not affect the measurement; then one run for each named port.
const [load] = (await once(process, 'message')) as [Load]
const mails: Buffer[] = []
for (let i = 0; i < load.messages; i++) mails.push(await mail(i, load))
process.send!({ ready: true })
const [{ port }] = (await once(process, 'message')) as [{ port: number }]
process.send!(await run(load, mails, port))
process.disconnect?.()
