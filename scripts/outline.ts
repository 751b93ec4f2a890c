// The test reporter: one line per file, every failure in full when it happens and again at the end, node's summary, the skipped tests and
// the slowest files.

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

/** Files in the list of the slowest ones. */
const SLOWEST = 15
/** Lines of one failure in the list at the end: a difference of two large values has thousands. */
const FAILURE_LINES = 60

/** Of the output of a process that failed as a whole. */
const LAST_LINES = 20

interface Summary {
  success: boolean
  counts: Record<(typeof TOTALS)[number][0], number>
}

/** What one process of tests has said so far. */
class TestProcess {
  /** Relative to the root. */
  readonly files: readonly string[]
  /** Names of its suites and tests, by id. */
  readonly names = new Map<unknown, string>()
  /** The file whose tests run. */
  file: string
  /** Tests and suites that have begun and not ended, by id. */
  readonly running = new Map<unknown, { name: string; parent: unknown; since: number }>()
  /** The end of what it wrote to standard error. */
  lastLines: string[] = []
  /** Files that have not ended. */
  readonly open: Set<string>
  /** Of that file. */
  counts = { tests: 0, passed: 0, skipped: 0 }
  hasFailed = false
  #since = performance.now()

  constructor(files: readonly string[]) {
    this.files = files
    this.open = new Set(files)
    this.file = files[0]!
  }

  /** Whether an event is about a file as a whole: those of a group are suites. */
  isFile({ nesting, name }: TestEvent['data']): boolean {
    return this.files.length > 1 && nesting === 0 && this.files.includes(String(name))
  }

  /** Takes what is said at once; what is reported with the results comes in their order, behind a test that hangs. */
  takeProgress({ type, data }: TestEvent): void {
    const { testId, parentId, name, entryFile } = data
    // Ids of the process itself begin with 1 as well.
    if (entryFile === undefined) return
    if (type === 'test:dequeue') {
      this.running.set(testId, { name: String(name), parent: parentId, since: performance.now() })
      if (this.isFile(data)) this.file = String(name)
    } else if (type === 'test:complete') this.running.delete(testId)
  }

  /** @returns a line for each test that has not ended: the suites it is in follow from its name */
  hanging(): string[] {
    const parents = new Set([...this.running.values()].map(({ parent }) => parent))
    const inner = [...this.running].filter(([id]) => !parents.has(id))
    const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(0)
    return inner.map(([id, { since }]) => `has not ended for ${seconds(since)} s: ${this.#pathOf(id)}`)
  }

  #pathOf(id: unknown): string {
    const test = this.running.get(id)
    if (test === undefined) return ''
    const outer = this.#pathOf(test.parent)
    return outer === '' ? test.name : `${outer} › ${test.name}`
  }

  /** @returns the seconds that the file has taken */
  end(): number {
    const now = performance.now()
    const seconds = (now - this.#since) / 1000
    this.open.delete(this.file)
    this.#since = now
    this.counts = { tests: 0, passed: 0, skipped: 0 }
    this.hasFailed = false
    return seconds
  }
}

/** Gathers the events of the processes and prints as it goes. */
export class Outline {
  readonly leftOut: LeftOut[] = []
  /** False as soon as one file did not go well. */
  passed = true
  readonly #started = performance.now()
  readonly #totals = new Map<string, number>()
  readonly #root: string
  readonly #failures: string[] = []
  readonly #times: { file: string; seconds: number }[] = []

  /** @param root the folder file names are shown from */
  constructor(root: string) {
    this.#root = root
  }

