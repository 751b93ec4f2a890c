// Runs a script on a message and returns the outcome, without side effects (RFC 5228 2.10).

import type { Part } from '../mime/message.ts'
import { Actions } from './actions.ts'
import { within } from './body.ts'
import { SieveRuntimeError } from './errors.ts'
import { byLowerCase, changedFlags, flagsIn, type ScriptFlags } from './flags.ts'
import { HeaderEditor } from './header-edits.ts'
import { matchesAny, matchesCount } from './match.ts'
import { fieldAt, type MessageView } from './message-view.ts'
import { WorkMeter } from './meter.ts'
import { viewsOf } from './mime-parts.ts'
import { type FilingTarget, failedOutcome, type SieveOutcome } from './outcome.ts'
import { Questions, Undecided } from './questions.ts'
import type { DeletedHeader, DuplicateTest, MimeScope, SieveProgram, SieveStep, SieveTest } from './script.ts'
import { countOf, type SourceContext, valuesOf } from './sources.ts'
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

/** RFC 6609 §3.2: includes within each other, and all of a run. */
export const INCLUDE_DEPTH_MAX = 10
export const INCLUDES_MAX = 50
const NO_ITEMS: ReadonlyMap<string, string> = new Map()

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
  readonly #questions: Questions
  readonly #actions = new Actions()
  readonly #globals = new Map<string, string>()
  readonly #included = new Set<string>()
  /** By name: a script does not include itself. */
  readonly #active: string[] = []
  #frame: Frame = { variables: new ScriptVariables(this.#globals), hasReturned: false, depth: 0 }
  #includes = 0
  #editor: HeaderEditor | null = null
  /** Of the innermost loop (RFC 5703 §3). */
  #part: Part | null = null
  /** The loop that ends, by its name; null for the innermost one, undefined while none does. */
  #broken: string | null | undefined
  #stopped = false
  #flags = new Map<string, string>()

  constructor(view: MessageView, context: ScriptContext, meter: WorkMeter, answers: ReadonlyMap<string, boolean>) {
    this.#view = view
    this.#context = context
    this.#meter = meter
    this.#questions = new Questions(answers)
  }

  all({ steps }: SieveProgram): SieveOutcome {
    this.#run(steps)
    if (this.#actions.implicitKeep) this.#put({ kind: 'default' }, null)
    const edits = this.#editor?.edits ?? null
    return this.#actions.outcome({ ...(edits === null ? {} : { edits }), ...this.#questions.remembered })
  }

  #run(steps: readonly SieveStep[]): void {
    for (const step of steps) {
      if (this.#stopped || this.#frame.hasReturned || this.#broken !== undefined) return
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
        this.#actions.implicitKeep = false
        break
      case 'keep':
        this.#actions.implicitKeep = false
        this.#put({ kind: 'default' }, step.flags)
        break
      case 'redirect':
        if (!step.copy) this.#actions.implicitKeep = false
        this.#actions.redirect(step.address)
        break
      case 'fileinto':
        // RFC 3894 3: ":copy" keeps the implicit keep.
        if (!step.copy) this.#actions.implicitKeep = false
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
        this.#actions.answer(step.vacation)
        break
      case 'notify':
        this.#actions.notify(step.notification)
        break
      case 'reject':
        this.#actions.reject(step.reason)
        break
      case 'foreverypart':
        this.#forEveryPart(step)
        break
      case 'break':
        this.#broken = step.name
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

  /** RFC 5703 §3: a loop within a loop looks at the parts within the current part. */
  #forEveryPart({ name, steps }: SieveStep & { do: 'foreverypart' }): void {
    const outer = this.#part
    const around = outer ?? this.#view.message.root
    const parts = around === null ? [] : [...within(around)].slice(outer === null ? 0 : 1)
    for (const part of parts) {
      this.#meter.spend(1)
      this.#part = part
      this.#run(steps)
      if (this.#stopped || this.#frame.hasReturned || this.#broken !== undefined) break
    }
    this.#part = outer
    if (this.#broken === null || this.#broken === name) this.#broken = undefined
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
    const part = this.#part
    if (outer.depth >= INCLUDE_DEPTH_MAX || ++this.#includes > INCLUDES_MAX) {
      throw new SieveRuntimeError('Too many scripts are included.')
    }
    this.#included.add(name)
    this.#active.push(name)
    this.#frame = { variables: new ScriptVariables(this.#globals), hasReturned: false, depth: outer.depth + 1 }
    this.#part = null
    this.#run(program.steps)
    this.#part = part
    this.#frame = outer
    this.#active.pop()
  }

  #put(target: FilingTarget, flags: string[] | null): void {
    this.#actions.put(target, flags ?? [...this.#flags.values()])
  }

  #changedFlags(before: ScriptFlags, { how, flags }: FlagStep): Map<string, string> {
    this.#meter.spend(flags.length + before.size)
    return changedFlags(before, how, flags)
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
        return test.names.every((name) => this.#views(test.mime).some((view) => view.has(name)))
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

  #isDuplicate(test: DuplicateTest): boolean {
    const { by } = test
    return this.#questions.isDuplicate(test, 'id' in by ? by.id : this.#view.header(by.header)[0]?.octets)
  }

  #views(scope: MimeScope | undefined): readonly MessageView[] {
    const views = viewsOf(this.#view, this.#part, scope)
    this.#meter.spend(views.length)
    return views
  }

  get #sources(): SourceContext {
    const { mailFrom, rcptTo, receivedAt = 0, environment = NO_ITEMS } = this.#context
    const { variables } = this.#frame
    const flags = (names: readonly string[] | null) =>
      names === null ? this.#flags.values() : byLowerCase(flagsIn(names.map((name) => variables.get(name)))).values()
    const spamLevel = () => this.#questions.spamLevel()
    const views = (scope: MimeScope | undefined) => this.#views(scope)
    return { view: this.#view, views, meter: this.#meter, mailFrom, rcptTo, receivedAt, environment, spamLevel, flags }
  }
}
