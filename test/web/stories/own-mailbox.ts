// The second person: from the link an owner hands over to a page with everything of their mailbox, with a passkey of their own.

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { WebPage } from '../../support/chromium.ts'
import { type PersonClient, signInMember } from '../../support/person.ts'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

export const ownMailboxStories: readonly Story[] = [
  {
    name: 'a person whose mailbox was made for them adds a passkey, makes an app password and changes the settings of the mailbox',
    async run(web) {
      const url = await makeMailboxFor(web, 'nora')
      const tab = await web.open(null)
      const { page } = tab
      await tab.addAuthenticator()
      await page.goto(url)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('First, a passkey').waitFor()
      await tab.checkLooks('the first passkey')
      await addPasskey(page)
      await page.getByRole('heading', { name: 'nora@harbour.test' }).waitFor()
      await tab.checkLooks('my mailbox')
      await makeAppPassword(page)
      await tab.check('an app password of my mailbox')
      const { appPasswords, mailboxes } = web.appliance.app.directory
      const { id } = mailboxes.byEmail('nora@harbour.test')!
      assert.deepEqual(
        appPasswords.list(id, { limit: 10, after: null }).items.map(({ name }) => name),
        ['Thunderbird'],
      )
      await goAway(tab)
      await filterAndForward(tab)
      await writeScript(tab)
      const { administration } = web.appliance.app
      await administration.mailboxes.addAlias(web.team.id, id, 'desk.nora@harbour.test')
      await nameTheMailbox(tab)
      await throwAway(tab)
      await page.getByRole('button', { name: 'nora@harbour.test', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await page.getByRole('heading', { name: 'nora@harbour.test' }).waitFor()
      tab.forgive(/401|Clear-Site-Data/)
      tab.hasNoComplaints('my mailbox')
      await tab.close()
    },
  },
  {
    name: 'a reader of a mailbox sees what to enter in a mail program, and neither page nor server lets them change who reads it',
    async run(web) {
      const { appliance, team, ids, owner } = web
      const reader = await signInMember(appliance, team.id, 'user', 'reads@people.example')
      const box = { id: ids.mailbox, email: 'ana@harbour.test' }
      const grant = { memberId: reader.memberId, createdBy: owner.memberId }
      for (const access of ['reader', 'editor'] as const) {
        await appliance.app.people.sharing.grant(team.id, box, { ...grant, access })
        await refusesChanges(reader, box.id)
      }
      await appliance.app.people.sharing.grant(team.id, box, { ...grant, access: 'reader' })
      const tab = await web.open(reader)
      const { page } = tab
      await tab.goTo(`/console/${team.id}`)
      await page.getByRole('button', { name: 'Later' }).click()
      await page.getByText('You read here. Its owner makes app passwords').waitFor()
      await page.getByText('What to enter in a mail program').waitFor()
      await tab.check('a mailbox that is read')
      assert.equal(await page.getByRole('link', { name: 'Forwarding' }).count(), 0)
      assert.equal(await page.getByRole('button', { name: 'New app password' }).count(), 0)
      tab.hasNoComplaints('a mailbox that is read')
      await tab.close()
      await appliance.app.people.sharing.revoke(team.id, box, reader.memberId)
    },
  },
]

/** What only the owner of a mailbox may, by a session with a fresh proof. */
async function refusesChanges(person: PersonClient, mailboxId: string): Promise<void> {
  const at = `/as/${mailboxId}/api/v1/mailbox`
  const requests: [string, string, unknown][] = [
    ['POST', '/app-passwords', { name: 'Mine' }],
    ['POST', '/forwards', { to: 'mine@elsewhere.example' }],
    ['PUT', '/sender-filter', { mode: 'off', rules: [] }],
    ['PUT', '/vacation-response', { is_enabled: false }],
    ['POST', '/sieve-scripts', { name: 'Mine', content: 'keep;' }],
  ]
  for (const [method, path, body] of requests) {
    const { status } = await person.call(method, at + path, body)
    assert.equal(status, 403, `${method} ${path}`)
  }
}

/** As an owner makes it in the console. @returns the link to hand over */
async function makeMailboxFor(web: WebAppliance, local: string): Promise<string> {
  const tab = await web.open(web.owner)
  const { page } = tab
  await tab.goTo(`/console/${web.ids.team}/mailboxes`)
  await page.getByRole('button', { name: 'New mailbox' }).click()
  await page.getByLabel('A person').check()
  await page.getByLabel('Address', { exact: true }).fill(local)
  await page.getByLabel('Domain').selectOption('harbour.test')
  await page.getByRole('dialog').getByRole('button', { name: 'New mailbox' }).click()
  await page.getByRole('button', { name: 'Show the link' }).click()
  const url = await page.locator('.secret code').innerText()
  await tab.close()
  return url
}

async function addPasskey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Phone')
  await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click()
}

async function makeAppPassword(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New app password' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Thunderbird')
  await page.getByRole('dialog').getByRole('button', { name: 'New app password' }).click()
  await page.getByText('It is not shown again').waitFor()
  await page.getByRole('img', { name: 'Read it with the phone' }).waitFor()
}

