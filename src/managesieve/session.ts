// One ManageSieve session: reads commands one after the other, runs them and answers (RFC 5804).

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { SignedIn } from '../access/signed-in.ts'
import { newId } from '../base/ids.ts'
import type { Context } from '../context.ts'
import type { ConnectionSource } from '../net/connections.ts'
import type { TlsEnd } from '../net/sasl.ts'
import { formatCapabilities } from './capabilities.ts'
import type { SieveCommandOf } from './command.ts'
import { ERRORS_MAX, LOGIN_MS, SILENCE_MS, STARTED_MS, UNREAD_MS, UNSENT_BYTES } from './limits.ts'
import { ConnectionEnd, GrammarError, type ReadCommand, SieveReader } from './reader.ts'
import { bye, formatReply, no, ok, replyTo, type SieveReply } from './replies.ts'

export type ManageCommand<A = unknown> = SieveCommandOf<SieveSession, A>

/** Types the arguments of a command. */
export function command<A>(definition: ManageCommand<A>): ManageCommand {
  return definition as ManageCommand
}

/** What a session works with: the service, and the connection. */
export interface SieveSessionDeps {
  app: Context
  commands: ReadonlyMap<string, ManageCommand>
  source: ConnectionSource
  /** The connection where its TLS ends here; null in plain text and behind a proxy. */
  tls: TLSSocket | null
  /** Starts TLS on the connection. @throws Error when the handshake fails */
  secure(socket: Socket): Promise<TLSSocket>
  /** Begins a session of a mailbox. @returns what ends it; null when the mailbox has too many */
  admit(session: SieveSession, access: SignedIn): (() => void) | null
  /** A sign-in was refused. */
  refused(reason: string): void
  answered(command: string, condition: string): void
  closed(session: SieveSession): void
}

export class SieveSession {
  readonly id = newId('request')
  readonly deps: SieveSessionDeps
  readonly reader: SieveReader
  /** The mailbox it is signed in to. */
  access: SignedIn | null = null
  loginFailures = 0
  tls: TLSSocket | null
  stream: Socket
  readonly counts = new Map<string, number>()
  #release: (() => void) | null = null
  readonly #opened: number
  #lastCommand: number
  #begun: number | null = null
  #blocked: number | null = null
  #isRunning = false
  #isClosing = false
  #expired: SieveReply | null = null
  #errors = 0

  constructor(stream: Socket, deps: SieveSessionDeps) {
    this.deps = deps
    this.stream = stream
    this.tls = deps.tls
    this.reader = new SieveReader(stream)
    this.#opened = this.#lastCommand = deps.app.clock.monotonic()
  }

  get tlsEnd(): TlsEnd {
    if (this.tls !== null) return 'here'
    return this.deps.source.tls ? 'proxy' : null
  }

  /** Adds output. */
  say(text: string): void {
    if (this.stream.destroyed || this.stream.writableEnded) return
    if (!this.stream.write(text)) this.#blocked ??= this.deps.app.clock.monotonic()
  }

