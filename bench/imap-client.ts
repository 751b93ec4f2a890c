// A client that measures IMAP servers: it counts what it receives and keeps only the end, so that reading costs next to nothing.

import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'

/** Of what was received, the end is kept: enough for a tagged answer behind untagged lines. */
const TAIL_BYTES = 4096

export class MeasuringClient implements Disposable {
  readonly #socket: TLSSocket
  #tail = ''
  #count = 0
  #received = 0
  #changed = () => {}

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => {
      this.#received += bytes.length
      this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, bytes.length - TAIL_BYTES))).slice(-TAIL_BYTES)
      this.#changed()
    })
    socket.on('error', () => {})
    socket.on('close', () => this.#changed())
  }

  /** Connects with TLS and logs in. */
  static async open(port: number, user: string, secret: string): Promise<MeasuringClient> {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    const client = new MeasuringClient(socket)
    await once(socket, 'secureConnect')
    await client.until(/^\* OK/)
    await client.run(`LOGIN ${user} ${secret}`)
    return client
  }

  /** Bytes received so far. */
  get received(): number {
    return this.#received
  }

  /** Waits for text at the end of what was received since the last command. @throws Error when the connection ends before */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#tail)) {
      if (this.#socket.destroyed) throw new Error(`The connection ended: ${this.#tail}`)
      await new Promise<void>((resolve) => (this.#changed = resolve))
    }
    return this.#tail
  }

  write(bytes: string | Buffer): void {
    this.#tail = ''
    this.#socket.write(bytes)
  }

  /** Runs a command up to its tagged answer. @returns the end of what was received @throws Error when it is not OK */
  async run(command: string | Buffer): Promise<string> {
    const tag = `m${++this.#count}`
    this.write(Buffer.concat([Buffer.from(`${tag} `), Buffer.from(command), Buffer.from('\r\n')]))
    const text = await this.until(new RegExp(`(?:^|\\n)${tag} [^\\n]*\\n$`))
    if (!text.includes(`${tag} OK`)) throw new Error(`${command.toString('latin1', 0, 100)}: ${text.slice(-300)}`)
    return text
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}
