// Pages follow what happens: one stream for all tabs of the browser, held by one of them, which notifies the others. Without it, lists are
// asked again in intervals.

import { openStream } from '../api/events.ts'
import { loadSelf, self } from '../api/session.ts'
import { refreshChanged } from './changes.ts'
import { refresh } from './query.ts'
import { isLive, isOutdated } from './state.ts'

const NAME = 'mailstead.stream'
const MOST_ACTORS = 20
const GATHER_MS = 100
const FIRST_RETRY_MS = 2000
const LONGEST_RETRY_MS = 120_000

/** What tabs say to each other. */
type Note =
  /** A new holder of the stream asks who wants what. */
  | { kind: 'who' }
  | { kind: 'want'; actor: string }
  | { kind: 'live'; isLive: boolean }
  | { kind: 'team'; actor: string; changed: string[] }
  | { kind: 'approvals' | 'left' | 'upgraded' }
  /** Events may have been missed. */
  | { kind: 'all'; actors: string[] }

let channel: BroadcastChannel | null = null
/** The team that this tab shows. */
let wanted: string | null = null
/** Set in the tab that holds the stream. */
let holder: Holder | null = null

/** In this tab as well: a channel is not heard by the tab that speaks. */
function notify(note: Note): void {
  channel?.postMessage(note)
  hear(note)
}

function hear(note: Note): void {
  if (note.kind === 'team') refreshChanged(note.actor, note.changed)
  else if (note.kind === 'live') isLive.value = note.isLive
  else if (note.kind === 'approvals') refreshApprovals()
  else if (note.kind === 'left') void loadSelf().catch(() => null)
  else if (note.kind === 'upgraded') isOutdated.value = true
  else if (note.kind === 'all') for (const actor of note.actors) refresh(actor)
  else if (note.kind === 'want') holder?.add(note.actor)
  else if (wanted !== null) channel?.postMessage({ kind: 'want', actor: wanted } satisfies Note)
}

/** The overview has them as well. */
function refreshApprovals(): void {
  refresh('approvals')
  if (wanted !== null) refresh(wanted, 'needs')
}

/** The one connection of the browser, for the teams of all its tabs. */
class Holder {
  readonly #actors: string[] = []
  #close: (() => void) | null = null
  #retryMs = FIRST_RETRY_MS
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Events may have been missed since it was connected. */
  #hasGap = false

  /** Follows one more team; of too many, the one that was wanted first is left out. */
  add(actor: string): void {
    if (this.#actors.includes(actor)) {
      notify({ kind: 'live', isLive: isLive.value })
      return
    }
    this.#actors.push(actor)
    if (this.#actors.length > MOST_ACTORS) this.#actors.shift()
    // Tabs that open together are one connection.
    this.#connectIn(GATHER_MS)
  }

  #connectIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#connect(), ms)
  }

  #connect(): void {
    this.#close?.()
    // The stream is refused for a team that is not open any more.
    const open = this.#actors.filter((actor) => self.value?.teams.some(({ id }) => id === actor))
    if (open.length === 0) return
    this.#close = openStream(open, {
      opened: () => this.#opened(),
      team: ({ actor, changed }) => notify({ kind: 'team', actor, changed }),
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
  if (wanted !== null) holder.add(wanted)
  channel?.postMessage({ kind: 'who' } satisfies Note)
  return new Promise(() => {})
}

/** Follows a team from now on. Browsers without locks ask in intervals. */
export function follow(actor: string): void {
  wanted = actor
  if (channel === null) {
    if (typeof navigator.locks === 'undefined' || typeof EventSource === 'undefined') return
    channel = new BroadcastChannel(NAME)
    channel.onmessage = ({ data }: MessageEvent<Note>) => hear(data)
    void navigator.locks.request(NAME, becomeHolder)
  }
  if (holder !== null) holder.add(actor)
  else channel.postMessage({ kind: 'want', actor } satisfies Note)
}
