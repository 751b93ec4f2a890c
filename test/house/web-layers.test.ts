// The layers of web/src and what each alone may do: requests in api/, sentences in words/, colours in look/.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RETIRED_PROSE } from '../support/retired-words.ts'
import { webSources, withoutComment } from '../support/web-source.ts'

/** Layers of web/src by their folders; a file imports from its own folder or a lower layer. */
const LAYERS = new Map([
  ['console.tsx', 7],
  ['mail.tsx', 7],
  ['palette-entries.ts', 6],
  ['shells.ts', 6],
  ['start.tsx', 6],
  ['console', 5],
  ['mail', 5],
  ['operator', 5],
  ['me', 5],
  ['sign-in', 5],
  ['first-run', 5],
  ['frame', 4],
  ['panels', 4],
  ['parts', 3],
  ['live', 2],
  ['sync', 2],
  ['api', 1],
  ['words', 1],
  ['look', 1],
  ['base', 0],
])
const FILE_LINES = 300
const FUNCTION_LINES = 60

const all = webSources()
const roomOf = (path: string) => path.split('/')[0]!

function lines(wrong: (line: string) => boolean, isMeant: (path: string) => boolean): string[] {
  return all
    .filter(({ path }) => isMeant(path))
    .flatMap((source) =>
      source.lines.flatMap((line, index) =>
        wrong(withoutComment(line)) ? [`${source.path}:${index + 1} ${line.trim()}`] : [],
      ),
    )
}

test('every file of web/src is in a layer, and imports go down or stay in their folder', () => {
  const wrong = all.flatMap(({ path, imports }) => {
    const from = LAYERS.get(roomOf(path))
    if (from === undefined) return [`${path}: its folder has no layer`]
    return (
      imports
        .filter((to) => roomOf(to) !== roomOf(path) && (LAYERS.get(roomOf(to)) ?? 99) >= from)
        // What api/ needs of the browser's language is set below it; the sign of a tone is a name of look/.
        .map((to) => `${path} imports ${to}`)
    )
  })
  assert.deepEqual(wrong, [])
})

test('pages of the console do not import each other', () => {
  const pageOf = (path: string) => /^console\/([^/]+)\/[^/]+$/.exec(path)?.[1]
  const wrong = all.flatMap(({ path, imports }) => {
    const page = pageOf(path)
    if (page === undefined || page === 'shell') return []
    return imports.filter((to) => pageOf(to) !== undefined && pageOf(to) !== page).map((to) => `${path} imports ${to}`)
  })
  assert.deepEqual(wrong, [])
})

test('only api/ calls fetch, nothing writes HTML or code', () => {
  assert.deepEqual(
    lines(
      (line) => /\bfetch\(/.test(line),
      (path) => !path.startsWith('api/'),
    ),
    [],
  )
  const forbidden =
    /innerHTML|outerHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function|insertAdjacentHTML|\bstyle="/
  assert.deepEqual(
    lines(
      (line) => forbidden.test(line),
      () => true,
    ),
    [],
  )
})

test('sentences stand in words/ only', () => {
  // Text between tags, and literals of two words that begin with a capital: both are read by people.
  const inTags = />[^<>{}=]*[A-Za-z]{2}[^<>{}=]*<\//
  const literal = /['"`][A-Z][a-z]+(?: [A-Za-z]+)+[.!?…]?['"`]/
  const labels = /\b(?:aria-label|title|placeholder|alt|label)="[^"]*[A-Za-z]/
  const isThrown = /throw new Error\(/
  assert.deepEqual(
    lines(
      (line) =>
        !isThrown.test(line) && (inTags.test(line.replaceAll('=>', '')) || literal.test(line) || labels.test(line)),
      (path) => path.endsWith('.tsx') || path.startsWith('base/'),
    ),
    [],
  )
})

test('words/en/all.ts names every file of texts, so that no language leaves one out', () => {
  const files = all.map(({ path }) => /^words\/en\/(.+)$/.exec(path)?.[1]).filter((name) => name && name !== 'all.ts')
  const listed = all.find(({ path }) => path === 'words/en/all.ts')!.text
  assert.deepEqual(
    files.filter((name) => !listed.includes(`'./${name}'`)),
    [],
  )
})

test('style sheets name no left or right: a language may be written from right to left', () => {
  const sides = /(?:^|[\s;{-])(?:left|right)(?:-\w+)*\s*:|:\s*(?:left|right)\s*;/
  // Of four values, the second and the last are the sides.
  const uneven = /(?:padding|margin|inset):\s*(\S+) (\S+) (\S+) (?!\2;)(\S+);/
  const wrong = webSources('css').flatMap(({ path, lines: rows }) =>
    rows.flatMap((row, index) =>
      (sides.test(row) || uneven.test(row)) && !row.includes('border-right: 1px dashed')
        ? [`${path}:${index + 1} ${row.trim()}`]
        : [],
    ),
  )
  assert.deepEqual(wrong, [])
})

test('colours stand in look/tokens.css only', () => {
  const wrong = webSources('{css,ts,tsx}')
    .filter(({ path }) => path !== 'look/tokens.css')
    .flatMap(({ path, lines: rows }) =>
      rows.flatMap((line, index) =>
        /#[0-9a-f]{6}\b|#[0-9a-f]{3}\b|\brgba?\(|\bhsla?\(|\boklch\(/i.test(line)
          ? [`${path}:${index + 1} ${line.trim()}`]
          : [],
      ),
    )
  assert.deepEqual(wrong, [])
})

test('files begin with a sentence, are short, and have no any', () => {
  const wrong = all.flatMap(({ path, text, lines: rows }) => [
    ...(/^\/\/ [A-Z`'"][^\n]*(?:\n\/\/ [^\n]+)*[.!]\n\n/.test(text) ? [] : [`${path} does not begin with a sentence`]),
    ...(rows.length > FILE_LINES ? [`${path} has ${rows.length} lines`] : []),
    ...(/^(?!\/\/).*(?::|<|\bas) any\b/m.test(text.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, ''))
      ? [`${path} has any`]
      : []),
    ...longFunctions(rows).map((where) => `${path}:${where}`),
  ])
  assert.deepEqual(wrong, [])
})

/** Functions at the left edge that have more lines than allowed: the formatter puts their end there as well. */
function longFunctions(rows: readonly string[]): string[] {
  return rows.flatMap((line, index) => {
    if (!/^(?:export )?(?:async )?function /.test(line)) return []
    const length = rows.slice(index).findIndex((row) => row === '}') + 1
    return length > FUNCTION_LINES ? [`${index + 1} has a function of ${length} lines`] : []
  })
}

test('every icon that is listed is used, so that the file of icons stays small', async () => {
  const { ICONS } = (await import('../../web/src/look/icons.ts')) as { ICONS: readonly string[] }
  const text = all
    .filter(({ path }) => path !== 'look/icons.ts')
    .map((source) => source.text)
    .join('\n')
  assert.deepEqual(
    ICONS.filter((name) => !text.includes(`'${name}'`) && !text.includes(`"${name}"`)),
    [],
  )
  assert.deepEqual([...new Set(ICONS)].length, ICONS.length, 'an icon is listed twice')
})

test('no sentence of web/ contains a retired word', () => {
  const wrong = webSources('{ts,tsx,css}').flatMap(({ path, lines: rows }) =>
    rows.flatMap((row, index) => (RETIRED_PROSE.test(row) ? [`${path}:${index + 1} ${row.trim()}`] : [])),
  )
  assert.deepEqual(wrong, [])
})
