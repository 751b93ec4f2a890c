// `npm test`: format, lint and types, then every test file; `npm test -- test/api` runs a part of the test files only.

import { globSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { run } from 'node:test'
import { check } from './check.ts'
import { Outline, type TestEvent } from './outline.ts'

const ROOT = join(import.meta.dirname, '..')
/** A file that takes longer than this hangs, or left something open behind its last test; it is ended and has failed. */
const FILE_LIMIT_MS = 480_000

/** Files that take longest; the first of them begins first. */
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

/** Of the processes of tests alone: what they start runs as people run it. Modules are found without resolving links, which none of them needs. */
const EXEC_ARGV = ['--preserve-symlinks', '--preserve-symlinks-main']

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

/** Runs the files in processes of their own: one more at a time than there are processors, because tests also wait for disks and programs. */
async function runTests(files: string[]): Promise<Outline> {
  const outline = new Outline(ROOT)
  // The longest first, so that none of them is left alone at the end.
  const waiting = files.toSorted((a, b) => rankOf(a) - rankOf(b))
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      // node:test has a limit for a test, none for a file.
      const events = run({ files: [file], cwd: ROOT, execArgv: EXEC_ARGV, signal: AbortSignal.timeout(FILE_LIMIT_MS) })
      for await (const event of events) outline.take(event as TestEvent)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() + 1 }, worker))
  return outline
}

const patterns = process.argv.slice(2)
const files = testFiles(patterns.length > 0 ? patterns : ['test'])
if (files.length === 0) {
  console.error(`There is no test file for ${patterns.join(' ')}.`)
  process.exit(1)
}
const checked = patterns.length > 0 || (await check())
const outline = await runTests(files)
outline.showTotals()
outline.showLeftOut()
// Where everything the tests need has been laid out, a test left out is a hole.
const mayLeaveOut = process.env.REQUIRE_INTEROP !== '1' && process.env.CI !== 'true'
const complete = mayLeaveOut || outline.leftOut.length === 0
if (!complete) console.log('✖ Nothing may be left out here (REQUIRE_INTEROP or CI is set).')
if (!checked) console.log('✖ Format, lint or types: see the top.')
process.exitCode = checked && outline.passed && complete ? 0 : 1
