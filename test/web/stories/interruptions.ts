// What comes between a person and their work: a session that ends, code that does not load, an unknown address, a name instead of an id.

import assert from 'node:assert/strict'
import { signInMember } from '../../support/person.ts'
import { plainMail, SmtpClient } from '../../support/smtp.ts'
import type { Story } from '../story.ts'

export const interruptionStories: readonly Story[] = [
  {
    name: 'a session that ends leaves what was typed, and sends it after the person has signed in again',
    async run(web) {
      const { appliance, team } = web
      const person = await signInMember(appliance, team.id, 'admin', 'typist@people.example')
      assert.equal((await person.call('PUT', '/me/v1/password', { password: 'keel bolts and rope 2030' })).status, 200)
      const tab = await web.open(person)
      const { page } = tab
      await tab.goTo(`/console/${team.id}/suppressed?new=1`)
      await page.getByRole('dialog').getByLabel('Address').fill('typed@customer.example')
      const { people, db } = appliance.app
      await db.write((tx) => people.sessions.closeOf(tx, person.email))
      await page.getByRole('dialog').getByRole('button', { name: 'Suppress an address' }).click()
      const again = page.getByRole('dialog', { name: 'Sign in again' })
      await again.waitFor()
      tab.forgive(/401/)
      await tab.check('a session that has ended', 'dialog[open]:last-of-type')
      await again.getByLabel('Password').fill('not the password')
      await again.getByRole('button', { name: 'Sign in', exact: true }).click()
      await again.getByText('You are not signed in').waitFor()
      await again.getByLabel('Password').fill('keel bolts and rope 2030')
      await again.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('dialog').first().waitFor({ state: 'detached' })
      await page.getByRole('row').filter({ hasText: 'typed@customer.example' }).waitFor()
      tab.forgive(/401/)
      tab.hasNoComplaints('a session that has ended')
      await tab.close()
    },
  },
  {
    name: 'a page whose code does not load says so instead of showing the page before',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(web.pathOf('/console/{team}'))
      await page.route('**/assets/*.js', (route) => route.abort())
      await page.getByRole('link', { name: 'Billing' }).click()
      await page.getByRole('heading', { name: 'This page did not load', level: 1 }).waitFor()
      tab.forgive(/ERR_FAILED/)
      await tab.check('a page whose code did not load')
      await page.unroute('**/assets/*.js')
      await page.getByRole('button', { name: 'Load it again' }).click()
      await page.getByRole('heading', { name: 'Billing', level: 1 }).waitFor()
      await tab.close()
    },
  },
  {
    name: 'the palette finds records by their names',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(web.pathOf('/console/{team}'))
      const find = async (name: string, label: string) => {
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox', { name: 'Search, or paste any id' }).fill(name)
        await page.getByRole('option').filter({ hasText: label }).click()
      }
      await find('office@', 'office@harbour.test')
      await page.getByRole('heading', { name: 'office@harbour.test', level: 1 }).waitFor()
      await find('shop.ex', 'shop.example')
      await page.getByRole('heading', { name: 'shop.example', level: 1 }).waitFor()
      await find('backup rel', 'Backup relay')
      await page.getByRole('heading', { name: 'Backup relay', level: 1 }).waitFor()
      await find('viewer@', 'viewer@people.example')
      await page.waitForURL(/people\?open=usr_/)
      await tab.goTo('/operator/queue')
      await find('viewer@', 'viewer@people.example')
      await page.waitForURL(/operator\/people\?open=viewer%40people\.example/)
      await find('harbour &', 'Teams')
      await page.waitForURL(/operator\/teams\?open=team_/)
      tab.hasNoComplaints('records in the palette')
      await tab.close()
    },
  },
  {
    name: 'an unknown address shows a page that leads on',
    async run(web) {
      const tab = await web.open(null)
      const { page } = tab
      await page.goto(`${web.appliance.origin}/mailboxes`)
      await page.getByRole('heading', { name: 'Page not found' }).waitFor()
      tab.forgive(/404/)
      await tab.check('an unknown address')
      await page.getByRole('link').click()
      await page.waitForURL(/\/sign-in/)
      await tab.close()
    },
  },
  {
    name: 'a row of Junk says why; the message is moved to the Inbox, and its sender accepted',
    async run(web) {
      const { appliance, team } = web
      const box = await team.mailbox('suspicious@harbour.test')
      await using client = await SmtpClient.greet(appliance.ports.smtp)
      const content = plainMail({ from: 'office@harbour.test', to: box.email, subject: 'From outside' })
      assert.equal((await client.mail({ from: 'b@out.test', to: [box.email], content })).code, 250)
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${team.id}/inbound?mailbox=${box.id}`)
      const row = page.getByRole('row').filter({ hasText: 'From outside' })
      await row.getByText('Junk').waitFor()
      await row.getByText('Its spam score is above the limit.').waitFor()
      assert.equal(await page.getByText('queued as').count(), 0)
      const grant = `/mailboxes/${box.id}/people/${web.owner.memberId}`
      await appliance.call('PUT', grant, team.key, { access: 'owner' })
      await page.reload()
      await tab.isDrawn()
      await page.locator('.row-button').first().click()
      await page.getByRole('button', { name: 'Not junk' }).click()
      await page.getByText('The message is in the Inbox now.').waitFor()
      const { body } = await appliance.get('/mailbox/messages?q=in:inbox', box.key)
      assert.deepEqual(
        body.data.map(({ subject }: { subject: string }) => subject),
        ['From outside'],
      )
      await page.getByRole('button', { name: 'Accept this sender' }).click()
      await page.getByText('Nothing proves who sent this message').waitFor()
      await page.getByLabel('Everyone at harbour.test').check()
      await tab.check('accepting a sender', 'dialog')
      await page.getByRole('dialog').getByRole('button', { name: 'Accept this sender' }).click()
      await page.getByText('@harbour.test is accepted from now on.').waitFor()
      assert.deepEqual((await appliance.get(`/mailboxes/${box.id}/filters`, team.key)).body.data, {
        mode: 'denylist',
        rules: [{ type: 'allow', pattern: '@harbour.test' }],
      })
      await tab.close()
    },
  },
  {
    name: 'people of a team and the parts of a mailbox fit a phone and a wide screen',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await page.setViewportSize({ width: 390, height: 844 })
      await tab.goTo(web.pathOf('/console/{team}/mailboxes/{mailbox}'))
      const tabs = page.getByRole('navigation', { name: 'ana@harbour.test' })
      await tabs.getByRole('button', { name: 'Mail programs' }).click()
      await page.getByRole('menuitem', { name: 'Forwarding' }).click()
      await page.getByRole('heading', { name: 'Forwarding' }).waitFor()
      await tabs.getByRole('button', { name: 'Forwarding' }).waitFor()
      const box = await tabs.boundingBox()
      assert.ok(box!.height < 60, `the parts of a mailbox take ${box!.height} px`)
      await tab.goTo(web.pathOf('/console/{team}/people'))
      const row = page.getByRole('row').filter({ hasText: 'viewer@people.example' })
      const [name, menu] = [
        await row.getByText('viewer@people.example').boundingBox(),
        await row
          .getByRole('button', { name: /viewer@people\.example/ })
          .last()
          .boundingBox(),
      ]
      const middle = (box: typeof name) => box!.y + box!.height / 2
      assert.ok(Math.abs(middle(name) - middle(menu)) < 12, 'the menu stands beside the name')
      await page.setViewportSize({ width: 2560, height: 1440 })
      const [side, main] = [await page.locator('#pages').boundingBox(), await page.locator('#page').boundingBox()]
      const [left, right] = [main!.x - side!.width, 2560 - main!.x - main!.width]
      assert.ok(Math.abs(left - right) < 20, `${left} px left of the page, ${right} px right of it`)
      tab.hasNoComplaints('people on other screens')
      await tab.close()
    },
  },
]
