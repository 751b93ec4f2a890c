// The first run: from the printed address to the first message read in the browser, then out and in again with the passkey.

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { freePorts, startAppliance } from '../../support/appliance.ts'
import { WebPage } from '../../support/chromium.ts'
import type { Story } from '../story.ts'

export const firstRunStories: readonly Story[] = [
  {
    name: 'first run: owner with a passkey, domain, mailbox, app password and a first message read in the browser; a reload continues',
    async run({ browser }) {
      const [port] = await freePorts()
      const env = { HTTP_PORT: String(port), APP_ORIGIN: `http://localhost:${port}` }
      await using appliance = await startAppliance({ env })
      const address = new URL(appliance.app.people.firstRun.begin()!)
      const tab = await WebPage.open(browser, appliance.origin, null)
      const { page } = tab
      await tab.addAuthenticator()
      await tab.goTo(address.pathname + address.hash)
      await tab.check('first run, the owner')
      await becomeOwner(page)
      assert.equal(new URL(page.url()).hash, '', 'the token does not stay in the address')
      await reload(page, 'First domain')
      await addDomain(page)
      await tab.check('first run, the records')
      await reload(page, 'First domain')
      await page.getByText('harbour.test').first().waitFor()
      await page.getByRole('button', { name: 'Continue' }).click()
      await makeMailbox(page)
      await tab.check('first run, the mailbox')
      await reload(page, 'First mailbox')
      await page.getByText('ana@harbour.test exists').waitFor()
      await tab.check('first run, the mailbox after a reload')
      await page.getByRole('button', { name: 'Make another password' }).click()
      await page.getByText('It is not shown again').waitFor()
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('button', { name: 'Send a test message' }).click()
      await appliance.settle()
      await page.getByRole('article').getByText('stored by your own server').waitFor()
      await reload(page, 'First message')
      await page.getByRole('article').getByText('stored by your own server').waitFor()
      await tab.check('first run, the message')
      await page.getByRole('link', { name: 'Open the console' }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await signOutAndIn(page)
      tab.forgive(/401|Clear-Site-Data/)
      tab.hasNoComplaints('first run')
      await tab.close()
    },
  },
]

async function reload(page: Page, heading: string): Promise<void> {
  await page.reload()
  await page.getByRole('heading', { name: heading }).waitFor()
}

async function becomeOwner(page: Page): Promise<void> {
  await page.getByLabel('Mail address').fill('ana@elsewhere.example')
  // No passkey is made in the device for a form that the server would refuse.
  await page.getByRole('button', { name: 'Continue with a passkey' }).click()
  await page.getByText('Give the team a name').waitFor()
  await page.getByLabel('Your name').fill('Ana Harbour')
  await page.getByLabel('Name of the team').fill('Harbour & Sons')
  await page.getByRole('button', { name: 'Continue with a passkey' }).click()
  await page.getByRole('heading', { name: 'First domain' }).waitFor()
}

async function addDomain(page: Page): Promise<void> {
  await page.getByLabel('Domain').fill('harbour.test')
  await page.getByRole('button', { name: 'Add domain' }).click()
  await page.getByText('records differ').or(page.getByText('Not found')).first().waitFor()
}

async function makeMailbox(page: Page): Promise<void> {
  await page.getByLabel('Address', { exact: true }).fill('ana')
  await page.getByRole('button', { name: 'Make mailbox' }).click()
  await page.getByText('It is not shown again').waitFor()
  await page.getByRole('img', { name: 'Read it with the phone' }).waitFor()
}

async function signOutAndIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Ana Harbour' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
}