  /** Reads and answers commands until the connection ends. Never throws. */
  async run(): Promise<void> {
    this.stream.on('drain', () => {
      this.#blocked = null
    })
    try {
      this.say(formatCapabilities(this) + formatReply(ok('ManageSieve is ready.')))
      while (!this.#isClosing) await this.#next()
    } catch (error) {
      if (!(error instanceof ConnectionEnd)) this.logError(error, null)
      else if (error.text !== null) this.#bye(bye(error.text))
    } finally {
      this.#end()
    }
  }

  /** Ends the session with `BYE`: at once while it waits for the client, else behind the command that runs. */
  expire(text: string): void {
    if (this.#isRunning) {
      this.#expired ??= bye(text)
      return
    }
    this.#bye(bye(text))
    this.reader.interrupt()
  }

  /** Ends the session behind the answer of the command that runs. */
  finish(text: string | null = null): void {
    if (text === null) this.#isClosing = true
    else this.#expired ??= bye(text)
  }

  /** Ends the session when a deadline has passed. Called once a second. */
  checkDeadlines(): void {
    const now = this.deps.app.clock.monotonic()
    if (this.#blocked !== null && now - this.#blocked > UNREAD_MS) {
      this.stream.destroy()
      return
    }
    const problem = this.#deadlineProblem(now)
    if (problem === null) return
    this.#bye(bye(problem))
    this.reader.interrupt()
  }

  #deadlineProblem(now: number): string | null {
    if (this.access === null && now - this.#opened > LOGIN_MS) return 'The login took too long.'
    if (this.#isRunning) return null
    if (this.reader.isWaitingForMore) this.#begun ??= now
    else this.#begun = null
    if (this.#begun !== null && now - this.#begun > STARTED_MS) return 'The command took too long.'
    return now - this.#lastCommand > SILENCE_MS ? 'Silent for too long.' : null
  }

  async #next(): Promise<void> {
    let command: ReadCommand | null = null
    try {
      command = await this.reader.command()
    } catch (error) {
      if (!(error instanceof GrammarError)) throw error
      this.#refuse(error.message)
    }
    this.#lastCommand = this.deps.app.clock.monotonic()
    if (command !== null) {
      this.#isRunning = true
      await this.#execute(command).finally(() => {
        this.#isRunning = false
      })
    }
    if (this.#expired !== null) this.#bye(this.#expired)
    await this.#drained()
  }

  async #execute({ name, args }: ReadCommand): Promise<void> {
    const found = this.deps.commands.get(name)
    if (found === undefined) return this.#refuse('There is no such command.')
    try {
      const refusal = this.#refusalOf(found)
      if (refusal !== null) return this.answer(name, refusal)
      const reply = await found.run(found.read(args), this)
      if (reply !== null) this.answer(name, reply)
    } catch (error) {
      if (error instanceof ConnectionEnd) throw error
      if (error instanceof GrammarError) return this.#refuse(error.message, name)
      const reply = replyTo(error, found.onConflict ?? null)
      if (reply === null) this.logError(error, name)
      this.answer(name, reply ?? no(`Something went wrong; the log has it as ${this.id}.`, 'TRYLATER'))
    }
  }

  #refusalOf({ state }: { state: 'any' | 'before' | 'after' }): SieveReply | null {
    if (state === 'before' && this.access !== null) return no('Already logged in.')
    return state === 'after' && this.access === null ? no('Log in first.') : null
  }

  answer(name: string, reply: SieveReply): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
    this.say(formatReply(reply))
    this.deps.answered(name, reply.condition)
  }

  #refuse(text: string, name = 'invalid'): void {
    this.answer(name, no(text))
    if (++this.#errors >= ERRORS_MAX) this.#expired ??= bye('Too many errors.')
  }

  /** Called by a successful sign-in. @returns why there is no session */
  loggedIn(access: SignedIn): SieveReply | null {
    this.#release = this.deps.admit(this, access)
    if (this.#release === null) return no('The mailbox has too many connections.', 'TRYLATER')
    this.access = access
    this.reader.isSignedIn = true
    return null
  }

  /** UNAUTHENTICATE: back to the state before the login. */
  loggedOut(): void {
    this.#release?.()
    this.#release = null
    this.access = null
    this.reader.isSignedIn = false
  }

  /** Goes on with TLS. @throws ConnectionEnd when the handshake fails */
  async startTls(): Promise<void> {
    this.reader.detach()
    this.tls = await this.deps.secure(this.stream).catch(() => {
      throw new ConnectionEnd()
    })
    this.stream = this.tls
    this.stream.on('drain', () => {
      this.#blocked = null
    })
    this.reader.attach(this.tls)
  }

  /** Reads the next command only when the client takes the answers. */
  async #drained(): Promise<void> {
    while (!this.stream.destroyed && this.stream.writableLength > UNSENT_BYTES) {
      await new Promise<void>((resolve) => {
        for (const event of ['drain', 'close']) this.stream.once(event, () => resolve())
      })
    }
  }

  #bye(reply: SieveReply): void {
    if (!this.#isClosing) this.say(formatReply(reply))
    this.#isClosing = true
  }

  #end(): void {
    this.loggedOut()
    this.reader.detach()
    const { stream } = this
    stream.end()
    if (stream.writableFinished || stream.destroyed) stream.destroy()
    else stream.once('finish', () => stream.destroy())
    this.deps.closed(this)
  }

  logError(error: unknown, command: string | null): void {
    const mailbox = this.access?.principal.mailboxId ?? null
    const facts = { event: 'managesieve.command_failed', err: error, session: this.id, command, mailbox }
    this.deps.app.log.error(facts, 'ManageSieve command failed')
  }
}
