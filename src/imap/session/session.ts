// One IMAP session: reads commands one after the other, runs them, announces what changed, and answers (RFC 9051 §3 and §5).

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { mayDo } from '../../access/rights.ts'
import type { SignedIn } from '../../access/signed-in.ts'
import { newId } from '../../base/ids.ts'
import type { NumberRange } from '../../base/number-ranges.ts'
import { type CommandPiece, Cursor } from '../grammar/cursor.ts'
import { AFTER_LOGIN, ERRORS_AFTER_LOGIN, ERRORS_BEFORE_LOGIN } from '../grammar/limits.ts'
import { type CommandSegment, ConnectionEnded, ImapReader, ReadError } from '../grammar/reader.ts'
import { type OutputPart, ResponseWriter } from '../grammar/writer.ts'
import type { SelectedFolder } from '../views/selected.ts'
import type { SignedInUser } from '../views/user.ts'
import { answerFor, formatAnswer, ok, type TaggedAnswer } from './answers.ts'
import type { Enableable } from './capabilities.ts'
import { destroyWhenSent } from './closing.ts'
import {
  answerToReadError,
  type CommandOf,
  isContentOf,
  readArguments,
  readCommandName,
  stateProblem,
  type TableOf,
  tagOf,
} from './command.ts'
import type { ImapDeps } from './deps.ts'
import { discardContents } from './discard.ts'
import { CommandProgress } from './progress.ts'
import { SessionDeadlines } from './session-deadlines.ts'
import { SessionEnding } from './session-ending.ts'
import type { ChangeAnnouncements, OptionsOf, OwnerOf, SessionSource } from './session-owner.ts'
import { SessionUsage } from './session-record.ts'
import { TimeSlice } from './time-slice.ts'

/** A command of IMAP sessions. */
export type ImapCommand<A = unknown> = CommandOf<ImapSession, A>
export type CommandTable = TableOf<ImapSession>

/** Types the arguments of a command by its grammar. */
export function command<A>(definition: ImapCommand<A>): ImapCommand {
  return definition as ImapCommand
}

/** The listener of IMAP sessions. */
export type SessionOwner = OwnerOf<ImapSession>

export class ImapSession {
  readonly id = newId('request')
  readonly app: ImapDeps
  readonly source: SessionSource
  readonly reader: ImapReader
  readonly writer: ResponseWriter
  readonly enabled = new Set<Enableable>()
  readonly deadlines: SessionDeadlines
  /** Announces what changes. */
  readonly changes: ChangeAnnouncements
  readonly progress: CommandProgress
  readonly record: SessionUsage
  /** Set by a login. */
  user: SignedInUser | null = null
  selected: SelectedFolder | null = null
  /** `$`: UIDs of the last search with SAVE in the selected folder (RFC 9051 §6.4.4.1). */
  saved: readonly NumberRange[] = []
  /** What the program says of itself (ID). */
  client: string | null = null
  /** Encrypted here or by a proxy in front. */
  isSecure: boolean
  loginFailures = 0
  isCompressed = false
  /** A message of APPEND was read: further literals of the command are messages too. */
  isInContent = false
  /** IDLE waits for its end. */
  isIdle = false
  /** The connection where its TLS ends here. */
  tls: TLSSocket | null
  stream: Duplex
  readonly #owner: SessionOwner
  readonly #socket: Socket
  #errors = 0
  #isClosing = false
  #isCut = false
  /** A command runs, or IDLE. */
  isRunning = false
  readonly #ending = new SessionEnding()

  constructor(stream: Socket, { app, owner, source, tls, isSecure }: OptionsOf<ImapSession>) {
    this.app = app
    this.#owner = owner
    this.source = source
    this.isSecure = isSecure
    this.tls = tls
    this.stream = stream
    this.#socket = stream
    this.reader = new ImapReader(stream, {
      requestLiteral: () => this.requestLiteral(),
      isContent: (pieces) => this.#isContent(pieces),
    })
    this.writer = new ResponseWriter(stream, app.clock)
    this.#watch(stream)
    this.deadlines = new SessionDeadlines(app.clock)
    this.changes = owner.changesOf(this)
    this.progress = new CommandProgress(app.clock)
    this.record = new SessionUsage(app, this.id)
  }

  /** Whether strings and names are UTF-8 (RFC 6855 §3, RFC 9051 §5.1). */
  get utf8(): boolean {
    return this.enabled.has('IMAP4REV2') || this.enabled.has('UTF8=ACCEPT')
  }

  get isRev2(): boolean {
    return this.enabled.has('IMAP4REV2')
  }

