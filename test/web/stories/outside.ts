// Outside accounts: attached in the console, their state in a sentence, paused and resumed.

import type { Story } from '../story.ts'

export const outsideStories: readonly Story[] = [
  {
    name: 'an outside account is attached, says how far its import is, and is paused and resumed',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      const { app } = web.appliance
      await tab.goTo(`/console/${web.ids.team}/mailboxes`)
      await page.getByRole('button', { name: 'Attach an account' }).click()
      await page.getByLabel('Address of the account').fill('ana@elsewhere.example')
      await page.getByRole('button', { name: 'Find its servers' }).click()
      await page.getByText('No servers were found').waitFor()
      await page.getByLabel('Password').fill('very secret words')
      await page.getByLabel('IMAP server').fill('imap.elsewhere.example')
      await tab.check('the form of an account')
      await page.getByRole('dialog').getByRole('button', { name: 'Attach an account' }).click()
      await page.getByRole('heading', { name: 'ana@elsewhere.example' }).waitFor()
      await page.getByText('Outside account', { exact: true }).waitFor()
      await web.appliance.settle()
      await page.getByRole('button', { name: 'Pause' }).click()
      await page.getByText('Paused.').waitFor()
      await page.getByRole('button', { name: 'Sign in again' }).waitFor()
      await app.db.write((tx) =>
        tx.run(
          `UPDATE remote_accounts SET status = 'importing', import_state = 'running', import_total = 400, import_done = 100
           WHERE email = 'ana@elsewhere.example'`,
        ),
      )
      await page.reload()
      await page.getByText('100 of 400 messages are here.').waitFor()
      await tab.check('an account that is imported')
      tab.hasNoComplaints('outside accounts')
      await tab.close()
    },
  },
]
