// One stream for all tabs of the browser, also of both shells: one tab holds it and notifies the others. Without it, pages ask in intervals.

import { type MailboxChange, openStream } from '../api/events.ts'
import { loadSelf, self } from '../api/session.ts'
import { isLive, isOutdated } from './state.ts'

const NAME = 'mailstead.stream'
const MOST_ACTORS = 20
const GATHER_MS = 100
const FIRST_RETRY_MS = 2000
const LONGEST_RETRY_MS = 120_000

/** What a tab hears of the teams and mailboxes that it follows. */
export type News =
  | { kind: 'team'; actor: string; changed: string[] }
  | ({ kind: 'mailbox' } & MailboxChange)
  | { kind: 'approvals' }
  /** Events may have been missed. */
  | { kind: 'all'; actors: string[] }

/** What tabs say to each other. */
type Note =
  | News
  /** A new holder of the stream asks who wants what. */
  | { kind: 'who' }
  | { kind: 'want'; actors: string[] }
  | { kind: 'live'; isLive: boolean }
  | { kind: 'left' }
  | { kind: 'upgraded' }

let channel: BroadcastChannel | null = null
/** The teams or mailboxes that this tab shows. */
let wanted: string[] = []
let subscriber: (news: News) => void = () => {}
/** Set in the tab that holds the stream. */
let holder: Holder | null = null

/** In this tab as well: a channel is not heard by the tab that speaks. */
function notify(note: Note): void {
  channel?.postMessage(note)
  hear(note)
}

function hear(note: Note): void {
  if (note.kind === 'live') isLive.value = note.isLive
  else if (note.kind === 'left') void loadSelf().catch(() => null)
  else if (note.kind === 'upgraded') isOutdated.value = true
  else if (note.kind === 'want') holder?.add(note.actors)
  else if (note.kind === 'who') {
    if (wanted.length > 0) channel?.postMessage({ kind: 'want', actors: wanted } satisfies Note)
  } else subscriber(note)
}

/** The one connection of the browser, for the teams and mailboxes of all its tabs. */
class Holder {
  readonly #actors: string[] = []
  #close: (() => void) | null = null
  #retryMs = FIRST_RETRY_MS
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Events may have been missed since it was connected. */
  #hasGap = false

  /** Follows more teams or mailboxes; of too many, those that were wanted first are left out. */
  add(actors: readonly string[]): void {
    const added = actors.filter((actor) => !this.#actors.includes(actor))
    if (added.length === 0) {
      notify({ kind: 'live', isLive: isLive.value })
      return
    }
    this.#actors.push(...added)
    this.#actors.splice(0, Math.max(0, this.#actors.length - MOST_ACTORS))
    // Tabs that open together are one connection.
    this.#connectIn(GATHER_MS)
  }

  #connectIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#connect(), ms)
  }

  #connect(): void {
    this.#close?.()
    // The stream is refused for a team or mailbox that is not open any more.
    const known = new Set([...(self.value?.teams ?? []), ...(self.value?.mailboxes ?? [])].map(({ id }) => id))
    const open = this.#actors.filter((actor) => known.has(actor))
    if (open.length === 0) return
    this.#close = openStream(open, {
      opened: () => this.#opened(),
      team: ({ actor, changed }) => notify({ kind: 'team', actor, changed }),
      mailbox: (change) => notify({ kind: 'mailbox', ...change }),
      approvals: () => notify({ kind: 'approvals' }),
      left: () => notify({ kind: 'left' }),
      upgraded: () => notify({ kind: 'upgraded' }),
      lost: (isFinal) => this.#lost(isFinal),
    })
  }

  #opened(): void {
    this.#retryMs = FIRST_RETRY_MS
    notify({ kind: 'live', isLive: true })
    if (this.#hasGap) notify({ kind: 'all', actors: this.#actors })
    this.#hasGap = false
  }

  #lost(isFinal: boolean): void {
    this.#hasGap = true
    notify({ kind: 'live', isLive: false })
    if (!isFinal) return
    void loadSelf().catch(() => null)
    this.#connectIn(this.#retryMs)
    this.#retryMs = Math.min(LONGEST_RETRY_MS, this.#retryMs * 2)
  }
}

/** Holds the stream as long as this tab lives, once no other tab does. */
function becomeHolder(): Promise<never> {
  holder = new Holder()
  if (wanted.length > 0) holder.add(wanted)
  channel?.postMessage({ kind: 'who' } satisfies Note)
  return new Promise(() => {})
}

/** Follows teams or mailboxes from now on, instead of those before. Browsers without locks ask in intervals. */
export function follow(actors: readonly string[], onNews: (news: News) => void): void {
  wanted = [...actors]
  subscriber = onNews
  if (channel === null) {
    if (typeof navigator.locks === 'undefined' || typeof EventSource === 'undefined') return
    channel = new BroadcastChannel(NAME)
    channel.onmessage = ({ data }: MessageEvent<Note>) => hear(data)
    void navigator.locks.request(NAME, becomeHolder)
  }
  if (holder !== null) holder.add(wanted)
  else channel.postMessage({ kind: 'want', actors: wanted } satisfies Note)
}
