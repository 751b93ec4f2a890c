// Messages of programs that wait for a person: looked at, approved, edited and rejected.

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { data } from '../../api/expect.ts'
import type { Json } from '../../support/appliance.ts'
import type { Story } from '../story.ts'

export const heldStories: readonly Story[] = [
  {
    name: 'an owner sets that messages of programs wait, looks at three, and approves, edits and rejects them',
    async run(web) {
      const { appliance, team } = web
      const box = await team.mailbox('winch@harbour.test')
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${web.ids.team}/mailboxes/${box.id}/settings`)
      await page.getByLabel('Messages of programs that wait').selectOption('always')
      await tab.check('the policy of a mailbox')
      await page.getByRole('button', { name: 'Save the policy' }).click()
      await page.getByText('Policy saved').waitFor()
      const send = async (subject: string, more: object = {}): Promise<string> => {
        const mail = { to: [{ email: 'ana@harbour.test' }], subject, text_body: `Text of ${subject}.`, ...more }
        const sent = data<Json>(await appliance.call('POST', '/mailbox/messages/send', box.key, mail), 202)
        assert.equal(sent.status, 'held')
        return sent.submission_id
      }
      const content = Buffer.from('one').toString('base64')
      const sent = [
        await send('First offer', {
          bcc: [{ email: 'hidden@elsewhere.test' }],
          attachments: [{ filename: 'list.txt', content }],
        }),
        await send('Second offer'),
        await send('Third offer'),
      ]
      await tab.goTo('/me/asks')
      await lookAt(page, 'First offer')
      await page.getByText('Text of First offer.').waitFor()
      await page.getByText('hidden@elsewhere.test').waitFor()
      await page.getByText('list.txt').waitFor()
      await tab.check('a message that waits')
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByText('The message leaves now').waitFor()
      await lookAt(page, 'Second offer')
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByRole('dialog').getByLabel('Text').fill('Said by a person.')
      await tab.check('the dialog that edits')
      await page.getByRole('button', { name: 'Send as edited' }).click()
      await page.getByText('The message leaves as you edited it').waitFor()
      await lookAt(page, 'Third offer')
      await page.getByRole('button', { name: 'Reject' }).click()
      await page.getByRole('dialog').getByLabel('Note').fill('Not now.')
      await tab.check('the dialog that rejects')
      await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
      await page.getByText('The message is not sent').waitFor()
      await page.getByText('Nothing waits for you').waitFor()
      const states = []
      for (const id of sent) {
        const { approval } = data<Json>(await appliance.get(`/mailbox/submissions/${id}`, box.key))
        states.push([approval.state, approval.note])
      }
      assert.deepEqual(states, [
        ['approved', null],
        ['edited', null],
        ['rejected', 'Not now.'],
      ])
      tab.hasNoComplaints('messages that wait')
      await tab.close()
    },
  },
]

async function lookAt(page: Page, subject: string): Promise<void> {
  const card = page.getByRole('article').filter({ hasText: subject })
  await card.getByRole('button', { name: 'Look at it' }).click()
}