  /** A command asked for modification numbers: from now on they are sent (RFC 7162 §3.1). */
  enableCondstore(): void {
    if (this.usesCondstore) return
    this.enabled.add('CONDSTORE')
    if (this.selected !== null)
      this.say(`* OK [HIGHESTMODSEQ ${this.selected.modSeq}] Highest modification number.\r\n`)
  }

  /** Whether MODSEQ is sent with flags (RFC 7162 §3.1). */
  get usesCondstore(): boolean {
    return this.enabled.has('CONDSTORE') || this.enabled.has('QRESYNC')
  }

  /** @throws Error before a login: the state of a command is checked first */
  get signedIn(): SignedInUser {
    return this.user!
  }

  get folder(): SelectedFolder {
    return this.selected!
  }

  /** A command runs that is not IDLE: nothing is announced until it has ended. */
  get isBusy(): boolean {
    return this.isRunning && !this.isIdle
  }

  get isClosed(): boolean {
    return this.stream.destroyed
  }

  /** See {@link SessionEnding.signal}. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Adds untagged output. */
  say(...parts: OutputPart[]): void {
    this.writer.write(...parts)
  }

  /** `+`, at once: the client waits for it. Only behind an announcement, which may be in the middle of a literal. */
  requestLiteral(text = 'OK'): void {
    this.changes.whenSilent(() => {
      this.writer.write(`+ ${text}\r\n`)
      this.writer.flush()
    })
  }

