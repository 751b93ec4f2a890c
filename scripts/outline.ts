// The test reporter: one line per file, every failure in full, node's summary, and the skipped tests.

import { relative } from 'node:path'
import process from 'node:process'
import { inspect } from 'node:util'

/** The events of node:test that are looked at, in the shape `run()` gives them. */
export interface TestEvent {
  type: string
  data: Record<string, unknown>
}

interface LeftOut {
  file: string
  name: string
  reason: string
}

interface Failure {
  failureType?: string
  message: string
  cause?: unknown
}

/** What node counts, in the order and with the names of its closing lines. */
const TOTALS = [
  ['tests', 'tests'],
  ['suites', 'suites'],
  ['passed', 'pass'],
  ['failed', 'fail'],
  ['cancelled', 'cancelled'],
  ['skipped', 'skipped'],
  ['todo', 'todo'],
] as const

interface Summary {
  success: boolean
  counts: Record<(typeof TOTALS)[number][0], number>
  duration_ms: number
}

/** Gathers the events of one run a file and prints as it goes. */
export class Outline {
  readonly leftOut: LeftOut[] = []
  /** False as soon as one file did not go well. */
  passed = true
  readonly #started = performance.now()
  readonly #totals = new Map<string, number>()
  readonly #root: string
  readonly #names = new Map<string, string>()

  /** @param root the folder file names are shown from */
  constructor(root: string) {
    this.#root = root
  }

  take({ type, data }: TestEvent): void {
    if (type === 'test:start') this.#names.set(idOf(data, 'testId'), this.#pathOf(data))
    else if (type === 'test:fail') this.#fail(data)
    else if (type === 'test:pass' && data.skip !== undefined) this.#skip(data)
    else if (type === 'test:stderr' || type === 'test:stdout') process.stderr.write(String(data.message))
    else if (type === 'test:summary') this.#summary(data)
  }

  /** The closing lines, as node writes them. */
  showTotals(): void {
    for (const [member, name] of TOTALS) console.log(`ℹ ${name} ${this.#totals.get(member) ?? 0}`)
    console.log(`ℹ duration_ms ${Math.round(performance.now() - this.#started)}`)
  }

  /** The closing list: what did not run, and why. */
  showLeftOut(): void {
    console.log(this.leftOut.length === 0 ? 'Nothing was left out.' : `Left out (${this.leftOut.length}):`)
    for (const [location, tests] of Map.groupBy(this.leftOut, ({ file, reason }) => `${file}: ${reason}`)) {
      const names = tests.slice(0, 3).map(({ name }) => name)
      const more = tests.length > names.length ? `; and ${tests.length - names.length} more` : ''
      console.log(`  - ${location} (${names.join('; ')}${more})`)
    }
  }

  /** Suite and test names down to this one. */
  #pathOf(data: TestEvent['data']): string {
    const parent = this.#names.get(idOf(data, 'parentId'))
    return parent === undefined ? String(data.name) : `${parent} › ${data.name}`
  }

  #fail(data: TestEvent['data']): void {
    const error = (data.details as { error: Failure }).error
    // The nested tests have reported their failures already.
    if (error.failureType === 'subtestsFailed' || data.todo !== undefined) return
    const file = this.#fileOf(data)
    const name = this.#names.get(idOf(data, 'testId')) ?? String(data.name)
    console.log(`✖ ${name.replace(data.file as string, file)}\n    at ${file}:${data.line}:${data.column}`)
    const description = describe(error)
    const frames = /^\s+at .*node:internal/
    const lines = description.split('\n').filter((line) => !frames.test(line))
    console.log(lines.map((line) => `    ${line}`).join('\n'))
  }

  #skip(data: TestEvent['data']): void {
    const reason = data.skip === true ? 'no reason given' : String(data.skip)
    this.leftOut.push({ file: this.#fileOf(data), name: this.#names.get(idOf(data, 'testId')) ?? '', reason })
  }

  /** A run ends with the summary of its file (where that got so far) and the one of the run. */
  #summary(data: TestEvent['data']): void {
    const { success, counts, duration_ms } = data as unknown as Summary
    if (data.file === undefined) {
      this.passed &&= success
      for (const [member] of TOTALS) this.#totals.set(member, (this.#totals.get(member) ?? 0) + counts[member])
      return
    }
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} left out` : ''
    const seconds = (duration_ms / 1000).toFixed(1)
    const mark = success ? '✔' : '✖'
    console.log(`${mark} ${this.#fileOf(data)}: ${counts.passed} of ${counts.tests}${skipped} (${seconds} s)`)
  }

  #fileOf(data: TestEvent['data']): string {
    return relative(this.#root, String(data.entryFile ?? data.file))
  }
}

/** The whole error; of a failed assertion its message and location, which contain the rest. */
function describe({ cause, message }: Failure): string {
  if (!(cause instanceof Error)) return message
  return 'code' in cause && cause.code === 'ERR_ASSERTION' ? (cause.stack ?? cause.message) : inspect(cause)
}

function idOf(data: TestEvent['data'], member: 'testId' | 'parentId'): string {
  return `${data.entryFile ?? data.file} ${data[member]}`
}
