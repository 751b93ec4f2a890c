// Outside accounts: attached in the console, their state in a sentence, paused and resumed.

import assert from 'node:assert/strict'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

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
  {
    name: 'a mailbox collects from an outside account, says how it is, and stops',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${web.ids.team}/mailboxes/${web.ids.mailbox}`)
      await page.getByRole('link', { name: 'Collects from' }).click()
      await page.getByText('It collects from no account').waitFor()
      await tab.checkLooks('a mailbox that collects from no account')
      await page.getByRole('button', { name: 'Collect from an account' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Address of the account').fill('old.ana@elsewhere.example')
      await dialog.getByRole('button', { name: 'Find its servers' }).click()
      await dialog.getByLabel('Password').fill('very secret words')
      await dialog.getByLabel('IMAP server').fill('imap.elsewhere.example')
      await dialog.getByLabel('Only messages since').fill('2029-12-24')
      await tab.check('the form of an account to collect from', 'dialog')
      await dialog.getByRole('button', { name: 'Collect from an account' }).click()
      await page.getByRole('heading', { name: 'old.ana@elsewhere.example' }).waitFor()
      const { accounts } = web.appliance.app.sync
      const list = () =>
        accounts.list(web.ids.team, { mailboxId: web.ids.mailbox, mode: 'collect', limit: 10, after: null }).items
      const [account] = list()
      assert.deepEqual([account!.email, account!.mode], ['old.ana@elsewhere.example', 'collect'])
      assert.ok(Math.abs(account!.since! - Date.parse('2029-12-24T00:00Z')) <= 14 * 3_600_000)
      await web.appliance.settle()
      await page.getByRole('button', { name: 'Stop collecting from old.ana@elsewhere.example' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Stop collecting' }).click()
      await page.getByText('It collects from no account').waitFor()
      assert.deepEqual(list(), [])
      // The stream may tell of the end before the page has its answer.
      tab.forgive(/404.*remote-accounts/)
      tab.hasNoComplaints('collecting')
      await tab.close()
    },
  },
  {
    name: 'messages that were removed at the other side are kept and put back, or restored after the removal',
    async run(web) {
      const { id, mailboxId } = await attached(web, 'eva@elsewhere.example')
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${web.ids.team}/mailboxes/${mailboxId}`)
      await page.getByText('Many messages were removed at the other side at once.').waitFor()
      await page.getByRole('button', { name: 'Keep them and put them back' }).click()
      await tab.check('the question about a held removal')
      await page.getByRole('dialog').getByRole('button', { name: 'Keep them and put them back' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      assert.equal(web.appliance.app.sync.accounts.byId(id)!.removal?.isUndone, true)
      await page.getByText('1 message was removed at the other side in the last 30 days').waitFor()
      await page.getByRole('button', { name: 'Restore them' }).click()
      await tab.check('the question about removed messages')
      await page.getByRole('dialog').getByRole('button', { name: 'Restore them' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Restore them' }).waitFor({ state: 'detached' })
      const { store } = web.appliance.app
      const account = store.accounts.byMailbox(mailboxId)!
      const inbox = store.read.folders.byRole(account.n, 'inbox')
      assert.equal(store.programs.views.status(account, inbox.n)!.messages, 1)
      tab.hasNoComplaints('removed messages')
      await tab.close()
    },
  },
]

/** An account with a held removal, and a message that was removed at its server. */
async function attached({ appliance, team, clock }: WebAppliance, email: string) {
  const { app, call } = appliance
  const server = { imap_host: 'imap.elsewhere.example', imap_port: 993, imap_protocol: 'ssl' }
  const made = await call('POST', '/remote-accounts', team.key, { email, password: 'p', ...server })
  const { id, mailbox_id: mailboxId } = made.body.data
  const { secret } = await app.directory.keys.issue({
    ...{ teamId: team.id, kind: 'mailbox', mailboxId, name: 'test', createdBy: 'operator' },
  })
  const raw = Buffer.from('From: a@out.example\r\nSubject: Gone\r\n\r\nx\r\n').toString('base64')
  const message = (await call('POST', '/mailbox/messages/import', secret, { raw })).body.data.id
  const account = app.store.accounts.byMailbox(mailboxId)!
  const removal = { folders: ['INBOX'], messages: 5000, since: clock.now(), isConfirmed: false }
  await app.db.write((tx) => {
    app.store.edit.removed.hold(
      tx,
      account,
      [...app.store.programs.mail.numbers(account, [message], tx).values()],
      clock.now(),
    )
    app.store.edit.messages.deleteIn(tx, account, [message])
    // No worker follows it: the server does not exist.
    tx.run("UPDATE remote_accounts SET status = 'paused', import_state = 'done', removal = ? WHERE id = ?", [
      ...[JSON.stringify(removal), id],
    ])
  })
  return { id, mailboxId }
}
