// The documentation names existing things: settings, permissions, commands, events of the log, metrics, paths of the API.

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { settings } from '../../src/config/config.ts'
import { MAILBOX_SCOPES, PERMISSIONS } from '../../src/directory/names/permissions.ts'
import { EVENT_TYPES } from '../../src/events/event-types.ts'
import { Commands } from '../support/cli.ts'
import { blocksOf, codeWordsOf, DOC_NAMES, readText } from '../support/docs.ts'
import { ROOT, sources } from '../support/source.ts'

const files = ['README.md', ...DOC_NAMES.map((name) => `docs/${name}.md`)].map((path) => ({
  path,
  text: readText(path),
  words: codeWordsOf(readText(path)),
}))
const DESIGN = readdirSync(join(ROOT, 'docs/design')).map((name) => `docs/design/${name}`)
const literals = new Set(sources().flatMap((source) => source.literals.map(({ text }) => text)))

/** Words of other programs, and of the repository itself. */
const NO_SETTING = new Set([
  'DATA',
  'HEALTHCHECK',
  'HTTP_PRT',
  'NODE_ENV',
  'SHARED_DIR',
  'ROOT',
  'KEY',
  'JSON',
  'RSET',
  'MAIL',
  'RCPT',
  'DELETE',
  'PATCH',
  'POST',
])

/** @returns `file: word` for every word in code that `concerns` and does not exist */
function unknown(pick: (word: string) => string | undefined, exists: (name: string) => boolean): string[] {
  return files.flatMap(({ path, words }) =>
    words.flatMap((word) => {
      const name = pick(word)
      return name === undefined || exists(name) ? [] : [`${path}: ${name}`]
    }),
  )
}

test('settings', () => {
  const pick = (word: string) => /^([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]|[A-Z]{4,})(?:=.*)?$/.exec(word)?.[1]
  assert.deepEqual(
    unknown(pick, (name) => name in settings || NO_SETTING.has(name)),
    [],
  )
})

