// One stream of events: what a client that follows its mailbox is told, frame by frame, and never more than it reads.

import { Readable } from 'node:stream'
import type { Timer } from '../../base/clock.ts'
import type { Context } from '../../context.ts'
import type { ReceivedMessage } from '../../events/received-events.ts'
import { isPast } from '../../store/accounts.ts'
import type { ChangeSubscriber } from '../../store/following.ts'
import { type Account, CHANGE_TYPES, type ChangeType, type States } from '../../store/records.ts'
import { presentAddress } from '../schemas/address.ts'
import { submissionNow } from './submissions.ts'

/** Why a stream ends on our side (decisions §10.12). */
export type EndReason = 'max_duration' | 'credential_revoked' | 'mailbox_suspended' | 'shutdown'

/** What a stream is asked for. */
export interface StreamAsked {
  /** Types whose changes are told. */
  types: ReadonlySet<ChangeType>
  /** Seconds without a word after which it says that it is there. */
  pingSeconds: number
  /** Ends it after the first change. */
  closeAfterState: boolean
  /** Why it has to end now; null when it may go on. */
  refused(): Promise<EndReason | null>
}

/** Milliseconds a client waits before it comes back. */
const RETRY_MS = 5_000
/** A stream lasts at most this long, and whether it may go on is asked this often (decisions §10.12), ms. */
export const LONGEST_MS = 60 * 60 * 1000
export const CHECK_EVERY_MS = 30 * 1000
/** A client that has read nothing for this long is let go, ms. */
export const STUCK_MS = 60 * 1000
/** Bytes that wait for a client; what comes meanwhile is told by the state alone, once it reads again. */
export const WAITING_MAX = 65_536
/** Submissions told one by one at a time. */
const SUBMISSIONS_MAX = 50

export class EventStream extends Readable implements ChangeSubscriber {
  readonly #app: Context
  readonly #asked: StreamAsked
  readonly #mailboxId: string
  /** As the client knows them. */
  #told: States
  #timers: Timer[] = []
  #ping: Timer | undefined
  #unfollow = () => {}
  /** One frame after another, although some have to be read first. */
  #turn: Promise<void> = Promise.resolve()
  /** Since when the client has not read, ms; null while it does. */
  #fullSince: number | null = null
  /** What is to be told when it reads again. */
  #owed: Account | null = null
  #isOver = false

  private constructor(app: Context, account: Account, asked: StreamAsked) {
    super({ highWaterMark: WAITING_MAX })
    this.#app = app
    this.#asked = asked
    this.#mailboxId = account.mailboxId
    this.#told = account.states
  }

  /**
   * @param last the id of the last event the client heard; null for a client that heard none
   * @throws ProductError service_unavailable when the house is closing
   */
  static async open(app: Context, account: Account, asked: StreamAsked, last: string | null): Promise<EventStream> {
    const stream = new EventStream(app, account, asked)
    const refused = await asked.refused()
    stream.#write(`retry: ${RETRY_MS}\n\n`)
    if (refused !== null) {
      stream.#finish(refused)
      return stream
    }
    await app.db.durable()
    stream.#begin(account, last)
    if (stream.#isOver) return stream
    stream.#unfollow = await app.following.follow(account, stream)
    stream.#watch()
    return stream
  }

  /** Where the client stands: nothing to tell, the difference, or everything when nobody knows. */
  #begin(account: Account, last: string | null): void {
    const known = last === null ? account.states : readId(last, account.states)
    if (known === null) this.#tellStates(account, CHANGE_TYPES)
    else {
      this.#told = known
      // An id without an event: who breaks off before the first change can come back to this place.
      if (last === null) this.#write(`id: ${idOf(known)}\n\n`)
      this.#tellChanged(account)
    }
  }

  #watch(): void {
    const { clock } = this.#app
    this.#timers = [
      clock.after(LONGEST_MS, () => this.#finish('max_duration')),
      clock.every(CHECK_EVERY_MS, () => this.#inTurn(() => this.#check())),
    ]
    this.#planPing()
  }

