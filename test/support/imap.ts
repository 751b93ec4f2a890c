// A plain IMAP client for tests: sends lines, reads responses with their literals as text.

import { once } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { TestAppliance } from './appliance.ts'

export interface ImapReply {
  /** `OK`, `NO` or `BAD` of the tagged answer, with its text. */
  status: string
  /** The tagged answer without its tag. */
  tagged: string
  /** Untagged responses, with their literals, without the last line end. */
  untagged: string[]
}

const LITERAL = /\{(\d+)\}$/

export class ImapClient implements AsyncDisposable {
  #socket: Socket
  #received = Buffer.alloc(0)
  #isEnded = false
  #wake: (() => void) | null = null
  #tags = 0

  constructor(socket: Socket) {
    this.#socket = socket
    this.#listen()
  }

  #listen(): void {
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake?.()
    })
    const ended = () => {
      this.#isEnded = true
      this.#wake?.()
    }
    this.#socket.on('end', ended)
    this.#socket.on('close', ended)
    this.#socket.on('error', ended)
  }

  /** One response with its literals, as latin1; null when the connection has ended. */
  async response(): Promise<string | null> {
    let text = ''
    for (;;) {
      const line = await this.#line()
      if (line === null) return null
      text += line
      const size = Number(LITERAL.exec(line)?.[1] ?? -1)
      if (size < 0) return text
      text += `\r\n${(await this.#bytes(size)).toString('latin1')}`
    }
  }

  async #line(): Promise<string | null> {
    for (;;) {
      const at = this.#received.indexOf('\r\n')
      if (at >= 0) {
        const line = this.#received.toString('latin1', 0, at)
        this.#received = this.#received.subarray(at + 2)
        return line
      }
      if (this.#isEnded) return null
      await this.#more()
    }
  }

  async #bytes(count: number): Promise<Buffer> {
    while (this.#received.length < count && !this.#isEnded) await this.#more()
    const bytes = this.#received.subarray(0, count)
    this.#received = this.#received.subarray(count)
    return bytes
  }

  async #more(): Promise<void> {
    await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#wake = null
  }

  write(text: string | Buffer): void {
    this.#socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text)
  }

  /** Sends a command, and its literals when the server asks for them, with the line end behind the last; reads up to the tagged answer. */
  async run(text: string, ...literals: (string | Buffer)[]): Promise<ImapReply> {
    const tag = `t${++this.#tags}`
    this.write(`${tag} ${text}\r\n`)
    return this.until(tag, ...literals)
  }

  /** Reads up to the answer with this tag. */
  async until(tag: string, ...literals: (string | Buffer)[]): Promise<ImapReply> {
    const untagged: string[] = []
    const waiting = [...literals]
    for (;;) {
      const response = await this.response()
      if (response === null) return { status: 'closed', tagged: '', untagged }
      if (response.startsWith('+ ') && waiting.length > 0) {
        this.write(waiting.shift()!)
        if (waiting.length === 0) this.write('\r\n')
      } else if (response.startsWith(`${tag} `)) {
        const tagged = response.slice(tag.length + 1)
        return { status: tagged.split(' ')[0]!, tagged, untagged }
      } else untagged.push(response)
    }
  }

  /** STARTTLS, behind its answer. */
  async secure(): Promise<void> {
    this.#socket.removeAllListeners()
    this.#socket = connectTls({ socket: this.#socket, rejectUnauthorized: false })
    await once(this.#socket, 'secureConnect')
    this.#listen()
  }

  get socket(): Socket {
    return this.#socket
  }

  close(): void {
    this.#socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }
}

/** Connects with TLS and reads the greeting. */
export async function connectImap(appliance: Pick<TestAppliance, 'ports'>): Promise<ImapClient & { greeting: string }> {
  const socket: TLSSocket = connectTls({ host: '127.0.0.1', port: appliance.ports.imaps, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const client = new ImapClient(socket)
  return Object.assign(client, { greeting: (await client.response()) ?? '' })
}

/** Connects in plain text (STARTTLS) and reads the greeting. */
export async function connectImapPlain(
  appliance: Pick<TestAppliance, 'ports'>,
): Promise<ImapClient & { greeting: string }> {
  const socket = connectPlain({ host: '127.0.0.1', port: appliance.ports.imap })
  await once(socket, 'connect')
  const client = new ImapClient(socket)
  return Object.assign(client, { greeting: (await client.response()) ?? '' })
}

/** Connects and logs in with a key of the mailbox. */
export async function logInImap(
  appliance: Pick<TestAppliance, 'ports'>,
  mailbox: { email: string; key: string },
): Promise<ImapClient> {
  const client = await connectImap(appliance)
  const { status, tagged } = await client.run(`LOGIN "${mailbox.email}" "${mailbox.key}"`)
  if (status !== 'OK') throw new Error(tagged)
  return client
}
