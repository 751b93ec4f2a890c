// Retired words are used neither in identifiers nor in prose of the sources; and the names of exported types are unique.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { RETIRED_PROSE } from '../support/retired-words.ts'
import { ROOT, sources } from '../support/source.ts'

/** Not allowed as a part of an identifier; a camelCase name is compared part by part. */
const RETIRED = new Set(
  (
    'told tell tells telling place places journey journeys passage passages guide guides way ways spot spots desk desks ' +
    'judge judged judgement ruling fate fates standing babble fault faults letter letters company divisions pace ration ' +
    'rations budget clockwork rubbish hurry house houses wake bell ring ear grown stretch stretches patience wish wishes ' +
    'whoever anew stumble mails'
  ).split(' '),
)
/** Not allowed in an identifier of more than one part. */
const RETIRED_PAIRS = /^(?:letGo|giveBack)$/
/** Not allowed as the name of a type. */
const RETIRED_TYPES = new Set(['Asked', 'Held', 'Waiting', 'Kept', 'Found'])

/** Identifiers that contain a retired word with its proper meaning. */
const ALLOWED = [
  { name: /^letterSpacing/, reason: 'the CSS property letter-spacing' },
  { name: /^letters?$/, path: 'src/content/extract/sheets.ts', reason: 'columns of a sheet are named by letters' },
  { name: /^letters?$/, path: 'src/mime/spam-traits.ts', reason: 'letters of the alphabet' },

  { name: /^mails$/, path: 'src/store/log/sent-hours.ts', reason: 'a column of the database' },
]

/** Released migrations are not edited; the other files match words of other languages and programs, such as the local part `nobody`. */
const PROSE_ALLOWED = /^src\/(?:db\/migrations\/|mime\/auto-reply\.ts|reports\/phrases\.ts)/

const all = sources()

function partsOf(name: string): string[] {
  return name
    .replace(/^#/, '')
    .split(/_|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .map((part) => part.toLowerCase())
}

function isRetired(name: string): boolean {
  return RETIRED_PAIRS.test(name.replace(/^#/, '')) || partsOf(name).some((part) => RETIRED.has(part))
}

function isAllowed(name: string, path: string): boolean {
  const plain = name.replace(/^#/, '')
  return ALLOWED.some((one) => one.name.test(plain) && (one.path === undefined || one.path === path))
}

function documents(): { path: string; text: string }[] {
  const folders = ['src', 'web', 'data', 'config', 'clients/typescript']
  const pages = ['README.md', ...folders.map((folder) => `${folder}/README.md`)]
  const paths = [...pages, ...globSync(['docs/*.md', 'scripts/**/*.ts'], { cwd: ROOT })]
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

test('no identifier of src contains a retired word', () => {
  const wrong = all.flatMap(({ path, identifiers }) =>
    identifiers
      .filter(({ name }) => isRetired(name) && !isAllowed(name, path))
      .map(({ line, name }) => `${path}:${line} ${name}`),
  )
  assert.deepEqual(wrong, [])
})

test('no type has a retired name', () => {
  const wrong = all.flatMap(({ path, types }) =>
    types.filter(({ name }) => RETIRED_TYPES.has(name)).map(({ line, name }) => `${path}:${line} ${name}`),
  )
  assert.deepEqual(wrong, [])
})

test('no sentence of src, scripts and the documents contains a retired word', () => {
  const wrong = [...all, ...documents()]
    .filter(({ path }) => !PROSE_ALLOWED.test(path))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, index) => (RETIRED_PROSE.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
    )
  assert.deepEqual(wrong, [])
})

test('no title, comment or helper of the tests of the API and the flows contains a retired word', () => {
  const files = globSync(['test/{api,flows,support}/*.ts', 'test/units/http/*.ts'], {
    cwd: ROOT,
    exclude: ['test/support/retired-words.ts'],
  })
  const wrong = files.flatMap((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        // The local part, user name and key `nobody` is data.
        RETIRED_PROSE.test(line.replace(/(?:['" <])nobody(?=[@'"])/g, ''))
          ? [`${path}:${index + 1} ${line.trim()}`]
          : [],
      ),
  )
  assert.ok(files.length > 100)
  assert.deepEqual(wrong, [])
})

test('the name of an exported type is unique', () => {
  const files = new Map<string, Set<string>>()
  for (const { path, types } of all) {
    for (const { name, isExported } of types) {
      if (isExported) files.set(name, (files.get(name) ?? new Set()).add(path))
    }
  }
  const wrong = [...files].filter(([, paths]) => paths.size > 1).map(([name, paths]) => [name, ...paths].join(' '))
  assert.deepEqual(wrong, [])
})
