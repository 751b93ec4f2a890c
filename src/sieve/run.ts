// Runs a script on a message and returns the outcome, without side effects (RFC 5228 2.10).

import { SieveRuntimeError } from './errors.ts'
import { keywordsFor } from './flags.ts'
import { matchesAny, matchesCount } from './match.ts'
import { addressValue, type MessageView } from './message-view.ts'
import { WorkMeter } from './meter.ts'
import type { FilingTarget, SieveOutcome } from './outcome.ts'
import type { SieveProgram, SieveSource, SieveStep, SieveTest } from './script.ts'
import { SieveValue } from './value.ts'

/** Input of a script other than the message. */
export interface ScriptContext {
  /** "" for the null sender. */
  mailFrom: string
  rcptTo: string
  /** Existing folders among those the script tests for. */
  folders: readonly string[]
}

/** Maximum folders of one message (decisions §10.3, RFC 5228 2.10.4). */
export const TARGETS_MAX = 10

/** Never throws because of the script or the message. */
export function runScript(
  script: SieveProgram,
  view: MessageView,
  context: ScriptContext,
  meter = new WorkMeter(),
): SieveOutcome {
  try {
    return new Run(view, context, meter).all(script)
  } catch (error) {
    if (!(error instanceof SieveRuntimeError)) throw error
    return { targets: [{ kind: 'default' }], keywords: [], error: error.message }
  }
}

class Run {
  readonly #view: MessageView
  readonly #context: ScriptContext
  readonly #meter: WorkMeter
  #implicitKeep = true
  #stopped = false
  /** Flags as written, by their lower-case form. */
  #flags = new Map<string, string>()
  /** Each target once; its flags are those of the last action that named it (RFC 5232 3). */
  readonly #targets = new Map<string, { target: FilingTarget; flags: string[] }>()

  constructor(view: MessageView, context: ScriptContext, meter: WorkMeter) {
    this.#view = view
    this.#context = context
    this.#meter = meter
  }

  all({ steps }: SieveProgram): SieveOutcome {
    this.#run(steps)
    if (this.#implicitKeep) this.#put({ kind: 'default' }, null)
    const filed = [...this.#targets.values()]
    // Keywords belong to the message, not to its folders.
    return {
      targets: filed.map(({ target }) => target),
      keywords: keywordsFor(filed.flatMap(({ flags }) => flags)),
      error: null,
    }
  }

  #run(steps: readonly SieveStep[]): void {
    for (const step of steps) {
      if (this.#stopped) return
      this.#meter.spend(1)
      this.#step(step)
    }
  }

  #step(step: SieveStep): void {
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
        // RFC 3894 3: ":copy" keeps the implicit keep.
        if (!step.copy) this.#implicitKeep = false
        this.#put({ kind: 'folder', path: step.folder, create: step.create }, step.flags)
    }
  }

  #put(target: FilingTarget, flags: string[] | null): void {
    const key = target.kind === 'default' ? '' : target.path
    const known = this.#targets.get(key)?.target
    const create = target.kind === 'folder' && (target.create || (known?.kind === 'folder' && known.create))
    const merged: FilingTarget = target.kind === 'folder' ? { ...target, create } : target
    this.#targets.set(key, { target: merged, flags: flags ?? [...this.#flags.values()] })
    if (this.#targets.size > TARGETS_MAX)
      throw new SieveRuntimeError(`A message can be filed into at most ${TARGETS_MAX} folders.`)
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

  #holds(test: SieveTest): boolean {
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
        const { length } = this.#view.message.bytes
        return test.over ? length > test.limit : length < test.limit
      }
      case 'folders':
        return test.names.every((name) => this.#context.folders.includes(name))
      default:
        return this.#matches(test)
    }
  }

  #matches({ source, match }: SieveTest & { is: 'match' }): boolean {
    if (match.type === 'count') return matchesCount(this.#count(source), match, this.#meter)
    return matchesAny(this.#values(source), match, this.#meter)
  }

  #count(source: SieveSource): number {
    if (source.of === 'address') {
      return source.names.reduce((sum, name) => sum + this.#view.countAddresses(name), 0)
    }
    // RFC 5231 4.2: the null sender does not count as an address.
    if (source.of === 'envelope') return source.ends.filter((end) => this.#address(end) !== '').length
    return [...this.#values(source)].length
  }

  *#values(source: SieveSource): Generator<SieveValue> {
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
          // RFC 5228 5.4: the null sender is the empty string, for every address part.
          const value = address === '' ? new SieveValue('') : addressValue(address, source.part)
          if (value) yield value
        }
        return
      case 'flags':
        for (const flag of this.#flags.values()) yield new SieveValue(flag)
        return
      default:
        yield* this.#view.body(source.form, this.#meter)
    }
  }

  #address(end: 'from' | 'to'): string {
    return end === 'from' ? this.#context.mailFrom : this.#context.rcptTo
  }
}
