// Metrics, forwards and signing keys: what people do with them in the console.

import assert from 'node:assert/strict'
import { eventually } from '../../support/eventually.ts'
import type { Story } from '../story.ts'

export const teamPageStories: readonly Story[] = [
  {
    name: 'metrics: a span, a division and a filter are in the address; the table has what the chart shows; arrows move the cursor',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${web.ids.team}/metrics`)
      await page.getByRole('button', { name: 'Span: Last 7 days' }).click()
      await page.getByRole('menuitemradio', { name: 'Last 30 days' }).click()
      await page.waitForURL(/days=30/)
      const chart = page.getByRole('slider', { name: 'Sent and received, each day' })
      await chart.locator('canvas').waitFor()
      await tab.showAs('phone')
      // Not waitForFunction: what it repeats inside the page is an eval, which the page's policy refuses.
      await eventually(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
      await tab.showAs('light')
      await chart.focus()
      await page.keyboard.press('ArrowLeft')
      await page.locator('.chart-card').waitFor()
      assert.match((await chart.getAttribute('aria-valuetext')) ?? '', /Received \d+, Sent \d+, Failed \d+/)
      await page.getByRole('button', { name: 'As a table' }).first().click()
      await page.getByRole('table', { name: 'Sent and received, each day' }).waitFor()
      await tab.check('metrics as a table')
      await page.getByRole('link', { name: 'Mailbox', exact: true }).click()
      await page.getByRole('heading', { name: 'By mailbox' }).waitFor()
      assert.match(page.url(), /days=30&by=mailbox/)
      await page.getByRole('link', { name: 'Domain', exact: true }).click()
      await page.getByRole('button', { name: 'Only harbour.test' }).click()
      await page.getByRole('button', { name: 'Domain: harbour.test' }).waitFor()
      await page.getByRole('button', { name: 'Span: Last 30 days' }).click()
      await page.getByRole('menuitemradio', { name: 'Choose dates…' }).click()
      await page.getByLabel('First day').fill('2026-02-10')
      await page.getByLabel('Last day').fill('2026-02-01')
      await page.getByText('The last day is before the first one.').waitFor()
      await page.getByLabel('Last day').fill('2026-02-20')
      await page.getByRole('dialog').getByRole('button', { name: 'Show' }).click()
      await page.getByRole('button', { name: 'Span: 2026-02-10 – 2026-02-20' }).waitFor()
      tab.hasNoComplaints('metrics')
      await tab.close()
    },
  },
  {
    name: 'a forward waits for its receiver, keeps a copy or not, and is removed',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${web.ids.team}/mailboxes/${web.ids.mailbox}/forwards`)
      await page.getByRole('button', { name: 'Add a forward' }).click()
      await page.getByLabel('To', { exact: true }).fill('not an address')
      await page.getByRole('dialog').getByRole('button', { name: 'Add a forward' }).click()
      await page.locator('[aria-invalid="true"]').waitFor()
      assert.equal(tab.forgive(/422/), 1)
      await tab.check('the dialog of a forward')
      await page.getByLabel('To', { exact: true }).fill('ann@customer.example')
      await page.getByRole('dialog').getByRole('button', { name: 'Add a forward' }).click()
      await page.getByText('Waits for confirmation').waitFor()
      await tab.check('a forward waits')
      const copy = page.getByRole('checkbox', { name: 'Keep a copy of what goes to ann@customer.example' })
      await copy.click()
      await page.getByText('No copy here').waitFor()
      const { body } = await web.appliance.get(`/mailboxes/${web.ids.mailbox}/forwards`, web.team.key)
      assert.deepEqual([body.data[0].to, body.data[0].keep_copy], ['ann@customer.example', false])
      await page.getByRole('button', { name: 'Remove the forward to ann@customer.example' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByText('Nothing is forwarded').waitFor()
      tab.hasNoComplaints('forwards')
      await tab.close()
    },
  },
  {
    name: 'the next signing key of a domain is made and waits for its record',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await web.appliance.call('POST', '/domains', web.team.key, { domain: 'keys.example' })
      const { body } = await web.appliance.get('/domains?q=keys.example', web.team.key)
      await tab.goTo(`/console/${web.ids.team}/domains/${body.data[0].id}/keys`)
      await page.getByText('RSA, 2048 bits').waitFor()
      await page.getByRole('button', { name: 'Next key' }).click()
      await page.getByRole('radio', { name: 'Ed25519' }).check()
      await page.getByRole('dialog').getByRole('button', { name: 'Next key' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByText('Ed25519', { exact: true }).waitFor()
      await tab.check('two signing keys')
      await tab.close()
    },
  },
]
