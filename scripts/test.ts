// `npm test`: format, lint and types, then every test file; `npm test -- test/api` runs a part of the test files only. MAILSTEAD_RUN says which
// form of the program the flows run: the sources, the bundle, or each half of them one; by default the bundle where every file runs.

import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import process from 'node:process'
import { run } from 'node:test'
import { buildBundle } from './build.ts'
import { isBundleFresh } from './bundle.js'
import { check } from './check.ts'
import { Outline, type TestEvent } from './outline.ts'
import { NOTES, notedTimes, processorSeconds } from './processor-time.ts'

const ROOT = join(import.meta.dirname, '..')
/** A process that says nothing for this long hangs, or left something open behind its last test; it is ended and has failed. */
const SILENCE_LIMIT_MS = 900_000
const SILENT = `No test began or ended within ${SILENCE_LIMIT_MS / 1000} s.`

/** Files that take longest, each in a process of its own; the first of them begins first. */
const LONG = [
  'web/console',
  'flows/kills',
  'flows/outside-proof',
  'web/stories',
  'api/bad-input',
  'api/authorization',
  'flows/demo',
  'flows/outside-',
]

/** The files of these folders run one after the other, some in one process: most of the time of each would be its start. */
const GROUPED = ['test/api/', 'test/me/', 'test/flows/', 'test/house/', 'test/units/']
const GROUP_SIZE = 20
const GROUP = join(ROOT, 'scripts/test-group.ts')
/** Files in these folders that measure or set up their process (authorities it trusts), block its thread, or mostly start other programs. */
const ALONE = [
  'units/base/safe-fetch',
  'units/cli/process',
  'units/imap/writer',
  'units/outbound/transports/direct',
  'units/outbound/transports/smtp-check',
  'units/outbound/transports/smtp-modes',
  'units/sync/connect',
  'units/sync/hostile',
  'units/workers/inspect',
  'flows/api-reference',
  'flows/backup',
  'flows/bundle',
  'flows/commands',
  'flows/data-folder-',
  'flows/disk',
  'flows/docs-',
  'flows/edit-kills',
  'flows/imap-folders',
  'flows/imap-limits',
  'flows/inbound-faults',
  'flows/inbound-limits',
  'flows/mailbox-purge',
  'flows/power-cut',
  'flows/readiness',
  'flows/receive-threads',
  'flows/responsive',
  'flows/sending-once',
  'flows/submission-once',
  'flows/typescript-client',
  'flows/upgrade',
  'flows/webhooks-many',
  'flows/workers',
]

/** Of the processes of tests alone: what they start runs as people run it. Modules are found without resolving links, which none of them needs. */
const EXEC_ARGV = ['--preserve-symlinks', '--preserve-symlinks-main', '--import', join(ROOT, 'scripts/test-file.ts')]

/** Folders whose tests run what a person starts, from the sources or from the bundle. */
const FLOWS = ['test/flows/', 'test/interop/']
/** Files of them that run the bundle in every turn: libraries that only they load. */
const BUNDLE_ALWAYS = ['flows/webhooks', 'flows/demo', 'flows/connected-accounts']
/** Files of them that run the sources in every turn: they give the program errors, whose classes the bundle has once more. */
const SOURCES_ALWAYS = ['flows/imap-messages', 'flows/outside-consent']
/** And those that import these: a model of a server, whose errors are of that class. */
const GIVING_ERRORS = ['support/model-account.ts', 'support/outside-model.ts']

type Form = 'sources' | 'bundle'

const patterns = process.argv.slice(2)

/**
 * `halves`: every second file runs the bundle, the others the next time. The bundle is made once and loaded in 1.0 s of processor time, the
 * sources in 2.2 s, by each process of tests and each program that they start.
 */
const RUN = process.env.MAILSTEAD_RUN ?? (patterns.length === 0 ? 'bundle' : 'sources')

/** Changes with every commit, so that each file runs both forms in turn. */
function turn(): number {
  try {
    return Number(execFileSync('git', ['rev-list', '--count', 'HEAD'], { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }))
  } catch {
    return 0
  }
}

function givesErrors(file: string): boolean {
  const text = readFileSync(file, 'utf8')
  return GIVING_ERRORS.some((name) => text.includes(name))
}

/** The form of the program that each file runs. */
function formsOf(files: readonly string[]): Map<string, Form> {
  const isIn = (names: readonly string[]) => (file: string) => names.some((name) => file.includes(`test/${name}`))
  const [isBundleAlways, isSourcesAlways] = [isIn(BUNDLE_ALWAYS), isIn(SOURCES_ALWAYS)]
  const flows = files.filter((file) => FLOWS.some((folder) => relative(ROOT, file).startsWith(folder)))
  const first = RUN === 'halves' ? turn() : 0
  const isBundle = (file: string, index: number): boolean => {
    if (RUN === 'sources' || isSourcesAlways(file) || givesErrors(file)) return false
    return RUN === 'bundle' || isBundleAlways(file) || (index + first) % 2 === 1
  }
  return new Map(flows.map((file, index) => [file, isBundle(file, index) ? 'bundle' : 'sources']))
}