async function goAway(tab: WebPage): Promise<void> {
  const { page } = tab
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('link', { name: 'Out of office' }).click()
  await page.getByLabel('Answer messages while I am away').check()
  await page.getByLabel('First day').fill('2031-07-14')
  await page.getByLabel('Last day').fill('2031-07-01')
  await page.getByText('The last day is before the first one').waitFor()
  await page.getByLabel('Last day').fill('2031-07-28')
  await page.getByLabel('Text').fill('I am back on 29 July.')
  await page.getByRole('button', { name: 'Save answer' }).click()
  await page.getByText('Answer saved').waitFor()
  await page.reload()
  assert.equal(await page.getByLabel('First day').inputValue(), '2031-07-14')
  assert.equal(await page.getByLabel('Last day').inputValue(), '2031-07-28')
  await tab.checkLooks('out of office')
}

async function filterAndForward(tab: WebPage): Promise<void> {
  const { page } = tab
  await page.getByRole('link', { name: 'Filters' }).click()
  await page.getByLabel('All but senders that are listed').check()
  await page.getByRole('textbox', { name: 'Are refused' }).fill('@spam.example')
  await page.getByRole('button', { name: 'Save filter' }).click()
  await page.getByText('Filter saved').waitFor()
  await page.getByRole('link', { name: 'Forwarding' }).click()
  await page.getByRole('button', { name: 'Add a forward' }).click()
  await page.getByRole('dialog').getByLabel('To').fill('nora@elsewhere.example')
  await page.getByRole('dialog').getByRole('button', { name: 'Add a forward' }).click()
  await page.getByRole('table', { name: 'Forwarding' }).getByText('nora@elsewhere.example', { exact: true }).waitFor()
  await tab.check('forwards of my mailbox')
}

async function writeScript(tab: WebPage): Promise<void> {
  const { page } = tab
  await page.getByRole('link', { name: 'Scripts' }).click()
  await page.getByRole('button', { name: 'New script' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Lists')
  await dialog.getByLabel('Text').fill('fileinto "Lists"')
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog
    .getByText(/^Line 1, column/)
    .first()
    .waitFor()
  await dialog.getByLabel('Text').fill('require "fileinto";\nfileinto "Archive";')
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByText('It has no errors').waitFor()
  await tab.check('a script', 'dialog')
  await dialog.getByRole('button', { name: 'Save script' }).click()
  await page.getByRole('button', { name: 'Activate Lists', exact: true }).click()
  await page.getByRole('button', { name: 'Deactivate Lists' }).waitFor()
  await tab.checkLooks('scripts of my mailbox')
}

async function throwAway(tab: WebPage): Promise<void> {
  const { page } = tab
  await page.getByRole('button', { name: 'Make an address' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Made for').fill('shop.example')
  await tab.check('a new throw-away address', 'dialog')
  await dialog.getByRole('button', { name: 'Make an address' }).click()
  const list = page.getByRole('table', { name: 'Throw-away addresses' })
  await list.getByRole('button', { name: /^Pause shop\./ }).click()
  await list.getByText('Paused since').waitFor()
  // What lies half below the bar at the top is not examined.
  await page.evaluate('scrollTo(0, 0)')
  await tab.checkLooks('throw-away addresses')
  await list.getByRole('button', { name: /^End shop\./ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
  await page.getByText('No throw-away address yet').waitFor()
}

async function nameTheMailbox(tab: WebPage): Promise<void> {
  const { page } = tab
  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await page.getByLabel('Name beside the address').fill('Nora Harbour')
  await page.getByRole('button', { name: 'Save settings' }).click()
  await page.getByText('Settings saved').waitFor()
  const addresses = page.getByRole('table', { name: 'Addresses you write as' })
  await addresses.getByText('desk.nora@harbour.test', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Add an address' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address', { exact: true }).fill('nora+shop@harbour.test')
  await dialog.getByLabel('Name beside the address').fill('Nora, shop')
  await tab.check('a new address', 'dialog')
  await dialog.getByRole('button', { name: 'Add an address' }).click()
  await page.getByRole('button', { name: 'Make default: nora+shop@harbour.test' }).click()
  await page.getByText('You write as nora+shop@harbour.test by default').waitFor()
  await addresses.getByText('Nora, shop').waitFor()
  await tab.checkLooks('settings of my mailbox')
}
