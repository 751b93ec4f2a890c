// Runs a script over a mail and says what is to become of it; nothing is done here (RFC 5228 2.10).

import { RunFault } from './errors.ts'
import { keywordsFor } from './flags.ts'
import { matchesAny, matchesCount } from './match.ts'
import { addressValue, type MailView } from './message-view.ts'
import { Meter } from './meter.ts'
import type { Place, Ruling } from './outcome.ts'
import type { Script, Source, Step, Test } from './script.ts'
import { Value } from './value.ts'

/** What a script is told beside the mail. */
export interface Surroundings {
  /** "" for the null sender. */
  mailFrom: string
  rcptTo: string
  /** Those of the folders the script asks for that are there. */
  folders: readonly string[]
}

/** Decisions §10.3 and RFC 5228 2.10.4: folders of one message. */
export const PLACES_MAX = 10

/** Never throws for what the script or the mail holds. */
export function runScript(script: Script, view: MailView, surroundings: Surroundings, meter = new Meter()): Ruling {
  try {
    return new Run(view, surroundings, meter).all(script)
  } catch (error) {
    if (!(error instanceof RunFault)) throw error
    return { places: [{ kind: 'default' }], keywords: [], fault: error.message }
  }
}

class Run {
  readonly #view: MailView
  readonly #around: Surroundings
  readonly #meter: Meter
  #implicitKeep = true
  #stopped = false
  /** As they were written, by their lower-case form. */
  #flags = new Map<string, string>()
  /** Each place once; its flags are those of the last action that named it (RFC 5232 3). */
  readonly #places = new Map<string, { place: Place; flags: string[] }>()

  constructor(view: MailView, around: Surroundings, meter: Meter) {
    this.#view = view
    this.#around = around
    this.#meter = meter
  }

  all({ steps }: Script): Ruling {
    this.#run(steps)
    if (this.#implicitKeep) this.#put({ kind: 'default' }, null)
    const filed = [...this.#places.values()]
    // A message has its keywords whatever folders it lies in.
    return {
      places: filed.map(({ place }) => place),
      keywords: keywordsFor(filed.flatMap(({ flags }) => flags)),
      fault: null,
    }
  }

  #run(steps: readonly Step[]): void {
    for (const step of steps) {
      if (this.#stopped) return
      this.#meter.spend(1)
      this.#step(step)
    }
  }

  #step(step: Step): void {
    switch (step.do) {
      case 'choose':
        this.#run(step.branches.find(({ test }) => test === null || this.#holds(test))?.steps ?? [])
        break
      case 'stop':
        this.#stopped = true
        break
      case 'flags':
        this.#setFlags(step.how, step.flags)
        break
      case 'discard':
        this.#implicitKeep = false
        break
      case 'keep':
        this.#implicitKeep = false
        this.#put({ kind: 'default' }, step.flags)
        break
      default:
        // RFC 3894 3: with ":copy" the mail also goes where it would have gone.
        if (!step.copy) this.#implicitKeep = false
        this.#put({ kind: 'folder', path: step.folder, create: step.create }, step.flags)
    }
  }

  #put(place: Place, flags: string[] | null): void {
    const key = place.kind === 'default' ? '' : place.path
    const known = this.#places.get(key)?.place
    const create = place.kind === 'folder' && (place.create || (known?.kind === 'folder' && known.create))
    const merged: Place = place.kind === 'folder' ? { ...place, create } : place
    this.#places.set(key, { place: merged, flags: flags ?? [...this.#flags.values()] })
    if (this.#places.size > PLACES_MAX) throw new RunFault(`A message lies in at most ${PLACES_MAX} folders.`)
  }

  #setFlags(how: 'set' | 'add' | 'remove', flags: readonly string[]): void {
    this.#meter.spend(flags.length)
    if (how === 'set') this.#flags = new Map()
    for (const flag of flags) {
      const lower = flag.toLowerCase()
      if (how === 'remove') this.#flags.delete(lower)
      else if (!this.#flags.has(lower)) this.#flags.set(lower, flag)
    }
  }

  #holds(test: Test): boolean {
    this.#meter.spend(1)
    switch (test.is) {
      case 'constant':
        return test.value
      case 'not':
        return !this.#holds(test.test)
      case 'all':
        return test.tests.every((one) => this.#holds(one))
      case 'any':
        return test.tests.some((one) => this.#holds(one))
      case 'exists':
        return test.names.every((name) => this.#view.has(name))
      case 'size': {
        const { length } = this.#view.mail.bytes
        return test.over ? length > test.limit : length < test.limit
      }
      case 'folders':
        return test.names.every((name) => this.#around.folders.includes(name))
      default:
        return this.#matches(test)
    }
  }

  #matches({ source, match }: Test & { is: 'match' }): boolean {
    if (match.type === 'count') return matchesCount(this.#count(source), match, this.#meter)
    return matchesAny(this.#values(source), match, this.#meter)
  }

  #count(source: Source): number {
    if (source.of === 'address') {
      return source.names.reduce((sum, name) => sum + this.#view.countAddresses(name), 0)
    }
    // RFC 5231 4.2: the null sender is no address.
    if (source.of === 'envelope') return source.ends.filter((end) => this.#address(end) !== '').length
    return [...this.#values(source)].length
  }

  *#values(source: Source): Generator<Value> {
    switch (source.of) {
      case 'header':
        for (const name of source.names) yield* this.#view.header(name)
        return
      case 'address':
        for (const name of source.names) yield* this.#view.addresses(name, source.part)
        return
      case 'envelope':
        for (const end of source.ends) {
          const address = this.#address(end)
          // RFC 5228 5.4: the null sender is the empty string, whatever part of it is asked for.
          const value = address === '' ? new Value('') : addressValue(address, source.part)
          if (value) yield value
        }
        return
      case 'flags':
        for (const flag of this.#flags.values()) yield new Value(flag)
        return
      default:
        yield* this.#view.body(source.form, this.#meter)
    }
  }

  #address(end: 'from' | 'to'): string {
    return end === 'from' ? this.#around.mailFrom : this.#around.rcptTo
  }
}
