// The API reference: one document for both listeners, and a page whose script is served by the appliance and makes no external request.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { startAppliance } from '../support/appliance.ts'
import { chromiumMissing, launchChromium, PATIENCE_MS } from '../support/chromium.ts'
import { ROOT } from '../support/source.ts'

const QUIET = [
  ...['--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
]

const appliance = await startAppliance()
let browser: Browser | undefined
after(async () => {
  await browser?.close()
  await appliance.close()
})

test('one document has the operations of both listeners, with one server', async () => {
  const [both, app, send] = await Promise.all(
    [
      `${appliance.origin}/docs/openapi.json`,
      `${appliance.origin}/api/v1/openapi.json`,
      `${appliance.sendOrigin}/api/v1/openapi.json`,
    ].map(
      async (url) =>
        (await fetch(url)).json() as Promise<{
          paths: Record<string, { servers?: { url: string }[] }>
          servers: { url: string }[]
        }>,
    ),
  )
  assert.deepEqual(
    Object.keys(both!.paths).toSorted(),
    // The documents of single listeners describe themselves; this one is a page of the documentation.
    [...new Set([...Object.keys(app!.paths), ...Object.keys(send!.paths)])]
      .filter((path) => path !== '/openapi.json')
      .toSorted(),
  )
  assert.deepEqual(
    both!.servers.map(({ url }) => url),
    [`${appliance.origin}/api/v1`],
  )
  assert.equal(both!.paths['/emails/send/batch']!.servers, undefined)
  assert.equal(both!.paths['/domains']!.servers, undefined)
  const names = JSON.stringify(both).matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)
  const components = (both as unknown as { components: Record<string, object> }).components
  for (const [, kind, name] of names) assert.ok(name! in components[kind!]!, `${kind}/${name} is missing`)
})

test('the script is the one of the named package, compressed once', async () => {
  const folder = join(ROOT, 'docs/reference')
  const { sha256, version } = JSON.parse(readFileSync(join(folder, 'scalar.json'), 'utf8'))
  const script = gunzipSync(readFileSync(join(folder, 'scalar.js.gz')))
  assert.equal(createHash('sha256').update(script).digest('hex'), sha256)
  const reply = await fetch(`${appliance.origin}/docs/api/scalar-${version}.js`)
  assert.equal(reply.headers.get('content-encoding'), 'gzip')
  assert.match(reply.headers.get('cache-control')!, /immutable/)
  assert.equal(Buffer.from(await reply.arrayBuffer()).length, script.length)
})

test('the page complies with its policy while it is used, in light and dark mode', {
  skip: chromiumMissing(),
}, async () => {
  browser = await launchChromium({}, QUIET)
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme })
    // A script of four megabytes is read and run before there is anything to see.
    page.setDefaultTimeout(PATIENCE_MS)
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url())
      if (protocol.startsWith('http') && origin !== appliance.origin) complaints.push(`asked ${request.url()}`)
    })
    await page.goto(`${appliance.origin}/docs/api`)
    await page.getByRole('heading', { name: 'Mailstead API' }).waitFor()
    await page.getByRole('link', { name: 'Sending', exact: true }).first().click()
    await page.getByText('/emails/send/batch').first().waitFor()
    await page
      .getByRole('button', { name: /search/i })
      .first()
      .click()
    await page.keyboard.type('vacation')
    await page
      .getByText(/vacation/i)
      .first()
      .waitFor()
    await page.keyboard.press('Escape')
    assert.deepEqual(
      complaints,
      [],
      'a style that is refused is named with its hash: add it to docs/reference/scalar.json',
    )
    await page.close()
  }
})
