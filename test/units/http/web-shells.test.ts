// The pages and files of the web application: what the build names is served, compressed as it was built, and nothing else.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { assetRoute } from '../../../src/pages/assets.ts'
import { shellRoutes } from '../../../src/pages/shells.ts'
import { WebBuild } from '../../../src/pages/web-build.ts'
import { openHttpFixture } from './http-fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'mailstead-web-'))
const build = new WebBuild(folder)
const fixture = await openHttpFixture([assetRoute(build), ...shellRoutes(build)])
after(async () => {
  await fixture[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})
const get = (path: string, headers: Record<string, string> = {}) => fixture.call(path, { key: null, headers })

test('without a build a page says what to do', async () => {
  const { status, text } = await get('/console')
  assert.equal(status, 503)
  assert.match(text, /not built\. Run npm run build:web/)
  assert.equal((await get('/assets/console-1.js')).status, 404)
})

test('every address of the console is the same page, with a strict policy and a tag', async () => {
  writeFileSync(join(folder, 'console-1.js'), 'start()')
  writeFileSync(join(folder, 'console-1.js.br'), 'packed')
  writeFileSync(join(folder, 'secret.txt'), 'not an asset')
  const entries = { console: { script: 'console-1.js', styles: ['console-1.css'], preload: ['part-2.js'] } }
  const sizes = { 'console-1.js': { bytes: 7, br: 6 } }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ version: '1', entries, sizes }))
  const pages = await Promise.all(
    ['/console', '/console/team_1/domains/mdom_2', '/operator/queue', '/me/passkeys', '/sign-in', '/first-run'].map(
      (path) => get(path),
    ),
  )
  const [first] = pages
  for (const page of pages) assert.deepEqual([page.status, page.text], [200, first!.text])
  assert.match(first!.text, /<script type="module" src="\/assets\/console-1\.js"><\/script>/)
  assert.ok(first!.text.length < 4096)
  const policy = first!.headers.get('content-security-policy')!
  assert.match(policy, /script-src 'self';.*require-trusted-types-for 'script'/)
  assert.ok(!policy.includes('unsafe'))
  assert.equal(first!.headers.get('cache-control'), 'no-cache')
  const again = await get('/console', { 'if-none-match': first!.headers.get('etag')! })
  assert.deepEqual([again.status, again.headers.get('cache-control')], [304, 'no-cache'])
})

test('an unknown path of the API for people is no page', async () => {
  const { status, json } = await get('/me/v1/unknown', { 'sec-fetch-site': 'same-origin' })
  assert.deepEqual([status, json?.error.code], [401, 'authentication_required'])
})

test('a file is served for ever, in the coding the browser takes; what the build does not name is not there', async () => {
  const plain = await get('/assets/console-1.js', { 'accept-encoding': 'identity' })
  assert.deepEqual([plain.status, plain.text], [200, 'start()'])
  assert.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  assert.match(plain.headers.get('content-type')!, /^text\/javascript/)
  const head = await fetch(`${fixture.app}/assets/console-1.js`, {
    method: 'HEAD',
    headers: { 'accept-encoding': 'br' },
  })
  assert.deepEqual([head.headers.get('content-encoding'), head.headers.get('content-length')], ['br', '6'])
  assert.match(head.headers.get('vary')!, /Accept-Encoding/)
  for (const path of [
    '/assets/secret.txt',
    '/assets/manifest.json',
    '/assets/..%2fmanifest.json',
    '/assets/console-1.js.br',
    '/assets/',
    '/assets',
  ]) {
    assert.equal((await get(path)).status, 404, path)
  }
})
