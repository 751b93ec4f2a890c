// An IMAP server that answers as it is written in a table: correctly where nothing is written, else wrongly, slowly or without end.

import { createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'

/** One connection to it. */
export interface HostileConnection {
  /** Text as latin1. */
  write(data: string | Uint8Array): void
  /** Writes again and again until the other side closes. @returns how many bytes were written */
  flood(data: string | Uint8Array): Promise<number>
  /** Closes without a goodbye. */
  end(): void
  /** Calls `run` when the client has sent more. */
  afterNext(run: () => void): void
  startTls(): void
}

/** What a command is answered: text in which `$T` is the tag, or a function. */
export type HostileAnswer = string | ((connection: HostileConnection, tag: string, line: string) => void)

export interface HostileScript {
  /** Null: none. */
  greeting?: HostileAnswer | null
  /** Besides IMAP4rev1. */
  capability?: string
  /** By command in upper case: `UID FETCH`. */
  answers?: Record<string, HostileAnswer>
  tls?: { cert: string; key: string }
}

export interface HostileServer extends AsyncDisposable {
  port: number
  /** Commands of all connections, without tags; '' is a new connection. */
  readonly commands: string[]
  /** Resolves when a command, or '' for a connection, was received, also before the call. */
  received(command: string): Promise<void>
  /** What is answered from now on. */
  script: HostileScript
}

export const HOSTILE_CAPABILITY =
  'SASL-IR UIDPLUS MOVE IDLE ENABLE CONDSTORE QRESYNC ESEARCH LIST-EXTENDED LIST-STATUS SPECIAL-USE'

const SELECTED = [
  '* 3 EXISTS',
  '* FLAGS (\\Seen \\Deleted)',
  '* OK [PERMANENTFLAGS (\\Seen \\Deleted \\*)] all',
  '* OK [UIDVALIDITY 7] ok',
  '* OK [UIDNEXT 4] ok',
  '* OK [HIGHESTMODSEQ 9] ok',
  '$T OK [READ-WRITE] done',
].join('\r\n')

const ANSWERS: Record<string, HostileAnswer> = {
  ID: '* ID NIL\r\n$T OK done',
  NAMESPACE: '* NAMESPACE (("" "/")) NIL NIL\r\n$T OK done',
  ENABLE: '* ENABLED CONDSTORE QRESYNC\r\n$T OK done',
  LOGIN: '$T OK signed in',
  LIST: '* LIST () "/" INBOX\r\n$T OK done',
  LSUB: '$T OK done',
  STATUS: '* STATUS INBOX (MESSAGES 3 UIDNEXT 4 UIDVALIDITY 7 HIGHESTMODSEQ 9)\r\n$T OK done',
  SELECT: SELECTED,
  'UID SEARCH': '* ESEARCH (TAG "$T") UID ALL 1:3\r\n$T OK done',
  LOGOUT: '* BYE bye\r\n$T OK done',
}

export async function startHostileImap(script: HostileScript = {}): Promise<HostileServer> {
  const commands: string[] = []
  const waiting: { command: string; resolve: () => void }[] = []
  const sockets = new Set<Socket>()
  const note = (command: string) => {
    commands.push(command)
    for (const one of waiting.filter(({ command: name }) => command.startsWith(name))) one.resolve()
  }
  const server = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}))
    new HostileSession(socket, hostile, note).greet()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const hostile: HostileServer = {
    port: (server.address() as { port: number }).port,
    commands,
    script,
    received: (command) =>
      new Promise((resolve) => {
        if (commands.some((one) => one.startsWith(command))) resolve()
        else waiting.push({ command, resolve })
      }),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return hostile
}

class HostileSession implements HostileConnection {
  #socket: Socket
  readonly #server: HostileServer
  readonly #note: (command: string) => void
  #rest = Buffer.alloc(0)
  /** Bytes of a literal that are not commands. */
  #literal = 0

  constructor(socket: Socket, server: HostileServer, note: (command: string) => void) {
    this.#socket = socket
    this.#server = server
    this.#note = note
    this.#listen()
  }

  greet(): void {
    const { greeting } = this.#server.script
    this.#note('')
    if (greeting !== null) this.#answer(greeting ?? '* OK ready', '*', '')
  }

  write(data: string | Uint8Array): void {
    if (!this.#socket.destroyed) this.#socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data)
  }

  async flood(data: string | Uint8Array): Promise<number> {
    const bytes = Buffer.from(data as Uint8Array)
    const socket = this.#socket
    const closed = new Promise((resolve) => socket.once('close', resolve))
    let count = 0
    while (!socket.destroyed && socket.writable) {
      count += bytes.length
      if (socket.write(bytes)) await new Promise((resolve) => setImmediate(resolve))
      else await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))])
    }
    return count
  }

  end(): void {
    this.#socket.end()
  }

  afterNext(run: () => void): void {
    this.#socket.once('data', run)
  }

  startTls(): void {
    const { tls } = this.#server.script
    const plain = this.#socket.removeAllListeners('data')
    this.#socket = new TLSSocket(plain, { isServer: true, secureContext: createSecureContext(tls) })
    this.#socket.on('error', () => {})
    this.#listen()
  }

  #listen(): void {
    this.#socket.on('data', (bytes: Buffer) => {
      this.#rest = Buffer.concat([this.#rest, bytes])
      this.#read()
    })
  }

  #read(): void {
    for (;;) {
      if (this.#literal > 0) {
        if (this.#rest.length < this.#literal) return
        this.#rest = this.#rest.subarray(this.#literal)
        this.#literal = 0
      }
      const end = this.#rest.indexOf('\r\n')
      if (end < 0) return
      const line = this.#rest.toString('latin1', 0, end)
      this.#rest = this.#rest.subarray(end + 2)
      const [, size, plus] = /\{(\d+)(\+?)\}$/.exec(line) ?? []
      if (size !== undefined) {
        // The end of the line follows the literal.
        this.#literal = Number(size) + 2
        if (plus === '') this.write('+ go on\r\n')
      }
      this.#command(line)
    }
  }

  #command(line: string): void {
    const [tag = '', ...words] = line.split(' ')
    const first = words[0]?.toUpperCase() ?? tag.toUpperCase()
    const name = first === 'UID' ? `UID ${words[1]?.toUpperCase()}` : first
    this.#note(words.join(' ') || tag)
    const { script } = this.#server
    const capability = `* CAPABILITY IMAP4rev1 ${script.capability ?? HOSTILE_CAPABILITY}\r\n$T OK done`
    const answer = script.answers?.[name] ?? (name === 'CAPABILITY' ? capability : (ANSWERS[name] ?? '$T OK done'))
    if (tag !== 'DONE' || script.answers?.DONE !== undefined) this.#answer(answer, tag, line)
  }

  #answer(answer: HostileAnswer, tag: string, line: string): void {
    if (typeof answer === 'function') answer(this, tag, line)
    else this.write(`${answer.replaceAll('$T', tag)}\r\n`)
  }
}
