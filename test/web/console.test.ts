// The pages in Debian's Chromium: every page in light, dark and on a phone, and what people do with them.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { COLOUR_RULES, chromiumMissing, LAYOUT_RULES, type WebPage } from '../support/chromium.ts'
import { CONSOLE_PAGES, OPEN_PAGES } from './pages.ts'
import { STORIES } from './stories.ts'
import { startWebAppliance, type WebAppliance } from './web-appliance.ts'

describe('pages in a browser', { skip: chromiumMissing() }, () => {
  let web: WebAppliance
  before(async () => {
    web = await startWebAppliance()
  })
  after(() => web[Symbol.asyncDispose]())

  test('axe finds nothing and no page writes an error: in light, in dark, on a phone', async () => {
    const page = await web.open(web.owner)
    for (const path of CONSOLE_PAGES) {
      // The server checks the records of a domain once in ten seconds.
      web.clock.advance(11_000)
      await page.goTo(web.pathOf(path))
      await checkViews(page, path)
    }
    await page.close()
    const open = await web.open(null)
    for (const path of OPEN_PAGES) {
      await open.goTo(path)
      await checkViews(open, path)
    }
    await open.close()
  })

  for (const { name, run } of STORIES) test(name, () => run(web))

  test('a viewer sees every page of the console and no button that their role does not allow', async () => {
    const page = await web.open(web.viewer)
    for (const path of CONSOLE_PAGES.filter((one) => one.startsWith('/console'))) {
      await page.goTo(web.pathOf(path))
      assert.equal(await page.page.locator('.button.primary, .button.danger').count(), 0, path)
      page.hasNoComplaints(path)
    }
    await page.close()
  })
})

async function checkViews(page: WebPage, path: string): Promise<void> {
  await page.check(`${path} in light`)
  await page.showAs('dark')
  await page.check(`${path} in dark`, COLOUR_RULES)
  await page.showAs('phone')
  await page.check(`${path} on a phone`, LAYOUT_RULES)
  await page.showAs('light')
}
