// Fake mail servers of recipients: an ordinary one that records messages, and a scripted one.

import { EventEmitter, once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { type CertificatePair, selfSigned } from '../../src/config/certificate.ts'

const DAY_MS = 86_400_000

/** A certificate for a name, by default valid from yesterday to tomorrow of the real clock. */
export function certificateFor(host: string, days: { from?: number; until?: number } = {}): Promise<CertificatePair> {
  const now = Date.now()
  return selfSigned(host, now + (days.from ?? -1) * DAY_MS, now + (days.until ?? 1) * DAY_MS)
}

/** A message accepted by the ordinary server. */
export interface ReceivedMail {
  from: string
  to: string[]
  /** Exactly as received, dots unstuffed. */
  bytes: Buffer
  user: string | null
  secure: boolean
  /** Parameters of MAIL. */
  args: Record<string, unknown>
}

export interface MailServer extends AsyncDisposable {
  port: number
  messages: ReceivedMail[]
  /** Emits `mail` for each message. */
  events: EventEmitter
  /** Connections made so far. */
  connections: number
}

/** The package smtp-server on loopback: accepts and records everything. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const messages: ReceivedMail[] = []
  const server = new SMTPServer({
    disableReverseLookup: true,
    // Not the 30 s it waits for clients that keep their connection.
    closeTimeout: 100,
    authOptional: true,
    hideSTARTTLS: options.cert === undefined,
    allowInsecureAuth: true,
    logger: false,
    onConnect(_session, done) {
      result.connections++
      done()
    },
    onAuth({ username }, _session, done) {
      done(null, { user: username })
    },
    onData(stream, session, done) {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        messages.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          bytes: Buffer.concat(parts),
          user: (session.user as string | undefined) ?? null,
          secure: session.secure,
          args: mailFrom === false ? {} : { ...(mailFrom.args as object) },
        })
        result.events.emit('mail')
        done(null, `2.0.0 Ok: queued as ${messages.length}`)
      })
    },
    ...options,
  })
  // Tests include clients that abort a handshake.
  server.on('error', () => {})
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const result: MailServer = {
    port: (listening.address() as { port: number }).port,
    messages,
    events: new EventEmitter(),
    connections: 0,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(resolve)),
  }
  return result
}

/** The reply of a script to a line; null for none. */
export type Answer = string | null | ((line: string, peer: ScriptPeer) => string | null | Promise<string | null>)

/** The server's side of one connection. */
export class ScriptPeer {
  #socket: Socket
  #received = Buffer.alloc(0)
  #closed = false
  #wake: (() => void) | undefined
  readonly #note: (line: string) => void

  constructor(socket: Socket, note: (line: string) => void) {
    this.#socket = socket
    this.#note = note
    this.#listen()
  }

  /** Writes lines, each with its CRLF. */
  say(...lines: string[]): void {
    this.write(lines.map((line) => `${line}\r\n`).join(''))
  }

  write(bytes: string | Uint8Array): void {
    if (!this.#socket.destroyed) this.#socket.write(bytes)
  }

  /** The next line without its CRLF; undefined when the client has gone. */
  async hear(): Promise<string | undefined> {
    const line = await this.#until('\r\n')
    if (line !== undefined) this.#note(line.toString())
    return line?.toString()
  }

  /** The bytes of a message as received, including the end mark. */
  async hearMail(): Promise<Buffer | undefined> {
    await this.hearBytes(3)
    return this.#until(this.#received.indexOf('.\r\n') === 0 ? '.\r\n' : '\r\n.\r\n')
  }

  /** Waits for this many received bytes without consuming them. */
  async hearBytes(count: number): Promise<void> {
    while (this.#received.length < count && !this.#closed) await this.#news()
  }

  /** An ordinary session except for the given replies: by the first word of a line, "." for the end of a message. */
  async talk(
    answers: Record<string, Answer> = {},
    greeting: string | null = '220 mx.script.test ESMTP',
  ): Promise<void> {
    if (greeting !== null) this.say(greeting)
    for (let line = await this.hear(); line !== undefined; line = await this.hear()) {
      const verb = line.split(' ')[0]!.toUpperCase()
      const said = await this.#answer({ ...USUAL, ...answers }[verb] ?? null, line)
      if (said !== null) this.say(said)
      if (verb === 'QUIT') return this.end()
      if (verb !== 'DATA' || !said?.startsWith('354')) continue
      const mail = await this.hearMail()
      if (mail === undefined) return
      const taken = await this.#answer({ ...USUAL, ...answers }['.']!, mail.toString())
      if (taken !== null) this.say(taken)
    }
  }

  /** Continues inside TLS. */
  async startTls({ cert, key }: CertificatePair): Promise<void> {
    const plain = this.#socket
    plain.removeAllListeners('data').removeAllListeners('close')
    this.#socket = new TLSSocket(plain, { isServer: true, secureContext: createSecureContext({ cert, key }) })
    this.#listen()
    await Promise.race([once(this.#socket, 'secure'), once(this.#socket, 'close')]).catch(() => {})
  }

  /** Stops reading. */
  pause(): void {
    this.#socket.pause()
  }

  end(): void {
    this.#socket.end()
  }

  drop(): void {
    this.#socket.destroy()
  }

  async closed(): Promise<void> {
    while (!this.#closed) await this.#news()
  }

  async #answer(answer: Answer, line: string): Promise<string | null> {
    return typeof answer === 'function' ? await answer(line, this) : answer
  }

  async #until(mark: string): Promise<Buffer | undefined> {
    for (;;) {
      const at = this.#received.indexOf(mark)
      if (at >= 0) {
        const found = this.#received.subarray(0, mark === '\r\n' ? at : at + mark.length)
        this.#received = this.#received.subarray(at + mark.length)
        return found
      }
      if (this.#closed) return undefined
      await this.#news()
    }
  }

  #news(): Promise<void> {
    return new Promise((wake) => {
      this.#wake = wake
    })
  }

  #listen(): void {
    const wake = () => {
      this.#wake?.()
      this.#wake = undefined
    }
    this.#socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes])
      wake()
    })
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      this.#closed = true
      wake()
    })
  }
}

