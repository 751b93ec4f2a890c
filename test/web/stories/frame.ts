// The frame: the palette with its pages and actions, and the keys that hold everywhere.

import assert from 'node:assert/strict'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

export const frameStories: readonly Story[] = [
  { name: 'parts of the overview that do not load say so, and load when they are asked again', run: overviewFails },
  { name: 'a sign-out without an answer says that the session may still be open', run: staysSignedIn },
  { name: 'the palette leads to every page and does what pages do; keys of one character can be turned off', run },
]

async function run(web: WebAppliance): Promise<void> {
  const tab = await web.open(web.owner)
  const { page } = tab
  const choose = async (text: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill(text)
    await page.getByRole('option').filter({ hasText: text }).first().waitFor()
    await page.keyboard.press('Enter')
  }
  const isOpen = (name: string) => page.getByRole('dialog', { name }).waitFor()
  const isClosed = () => page.locator('dialog[open]').waitFor({ state: 'detached' })
  await tab.goTo(web.pathOf('/console/{team}'))
  // An action of another page, whose file is loaded for it; then one of the open page.
  await choose('New key')
  await isOpen('New key')
  assert.equal(new URL(page.url()).search, '', 'the action does not stay in the address')
  await page.keyboard.press('Escape')
  await isClosed()
  await choose('as curl')
  await isOpen('The same request as a command')
  await page.keyboard.press('Escape')
  await isClosed()
  // Pages of other applications.
  await choose('Backups')
  await page.getByRole('heading', { name: 'Backups', level: 1 }).waitFor()
  await choose('Compact')
  await page.locator('html[data-density="compact"]').waitFor()
  await choose('Comfortable')
  await choose('Appearance')
  const keys = page.getByRole('checkbox', { name: 'Keys of one character' })
  await keys.waitFor()
  await page.keyboard.press('Shift+?')
  await isOpen('Keyboard shortcuts')
  await page.keyboard.press('Escape')
  await isClosed()
  await keys.uncheck()
  await page.keyboard.press('Shift+?')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  assert.equal(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).count(), 0)
  await page.keyboard.press('Escape')
  await isClosed()
  await keys.check()
  await page.getByRole('radio', { name: '12 hours' }).check()
  await tab.goTo(web.pathOf('/console/{team}/delivery'))
  assert.match(await page.getByRole('row').nth(1).innerText(), /\d\d:\d\d(?::\d\d)? [ap]m/)
  await tab.goTo('/me/appearance')
  await page.getByRole('radio', { name: '24 hours' }).check()
  await tab.goTo('/me')
  await page.getByLabel('Time zone').selectOption('Asia/Tokyo')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').waitFor()
  await tab.goTo(web.pathOf('/console/{team}/team'))
  await page.getByText('GMT+9').first().waitFor()
  await web.owner.call('PATCH', '/me/v1/self', { time_zone: null })
  tab.hasNoComplaints('the frame')
  await tab.close()
}

async function overviewFails(web: WebAppliance): Promise<void> {
  const tab = await web.open(web.owner)
  const { page } = tab
  await page.clock.install()
  const failing = /api\/v1\/(?:domains|emails\/logs)\?/
  await page.route(failing, (route) => route.abort())
  await tab.goTo(web.pathOf('/console/{team}'))
  const texts = ['Some of what needs you', 'The last failures', 'The first steps'].map((text) => page.getByText(text))
  for (const text of texts) await text.and(page.locator('.strong')).waitFor()
  assert.equal(await page.getByText('No message failed').count(), 0)
  assert.ok(tab.forgive(/ERR_FAILED/) >= 3)
  await tab.check('the overview with parts that did not load')
  await page.unroute(failing)
  for (const text of texts) {
    const card = page.locator('.error-card').filter({ has: text })
    await card.getByRole('button', { name: 'Try again' }).click()
    await card.waitFor({ state: 'detached' })
  }
  // What was loaded stays when it is asked again without an answer, and says how old it is. A card is gone before its answer is here.
  await page.locator('#app[aria-busy="false"] .figures').waitFor()
  const needs = page.getByRole('region', { name: 'Needs you' })
  await needs.waitFor()
  await page.route(failing, (route) => route.abort())
  await page.route(/emails\/metrics/, (route) => route.abort())
  await page.clock.fastForward(61_000)
  await page
    .getByText(/^As of /)
    .first()
    .waitFor()
  assert.equal(await page.locator('.figures').count(), 1)
  await page.getByText('Some of what needs you').waitFor()
  assert.equal(await needs.count(), 1)
  assert.equal(await page.locator('.error-card').count(), 1, 'that of what needs a person alone')
  assert.ok(tab.forgive(/ERR_FAILED/) >= 4)
  await tab.check('the overview with old figures')
  await page.unroute(/emails\/metrics/)
  await page.unroute(failing)
  const old = page
    .locator('.card')
    .filter({ has: page.locator('.figures') })
    .getByText(/^As of /)
  await old.getByRole('button', { name: 'Try again' }).click()
  await old.waitFor({ state: 'detached' })
  tab.hasNoComplaints('the overview')
  await tab.close()
}

async function staysSignedIn(web: WebAppliance): Promise<void> {
  const tab = await web.open(web.owner)
  const { page } = tab
  await tab.goTo(web.pathOf('/console/{team}'))
  await page.route('**/me/v1/session', (route) => route.abort())
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('Sign out')
  await page.getByRole('option').filter({ hasText: 'Sign out' }).first().waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('You may still be signed in').waitFor()
  assert.equal(tab.forgive(/ERR_FAILED/), 1)
  await tab.check('a sign-out without an answer')
  tab.hasNoComplaints('the sign-out')
  await tab.close()
}
