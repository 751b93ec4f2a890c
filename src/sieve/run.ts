// Runs a script on a message and returns the outcome, without side effects (RFC 5228 2.10).

import { hash } from 'node:crypto'
import { SieveRuntimeError } from './errors.ts'
import { flagsIn, keywordsFor } from './flags.ts'
import { HeaderEditor } from './header-edits.ts'
import { matchesAny, matchesCount } from './match.ts'
import { fieldAt, type MessageView } from './message-view.ts'
import { WorkMeter } from './meter.ts'
import {
  type FilingTarget,
  failedOutcome,
  QUESTIONS_MAX,
  REDIRECTS_MAX,
  type SieveOutcome,
  type TrackedId,
} from './outcome.ts'
import type { DeletedHeader, DuplicateTest, ScriptVacation, SieveProgram, SieveStep, SieveTest } from './script.ts'
import { countOf, type SourceContext, valuesOf } from './sources.ts'
import { askedLevel, idQuestions } from './spam-level.ts'
import { ScriptVariables } from './variables.ts'

/** What is the same for the scripts of all recipients. */
export interface ScriptArrival {
  /** "" for the null sender. */
  mailFrom: string
  /** ms; 0 by default */
  receivedAt?: number
  /** Items of RFC 5183, by name. */
  environment?: ReadonlyMap<string, string>
}

/** Input of a script other than the message. */
export interface ScriptContext extends ScriptArrival {
  rcptTo: string
  /** Existing folders among those the script tests for. */
  folders: readonly string[]
  /** A script that this one includes; null when it is not valid, undefined when there is none. */
  included?: (name: string) => SieveProgram | null | undefined
}

/** Maximum folders of one message (docs/design/mailbox.md §3, RFC 5228 2.10.4). */
export const TARGETS_MAX = 10
/** RFC 6609 §3.2: includes within each other, and all of a run. */
export const INCLUDE_DEPTH_MAX = 10
export const INCLUDES_MAX = 50
const NO_ITEMS: ReadonlyMap<string, string> = new Map()
/** Characters of a digest, in hexadecimal. */
const ID_LENGTH = 32

/** Never throws because of the script or the message. */
export function runScript(
  script: SieveProgram,
  view: MessageView,
  context: ScriptContext,
  meter = new WorkMeter(),
): SieveOutcome {
  return decide(new Map())

  /** @param answers what is assumed of the ids asked for */
  function decide(answers: ReadonlyMap<string, boolean>): SieveOutcome {
    try {
      return new Run(view, context, meter, answers).all(script)
    } catch (error) {
      if (error instanceof Undecided) {
        const { id } = error
        const unseen = decide(new Map([...answers, [id, false]]))
        const seen = decide(new Map([...answers, [id, true]]))
        return { ...unseen, question: { id, seen, unseen } }
      }
      if (!(error instanceof SieveRuntimeError)) throw error
      return failedOutcome(error.message)
    }
  }
}

/** The script asks whether an id was seen, or how much spam the message is, and nothing is assumed yet. */
class Undecided extends Error {
  readonly id: string

  constructor(id: string) {
    super('Undecided.')
    this.id = id
  }
}

type FlagStep = SieveStep & { do: 'flags' }

/** One script of a run: the first one, or one that is included. */
interface Frame {
  variables: ScriptVariables
  hasReturned: boolean
  depth: number
}

class Run {
  #view: MessageView
  readonly #context: ScriptContext
  readonly #meter: WorkMeter
  readonly #answers: ReadonlyMap<string, boolean>
  readonly #globals = new Map<string, string>()
  readonly #included = new Set<string>()
  /** By name: a script does not include itself. */
  readonly #active: string[] = []
  readonly #ids = new Map<string, TrackedId>()
  #frame: Frame = { variables: new ScriptVariables(this.#globals), hasReturned: false, depth: 0 }
  #includes = 0
  #editor: HeaderEditor | null = null
  #vacation: ScriptVacation | null = null
  #rejection: string | null = null
  #implicitKeep = true
  #stopped = false
  /** Flags as written, by their lower-case form. */
  #flags = new Map<string, string>()
  /** Addresses by their lower-case form: a message goes to each once. */
  readonly #redirects = new Map<string, string>()
  /** Each target once; its flags are those of the last action that named it (RFC 5232 3). */
  readonly #targets = new Map<string, { target: FilingTarget; flags: string[] }>()

  constructor(view: MessageView, context: ScriptContext, meter: WorkMeter, answers: ReadonlyMap<string, boolean>) {
    this.#view = view
    this.#context = context
    this.#meter = meter
    this.#answers = answers
  }

