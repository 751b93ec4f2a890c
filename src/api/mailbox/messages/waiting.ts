// Waits for messages: reads the ledger from a state, sleeps until the mailbox changes, and reads on (docs/design/agents.md §10).

import type { Timer } from '../../../base/clock.ts'
import { SECOND_MS } from '../../../base/durations.ts'
import { ProductError } from '../../../base/errors.ts'
import type { Extracted } from '../../../content/codes/extracted.ts'
import type { Context } from '../../../context.ts'
import type { ChangeSubscriber } from '../../../store/rows/change-feed.ts'
import type { Account, MessageDetail } from '../../../store/rows/records.ts'
import type { SenderFacts } from '../../schemas/extracted.ts'
import { extractionsOf, senderFacts } from '../contents/extraction.ts'

/** Waiting requests of the whole appliance. */
export const WAITING_MAX = 2000
/** Changes that are read at a time, and therefore matches of one answer, unless one unit of work stored more. */
export const MATCHES_MAX = 5
/** Without a state, messages of this time are matches as well, ms. */
export const LOOK_BACK_MS = 120 * SECOND_MS
/** Newest messages that are looked at without a state, and messages since that may not be among them. */
const LOOKED_BACK_MAX = 25
const RACING_MAX = 500
/** Interval of the check of the credential, ms; it is also checked before each answer. */
export const CREDENTIAL_CHECK_MS = 5 * SECOND_MS
const RETRY_SECONDS = 5

export interface WaitFilter {
  kind: 'message' | 'code' | 'link'
  /** Address of the author, lower-case. */
  from?: string
  /** Its domain or one above it, lower-case. */
  domain?: string
  /** A recipient, lower-case. */
  to?: string
  threadId?: string
  isAuthenticated?: boolean
}

export interface MessageMatch {
  message: MessageDetail
  sender: SenderFacts
  extracted: Extracted[]
}

export interface WaitEnd {
  matches: MessageMatch[]
  /** Everything up to this state was looked at. */
  state: string
  timedOut: boolean
}

interface Options {
  filter: WaitFilter
  /** Null: from LOOK_BACK_MS ago. */
  since: string | null
  timeoutMs: number
  signal: AbortSignal
  /** Throws when the credential is no longer accepted. */
  check(): Promise<void>
  /** The account as it is now. */
  account(): Account
}

const waiting = new WeakMap<Context, { count: number }>()

/**
 * @throws ProductError conflict when `since` is unknown or too old, rate_limit_exceeded with WAITING_MAX waiting, service_unavailable
 *   when the appliance is closing, and what `check` throws
 */
export async function waitForMessages(app: Context, options: Options): Promise<WaitEnd> {
  const all = waiting.get(app) ?? { count: 0 }
  waiting.set(app, all)
  if (all.count >= WAITING_MAX) {
    const detail = { retryAfter: RETRY_SECONDS }
    throw new ProductError('rate_limit_exceeded', 'Too many requests wait for messages. Try again later.', detail)
  }
  all.count++
  const sleeper = new Sleeper(app, options)
  try {
    return await new Search(app, options).run(sleeper)
  } finally {
    all.count--
    sleeper.end()
  }
}

/** Waits for a change of the account, the end of the time, the end of the connection, or the next check of the credential. */
class Sleeper implements ChangeSubscriber {
  isOver: boolean
  isClosing = false
  readonly #timers: Timer[]
  readonly #unsubscribe: () => void
  readonly #signal: AbortSignal
  #resume = () => {}
  #isAwake = false

  constructor(app: Context, { timeoutMs, signal, account }: Options) {
    this.isOver = timeoutMs === 0
    this.#unsubscribe = app.following.subscribe(account(), this)
    this.#signal = signal
    this.#timers = [
      app.clock.after(timeoutMs, this.#stop),
      app.clock.every(CREDENTIAL_CHECK_MS, () => this.accountChanged()),
    ]
    signal.addEventListener('abort', this.#stop, { once: true })
  }

  accountChanged(): void {
    this.#isAwake = true
    this.#resume()
  }

  closing(): void {
    this.isClosing = true
    this.accountChanged()
  }

  readonly #stop = () => {
    this.isOver = true
    this.accountChanged()
  }

  /** Returns at once for what happened since the last call. */
  async sleep(): Promise<void> {
    if (!this.#isAwake) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve
      })
    }
    this.#isAwake = false
  }

  end(): void {
    this.#unsubscribe()
    for (const timer of this.#timers) timer.cancel()
    this.#signal.removeEventListener('abort', this.#stop)
  }
}