test('values of others stand in quotes in commands for a shell', () => {
  const bare = files.flatMap(({ path, text }) =>
    blocksOf(text)
      .filter(({ language }) => language === 'sh' || language === 'bash')
      .flatMap((block) => block.text.split('\n'))
      // Without what is quoted, a path that ends in a variable has an id that the reader was given.
      .filter((line) => /\/\$[A-Z]/.test(line.replace(/"[^"]*"|'[^']*'/g, '')))
      .map((line) => `${path}: ${line}`),
  )
  assert.deepEqual(bare, [])
})

test('permissions', () => {
  const known = new Set<string>([...PERMISSIONS, ...MAILBOX_SCOPES])
  const pick = (word: string) => /^(?:mailbox|email|webhook|domain|provider|apikey|team)\.[a-z.]+$/.exec(word)?.[0]
  assert.deepEqual(
    unknown(pick, (name) => known.has(name)),
    [],
  )
})

test('types of webhook events: all of them, and no others', () => {
  const { words } = files.find(({ path }) => path === 'docs/webhooks.md')!
  const named = new Set(words.filter((word) => /^(?:message|remote_account|service)\.[a-z_.]+$/.test(word)))
  assert.deepEqual([...named].toSorted(), [...EVENT_TYPES].toSorted())
})

test('events of the log and metrics exist in the sources', () => {
  const { text, words } = files.find(({ path }) => path === 'docs/operations.md')!
  const [table] = text.split('| `event` | Meaning |')[1]!.split('\n\n')
  const events = codeWordsOf(table!).filter((word) => /^[a-z]+\.[a-z_]+$/.test(word))
  assert.ok(events.length > 0)
  const all = [...literals]
  for (const event of events) assert.ok(literals.has(event), event)
  for (const word of words.filter((one) => one.startsWith('mailstead_'))) {
    const name = word.replace(/\{.*$/, '')
    const tail = name.replace(/^mailstead_(?:mail_db_|blobs_db_)?/, '')
    assert.ok(
      all.some((text_) => text_ === name || text_ === tail || text_.endsWith(`_${tail}`)),
      word,
    )
  }
})

test('commands and their options', async () => {
  const cli = new Commands({})
  const known = (await cli.run('--help')).out
    .join('\n')
    .match(/^ {2}[a-z][a-z -]*?(?= {2,}| <)/gm)!
    .map((it) => it.trim())
  assert.ok(known.length > 20)
  for (const { path, text, words } of files) {
    const lines = [...words, ...blocksOf(text).flatMap((block) => block.text.split('\n'))]
    for (const line of lines) {
      const [, said] = /(?:npx mailstead|docker exec mailstead mailstead) ([a-z][^|`]*)/.exec(line) ?? []
      if (said === undefined) continue
      const command = known.filter((one) => said === one || said.startsWith(`${one} `)).at(-1)
      assert.ok(command !== undefined, `${path}: mailstead ${said}`)
      const help = (await cli.run(...command.split(' '), '--help')).out.join('\n')
      for (const [option] of said.matchAll(/--[a-z-]+/g)) assert.ok(help.includes(option), `${path}: mailstead ${said}`)
    }
  }
})

test('the table of commands in docs/operations.md is complete', async () => {
  const { text } = files.find(({ path }) => path === 'docs/operations.md')!
  const [table] = text.split('## Commands')[1]!.split('\n## ')
  const named = new Set<string>()
  for (const [row] of table!.matchAll(/^\| `.*$/gm)) {
    const words = codeWordsOf(row.split('|')[1]!)
    const [first] = words[0]!.split(' ')
    for (const word of words) named.add(word.includes(' ') || words[0] === first ? word : `${first} ${word}`)
  }
  // Words of two groups share a row: "team credit", and "limit-request list", "approve", "deny".
  for (const word of ['approve', 'deny']) if (named.delete(`team ${word}`)) named.add(`limit-request ${word}`)
  const help = (await new Commands({}).run('--help')).out.join('\n')
  const known = help.match(/^ {2}[a-z][a-z -]*?(?= {2,}| <)/gm)!.map((one) => one.trim())
  assert.deepEqual([...named].toSorted(), known.toSorted())
})

test('the sample of doctor in docs/operations.md', () => {
  const sample = blocksOf(readText('docs/operations.md')).find(({ text }) => /^ {2}ok {4}/.test(text))!
  const sentences = sample.text
    .split('\n')
    .map((line) => line.trim().replace(/^(?:(?:ok|warn) +[A-Z][a-z ]+: |\$ )/, ''))
  for (const sentence of sentences.filter((one) => one !== '')) {
    assert.ok(literals.has(sentence) || literals.has(sentence.replace(/\d[\d.]*(?: [kMG]B)?/, `\${}`)), sentence)
  }
})

test('paths of the API', () => {
  const pathsIn = (file: string, base = '') => {
    const { paths } = JSON.parse(readText(`docs/${file}`)) as { paths: object }
    return Object.keys(paths).map((path) => base + path)
  }
  const all = [
    ...pathsIn('openapi.json'),
    ...pathsIn('openapi-operator.json', '/operator/v1'),
    ...pathsIn('openapi-me.json', '/me/v1'),
  ]
  const shape = (path: string) => path.replace(/\{[^}]*\}/g, '{}')
  const known = new Set([...all, '/openapi.json'].map(shape))
  const wrong = unknown(
    (word) => {
      const [, path] = /^(?:(?:GET|POST|PUT|PATCH|DELETE) )(?:\/api\/v1)?(\/[^\s?]*)/.exec(word) ?? []
      return path === undefined || path.includes('…') ? undefined : shape(path)
    },
    // Where a page speaks of one mailbox it leaves out the beginning.
    (path) => known.has(path) || known.has(`/mailbox${path}`),
  )
  assert.deepEqual(wrong, [])
})

test('files and folders that the plan, the design and CONTRIBUTING.md name', () => {
  /** Paths in the data folder, in the built program and of the API. */
  const others = new Set(['restoring/', 'settings.json', 'dist/', 'dist/build.json', 'openapi.json'])
  const { dependencies } = JSON.parse(readText('package.json')) as { dependencies: object }
  const isPath = (word: string) =>
    /^[\w.-]+(?:\/[\w.-]*)+$|^[\w-]+\.(?:ts|js|json|md)$/.test(word) &&
    !(word in dependencies) &&
    !others.has(word) &&
    !word.startsWith('application/')
  const exists = (word: string) =>
    ['', 'src', 'test/units'].some((folder) =>
      ['', '.ts', '.test.ts'].some((end) => existsSync(join(ROOT, folder, word + end))),
    )
  const documents: [string, string][] = [
    ...['src/README.md', 'docs/architecture.md', 'CONTRIBUTING.md', ...DESIGN].map((path): [string, string] => [
      path,
      readText(path),
    ]),
  ]
  const paths = documents.flatMap(([path, text]) =>
    codeWordsOf(text)
      .flatMap((words) => words.split(' '))
      .filter(isPath)
      .map((word) => ({ path, word })),
  )
  assert.ok(paths.length > 100)
  assert.deepEqual(
    paths.filter(({ word }) => !exists(word)).map(({ path, word }) => `${path}: ${word}`),
    [],
  )
})
