// Bounds what the answers of all servers together hold in memory. A connection may always hold a little; for a large answer it waits its turn.

import type { Clock, Timer } from '../../base/clock.ts'
import { Semaphore } from '../../base/semaphore.ts'

const MIB = 1024 * 1024

/** Estimated bytes of memory. */
export interface ResponseLimits {
  /** Of a connection that signs in or waits for changes. */
  waiting: number
  /** Of one that works, without a turn: at most 8 work at a time (`content-memory.ts`). */
  working: number
  /** Of one that has a turn; above it, the answer is not read. */
  large: number
  /** Turns at a time, in all and of one team. */
  turns: number
  teamTurns: number
}

const LIMITS: ResponseLimits = {
  waiting: MIB,
  working: 16 * MIB,
  large: 128 * MIB,
  turns: 2,
  teamTurns: 1,
}
/** After this time (ms) a turn ends: an answer that is still being read fails, what was read stays with its reader. */
const TURN_MS = 120_000

/** A response that is being received is held twice while its pieces are joined. */
const RECEIVED_COST = 2
/** What is made of the bytes of a line: at most all its values, and then texts and rows. */
const LINE_COST = 8
const ROW_COST = 6

export class ResponseMemory {
  readonly clock: Clock
  readonly limits: ResponseLimits
  readonly #turns: Semaphore
  /** Of teams that have a turn or wait for one. */
  readonly #teams = new Map<string, Semaphore>()

  constructor(clock: Clock, limits: ResponseLimits = LIMITS) {
    this.clock = clock
    this.limits = limits
    this.#turns = new Semaphore(limits.turns)
  }

  connection(teamId: string): ConnectionMemory {
    return new ConnectionMemory(this, teamId)
  }

  /** Waits for a turn. @returns ends it */
  async turn(teamId: string): Promise<() => void> {
    const team = this.#teams.get(teamId) ?? new Semaphore(this.limits.teamTurns)
    this.#teams.set(teamId, team)
    const leaveTeam = await team.acquire(1)
    const leave = await this.#turns.acquire(1)
    return () => {
      leave()
      leaveTeam()
      if (team.isIdle && this.#teams.get(teamId) === team) this.#teams.delete(teamId)
    }
  }
}

/** What is used of imapflow's parser. */
export interface ResponseParser {
  /** Bytes of the line, and of the response with its announced literals, that are being received. */
  lineBytes: number
  responseBytes: number
  _transform(chunk: Uint8Array, encoding: BufferEncoding, next: (error?: Error | null) => void): void
  push(response: { payload: Uint8Array; literals: Uint8Array[] } | null): boolean
}

/** The answers of one connection. */
export class ConnectionMemory {
  readonly #memory: ResponseMemory
  readonly #teamId: string
  /** Of the complete responses to the running command, or the last one. */
  #gathered = 0
  #isShort = true
  /** Bytes that are kept of each literal; the running command needs no more. */
  #keeps = Number.POSITIVE_INFINITY
  #isReading = true
  #isClosed = false
  #isWaiting = false
  #endTurn: (() => void) | null = null
  #timer: Timer | null = null
  #onExcess: () => void = () => {}

  constructor(memory: ResponseMemory, teamId: string) {
    this.#memory = memory
    this.#teamId = teamId
  }

  /** Whether it waits for a turn: then its server is not read from. */
  get isWaiting(): boolean {
    return this.#isWaiting
  }

  /** Reads no faster than memory allows. @param onExcess the server sends more than is ever read at a time */
  attach(parser: ResponseParser, onExcess: () => void): void {
    this.#onExcess = onExcess
    const push = parser.push.bind(parser)
    const transform = parser._transform.bind(parser)
    parser.push = (response) => {
      if (response !== null) shorten(response.literals, this.#keeps)
      const literals = response?.literals.reduce((sum, { length }) => sum + length, 0) ?? 0
      this.#gathered += ROW_COST * (response?.payload.length ?? 0) + literals
      return push(response)
    }
    parser._transform = (chunk, encoding, next) =>
      transform(chunk, encoding, (error) => {
        const held = this.#gathered + LINE_COST * parser.lineBytes + RECEIVED_COST * parser.responseBytes
        if (error != null || !this.#needsTurn(held)) return next(error)
        void this.#wait().then(() => next())
      })
  }

  /**
   * A command begins: what the last one gave is not held any more.
   * @param isShort whether little is expected @param keeps bytes that are kept of each literal
   */
  begin(isShort: boolean, keeps = Number.POSITIVE_INFINITY): void {
    this.release()
    this.#gathered = 0
    this.#isShort = isShort
    this.#keeps = keeps
    this.#isReading = true
  }

  /** The command is answered; the caller works on the results until the next one. */
  answered(): void {
    this.#isReading = false
  }

  /** What the last command gave is held by others, or not any more: its turn ends. */
  release(): void {
    this.#timer?.cancel()
    this.#endTurn?.()
    this.#timer = null
    this.#endTurn = null
  }

  close(): void {
    this.#isClosed = true
    this.release()
  }

  #needsTurn(held: number): boolean {
    const { waiting, working, large } = this.#memory.limits
    if (this.#isClosed || held <= (this.#isShort ? waiting : working)) return false
    if (this.#isShort || held > large) {
      this.#onExcess()
      return false
    }
    return this.#endTurn === null
  }

  async #wait(): Promise<void> {
    this.#isWaiting = true
    const end = await this.#memory.turn(this.#teamId)
    this.#isWaiting = false
    if (this.#isClosed) return end()
    this.#endTurn = end
    this.#timer = this.#memory.clock.after(TURN_MS, () => {
      if (this.#isReading) this.#onExcess()
      this.release()
    })
  }
}

/** Copies, so that the rest is freed. */
function shorten(literals: Uint8Array[], most: number): void {
  for (const [at, literal] of literals.entries())
    if (literal.length > most) literals[at] = Buffer.from(literal.subarray(0, most))
}