class Search {
  readonly #app: Context
  readonly #options: Options
  #state: string

  constructor(app: Context, options: Options) {
    this.#app = app
    this.#options = options
    this.#state = options.since ?? options.account().states.messages
  }

  async run(sleeper: Sleeper): Promise<WaitEnd> {
    let matches = this.#options.since === null ? await this.#lookBack() : []
    for (;;) {
      if (matches.length === 0) matches = await this.#readOn(sleeper)
      await this.#options.check()
      if (matches.length > 0) return { matches, state: this.#state, timedOut: false }
      if (sleeper.isClosing)
        throw new ProductError('service_unavailable', 'The appliance is shutting down. Try again later.')
      if (sleeper.isOver) return { matches, state: this.#state, timedOut: true }
      await sleeper.sleep()
    }
  }

  /** Messages of the last two minutes; those that came since the state are left to the ledger. */
  async #lookBack(): Promise<MessageMatch[]> {
    const { store, clock, db } = this.#app
    const account = this.#options.account()
    const page = { sort: 'received_at', direction: 'desc', limit: LOOKED_BACK_MAX, after: null } as const
    const filter = { after: clock.now() - LOOK_BACK_MS, inTrashOrJunk: true }
    const { items } = await store.read.messages.list(account, filter, { ...page, collapseThreads: false })
    const { created } = store.read.changes.since(account, 'messages', this.#state, RACING_MAX)
    const earlier = items.filter(({ id }) => !created.includes(id)).toReversed()
    const found = await this.#matching(earlier.map(({ id }) => id))
    await db.durable(account.n)
    return found.slice(-MATCHES_MAX)
  }

  /** Reads the ledger up to the first page with matches, or to its end. */
  async #readOn(sleeper: Sleeper): Promise<MessageMatch[]> {
    const { store, db } = this.#app
    for (;;) {
      const account = this.#options.account()
      const changes = store.read.changes.since(account, 'messages', this.#state, MATCHES_MAX)
      const found = await this.#matching(changes.created)
      // A message that a lost flush would take back is not shown.
      await db.durable(account.n)
      this.#state = changes.newState
      if (found.length > 0 || !changes.hasMoreChanges || sleeper.isClosing) return found
    }
  }

  async #matching(ids: readonly string[]): Promise<MessageMatch[]> {
    const found: MessageMatch[] = []
    for (const id of ids) {
      const match = await this.#match(id)
      if (match !== null) found.push(match)
    }
    return found
  }

  async #match(id: string): Promise<MessageMatch | null> {
    const { store } = this.#app
    const { filter } = this.#options
    const account = this.#options.account()
    const message = store.read.messages.get(account, id)
    if (message === undefined || isOwn(message, store.read.folders.list(account)) || !fits(message, filter)) return null
    const extracted = filter.kind === 'message' ? [] : await this.#extracted(account, message)
    if (filter.kind !== 'message' && extracted.length === 0) return null
    return { message, extracted, sender: senderFacts(this.#app, account, message) }
  }

  async #extracted(account: Account, message: MessageDetail): Promise<Extracted[]> {
    const { kind: wanted } = this.#options.filter
    const all = await extractionsOf(this.#app, account, message)
    return all.filter(({ kind, confidence }) => confidence === 'high' && (kind === 'code') === (wanted === 'code'))
  }
}

/** Drafts, and what the mailbox itself sent. */
function isOwn({ flags, folderIds }: MessageDetail, folders: readonly { id: string; role: string | null }[]): boolean {
  const own = new Set(folders.filter(({ role }) => role === 'sent' || role === 'drafts').map(({ id }) => id))
  return flags.draft || (folderIds.length > 0 && folderIds.every((id) => own.has(id)))
}

function fits(message: MessageDetail, { from, domain, to, threadId, isAuthenticated }: WaitFilter): boolean {
  const author = message.from.email.toLowerCase()
  const ofAuthor = author.slice(author.lastIndexOf('@') + 1)
  const recipients = [...message.to, ...message.cc].map(({ email }) => email.toLowerCase())
  const isTo = () => [...recipients, message.envelope.rcptTo.toLowerCase()].includes(to!)
  return (
    (from === undefined || author === from) &&
    (domain === undefined || ofAuthor === domain || ofAuthor.endsWith(`.${domain}`)) &&
    (to === undefined || isTo()) &&
    (threadId === undefined || message.threadId === threadId) &&
    (isAuthenticated === undefined || message.authentication.fromAligned === isAuthenticated)
  )
}