/** Other lines get no reply. */
const USUAL: Record<string, Answer> = {
  EHLO: '250-mx.script.test\r\n250-PIPELINING\r\n250-SIZE 1000000\r\n250-8BITMIME\r\n250 SMTPUTF8',
  HELO: '250 mx.script.test',
  MAIL: '250 2.1.0 Ok',
  RCPT: '250 2.1.5 Ok',
  DATA: '354 Go on',
  '.': '250 2.0.0 Ok: queued as 1',
  RSET: '250 2.0.0 Ok',
  QUIT: '221 2.0.0 Bye',
}

export interface ScriptServer extends AsyncDisposable {
  port: number
  /** Every line received, over all connections. */
  heard: string[]
  /** Connections so far, and those that are open. */
  connections: number
  open: number
  /** Waits until a line with this beginning was received, counted over all connections. */
  until(start: string, times?: number): Promise<void>
  /** Waits until this many connections were made. */
  connected(times?: number): Promise<void>
  /** Waits until every connection is closed. */
  left(): Promise<void>
}

/** A server on loopback that runs the script for every connection. */
export async function startScript(
  script: (peer: ScriptPeer, connection: number) => Promise<void>,
  address = '127.0.0.1',
  port = 0,
): Promise<ScriptServer> {
  const sockets = new Set<Socket>()
  const waiting = new Set<() => void>()
  const notify = () => {
    for (const wake of waiting) wake()
  }
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    result.open++
    const number = ++result.connections
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      result.open--
      notify()
    })
    notify()
    const peer = new ScriptPeer(socket, (line) => {
      result.heard.push(line)
      notify()
    })
    void script(peer, number)
  })
  server.listen(port, address)
  await once(server, 'listening')
  const wait = async (isSo: () => boolean) => {
    while (!isSo()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add(resolve)
      await promise
      waiting.delete(resolve)
    }
  }
  const result: ScriptServer = {
    port: (server.address() as { port: number }).port,
    heard: [],
    connections: 0,
    open: 0,
    until: (start, times = 1) => wait(() => result.heard.filter((line) => line.startsWith(start)).length >= times),
    connected: (times = 1) => wait(() => result.connections >= times),
    left: () => wait(() => result.open === 0),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return result
}

/** A port with a full backlog: to the next client it resembles a firewalled one. */
export async function startDeafServer(): Promise<AsyncDisposable & { port: number }> {
  const release = new Int32Array(new SharedArrayBuffer(4))
  const source = `
    const { parentPort, workerData } = require('node:worker_threads')
    const server = require('node:net').createServer().listen(0, '127.0.0.1', 1, () => {
      parentPort.postMessage(server.address().port)
      // Accepts nothing from here on.
      setImmediate(() => Atomics.wait(workerData, 0, 0))
    })`
  const worker = new Worker(source, { eval: true, workerData: release })
  const [port] = (await once(worker, 'message')) as [number]
  const fillers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  await once(fillers[0]!, 'connect')
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const filler of fillers) filler.destroy()
      Atomics.store(release, 0, 1)
      Atomics.notify(release, 0)
      await worker.terminate()
    },
  }
}

/**
 * Options of a server with sender ownership, as Postfix with `reject_sender_login_mismatch`: it rejects at RCPT
 * with the reply of Postfix.
 * @param owners addresses by user; read for each message
 */
export function ownershipOptions(owners: Map<string, readonly string[]>): SMTPServerOptions {
  return {
    onRcptTo(_to, { envelope, user }, done) {
      const name = String(user)
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
      if (owners.get(name)?.includes(from)) return done()
      const text = `5.7.1 <${from}>: Sender address rejected: not owned by user ${name}`
      done(Object.assign(new Error(text), { responseCode: 553 }))
    },
  }
}
