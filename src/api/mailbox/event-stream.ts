// One Server-Sent Events stream of a mailbox: frames for its changes, with a bounded buffer for slow clients.

import { Readable } from 'node:stream'
import type { Timer } from '../../base/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import type { Context } from '../../context.ts'
import type { ReceivedMessage } from '../../events/received-events.ts'
import { isCurrentOrPast } from '../../store/accounts.ts'
import type { ChangeSubscriber } from '../../store/change-feed.ts'
import { type Account, CHANGE_TYPES, type ChangeType, type States } from '../../store/records.ts'
import { presentAddress } from '../schemas/address.ts'
import { submissionNow } from './submissions.ts'

/** Why the server ends a stream (decisions §10.12). */
export type EndReason = 'max_duration' | 'credential_revoked' | 'mailbox_suspended' | 'shutdown'

/** Parameters of a stream. */
export interface StreamOptions {
  /** Types whose changes are sent. */
  types: ReadonlySet<ChangeType>
  /** Seconds without an event after which a ping is sent. */
  pingSeconds: number
  /** Ends the stream after the first `state` event. */
  closeAfterState: boolean
  /** Why the stream has to end now; null when it can continue. */
  refused(): Promise<EndReason | null>
}

/** Reconnection time of the client, ms. */
const RETRY_MS = 5_000
/** Longest duration of a stream, and interval of the check of its credential (decisions §10.12), ms. */
export const LONGEST_MS = HOUR_MS
export const CHECK_EVERY_MS = 30 * 1000
/** A client that reads nothing for this long is disconnected, ms. */
export const STUCK_MS = MINUTE_MS
/** Bytes buffered for a client. Changes that do not fit are reported by one `state` event when the client reads again. */
export const STREAM_BUFFER_MAX = 65_536
/** Most `submission.updated` events for one change. */
const SUBMISSIONS_MAX = 50

export class EventStream extends Readable implements ChangeSubscriber {
  readonly #app: Context
  readonly #options: StreamOptions
  readonly #mailboxId: string
  /** The states the client knows. */
  #knownStates: States
  #timers: Timer[] = []
  #ping: Timer | undefined
  #unfollow = () => {}
  /** Runs one task after another, because some frames have to be read from the store first. */
  #turn: Promise<void> = Promise.resolve()
  /** Since when the client has not read, ms; null while it reads. */
  #fullSince: number | null = null
  /** The account whose state is sent when the client reads again. */
  #owed: Account | null = null
  #isOver = false

  private constructor(app: Context, account: Account, options: StreamOptions) {
    super({ highWaterMark: STREAM_BUFFER_MAX })
    this.#app = app
    this.#options = options
    this.#mailboxId = account.mailboxId
    this.#knownStates = account.states
  }

  /**
   * @param last id of the last event the client received; null for none
   * @throws ProductError service_unavailable when the appliance is closing
   */
  static async open(app: Context, account: Account, options: StreamOptions, last: string | null): Promise<EventStream> {
    const stream = new EventStream(app, account, options)
    const refused = await options.refused()
    stream.#write(`retry: ${RETRY_MS}\n\n`)
    if (refused !== null) {
      stream.#finish(refused)
      return stream
    }
    await app.db.durable()
    stream.#begin(account, last)
    if (stream.#isOver) return stream
    stream.#unfollow = app.following.subscribe(account, stream)
    stream.#watch()
    return stream
  }

  /** Sends nothing, the difference to the client's states, or all states when they are unknown. */
  #begin(account: Account, last: string | null): void {
    const known = last === null ? account.states : readId(last, account.states)
    if (known === null) this.#sendStates(account, CHANGE_TYPES)
    else {
      this.#knownStates = known
      // An id without an event: a client that disconnects before the first change can resume here.
      if (last === null) this.#write(`id: ${idOf(known)}\n\n`)
      this.#sendChanges(account)
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
    const refused = await this.#options.refused()
    if (refused !== null) this.#finish(refused)
  }

  accountChanged(account: Account, received: readonly ReceivedMessage[]): void {
    this.#inTurn(async () => {
      // The account may have been read before its last change was flushed.
      await this.#app.db.durable()
      // Single events come first: a client that receives the state has received all of them.
      if (this.#options.types.has('messages'))
        for (const mail of received) this.#event('message.received', mailOf(mail))
      if (this.#options.types.has('submissions')) this.#sendSubmissions(account)
      this.#sendChanges(account)
    })
  }

  closing(): void {
    // Unread data would delay the shutdown.
    if (this.readableLength > 0) this.destroy()
    else this.#finish('shutdown')
  }

  #sendSubmissions(account: Account): void {
    const since = this.#knownStates.submissions
    if (since === account.states.submissions || this.#fullSince !== null) return
    const { created, updated } = this.#app.store.changes.since(account, 'submissions', since, SUBMISSIONS_MAX)
    for (const id of [...created, ...updated].slice(0, SUBMISSIONS_MAX)) {
      const status = submissionNow(this.#app, account, id)
      if (status !== undefined) this.#event('submission.updated', { id, status })
    }
  }

  #sendChanges(account: Account): void {
    const changed = CHANGE_TYPES.filter((type) => account.states[type] !== this.#knownStates[type])
    const wanted = changed.filter((type) => this.#options.types.has(type))
    if (wanted.length > 0) this.#sendStates(account, wanted)
  }

  #sendStates(account: Account, types: readonly ChangeType[]): void {
    const sent = types.filter((type) => this.#options.types.has(type))
    const changed = Object.fromEntries(sent.map((type) => [type, account.states[type]]))
    if (this.#event('state', { mailbox_id: this.#mailboxId, changed }, idOf(account.states))) {
      this.#knownStates = account.states
      if (this.#options.closeAfterState) this.#close()
    } else this.#owed = account
  }

  /** @returns false when the client does not read: the event was not sent */
  #event(name: string, data: object, id?: string): boolean {
    if (this.#isOver || this.#fullSince !== null) return false
    this.#write(`event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`)
    this.#planPing()
    return true
  }

  #planPing(): void {
    const { pingSeconds: interval } = this.#options
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
    if (owed !== null) this.#inTurn(async () => this.#sendChanges(owed))
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
      this.#app.log.error(
        { event: 'api.event_stream_failed', err: error, mailbox: this.#mailboxId },
        'Event stream failed',
      )
      this.destroy()
    })
  }
}

/** All states in a fixed order, independent of the types that are sent. */
function idOf(states: States): string {
  return CHANGE_TYPES.map((type) => states[type]).join('.')
}

/** The states in an id; null when the id is not one this server sent. */
function readId(id: string, now: States): States | null {
  const parts = id.split('.')
  if (parts.length !== CHANGE_TYPES.length) return null
  const pairs = CHANGE_TYPES.map((type, index) => [type, parts[index]!] as const)
  return pairs.every(([type, state]) => isCurrentOrPast(type, state, now[type]))
    ? (Object.fromEntries(pairs) as States)
    : null
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
    // The sender wrote this: never treat it as instructions.
    untrusted_content: true,
  }
}
