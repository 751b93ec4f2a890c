// Citations of design decisions: each names a section that exists in docs/design, and no text for the public cites one.

import assert from 'node:assert/strict'
import { globSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { readText } from '../support/docs.ts'
import { ROOT } from '../support/source.ts'

const PAGES = readdirSync(`${ROOT}/docs/design`).filter((name) => name.endsWith('.md'))
/** `page.md §n` with further sections of the same page: `docs/design/http.md §1, §4 and §5`. */
const CITATION = /\b([a-z-]+\.md) §(\d+(?:\.\d+)*(?:(?:,| and| or)? §\d+(?:\.\d+)*)*)/g
/** Names of pages that are not in the repository. */
const FOREIGN = /\b(?:decisions(?:-imap)?|specification|architecture|imap\.md|web\.md)(?:\.md)? §/i

const sections = new Set(
  PAGES.flatMap((page) =>
    [...readText(`docs/design/${page}`).matchAll(/^##+ (\d+(?:\.\d+)*)\.? /gm)].map(
      (heading) => `${page} §${heading[1]}`,
    ),
  ),
)
/** A comment that goes on in the next line reads as one line. */
const joined = (text: string) => text.replace(/\n\s*(?:\/\/|\*|#)?\s*/g, ' ')
const texts = globSync(['{src,test,scripts,bench}/**/*.{ts,js,mjs}', 'web/src/**/*.{ts,tsx,css}', 'docs/design/*.md'], {
  cwd: ROOT,
  exclude: ['test/house/design.test.ts'],
}).map((path) => ({ path, text: joined(readText(path)) }))

test('cited sections exist', () => {
  const citations = texts.flatMap(({ path, text }) =>
    [...text.matchAll(CITATION)].flatMap(([, page, list]) =>
      [...list!.matchAll(/\d+(?:\.\d+)*/g)].map(([section]) => ({ path, section: `${page} §${section}` })),
    ),
  )
  assert.ok(citations.length > 300, `only ${citations.length} citations were read`)
  assert.deepEqual(
    citations.filter(({ section }) => !sections.has(section)),
    [],
  )
})

test('no page outside of the repository is cited', () => {
  const foreign = texts.filter(({ text }) => FOREIGN.test(text)).map(({ path }) => path)
  assert.deepEqual(foreign, [])
})

test('texts for the public cite no section of the design', () => {
  const published = ['README.md', ...globSync(['docs/*.md', 'docs/*.json'], { cwd: ROOT })]
  assert.deepEqual(
    published.filter((path) => /docs\/design\/[a-z-]+\.md §|\b(?:decisions|specification) §/.test(readText(path))),
    [],
  )
})