/** Folders stand for every test file in them; anything else is a file or a glob, seen from the project folder. */
function testFiles(patterns: readonly string[]): string[] {
  const found = patterns.flatMap((pattern) => {
    const isFolder = statSync(join(ROOT, pattern), { throwIfNoEntry: false })?.isDirectory() ?? false
    return globSync(isFolder ? join(pattern, '**/*.test.ts') : pattern, { cwd: ROOT })
  })
  return [...new Set(found)].sort().map((file) => join(ROOT, file))
}

/** How early a file begins. */
function rankOf(file: string): number {
  const rank = LONG.findIndex((name) => file.includes(`test/${name}`))
  return rank < 0 ? LONG.length : rank
}

/** What one process runs. */
interface Group {
  files: string[]
  form: Form
}

/** The files of each process, in the order in which they begin. */
function processesOf(files: string[]): Group[] {
  const forms = formsOf(files)
  const formOf = (file: string) => forms.get(file) ?? 'sources'
  const isAlone = (file: string) => [...LONG, ...ALONE].some((name) => file.includes(`test/${name}`))
  const folderOf = (file: string) => GROUPED.find((folder) => relative(ROOT, file).startsWith(folder) && !isAlone(file))
  const alone = files.filter((file) => folderOf(file) === undefined)
  const grouped = files.filter((file) => folderOf(file) !== undefined)
  const shared = [...Map.groupBy(grouped, (file) => `${folderOf(file)} ${formOf(file)}`).values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / GROUP_SIZE) }, (_, n) =>
      group.slice(n * GROUP_SIZE, (n + 1) * GROUP_SIZE),
    ),
  )
  // The longest first, so that none of them is left alone at the end.
  const long = alone.filter((file) => rankOf(file) < LONG.length).sort((a, b) => rankOf(a) - rankOf(b))
  const others = alone.filter((file) => rankOf(file) === LONG.length)
  const all = [...long.map((file) => [file]), ...shared, ...others.map((file) => [file])]
  return all.map((group) => ({ files: group, form: formOf(group[0]!) }))
}

/** Runs the files: one more process at a time than there are processors, because tests also wait for disks and programs. */
async function runTests(files: string[]): Promise<Outline> {
  const outline = new Outline(ROOT)
  const notes = join(mkdtempSync(join(tmpdir(), 'mailstead-times-')), 'times.txt')
  writeFileSync(notes, '')
  const waiting = processesOf(files)
  const bundled = waiting.filter(({ form }) => form === 'bundle').flatMap((group) => group.files)
  if (bundled.length > 0 && !isBundleFresh(ROOT)) await buildBundle()
  if (RUN !== 'sources') console.log(`${bundled.length} of ${files.length} files run the bundle (dist/).`)
  const worker = async () => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
      const { files: names, form } = group
      const what = names.length === 1 ? { files: names } : { files: [GROUP], argv: names }
      const env = { ...process.env, MAILSTEAD_RUN: form, [NOTES]: notes }
      // node:test has a limit for a test, none for a file.
      const silence = new AbortController()
      const limit = setTimeout(() => silence.abort(new Error(SILENT)), SILENCE_LIMIT_MS)
      const events = run({ ...what, cwd: ROOT, execArgv: EXEC_ARGV, env, signal: silence.signal })
      await outline.follow(names, events as AsyncIterable<TestEvent>, () => limit.refresh())
      clearTimeout(limit)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() + 1 }, worker))
  outline.showSlowest(notedTimes(notes))
  rmSync(dirname(notes), { recursive: true })
  return outline
}

const files = testFiles(patterns.length > 0 ? patterns : ['test'])
if (files.length === 0) {
  console.error(`There is no test file for ${patterns.join(' ')}.`)
  process.exit(1)
}
const checked = patterns.length > 0 || (await check())
// One process before all others, which find the modules compiled.
if (patterns.length === 0) execFileSync(process.execPath, [join(ROOT, 'scripts/warm-cache.ts')], { stdio: 'inherit' })
const outline = await runTests(files)
outline.showTotals()
console.log(`ℹ processor_s ${Math.round(processorSeconds())}`)
outline.showLeftOut()
// Where everything the tests need has been laid out, a test left out is a hole.
const mayLeaveOut = process.env.REQUIRE_INTEROP !== '1' && process.env.CI !== 'true'
const complete = mayLeaveOut || outline.leftOut.length === 0
if (!complete) console.log('✖ Nothing may be left out here (REQUIRE_INTEROP or CI is set).')
if (!checked) console.log('✖ Format, lint or types: see the top.')
outline.showFailures()
process.exitCode = checked && outline.passed && complete ? 0 : 1
