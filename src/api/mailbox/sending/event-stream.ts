// One Server-Sent Events stream of a mailbox: frames for its changes.

import type { Context } from '../../../context.ts'
import type { ReceivedMessage } from '../../../events/received-events.ts'
import { idOfStates, receivedData, statesInId } from '../../../http/mailbox-states.ts'
import { type EndReason, SseStream } from '../../../http/sse-stream.ts'
import type { ChangeSubscriber } from '../../../store/rows/change-feed.ts'
import { type Account, CHANGE_TYPES, type ChangeType, type States } from '../../../store/rows/records.ts'
import { PROGRESS_EVERY_MS, RemoteProgress } from '../changes/remote-progress.ts'
import { submissionNow } from './submissions.ts'

/** Parameters of a stream. */
export interface StreamOptions {
  /** Types whose changes are sent. */
  types: ReadonlySet<ChangeType>
  /** Seconds without an event after which a ping is sent. */
  pingSeconds: number
  /** Ends the stream after the first `state` event. */
  closeAfterState: boolean
  /** Called with messages of which the client is about to get words. */
  reading(messages: readonly string[]): Promise<void>
  /** Why the stream has to end now; null when it can continue. */
  refused(): Promise<EndReason | null>
}

/** Most `submission.updated` events for one change. */
const SUBMISSIONS_MAX = 50

export class EventStream extends SseStream implements ChangeSubscriber {
  readonly #options: StreamOptions
  readonly #mailboxId: string
  /** The states the client knows. */
  #knownStates: States
  #unfollow = () => {}
  #unlisten = () => {}
  /** The account whose state is sent when the client reads again. */
  #owed: Account | null = null

  private constructor(app: Context, account: Account, options: StreamOptions) {
    super(app, { pingSeconds: options.pingSeconds, about: { mailbox: account.mailboxId } })
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
    if (!(await stream.start())) return stream
    await app.db.durable(account.n)
    stream.#begin(account, last)
    if (stream.isOver) return stream
    stream.#unfollow = app.following.subscribe(account, stream)
    stream.watch()
    stream.#followProgress(account.n)
    return stream
  }

  /** Reports how far the outside accounts of the mailbox are, from its first one on. @param account number of the mailbox's account */
  #followProgress(account: number): void {
    const progress = new RemoteProgress(this.app.sync.accounts, this.#mailboxId)
    const follow = () =>
      this.repeat(PROGRESS_EVERY_MS, async () => progress.report((data) => this.event('remote.progress', data)))
    if (progress.isNeeded) {
      follow()
      return
    }
    this.#unlisten = this.app.notifier.listen('remotes', (accounts) => {
      if (!accounts.includes(account)) return
      this.#unlisten()
      follow()
    })
  }

  /** Sends nothing, the difference to the client's states, or all states when they are unknown. */
  #begin(account: Account, last: string | null): void {
    const known = last === null ? account.states : statesInId(last, account.states)
    if (known === null) this.#sendStates(account, CHANGE_TYPES)
    else {
      this.#knownStates = known
      // An id without an event: a client that disconnects before the first change can resume here.
      if (last === null) this.write(`id: ${idOfStates(known)}\n\n`)
      this.#sendChanges(account)
    }
  }

  protected override refused(): Promise<EndReason | null> {
    return this.#options.refused()
  }

  accountChanged(account: Account, received: readonly ReceivedMessage[]): void {
    this.inTurn(async () => {
      // The account may have been read before its last change was flushed.
      await this.app.db.durable(account.n)
      // Single events come first: a client that receives the state has received all of them.
      if (this.#options.types.has('messages')) {
        await this.#options.reading(received.map(({ messageId }) => messageId))
        for (const message of received) this.event('message.received', receivedData(message))
      }
      if (this.#options.types.has('submissions')) this.#sendSubmissions(account)
      this.#sendChanges(account)
    })
  }

  #sendSubmissions(account: Account): void {
    const since = this.#knownStates.submissions
    if (since === account.states.submissions || this.isFull) return
    const { created, updated } = this.app.store.read.changes.since(account, 'submissions', since, SUBMISSIONS_MAX)
    for (const id of [...created, ...updated].slice(0, SUBMISSIONS_MAX)) {
      const status = submissionNow(this.app, account, id)
      if (status !== undefined) this.event('submission.updated', { id, status })
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
    if (this.event('state', { mailbox_id: this.#mailboxId, changed }, idOfStates(account.states))) {
      this.#knownStates = account.states
      if (this.#options.closeAfterState) this.end()
    } else this.#owed = account
  }

  protected override resumed(): void {
    const owed = this.#owed
    this.#owed = null
    if (owed !== null) this.inTurn(async () => this.#sendChanges(owed))
  }

  protected override left(): void {
    this.#unfollow()
    this.#unlisten()
  }
}
