// Turns at scarce work that sources share: each source waits in its own line, and the lines take turns.

/** Limits of the turns. */
export interface TurnLimits {
  /** Turns taken at once. */
  atOnce: number
  /** Turns of one source that are taken or waited for. */
  each: number
  /** Turns of one class that are waited for, by all its sources together. */
  waiting: number
}

/** Callers of a turn. A source that is preferred goes first: strangers never use up its places. */
export interface TurnOwner {
  source: string
  isPreferred: boolean
}

type Lines = Map<string, (() => void)[]>

export class FairTurns {
  readonly #limits: TurnLimits
  readonly #preferred: Lines = new Map()
  readonly #others: Lines = new Map()
  readonly #bySource = new Map<string, number>()
  #taken = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** Waits for a turn. @returns ends it; null, at once, when the source or its class has too many */
  take({ source, isPreferred }: TurnOwner): Promise<() => void> | null {
    const key = `${isPreferred ? 'preferred' : 'other'} ${source}`
    const own = this.#bySource.get(key) ?? 0
    const isFree = this.#taken < this.#limits.atOnce
    const lines = isPreferred ? this.#preferred : this.#others
    if (own >= this.#limits.each || (!isFree && waitingIn(lines) >= this.#limits.waiting)) return null
    this.#bySource.set(key, own + 1)
    const end = () => this.#end(key)
    if (isFree) {
      this.#taken++
      return Promise.resolve(end)
    }
    return new Promise((resolve) => {
      const line = lines.get(source)
      const go = () => resolve(end)
      if (line === undefined) lines.set(source, [go])
      else line.push(go)
    })
  }

  #end(key: string): void {
    const left = this.#bySource.get(key)! - 1
    if (left > 0) this.#bySource.set(key, left)
    else this.#bySource.delete(key)
    // The turn passes on without becoming free in between.
    const next = nextOf(this.#preferred) ?? nextOf(this.#others)
    if (next === undefined) this.#taken--
    else next()
  }
}

function waitingIn(lines: Lines): number {
  let sum = 0
  for (const line of lines.values()) sum += line.length
  return sum
}

/** Takes the first caller of the first line; the line goes to the end. */
function nextOf(lines: Lines): (() => void) | undefined {
  for (const [source, line] of lines) {
    const next = line.shift()
    lines.delete(source)
    if (line.length > 0) lines.set(source, line)
    return next
  }
  return undefined
}
