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
const FILE_LIMIT_MS = 300_000

/** Whether a file takes about a minute. */
const isLong = (file: string) => /test\/(web|flows\/kills|api\/authorization)/.test(file)

/** Folders stand for every test file in them; anything else is a file or a glob, seen from the project folder. */
function testFiles(patterns: readonly string[]): string[] {
  const found = patterns.flatMap((pattern) => {
    const isFolder = statSync(join(ROOT, pattern), { throwIfNoEntry: false })?.isDirectory() ?? false
    return globSync(isFolder ? join(pattern, '**/*.test.ts') : pattern, { cwd: ROOT })
  })
  return [...new Set(found)].sort().map((file) => join(ROOT, file))
}

/** Runs the files in processes of their own, as many at a time as there are processors. */
async function runTests(files: string[]): Promise<Outline> {
  const outline = new Outline(ROOT)
  // The longest first, so that none of them is left alone at the end.
  const waiting = files.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)))
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      // node:test has a limit for a test, none for a file.
      const events = run({ files: [file], cwd: ROOT, signal: AbortSignal.timeout(FILE_LIMIT_MS) })
      for await (const event of events) outline.take(event as TestEvent)
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker))
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
