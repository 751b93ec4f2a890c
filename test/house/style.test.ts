// Style of the files of src: their first sentence, their names, forbidden constructs, and their sizes.

import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { test } from 'node:test'
import { type Source, sources } from '../support/source.ts'

const FORBIDDEN_NAMES = /^(?:utils?|helpers?|common|managers?|handlers?|services?|misc|index)\.ts$/
/** Time is asked of the clock, so that tests can move it. */
const TIME_WORDS = new Set(['Date.now', 'performance.now', 'process.hrtime', 'process.hrtime.bigint'])
const FILE_LINES = 400
const MEDIAN_LINES = 120
const FUNCTION_LINES = 60

const all = sources()

function list(find: (source: Source) => string[]): string[] {
  return all.flatMap(find)
}

test('every file begins with a sentence that says what it is', () => {
  const wrong = all.filter(({ text }) => !/^\/\/ [A-Z`'"][^\n]*(?:\n\/\/ [^\n]+)*[.!]\n\n/.test(text))
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('file names are kebab-case nouns, more specific than "utils"', () => {
  const wrong = all.filter(({ path }) => {
    const name = basename(path)
    return FORBIDDEN_NAMES.test(name) || !/^[a-z0-9]+(?:-[a-z0-9]+)*\.c?ts$/.test(name)
  })
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  )
})

test('no any', () => {
  assert.deepEqual(
    list(({ path, anyTypes }) => anyTypes.map(({ line }) => `${path}:${line}`)),
    [],
  )
})

test('no default exports, except in modules of thread pools', () => {
  const threads = /-thread\.ts$/
  const wrong = list(({ path, defaultExports }) =>
    threads.test(path) ? [] : defaultExports.map(({ line }) => `${path}:${line}`),
  )
  assert.deepEqual(wrong, [])
})

test('time is read from the clock', () => {
  const wrong = all
    .filter(({ path }) => path !== 'src/base/clock.ts')
    .flatMap(({ path, accesses }) =>
      accesses.filter(({ name }) => TIME_WORDS.has(name)).map(({ line, name }) => `${path}:${line} ${name}`),
    )
  assert.deepEqual(wrong, [])
})

test('only the start reads the environment', () => {
  const readers = ['src/config/load.ts', 'src/main.ts', 'src/cli/cli.ts']
  const wrong = all
    .filter(({ path }) => !readers.includes(path))
    .flatMap(({ path, accesses }) =>
      accesses.filter(({ name }) => /^process\.env\b/.test(name)).map(({ line }) => `${path}:${line}`),
    )
  assert.deepEqual(wrong, [])
})

test('no file and no function is too long to be read in one piece, and most files are short', () => {
  const lengths = all.map(({ lines }) => lines).sort((a, b) => a - b)
  const median = lengths[Math.floor(lengths.length / 2)]!
  assert.ok(median <= MEDIAN_LINES, `half of the files have more than ${median} lines`)
  const files = all.filter(({ lines }) => lines > FILE_LINES).map(({ path, lines }) => `${path}: ${lines} lines`)
  assert.deepEqual(files, [], `files above ${FILE_LINES} lines`)
  const functions = list(({ path, functions: spans }) =>
    spans
      .filter(({ lines }) => lines > FUNCTION_LINES)
      .map(({ name, line, lines }) => `${path}:${line} ${name}: ${lines} lines`),
  )
  assert.deepEqual(functions, [], `functions above ${FUNCTION_LINES} lines`)
})
