// The pages against their budgets: build, first paint, a list, a press, memory of the browser, and Lighthouse.

import type { Browser, Page } from 'playwright-core'
import { buildWeb, measure } from '../scripts/build-web.ts'
import { client } from '../scripts/demo/api.ts'
import { type Demo, openDemo } from '../scripts/demo/open.ts'
import { launchChromium, WebPage } from '../test/support/chromium.ts'
import { CATEGORIES, prepareLighthouse, runLighthouse } from './lighthouse.ts'
import { printTable, quantile, short } from './table.ts'

const ROUNDS = 9
const PRESSES = 50
const FRAME_MS = 1000 / 60
const LIGHTHOUSE_LEAST = 95

interface Budget {
  name: string
  value: number
  most: number
  unit: 'ms' | 'MB' | 'KB'
}

const median = (values: readonly number[]) => quantile(values, 0.5)

/** A promise in the page: when rows of a table were drawn first. */
const NOTE_LIST = `globalThis.listed = new Promise((resolve) => {
  new MutationObserver((_, observer) => {
    if (document.querySelector('tbody tr') === null) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
  }).observe(document, { childList: true, subtree: true })
})`

/** Milliseconds of the first paint with content, and until rows of the list are drawn: from the start of the navigation, nothing cached. */
async function openCold(browser: Browser, demo: Demo, path: string): Promise<{ painted: number; listed: number }> {
  const { APP_ORIGIN: origin } = demo.appliance.app.config
  const tab = await WebPage.open(browser, origin, { cookie: await demo.ownerCookie() })
  await tab.page.addInitScript(NOTE_LIST)
  await tab.page.goto(origin + path)
  const times = await tab.page.evaluate<{ painted: number; listed: number }>(`(async () => {
    const listed = await globalThis.listed
    return { painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0, listed }
  })()`)
  await tab.close()
  return times
}

/** Milliseconds from a press until the frame with its effect is drawn: a row of the list is opened and closed. */
function pressOften(page: Page): Promise<number[]> {
  return page.evaluate<number[]>(`(async () => {
    const times = []
    for (let n = 0; n < ${PRESSES}; n++) {
      const button = document.querySelectorAll('.row-button')[n % 10]
      // People press at any moment; right after a frame the next one is a whole frame away, whatever the press costs.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * ${FRAME_MS}))
      const before = performance.now()
      button.click()
      await new Promise((resolve) => requestAnimationFrame(resolve))
      times.push(performance.now() - before)
    }
    return times
  })()`)
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number }
  return usedSize
}

async function measurePages(browser: Browser, demo: Demo, team: string): Promise<Budget[]> {
  const cold: { painted: number; listed: number }[] = []
  for (let n = 0; n < ROUNDS; n++) cold.push(await openCold(browser, demo, `/console/${team}/delivery`))
  const { APP_ORIGIN: origin } = demo.appliance.app.config
  const tab = await WebPage.open(browser, origin, { cookie: await demo.ownerCookie() })
  await tab.goTo(`/console/${team}/delivery`)
  const presses = await pressOften(tab.page)
  for (const page of ['domains', 'mailboxes', 'inbound', 'sending', 'webhooks', 'keys', 'audit', '']) {
    await tab.page.locator(`a.side-link[href="/console/${team}${page === '' ? '' : `/${page}`}"]`).click()
    await tab.isDrawn()
  }
  const heap = await heapOf(tab.page)
  await tab.close()
  return [
    { name: 'first contentful paint, cold', value: median(cold.map(({ painted }) => painted)), most: 300, unit: 'ms' },
    { name: 'list of a log drawn, cold', value: median(cold.map(({ listed }) => listed)), most: 500, unit: 'ms' },
    { name: 'row opened: press → frame', value: median(presses), most: 16, unit: 'ms' },
    { name: 'heap after nine pages', value: heap / 1e6, most: 60, unit: 'MB' },
  ]
}

async function measureBuild(): Promise<Budget[]> {
  const before = performance.now()
  const manifest = await buildWeb()
  const build: Budget = { name: 'build of all pages', value: performance.now() - before, most: 2000, unit: 'ms' }
  const sizes = measure(manifest).map(({ name, bytes, budget }) => {
    return { name: `${name}, gzip`, value: bytes / 1000, most: budget / 1000, unit: 'KB' as const }
  })
  return [build, ...sizes]
}

async function lighthouse(demo: Demo, team: string, folder: string): Promise<void> {
  const missing = prepareLighthouse()
  if (missing !== null) return console.log(`\n${missing}`)
  const { APP_ORIGIN: origin } = demo.appliance.app.config
  const cookie = await demo.ownerCookie()
  const pages: [name: string, path: string, cookie: string | null][] = [
    ['sign-in', '/sign-in', null],
    ['overview', `/console/${team}`, cookie],
    ['delivery', `/console/${team}/delivery`, cookie],
  ]
  const rows: string[][] = []
  const lost: string[] = []
  for (const [name, path, session] of pages) {
    const result = await runLighthouse(origin + path, session, folder)
    rows.push([name, ...CATEGORIES.map((category) => String(result.scores[category])), `${LIGHTHOUSE_LEAST} or more`])
    lost.push(...result.lost.map((title) => `${name}: ${title}`))
  }
  printTable('Lighthouse, desktop', ['page', ...CATEGORIES, 'aim'], rows)
  for (const line of lost) console.log(`  ${line}`)
}

/** @param folder for reports */
export async function benchWeb(folder: string): Promise<void> {
  const build = await measureBuild()
  await using demo = await openDemo(true)
  const { id: team } = await client(demo.appliance.app.config.APP_ORIGIN, demo.rootKey)<{ id: string }>('GET', '/team')
  const browser = await launchChromium()
  const pages = await measurePages(browser, demo, team)
  await browser.close()
  const rows = [...build, ...pages].map(({ name, value, most, unit }) => {
    return [name, `${short(value)} ${unit}`, `${most} ${unit}`, value <= most ? 'kept' : 'MISSED']
  })
  printTable('Pages in Chromium', ['', '', 'budget', ''], rows)
  await lighthouse(demo, team, folder)
}
