// Lists: what is drawn follows the choices of the person, also when answers come late.

import assert from 'node:assert/strict'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

export const listStories: readonly Story[] = [
  { name: 'a part of a list that comes after the filters were changed is left out', run: partComesLate },
  { name: 'a long list within the page of a record is searched, all of its parts', run: searchWithin },
  { name: 'rows that are drawn before the clock of the person is known are written again', run: clockComesLate },
  { name: 'the overview is shown with what is known while a part has no answer', run: answerIsMissing },
]

async function partComesLate(web: WebAppliance): Promise<void> {
  const tab = await web.open(web.owner)
  const { page } = tab
  const late = Promise.withResolvers<void>()
  const row = (email: string) => ({
    id: `sup_${email}`,
    email,
    reason: 'manual',
    note: null,
    created_at: '2026-01-02T03:04:05Z',
  })
  await page.route(/\/suppressions(?:\?|$)/, async (route) => {
    const query = new URL(route.request().url()).searchParams
    const isLater = query.has('cursor')
    if (isLater) await late.promise
    const data = [
      row(isLater ? 'later@customer.example' : query.has('q') ? 'found@customer.example' : 'first@customer.example'),
    ]
    await route.fulfill({ json: { data, pagination: { has_more: !isLater, next_cursor: isLater ? null : 'later' } } })
  })
  await tab.goTo(web.pathOf('/console/{team}/suppressed'))
  await page.getByRole('button', { name: 'Load more' }).click()
  await page.getByRole('searchbox').fill('found')
  await page.waitForURL(/q=found/)
  await page.getByText('found@customer.example').waitFor()
  const answered = page.waitForResponse(/cursor=later/)
  late.resolve()
  await answered
  await tab.isDrawn()
  assert.equal(await page.getByText('later@customer.example').count(), 0)
  tab.hasNoComplaints('a late part')
  await tab.close()
}

async function searchWithin(web: WebAppliance): Promise<void> {
  const tab = await web.open(web.owner)
  const { page } = tab
  const rows = Array.from({ length: 12 }, (_, n) => {
    return { id: `als_${n}`, email: `desk${n}@alias.example`, created_at: '2026-01-02T03:04:05Z' }
  })
  await page.route(/\/as\/.*\/aliases(?:\?|$)/, (route) => {
    const isLater = new URL(route.request().url()).searchParams.has('cursor')
    const data = isLater ? rows.slice(9) : rows.slice(0, 9)
    return route.fulfill({
      json: { data, pagination: { has_more: !isLater, next_cursor: isLater ? null : 'later' } },
    })
  })
  await tab.goTo(web.pathOf('/console/{team}/mailboxes/{mailbox}/aliases'))
  const search = page.locator('main').getByRole('searchbox')
  await search.fill('desk11')
  await page.getByText('desk11@alias.example').waitFor()
  assert.equal(await page.getByText('desk1@alias.example').count(), 0)
  await search.fill('nobody')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('desk1@alias.example').waitFor()
  tab.hasNoComplaints('a search within a page')
  await tab.close()
}

async function clockComesLate(web: WebAppliance): Promise<void> {
  const { body } = await web.owner.call('GET', '/me/v1/preferences')
  await web.owner.call('PUT', '/me/v1/preferences', { ...body.data, clock: '12' })
  const tab = await web.open(web.owner)
  const { page } = tab
  const late = Promise.withResolvers<void>()
  await page.route('**/me/v1/preferences', async (route) => {
    await late.promise
    await route.continue()
  })
  await page.goto(web.appliance.origin + web.pathOf('/console/{team}/delivery'))
  const row = page.getByRole('row').nth(1)
  await row.getByText(/^\d\d:\d\d$/).waitFor()
  late.resolve()
  await row.getByText(/^\d\d:\d\d [ap]m$/).waitFor()
  await web.owner.call('PUT', '/me/v1/preferences', { ...body.data, clock: '24' })
  await tab.close()
}

async function answerIsMissing(web: WebAppliance): Promise<void> {
  const tab = await web.open(web.owner)
  const { page } = tab
  const late = Promise.withResolvers<void>()
  await page.route(/metrics\/timeseries/, async (route) => {
    await late.promise
    await route.continue()
  })
  await page.goto(web.appliance.origin + web.pathOf('/console/{team}'))
  await page.getByRole('heading', { name: 'First steps' }).waitFor()
  late.resolve()
  await page.locator('.chart').waitFor()
  await page.locator('.side-link[href$="/domains"]').click()
  await page.getByRole('heading', { name: 'Domains', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.locator('.chart').waitFor()
  await tab.close()
}