  /** Reads and answers commands until the connection ends. Never throws. */
  async run(): Promise<void> {
    try {
      this.say(this.#owner.greeting(this))
      for (const slice = new TimeSlice(); !this.#isClosing; await slice.pause()) await this.#next()
    } catch (error) {
      if (!(error instanceof ConnectionEnded)) this.logError(error, null)
    } finally {
      this.#end()
    }
  }

  /** Says `* BYE`; the session ends with the answer of the command that runs. */
  bye(text: string, code: string | null = null): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.say(formatAnswer('*', { condition: 'BYE', code, text }))
  }

  /** Ends the session with `* BYE`: at once when it waits for the client, else behind what is being written. */
  expire(text: string, code: string | null = null): void {
    this.#ending.expire(text, code)
    this.endExpired()
  }

  /** Ends it unless a command or an announcement runs, which may be in the middle of a literal. */
  endExpired(): void {
    const isWriting = (this.isBusy && !this.deadlines.isReadingContent) || this.changes.isRunning
    if (this.#ending.answer === null || isWriting) return
    this.bye(this.#ending.answer.text, this.#ending.answer.code)
    this.cut()
  }

  /** Ends the connection at once: nothing more can be said. */
  destroy(): void {
    this.stream.destroy()
    this.#socket.destroy()
  }

  /** @throws ConnectionEnded when the client has gone */
  assertOpen(): void {
    if (this.isClosed) throw new ConnectionEnded()
  }

  /** For commands, between two responses. @throws CommandFailure when the session shall end; ConnectionEnded when the client has gone */
  assertRunning(): void {
    this.assertOpen()
    this.signal.throwIfAborted()
  }

  /** Closes the connection after what was written. */
  cut(): void {
    this.#close()
    this.reader.interrupt()
  }

  /** Ends the session at a shutdown: idle ones at once, others behind what their command is doing. */
  retire(): void {
    this.expire('The server is shutting down.', 'UNAVAILABLE')
  }

  async #next(): Promise<void> {
    let segment: CommandSegment
    try {
      segment = await this.reader.segment()
    } catch (error) {
      if (!(error instanceof ReadError)) throw error
      return this.#refuseInput(error)
    }
    this.deadlines.commandBegan()
    this.record.commandBegan()
    this.isRunning = true
    try {
      await this.changes.commandBegan()
      await this.#execute(segment)
    } finally {
      this.isRunning = false
      this.isInContent = false
      this.deadlines.commandEnded()
      this.progress.ended()
    }
    if (this.#ending.answer !== null) this.bye(this.#ending.answer.text, this.#ending.answer.code)
    else this.changes.commandEnded()
    // The next command may follow in the same turn: its answer goes into the same packet.
    if (this.reader.buffered === 0) this.writer.flush()
    await this.writer.ready()
  }

  async #execute(segment: CommandSegment): Promise<void> {
    const cursor = new Cursor(segment.pieces, segment.content !== null)
    let tag = '*'
    let name = 'invalid'
    try {
      tag = cursor.tag()
      if (this.user !== null) this.progress.began(tag)
      cursor.space()
      const { found, isUid } = readCommandName(cursor, this.#owner.commands)
      name = isUid ? `UID ${found.name}` : found.name
      const problem = stateProblem(found, isUid, this)
      if (problem !== null) throw problem
      const args = readArguments(found, cursor, isUid)
      if (found.needs !== undefined && !mayDo(this.signedIn.access, found.needs)) {
        await discardContents(this, segment)
        return this.#answer(tag, name, { condition: 'NO', code: 'NOPERM', text: 'The credential does not allow this.' })
      }
      this.isInContent = segment.content !== null
      const answer = await found.run(args, this, { tag, isUid, segment })
      const mayRemove = !(found.keepsNumbers === true && !isUid)
      if (this.selected !== null && !this.#isClosing && found.name !== 'LOGOUT')
        await this.changes.announce({ mayRemove, withUid: isUid })
      if (answer !== 'answered') this.#answer(tag, name, answer ?? ok(`${name} completed.`))
    } catch (error) {
      if (error instanceof ConnectionEnded) throw error
      if (error instanceof ReadError) return this.#refuseInput(error, tag)
      if (!this.isInContent) await discardContents(this, segment)
      await this.#fail(tag, name, error)
    }
  }

  async #fail(tag: string, name: string, error: unknown): Promise<void> {
    const answer = answerFor(error)
    if (answer === null) {
      this.logError(error, name)
      const text = `Something went wrong; the log has it as ${this.id}.`
      return this.#answer(tag, name, { condition: 'NO', code: 'SERVERBUG', text })
    }
    // What another session did in the meantime is announced with a failure as well.
    if (this.selected !== null && answer.condition === 'NO') {
      await this.changes
        .announce({ mayRemove: false, withUid: false })
        .catch((cause: unknown) => this.logError(cause, name))
    }
    this.#answer(tag, name, answer)
    if (answer.condition === 'BAD') this.#countError()
  }

  #answer(tag: string, name: string, answer: TaggedAnswer): void {
    this.say(formatAnswer(tag, answer))
    this.record.commandEnded(name, answer.condition)
  }

  #countError(): void {
    this.#errors++
    if (this.#errors >= (this.user === null ? ERRORS_BEFORE_LOGIN : ERRORS_AFTER_LOGIN)) this.bye('Too many errors.')
  }

  /** @param known the tag, when the beginning of the command was read before */
  #refuseInput(error: ReadError, known: string | null = null): void {
    const answer = answerToReadError(error)
    this.#answer(known ?? tagOf(error.begin), 'invalid', answer)
    if (error.isFatal || (error.problem === 'line_too_long' && this.user === null)) this.bye(answer.text, answer.code)
    else this.#countError()
  }

  #isContent(pieces: readonly CommandPiece[]): boolean {
    return this.user !== null && (this.isInContent || isContentOf(pieces, this.#owner.commands))
  }

  /** Called by a successful sign-in. @returns the answer when the mailbox has too many connections */
  loggedIn(access: SignedIn): TaggedAnswer | null {
    const user = this.#owner.admit(this, access)
    if (user === null) return { condition: 'NO', code: 'LIMIT', text: 'The mailbox has too many connections.' }
    this.user = user
    this.reader.limits = AFTER_LOGIN
    this.#errors = 0
    return null
  }

  /** What the program says of itself (ID). */
  named(client: string): void {
    this.client = client
    if (this.user !== null) this.app.access.noteClient(this.user.access, client)
  }

  /** STARTTLS, behind its tagged answer. @throws ConnectionEnded when the handshake fails */
  async startTls(): Promise<void> {
    this.writer.flush()
    this.reader.detach()
    this.writer.detach()
    this.tls = await this.#owner.secure(this.#socket).catch(() => {
      throw new ConnectionEnded()
    })
    this.replaceStream(this.tls)
    this.isSecure = true
  }

  /** Goes on with TLS or compression on top of the stream. */
  replaceStream(stream: Duplex): void {
    this.stream = stream
    this.reader.attach(stream)
    this.writer.attach(stream)
    this.#watch(stream)
  }

  /** A client that has gone without a word resets the connection when something is sent. */
  #watch(stream: Duplex): void {
    const probe = () => this.isBusy && !this.deadlines.isReadingContent && this.progress.sayTo(this.writer, 0)
    this.#ending.watch(stream, () => stream === this.stream, probe)
  }

  #end(): void {
    this.changes.close()
    this.selected?.release()
    this.selected = null
    this.user?.release()
    this.#close()
    this.reader.detach()
    this.#owner.closed(this)
  }

  /** Closes the connection when what was written has been sent, or after some seconds when the client does not take it. */
  #close(): void {
    if (this.#isCut) return
    this.#isCut = true
    this.writer.end()
    destroyWhenSent(this.stream, this.app.clock)
  }

  logError(error: unknown, command: string | null): void {
    const facts = { err: error, session: this.id, command, mailbox: this.user?.account.mailboxId ?? null }
    this.app.log.error({ event: 'imap.command_failed', ...facts }, 'IMAP command failed')
  }
}
