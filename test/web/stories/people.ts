// People of a team and the team itself: found, given a mailbox, signed out, handed a link; a mailbox for a new person; the team renamed.

import assert from 'node:assert/strict'
import { PersonClient, signInMember } from '../../support/person.ts'
import type { Story } from '../story.ts'

export const peopleStories: readonly Story[] = [
  {
    name: 'a member is found by name and role, gets a mailbox, loses it, and is signed out of the team',
    async run(web) {
      const { appliance, team, owner, clock } = web
      const kim = await signInMember(appliance, team.id, 'user', 'kim@people.example')
      assert.equal((await kim.call('PATCH', '/me/v1/self', { display_name: 'Kim Weaver' })).status, 200)
      const tab = await web.open(owner)
      const { page } = tab
      await tab.goTo(`/console/${team.id}/people?role=user`)
      await page.getByRole('searchbox').fill('weaver')
      await page.waitForURL(/q=weaver/)
      const row = page.getByRole('row').filter({ hasText: 'kim@people.example' })
      await row.locator('.row-button').click()
      await page.getByText('They open no mailbox in the browser').waitFor()
      await page.getByRole('button', { name: 'Give a mailbox' }).click()
      await page.getByLabel('Part of its address').fill('ana@')
      await page.getByLabel('Mailbox', { exact: true }).selectOption('ana@harbour.test')
      await page.getByLabel('Access').selectOption('reader')
      await page.getByRole('dialog').getByRole('button', { name: 'Give a mailbox' }).click()
      const table = page.getByRole('table', { name: 'Mailboxes of kim@people.example' })
      await table.getByText('Reader').waitFor()
      assert.equal((await kim.get(`/as/${web.ids.mailbox}/api/v1/mailbox/folders`)).status, 200)
      await tab.check('a member with a mailbox')
      await page.getByRole('button', { name: 'Take back ana@harbour.test' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Take back' }).click()
      await page.getByText('They open no mailbox in the browser').waitFor()
      clock.advance(1000)
      await page.getByRole('button', { name: 'End sessions' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'End sessions' }).click()
      await page.getByText('Sessions of kim@people.example ended').waitFor()
      assert.equal((await kim.get('/me/v1/self')).status, 401)
      const role = { kind: 'root' as const, role: 'root:readonly' }
      await appliance.app.directory.keys.issue({ ...role, teamId: team.id, name: 'Kim', createdBy: kim.memberId })
      await page.getByRole('button', { name: 'Remove', exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('dialog').getByText('1 API key', { exact: true }).waitFor()
      await tab.check('what a removed person made')
      await page.getByRole('button', { name: 'Keep it' }).click()
      const former = page.getByRole('table', { name: 'Removed people who made something that is in use' })
      await former.getByRole('button', { name: 'End all that kim@people.example made' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'End all of it' }).click()
      await former.waitFor({ state: 'detached' })
      await page.getByText('Nothing matches these filters').waitFor()
      tab.hasNoComplaints('people')
      await tab.close()
    },
  },
  {
    name: 'a mailbox for a person ends on a link that signs them in to it; one for a program ends on its key, and sends through one account',
    async run(web) {
      const { appliance, owner, team } = web
      const tab = await web.open(owner)
      const { page } = tab
      const make = async (use: string, local: string) => {
        await tab.goTo(`/console/${team.id}/mailboxes`)
        await page.getByRole('button', { name: 'New mailbox' }).click()
        await page.getByLabel(use).check()
        await page.getByLabel('Address', { exact: true }).fill(local)
        await page.getByLabel('Domain').selectOption('harbour.test')
        await page.getByRole('dialog').getByRole('button', { name: 'New mailbox' }).click()
        await page.getByRole('heading', { name: `${local}@harbour.test is made` }).waitFor()
      }
      await make('A person', 'mia')
      await page.getByRole('button', { name: 'Show the link' }).click()
      const url = await page.locator('.secret code').innerText()
      await tab.check('the link of a new person')
      const session = await appliance.app.people.signIn(url.split('/').at(-1)!)
      const self = await new PersonClient(appliance, session!).get('/me/v1/self')
      assert.deepEqual(
        self.body.data.mailboxes.map(({ email, access }: Record<string, string>) => [email, access]),
        [['mia@harbour.test', 'owner']],
      )
      await make('A program', 'robot')
      const key = await page.locator('.secret code').innerText()
      assert.equal((await appliance.get('/mailbox/folders', key)).status, 200)
      await page.getByRole('button', { name: 'Open the mailbox' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByRole('heading', { name: 'robot@harbour.test', exact: true }).waitFor()
      assert.ok(!(await page.content()).includes(key))
      await page.getByRole('link', { name: 'Settings', exact: true }).click()
      await page.getByLabel('Some accounts').check()
      await page.getByLabel('Backup relay').check()
      await page.getByRole('button', { name: 'Save accounts' }).click()
      await page.getByText('Settings saved').waitFor()
      const scopes = (await appliance.get('/mailboxes?q=robot', team.key)).body.data
      assert.deepEqual(scopes[0].send_scope, { type: 'providers', provider_public_ids: [web.ids.provider] })
      tab.hasNoComplaints('mailboxes for somebody')
      await tab.close()
    },
  },
  {
    name: 'the team is renamed, and the bar shows it; a viewer reads the page',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${web.ids.team}/team`)
      const rename = async (name: string) => {
        await page.getByLabel('Name', { exact: true }).fill(name)
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('button', { name: 'Switch team' }).getByText(name, { exact: true }).waitFor()
      }
      await rename('Harbour & Daughters')
      assert.equal(web.appliance.app.directory.teams.get(web.ids.team)!.name, 'Harbour & Daughters')
      await rename('Harbour & Sons')
      tab.hasNoComplaints('the team')
      await tab.close()
      const viewer = await web.open(web.viewer)
      await viewer.goTo(`/console/${web.ids.team}/team`)
      await viewer.page.getByText('You may look, not change').waitFor()
      await viewer.close()
    },
  },
]
