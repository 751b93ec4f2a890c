// The pages in Debian's Chromium: every page in light, dark and on a phone, what opens on them, and who sees what.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { measure, type WebManifest } from '../../scripts/build-web.ts'
import { WEB_MANIFEST } from '../../scripts/web-freshness.js'
import { some } from '../support/amount.ts'
import { chromiumMissing, LOOKS, someLooks, type WebPage } from '../support/chromium.ts'
import { ROOT } from '../support/source.ts'
import { OPENINGS } from './openings.ts'
import { CONSOLE_PAGES, OPEN_PAGES, OPERATOR_PAGES } from './pages.ts'
import { walkRoles } from './walk.ts'
import { startWebAppliance, type WebAppliance } from './web-appliance.ts'

/** Tabs that share the pages: more than processors, because pages wait for answers. */
const TABS = 3
/** Scripts of a first load beside the one that starts the page; more are more round trips. */
const FIRST_LOAD_FILES = 5
/** What does not close by then stays open. */
const GONE_LIMIT_MS = 60_000
/** Openings that a run checks by default. */
const OPENINGS_CHECKED = 10

/** Keeps what has the focus in the moment in which an element is gone: a key that is pressed then must not be lost. */
const focusWhenGone = (selector: string) => `globalThis.focusWhenGone = new Promise((resolve, reject) => {
  setTimeout(reject, ${GONE_LIMIT_MS}, new Error('It stays open.'))
  new MutationObserver((_, observer) => {
    if (document.querySelector(${JSON.stringify(selector)}) !== null) return
    observer.disconnect()
    resolve(document.activeElement.tagName)
  }).observe(document, { subtree: true, childList: true, attributes: true })
}); undefined`

describe('pages in a browser', { skip: chromiumMissing() }, () => {
  let web: WebAppliance
  before(async () => {
    web = await startWebAppliance()
  })
  after(() => web[Symbol.asyncDispose]())

  test('what a first page loads is below its budget of bytes and in few files, and so is the largest part that is loaded later', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, WEB_MANIFEST), 'utf8')) as WebManifest
    const tooLarge = measure(manifest).filter(({ bytes, budget }) => bytes > budget)
    assert.deepEqual(tooLarge, [])
    for (const { preload } of Object.values(manifest.entries)) {
      assert.ok(preload.length <= FIRST_LOAD_FILES, `${preload.length} files beside the first one`)
    }
  })

  test('axe finds nothing and no page writes an error: every rule in light, in dark, on a phone', async () => {
    const pages = [...CONSOLE_PAGES, ...OPERATOR_PAGES]
    await inTabs(web, pages, async (page, path) => {
      await page.goTo(web.pathOf(path))
      await page.checkLooks(path, someLooks(pages.indexOf(path)))
    })
    const open = await web.open(null)
    for (const path of OPEN_PAGES) {
      await open.goTo(path)
      await open.checkLooks(path, LOOKS)
    }
    await open.close()
  })

  test('axe finds nothing in menus, dialogs and opened rows, and Escape leads back to the button', async () => {
    await inTabs(web, some(OPENINGS, OPENINGS_CHECKED), async (page, opening) => {
      const { path, press, within } = opening
      const where = [path, ...press].join(' › ')
      await page.goTo(web.pathOf(path))
      await page.press(press, where)
      // Every page is checked in every look; what opens is checked in one, in turn.
      await page.checkLooks(where, [LOOKS[OPENINGS.indexOf(opening) % LOOKS.length]!], within)
      if (within === undefined) return
      await page.page.evaluate(focusWhenGone(within))
      await page.page.keyboard.press('Escape')
      assert.notEqual(await page.page.evaluate('focusWhenGone'), 'BODY', `${where}: focus is lost`)
    })
  })

  test('every role sees every page of its team, no button beyond the role, nothing of another team, and no refusal', () =>
    walkRoles(web))

  test('a person who is no operator sees nothing of the pages of the operator, and asks for nothing', async () => {
    const page = await web.open(web.viewer)
    const asked: string[] = []
    page.page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    for (const path of OPERATOR_PAGES) {
      await page.goTo(path)
      await page.page.getByText('These pages belong to the operators').waitFor()
      page.hasNoComplaints(path)
    }
    assert.deepEqual(
      asked.filter((path) => path.startsWith('/as/')),
      [],
    )
    await page.close()
  })
})

/** Does the same to every entry, in several tabs of the owner at a time. */
async function inTabs<T>(web: WebAppliance, all: readonly T[], work: (page: WebPage, one: T) => Promise<void>) {
  const left = [...all]
  const tabs = await Promise.all(Array.from({ length: TABS }, () => web.open(web.owner)))
  await Promise.all(
    tabs.map(async (tab) => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) await work(tab, one)
      await tab.close()
    }),
  )
}