  all({ steps }: SieveProgram): SieveOutcome {
    this.#run(steps)
    if (this.#rejection !== null) return this.#refused(this.#rejection)
    if (this.#implicitKeep) this.#put({ kind: 'default' }, null)
    const filed = [...this.#targets.values()]
    const edits = this.#editor?.edits ?? null
    // Keywords belong to the message, not to its folders.
    return {
      targets: filed.map(({ target }) => target),
      keywords: keywordsFor(filed.flatMap(({ flags }) => flags)),
      ...(this.#redirects.size > 0 ? { redirects: [...this.#redirects.values()] } : {}),
      ...(this.#vacation === null ? {} : { vacation: this.#vacation }),
      ...(edits === null ? {} : { edits }),
      ...(this.#ids.size > 0 ? { ids: [...this.#ids.values()] } : {}),
      error: null,
    }
  }

  /** RFC 5429 §2.4: a message is refused, or something else is done with it. */
  #refused(reject: string): SieveOutcome {
    if (this.#targets.size + this.#redirects.size > 0 || this.#vacation !== null) {
      throw new SieveRuntimeError('A script cannot refuse a message that it files, redirects or answers.')
    }
    const ids = this.#ids.size > 0 ? { ids: [...this.#ids.values()] } : {}
    return { targets: [{ kind: 'default' }], keywords: [], reject, ...ids, error: null }
  }

  #run(steps: readonly SieveStep[]): void {
    for (const step of steps) {
      if (this.#stopped || this.#frame.hasReturned) return
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
        if (step.variable === null) this.#flags = this.#changedFlags(this.#flags, step)
        else this.#setFlagVariable(step.variable, step)
        break
      case 'discard':
        this.#implicitKeep = false
        break
      case 'keep':
        this.#implicitKeep = false
        this.#put({ kind: 'default' }, step.flags)
        break
      case 'redirect':
        if (!step.copy) this.#implicitKeep = false
        this.#redirect(step.address)
        break
      case 'fileinto':
        // RFC 3894 3: ":copy" keeps the implicit keep.
        if (!step.copy) this.#implicitKeep = false
        this.#put(
          {
            kind: 'folder',
            path: step.folder,
            ...(step.folderId === undefined ? {} : { id: step.folderId }),
            create: step.create,
          },
          step.flags,
        )
        break
      case 'late':
        this.#step(step.make((text) => this.#expand(text)))
        break
      default:
        this.#extended(step)
    }
  }

  #extended(step: SieveStep): void {
    switch (step.do) {
      case 'set':
        this.#meter.spend(step.value.length)
        this.#frame.variables.set(step.name, step.value)
        break
      case 'global':
        this.#frame.variables.share(step.names)
        break
      case 'include':
        this.#include(step)
        break
      case 'return':
        this.#frame.hasReturned = true
        break
      case 'error':
        throw new SieveRuntimeError(`The script says: ${step.message}`.slice(0, 300))
      case 'vacation':
        // RFC 5230 §4.7.
        if (this.#vacation !== null) throw new SieveRuntimeError('A script can use "vacation" once.')
        this.#vacation = step.vacation
        break
      case 'reject':
        if (this.#rejection !== null) throw new SieveRuntimeError('A script can refuse a message once.')
        this.#rejection = step.reason
        this.#implicitKeep = false
        break
      case 'addheader':
        this.#edit((editor) => editor.add(step.name, step.value, step.last))
        break
      case 'deleteheader':
        this.#deleteHeader(step.header)
        break
      default:
    }
  }

  #expand(text: string): string {
    const expanded = this.#frame.variables.expand(text)
    // What is made of it, such as a pattern, costs as much before anything is compared.
    this.#meter.spend(text.length + expanded.length)
    return expanded
  }

  #include({ name, once, optional }: SieveStep & { do: 'include' }): void {
    if (once && this.#included.has(name)) return
    const program = this.#context.included?.(name)
    if (program === undefined && optional) return
    if (program === undefined) throw new SieveRuntimeError(`The included script "${name}" does not exist.`)
    if (program === null) throw new SieveRuntimeError(`The included script "${name}" is not valid.`)
    if (this.#active.includes(name)) throw new SieveRuntimeError(`The script "${name}" includes itself.`)
    const outer = this.#frame
    if (outer.depth >= INCLUDE_DEPTH_MAX || ++this.#includes > INCLUDES_MAX) {
      throw new SieveRuntimeError('Too many scripts are included.')
    }
    this.#included.add(name)
    this.#active.push(name)
    this.#frame = { variables: new ScriptVariables(this.#globals), hasReturned: false, depth: outer.depth + 1 }
    this.#run(program.steps)
    this.#frame = outer
    this.#active.pop()
  }

  #put(target: FilingTarget, flags: string[] | null): void {
    const key = target.kind === 'default' ? '' : JSON.stringify([target.path, target.id])
    const known = this.#targets.get(key)?.target
    const create = target.kind === 'folder' && (target.create || (known?.kind === 'folder' && known.create))
    const merged: FilingTarget = target.kind === 'folder' ? { ...target, create } : target
    this.#targets.set(key, { target: merged, flags: flags ?? [...this.#flags.values()] })
    if (this.#targets.size > TARGETS_MAX)
      throw new SieveRuntimeError(`A message can be filed into at most ${TARGETS_MAX} folders.`)
  }

  #redirect(address: string): void {
    this.#redirects.set(address.toLowerCase(), address)
    // RFC 5228 §4.2: a limit is checked, so that a script cannot multiply messages.
    if (this.#redirects.size > REDIRECTS_MAX)
      throw new SieveRuntimeError(`A message can be redirected to at most ${REDIRECTS_MAX} addresses.`)
  }

  #changedFlags(before: ReadonlyMap<string, string>, { how, flags }: FlagStep): Map<string, string> {
    this.#meter.spend(flags.length + before.size)
    const changed = new Map(how === 'set' ? [] : before)
    for (const flag of flags) {
      const lower = flag.toLowerCase()
      if (how === 'remove') changed.delete(lower)
      else if (!changed.has(lower)) changed.set(lower, flag)
    }
    return changed
  }

  /** RFC 5232 §3: flags in a variable, with spaces between them. */
  #setFlagVariable(name: string, step: FlagStep): void {
    const { variables } = this.#frame
    const before = byLowerCase(flagsIn([variables.get(name)]))
    variables.set(name, [...this.#changedFlags(before, step).values()].join(' '))
  }

  #edit(change: (editor: HeaderEditor) => void): void {
    this.#editor ??= new HeaderEditor(this.#view.message.bytes)
    change(this.#editor)
    const { fields } = this.#editor
    // The new view decodes its fields again.
    this.#meter.spend(fields.reduce((sum, { value }) => sum + 16 + value.length, 0))
    this.#view = this.#view.withFields(fields)
  }

  #deleteHeader({ name, at, match }: DeletedHeader): void {
    // The fields of the view are those of the editor.
    if (this.#editor === null) this.#edit(() => {})
    const values = this.#view.header(name)
    const all = this.#view.fields(name).map((field, index) => ({ field, value: values[index]! }))
    const chosen = at === null ? all : [fieldAt(all, at)].filter((one) => one !== undefined)
    const removed = chosen.filter(({ value }) => {
      if (match === null) return true
      return match.type === 'count'
        ? matchesCount(chosen.length, match, this.#meter)
        : matchesAny([value], match, this.#meter)
    })
    if (removed.length === 0) return
    this.#edit((editor) => editor.remove(new Set(removed.map(({ field }) => field))))
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
      case 'late':
        return this.#holds(test.make((text) => this.#expand(text)))
      case 'duplicate':
        return this.#isDuplicate(test.test)
      default:
        return this.#matches(test)
    }
  }

  #matches({ source, match }: SieveTest & { is: 'match' }): boolean {
    const context = this.#sources
    // RFC 5183 §4: a test of an unknown item fails, counts included.
    if (source.of === 'environment' && !context.environment.has(source.name)) return false
    if (match.type === 'count') return matchesCount(countOf(source, context), match, this.#meter)
    // RFC 5173 §6: a test of the body sets no match variables.
    const onWildcards = (matched: readonly string[]) => this.#frame.variables.matched(matched)
    return matchesAny(valuesOf(source, context), match, this.#meter, source.of === 'body' ? undefined : onWildcards)
  }

  /** RFC 7352 §3: an id is remembered when the script ends well. */
  #isDuplicate({ handle, by, seconds, last }: DuplicateTest): boolean {
    const value = 'id' in by ? by.id : this.#view.header(by.header)[0]?.octets
    if (value === undefined) return false
    const kind = 'id' in by ? 'id' : `header ${by.header}`
    const id = hash('sha256', [handle, kind, value].join('\n')).slice(0, ID_LENGTH)
    const seen = this.#answers.get(id)
    if (seen === undefined) {
      if (idQuestions(this.#answers) >= QUESTIONS_MAX)
        throw new SieveRuntimeError(`A script can ask for at most ${QUESTIONS_MAX} ids of a message.`)
      throw new Undecided(id)
    }
    if (!seen || last) this.#ids.set(id, { id, seconds })
    return seen
  }

  #spamLevel(): number {
    const asked = askedLevel(this.#answers)
    if ('ask' in asked) throw new Undecided(asked.ask)
    return asked.level
  }

  get #sources(): SourceContext {
    const { mailFrom, rcptTo, receivedAt = 0, environment = NO_ITEMS } = this.#context
    const { variables } = this.#frame
    const flags = (names: readonly string[] | null) =>
      names === null ? this.#flags.values() : byLowerCase(flagsIn(names.map((name) => variables.get(name)))).values()
    const spamLevel = () => this.#spamLevel()
    return { view: this.#view, meter: this.#meter, mailFrom, rcptTo, receivedAt, environment, spamLevel, flags }
  }
}

function byLowerCase(flags: readonly string[]): Map<string, string> {
  return new Map(flags.map((flag) => [flag.toLowerCase(), flag]))
}
