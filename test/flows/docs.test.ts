// The documentation as the appliance serves it: every link resolves, no page runs a script, and the errors are complete.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ERRORS } from '../../src/http/errors.ts'
import { DOC_ENTRIES } from '../../src/pages/doc-pages.ts'
import { renderDocument } from '../../src/pages/markdown.ts'
import { startAppliance } from '../support/appliance.ts'
import { DOC_NAMES, linksOf, readText } from '../support/docs.ts'
import { ROOT } from '../support/source.ts'

const appliance = await startAppliance()
after(() => appliance.close())

const open = (path: string, headers: Record<string, string> = {}) =>
  fetch(appliance.origin + path, { redirect: 'manual', headers })

const idsOf = (page: string) => new Set([...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]!))

test('every file of docs/ is a page of the navigation, and every page a file', () => {
  assert.deepEqual(DOC_ENTRIES.map(({ name }) => name).toSorted(), [...DOC_NAMES].toSorted())
})

test('every link of every page leads to an existing page and anchor', async () => {
  const pages = new Map<string, { status: number; ids: Set<string> }>()
  const visit = async (path: string) => {
    const known = pages.get(path)
    if (known !== undefined) return known
    const reply = await open(path)
    const isPage = reply.headers.get('content-type')?.startsWith('text/html') ?? false
    const text = isPage ? await reply.text() : ''
    if (!isPage) await reply.body?.cancel()
    const found = { status: reply.status, ids: idsOf(text) }
    pages.set(path, found)
    return found
  }
  for (const { path } of DOC_ENTRIES) {
    const text = await (await open(path)).text()
    const links = [...text.matchAll(/ (?:href|src)="([^"]+)"/g)].map((match) => match[1]!.replaceAll('&amp;', '&'))
    assert.ok(links.length > 20, path)
    for (const link of links) {
      const url = new URL(link, appliance.origin + path)
      if (url.origin !== appliance.origin) {
        assert.equal(url.protocol, 'https:', `${path}: ${link}`)
        continue
      }
      const target = await visit(url.pathname)
      assert.ok(target.status === 200 || target.status === 303, `${path}: ${link} answers ${target.status}`)
      if (url.hash !== '') assert.ok(target.ids.has(url.hash.slice(1)), `${path}: ${link} has no such anchor`)
    }
  }
})

test('every link of README.md leads to an existing file and heading', async () => {
  for (const link of linksOf(readText('README.md'))) {
    if (/^https?:/.test(link)) continue
    const [file, anchor] = link.split('#')
    assert.ok(existsSync(join(ROOT, file!)), link)
    if (anchor === undefined) continue
    const { headings } = await renderDocument(readText(file!))
    assert.ok(
      headings.some(({ id }) => id === anchor),
      link,
    )
  }
})

test('pages run no script, load nothing from other origins, and have one title and a navigation', async () => {
  for (const { path, name } of DOC_ENTRIES) {
    const reply = await open(path)
    const text = await reply.text()
    assert.equal(
      reply.headers.get('content-security-policy'),
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    assert.equal(reply.headers.get('referrer-policy'), 'no-referrer')
    assert.doesNotMatch(text, /<script|<iframe|<img| style=| on\w+=/i, name)
    assert.doesNotMatch(text, /(?:src|<link[^>]*href)="https?:/, name)
    assert.equal(text.match(/<h1/g)?.length, 1, name)
    assert.match(text, /aria-current="page"/, name)
    assert.equal(idsOf(text).size, [...text.matchAll(/ id="/g)].length, `${name} has an anchor twice`)
  }
})

test('every picture of a page is served as a PNG, and nothing else of its folder', async () => {
  const shown = new Set<string>()
  for (const { path } of DOC_ENTRIES) {
    const text = await (await open(path)).text()
    for (const [, source] of text.matchAll(/<a href="(\/docs\/images\/[^"]+)"/g)) shown.add(source!)
  }
  assert.ok(shown.size >= 10, `${shown.size} pictures`)
  for (const source of shown) {
    const reply = await open(source)
    assert.deepEqual([source, reply.status, reply.headers.get('content-type')], [source, 200, 'image/png'])
    assert.equal(Buffer.from(await reply.arrayBuffer()).toString('latin1', 1, 4), 'PNG', source)
  }
  for (const name of ['none.png', '..%2FREADME.md', 'README.md'])
    assert.equal((await open(`/docs/images/${name}`)).status, 404, name)
})

test('the stylesheets are cached permanently under the hash of their content', async () => {
  const [, path] = /<link rel="stylesheet" href="([^"]+)">/.exec(await (await open('/docs')).text())!
  const reply = await open(path!)
  assert.equal(reply.headers.get('content-type'), 'text/css; charset=utf-8')
  assert.match(reply.headers.get('cache-control')!, /immutable/)
  assert.equal((await open(path!, { 'if-none-match': reply.headers.get('etag')! })).status, 304)
})

test('unknown page names get 404, whatever they contain', async () => {
  for (const path of ['/docs/nothing', '/docs/..%2fpackage', '/docs/README', '/docs/a.md']) {
    const { status } = await open(path)
    assert.ok(status === 404 || status === 400, `${path}: ${status}`)
  }
})

test('raw HTML in a document stays text, headings have the anchors of GitHub, and shell comments are marked', async () => {
  const source =
    '# A *b*\n\nIntro `c`.\n\n## Über & out\n\n<script>x</script>\n\n## Über & out\n\n```sh\n# why\na <b>\n```\n'
  const { title, summary, headings, body } = await renderDocument(source)
  assert.deepEqual([title, summary], ['A b', 'Intro c.'])
  assert.deepEqual(
    headings.map(({ id }) => id),
    ['über--out', 'über--out-1'],
  )
  assert.match(body.text, /&lt;script&gt;/)
  assert.match(body.text, /<span class="comment"># why<\/span>\na &lt;b&gt;/)
  await assert.rejects(renderDocument('No title.'), /heading of level 1/)
})

test('the page of errors has every code of the API, with its status, at its doc_url', async () => {
  const text = readText('docs/errors.md')
  const { headings } = await renderDocument(text)
  const codes = headings.filter(({ level, text: title }) => level === 2 && /^[a-z_]+$/.test(title))
  assert.deepEqual(codes.map(({ id }) => id).toSorted(), Object.keys(ERRORS).toSorted())
  for (const [code, { status, retryable }] of Object.entries(ERRORS)) {
    const [section] = text.split(`\n## ${code}\n`)[1]!.split('\n## ')
    assert.match(
      section!,
      new RegExp(`\\*\\*Status ${status}\\.\\*\\* Retryable: ${retryable ? 'yes' : 'no'}\\.`),
      code,
    )
    assert.match(section!, /Causes:\n\n- .+/, code)
    assert.match(section!, /What to do: .+/, code)
  }
  const { body } = await appliance.get('/domains')
  const { pathname, hash } = new URL(body.error.doc_url)
  assert.equal(pathname, '/docs/errors')
  assert.ok(idsOf(await (await open(pathname)).text()).has(hash.slice(1)))
})