  /**
   * Takes everything that one process says.
   * @param files that it runs: one, or several as suites of their names
   * @param heard called each time that it says something
   */
  async follow(files: readonly string[], events: AsyncIterable<TestEvent>, heard: () => void): Promise<void> {
    const from = new TestProcess(files.map((file) => relative(this.#root, file)))
    for await (const event of events) {
      heard()
      from.takeProgress(event)
      this.#take(event, from)
    }
  }

  #take({ type, data }: TestEvent, from: TestProcess): void {
    if (type === 'test:start' && !from.isFile(data)) from.names.set(data.testId, this.#pathOf(data, from))
    else if (type === 'test:fail' || type === 'test:pass') this.#end(type === 'test:pass', data, from)
    else if (type === 'test:stderr' || type === 'test:stdout') {
      process.stderr.write(String(data.message))
      from.lastLines = [...from.lastLines, ...String(data.message).trimEnd().split('\n')].slice(-LAST_LINES)
    } else if (type === 'test:summary' && data.file === undefined) this.#summary(data, from)
  }

  /** The files that made the processors work longest, of this run. @param worked seconds by file */
  showSlowest(worked: ReadonlyMap<string, number>): void {
    console.log('Slowest files, by the time that processors worked for them:')
    const times = this.#times.map(({ file, seconds }) => ({ file, seconds, worked: worked.get(file) ?? 0 }))
    for (const { file, seconds, worked } of times.toSorted((a, b) => b.worked - a.worked).slice(0, SLOWEST))
      console.log(`  ${worked.toFixed(1).padStart(6)} s ${file} (${seconds.toFixed(1)} s)`)
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

  /** All failures again: build machines keep the last lines only. */
  showFailures(): void {
    if (this.#failures.length === 0) return
    console.log(`Failed (${this.#failures.length}):`)
    for (const failure of this.#failures) console.log(firstLines(failure))
  }

  /** Suite and test names down to this one. */
  #pathOf(data: TestEvent['data'], from: TestProcess): string {
    const parent = from.names.get(data.parentId)
    return parent === undefined ? String(data.name) : `${parent} › ${data.name}`
  }

  /** The end of a test, a suite or a file of a group. */
  #end(isPassed: boolean, data: TestEvent['data'], from: TestProcess): void {
    const isTest = (data.details as { type?: string }).type !== 'suite'
    if (!isPassed && data.todo === undefined) this.#fail(data, from)
    else if (data.skip !== undefined) this.#skip(data, from)
    if (isTest) {
      from.counts.tests++
      if (data.skip !== undefined) from.counts.skipped++
      else if (isPassed) from.counts.passed++
    }
    if (from.isFile(data)) this.#endFile(from)
  }

  #fail(data: TestEvent['data'], from: TestProcess): void {
    from.hasFailed = true
    const error = (data.details as { error: Failure }).error
    // The nested tests have reported their failures already.
    if (error.failureType === 'subtestsFailed') return
    const name = from.names.get(data.testId) ?? String(data.name)
    // The name of a process is the path of its first file.
    const isProcess = name === data.file
    const others = from.files.length > 1 && isProcess ? `, in one process with ${from.files.join(', ')}` : ''
    const title = `✖ ${isProcess ? from.file + others : name}`
    const at = isProcess ? '' : `\n    at ${relative(this.#root, String(data.file))}:${data.line}:${data.column}`
    const frames = /^\s+at .*node:internal/
    const text = describe(error)
      .split('\n')
      .filter((line) => !frames.test(line))
    const lines = isProcess ? [...text, ...from.hanging(), ...from.lastLines] : text
    this.#show(`${title}\n    of ${from.file}${at}\n${lines.map((line) => `    ${line}`).join('\n')}`)
  }

  #skip(data: TestEvent['data'], from: TestProcess): void {
    const reason = data.skip === true ? 'no reason given' : String(data.skip)
    this.leftOut.push({ file: from.file, name: from.names.get(data.testId) ?? '', reason })
  }

  #endFile(from: TestProcess): void {
    const { file, hasFailed, counts } = from
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} left out` : ''
    const seconds = from.end()
    this.#times.push({ file, seconds })
    console.log(
      `${hasFailed ? '✖' : '✔'} ${file}: ${counts.passed} of ${counts.tests}${skipped} (${seconds.toFixed(1)} s)`,
    )
  }

  /** The last event of a process. */
  #summary(data: TestEvent['data'], from: TestProcess): void {
    const { success, counts } = data as unknown as Summary
    this.passed &&= success
    for (const [member] of TOTALS) this.#totals.set(member, (this.#totals.get(member) ?? 0) + counts[member])
    if (from.files.length === 1) this.#endFile(from)
    // The files of a group are suites in node's count.
    else this.#totals.set('suites', this.#totals.get('suites')! - (from.files.length - from.open.size))
    for (const file of from.open) this.#show(`✖ ${file}\n    did not run: its process ended before, see ${from.file}`)
  }

  #show(failure: string): void {
    this.passed = false
    this.#failures.push(failure)
    console.log(failure)
  }
}

function firstLines(text: string): string {
  const lines = text.split('\n')
  const more = lines.length - FAILURE_LINES
  return more > 0 ? [...lines.slice(0, FAILURE_LINES), `    … and ${more} more lines: see above.`].join('\n') : text
}

/** The whole error; of a failed assertion its message and location, which contain the rest. */
function describe({ cause, message }: Failure): string {
  if (!(cause instanceof Error)) return message
  return 'code' in cause && cause.code === 'ERR_ASSERTION' ? (cause.stack ?? cause.message) : inspect(cause)
}
