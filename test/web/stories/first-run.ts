// The first run: from the printed address to the first message read in the browser, then out and in again with the passkey.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
      await reload(page, 'This server')
      await page.getByText('Ready').first().waitFor()
      await tab.check('first run, this server')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('heading', { name: 'First domain' }).waitFor()
      await page.getByRole('button', { name: 'Back' }).click()
      await page.getByRole('heading', { name: 'This server' }).waitFor()
      await page.getByRole('button', { name: 'Continue' }).click()
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
  {
    name: 'first run of a server without a name: the name is chosen before a real domain, and a way in at the new address is shown',
    async run({ browser }) {
      const [port] = await freePorts()
      const env = { HTTP_PORT: String(port), APP_ORIGIN: '', MAIL_HOSTS: '', SIGN_IN: 'passkey,password' }
      const zone = { 'mail.harbour-shop.com': { A: ['127.0.0.1'] } }
      const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-name-'))
      await using folder = { [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true }) }
      void folder
      const appliance = await startAppliance({ env, zone, dataDir })
      const address = new URL(appliance.app.people.firstRun.begin()!)
      const tab = await WebPage.open(browser, appliance.origin, null)
      const { page } = tab
      await tab.addAuthenticator()
      await tab.goTo(address.pathname + address.hash)
      await becomeOwner(page)
      await page.getByText('a real domain needs the name').waitFor()
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByLabel('Domain').fill('harbour-shop.com')
      await page.getByRole('button', { name: 'Add domain' }).click()
      await page.getByText('This server has no name yet').waitFor()
      await page.getByRole('button', { name: 'Back' }).click()
      await page.getByLabel('Name of the mail server').fill('mail.harbour-shop.com')
      await page.getByLabel('Address of the console').fill('https://mail.harbour-shop.com')
      await page.getByRole('button', { name: 'Save the name' }).click()
      await page.getByText('Points here (127.0.0.1)').waitFor()
      await page.getByText('mail.harbour-shop.com is stored. Restart Mailstead').waitFor()
      assert.match(
        await page.locator('.secret code').innerText(),
        /^https:\/\/mail\.harbour-shop\.com\/owner\/session\//,
      )
      tab.forgive(/409/)
      await tab.check('first run, the name of the server')
      await tab.close()
      await appliance.close()
      await using renamed = await startAppliance({ env, zone, dataDir })
      const { config, people } = renamed.app
      assert.deepEqual(
        [config.MAIL_HOSTS, config.APP_ORIGIN],
        [['mail.harbour-shop.com'], 'https://mail.harbour-shop.com'],
      )
      // The passkey of the former address is there, and is no way in at the new one.
      const scope = { email: 'ana@elsewhere.example', teamId: null }
      assert.deepEqual(
        people.authentication.passkeysOf(scope).map(({ rpId }) => rpId),
        ['localhost'],
      )
      assert.equal(people.authentication.usablePasskeysOf(scope), 0)
      const { id } = renamed.app.directory.teams.list()[0]!
      const { records } = await renamed.app.directory.domains.create(id, 'harbour-shop.com')
      assert.deepEqual(records.mx, [{ priority: 10, target: 'mail.harbour-shop.com' }])
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
  await page.getByRole('heading', { name: 'This server' }).waitFor()
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
