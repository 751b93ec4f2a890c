// Signing in: what a browser without a session sees, and that nothing of the API opens for it.

import assert from 'node:assert/strict'
import { signInMember } from '../../support/person.ts'
import type { Story } from '../story.ts'

export const signInStories: readonly Story[] = [
  {
    name: 'a person without a session is asked to sign in, and comes back to the page they wanted',
    async run(web) {
      const page = await web.open(null)
      await page.page.goto(`${web.appliance.origin}/console/${web.ids.team}/domains`)
      await page.isDrawn()
      const { pathname, searchParams } = new URL(page.page.url())
      assert.equal(pathname, '/sign-in')
      assert.equal(searchParams.get('next'), `/console/${web.ids.team}/domains`)
      assert.ok(page.forgive(/401/) > 0, 'the server refused to say who is signed in')
      await page.page.getByLabel('Mail address').fill('somebody@elsewhere.example')
      await page.page.getByRole('button', { name: 'Mail me a link' }).click()
      await page.page.getByText('a link is on its way').waitFor()
      page.hasNoComplaints('sign-in')
      await page.close()
    },
  },
  {
    name: 'the page to sign in offers what the operator allows',
    async run(web) {
      const tab = await web.open(null)
      const { page } = tab
      const data = { open: false, allowed: ['passkey'] }
      await page.route('**/me/v1/first-run', (route) => route.fulfill({ json: { ok: true, data, meta: {} } }))
      await tab.goTo('/sign-in')
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
      await page.getByLabel('Recovery code').waitFor()
      for (const name of ['Use a password', 'Use a passkey or a link', 'Mail me a link']) {
        assert.equal(await page.getByRole('button', { name }).count(), 0, name)
      }
      await page.getByRole('button', { name: 'I cannot sign in' }).click()
      await page.getByText('mailstead login-link').waitFor()
      await page.getByRole('button', { name: 'Close' }).click()
      await page.route('**/me/v1/sign-in/passkey/options', (route) => route.abort())
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await page.getByText('Check the connection and try again').waitFor()
      assert.equal(tab.forgive(/ERR_FAILED/), 1)
      tab.hasNoComplaints('sign-in by passkey alone')
      await tab.close()
    },
  },
  {
    name: 'a person whose address is on this server is invited without a link, and an owner is shown one that works',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${web.ids.team}/people`)
      await page.getByRole('button', { name: 'Invite a person' }).first().click()
      await page.getByLabel('Mail address').fill('new-person@harbour.test')
      await page.getByRole('dialog').getByRole('button', { name: 'Invite a person' }).click()
      await page.getByRole('heading', { name: 'new-person@harbour.test is a member now' }).waitFor()
      await tab.check('a member without a link')
      await page.getByRole('button', { name: 'Link to sign in' }).click()
      await page.getByRole('button', { name: 'Show the link' }).click()
      const url = await page.locator('.secret code').innerText()
      const session = await web.appliance.app.people.signIn(url.split('/').at(-1)!)
      assert.deepEqual([session?.email, session?.teamId], ['new-person@harbour.test', web.ids.team])
      tab.hasNoComplaints('a link that is shown')
      await tab.close()
    },
  },
  {
    name: 'a person who has nothing to prove themselves with is asked to sign in again',
    async run(web) {
      const { appliance, team } = web
      const person = await signInMember(appliance, team.id, 'admin', 'by-link@people.example')
      await appliance.app.db.write((tx) =>
        tx.run('UPDATE sessions SET confirmed_until = 0 WHERE email = ?', [person.email]),
      )
      const tab = await web.open(person)
      const { page } = tab
      await tab.goTo(`/console/${team.id}/people`)
      await page.getByRole('button', { name: 'Invite a person' }).first().click()
      await page.getByLabel('Mail address').fill('one@elsewhere.example')
      await page.getByRole('dialog').getByRole('button', { name: 'Invite a person' }).click()
      await page.getByText('Sign in again, by a link for example').waitFor()
      assert.equal(tab.forgive(/403/), 1)
      await tab.check('nothing to prove oneself with')
      await page.getByRole('button', { name: 'Sign in again' }).click()
      await page.waitForURL(/\/sign-in\?next=%2Fconsole/)
      await tab.close()
    },
  },
  {
    name: 'a person who may open mailboxes alone sees that, and the console asks for nothing',
    async run(web) {
      const tab = await web.open(await signInMember(web.appliance, web.team.id, 'user', 'boxes@people.example'))
      await tab.goTo(`/console/${web.team.id}`)
      await tab.page.getByText('Your role opens nothing of this team here').waitFor()
      await tab.check('a role without permissions')
      tab.hasNoComplaints('a role without permissions')
      await tab.close()
    },
  },
]