  async #check(): Promise<void> {
    if (this.#fullSince !== null && this.#app.clock.now() - this.#fullSince >= STUCK_MS) {
      this.destroy()
      return
    }
    const refused = await this.#asked.refused()
    if (refused !== null) this.#finish(refused)
  }

  moved(account: Account, received: readonly ReceivedMessage[]): void {
    this.#inTurn(async () => {
      // The account may have been read before its last change was flushed.
      await this.#app.db.durable()
      // What is told one by one comes first: who hears of the state knows that it heard all.
      if (this.#asked.types.has('messages')) for (const mail of received) this.#event('message.received', mailOf(mail))
      if (this.#asked.types.has('submissions')) await this.#tellSubmissions(account)
      this.#tellChanged(account)
    })
  }

  closing(): void {
    // What is not read now would hold up the end.
    if (this.readableLength > 0) this.destroy()
    else this.#finish('shutdown')
  }

  async #tellSubmissions(account: Account): Promise<void> {
    const since = this.#told.submissions
    if (since === account.states.submissions || this.#fullSince !== null) return
    const { created, updated } = await this.#app.store.changes.since(account, 'submissions', since, SUBMISSIONS_MAX)
    for (const id of [...created, ...updated].slice(0, SUBMISSIONS_MAX)) {
      const status = await submissionNow(this.#app, account, id)
      if (status !== undefined) this.#event('submission.updated', { id, status })
    }
  }

  #tellChanged(account: Account): void {
    const changed = CHANGE_TYPES.filter((type) => account.states[type] !== this.#told[type])
    const wanted = changed.filter((type) => this.#asked.types.has(type))
    if (wanted.length > 0) this.#tellStates(account, wanted)
  }

  #tellStates(account: Account, types: readonly ChangeType[]): void {
    const told = types.filter((type) => this.#asked.types.has(type))
    const changed = Object.fromEntries(told.map((type) => [type, account.states[type]]))
    if (this.#event('state', { mailbox_id: this.#mailboxId, changed }, idOf(account.states))) {
      this.#told = account.states
      if (this.#asked.closeAfterState) this.#close()
    } else this.#owed = account
  }

  /** @returns false when the client does not read: it is not told then */
  #event(name: string, data: object, id?: string): boolean {
    if (this.#isOver || this.#fullSince !== null) return false
    this.#write(`event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`)
    this.#planPing()
    return true
  }

  #planPing(): void {
    const { pingSeconds: interval } = this.#asked
    this.#ping?.cancel()
    if (this.#isOver || this.#timers.length === 0) return
    this.#ping = this.#app.clock.after(interval * 1000, () => {
      if (!this.#event('ping', { interval })) this.#planPing()
    })
  }

  #write(frame: string): void {
    if (!this.push(frame)) this.#fullSince = this.#app.clock.now()
  }

  override _read(): void {
    this.#fullSince = null
    const owed = this.#owed
    this.#owed = null
    if (owed !== null) this.#inTurn(async () => this.#tellChanged(owed))
  }

  #finish(reason: EndReason): void {
    if (this.#isOver) return
    this.push(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`)
    this.#close()
  }

  #close(): void {
    this.#leave()
    this.push(null)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leave()
    done(error)
  }

  #leave(): void {
    this.#isOver = true
    this.#unfollow()
    this.#ping?.cancel()
    for (const timer of this.#timers) timer.cancel()
  }

  #inTurn(work: () => Promise<void>): void {
    const unlessOver = async () => {
      if (!this.#isOver) await work()
    }
    this.#turn = this.#turn.then(unlessOver).catch((error: unknown) => {
      this.#app.log.error({ err: error, mailbox: this.#mailboxId }, 'a stream of events broke off')
      this.destroy()
    })
  }
}

/** All states in the one order, whatever of them is told. */
function idOf(states: States): string {
  return CHANGE_TYPES.map((type) => states[type]).join('.')
}

/** The states an id stands for; null when it is none that can have been given. */
function readId(id: string, now: States): States | null {
  const parts = id.split('.')
  if (parts.length !== CHANGE_TYPES.length) return null
  const pairs = CHANGE_TYPES.map((type, index) => [type, parts[index]!] as const)
  return pairs.every(([type, state]) => isPast(type, state, now[type])) ? (Object.fromEntries(pairs) as States) : null
}

function mailOf(mail: ReceivedMessage) {
  return {
    mailbox_id: mail.mailboxId,
    message_id: mail.messageId,
    thread_id: mail.threadId,
    folder_ids: mail.folderIds,
    from: presentAddress(mail.from),
    subject: mail.subject,
    preview: mail.preview,
    is_spam: mail.isSpam,
    // What strangers wrote: not to be taken for instructions.
    untrusted_content: true,
  }
}
