// A person writes messages in the browser: saved by themselves, sent, taken back, answered, with files.

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { makeMailWorld } from '../mail-world.ts'
import type { Story } from '../story.ts'
import { row } from './mail-reading.ts'

const text = (page: Page) => page.getByRole('textbox', { name: 'Text of the message' })

export const mailWritingStories: readonly Story[] = [
  {
    name: 'a person answers a message, takes it back, and sends it: the quotation is below, and the answer is in the conversation',
    async run(web) {
      const world = await makeMailWorld(web, 'astrid')
      const other = await web.team.mailbox('supplier@harbour.test')
      await world.add({
        from: 'Nordtau Ropes <supplier@harbour.test>',
        subject: 'Order 2030-118',
        text: 'Which color should the rope be?',
        age: 5,
      })
      const tab = await web.open(world.person)
      const { page } = tab
      await tab.goTo(world.path)
      await row(page, 'Order 2030-118').click()
      await page.getByRole('button', { name: 'Reply', exact: true }).click()
      await text(page).waitFor()
      await page.keyboard.type('Navy, ')
      await page.keyboard.press('Control+b')
      await page.keyboard.type('please')
      await page.getByText('Saved').waitFor()
      await tab.checkLooks('the composer', ['light', 'dark', 'phone'])
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByText('Message sent').waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Not sent: the message is a draft again').waitFor()
      await text(page)
        .filter({ hasText: /Navy,\s*please/ })
        .waitFor()
      await page.keyboard.press('Control+Enter')
      await page.getByText('Message sent').waitFor()
      web.clock.advance(60_000)
      await web.appliance.settle()
      const received = await messagesOf(web, other.key)
      assert.equal(received.length, 1)
      const body = await bodyOf(web, other.key, received[0]!.id)
      assert.match(body.html_body, /Navy,(?:\s|&nbsp;)*<b>please<\/b>/)
      assert.match(body.text_body, /Navy,\s+please[\s\S]*wrote:[\s\S]*Which color should the rope be\?/)
      tab.hasNoComplaints('answering')
      await tab.close()
    },
  },
  {
    name: 'a person writes a new message with a file; what is missing is asked for, and a draft can be continued',
    async run(web) {
      const world = await makeMailWorld(web, 'tove')
      const tab = await web.open(world.person)
      const { page } = tab
      await tab.goTo(world.path)
      await page.getByText('Nothing in the Inbox').waitFor()
      await page.keyboard.press('c')
      await page.getByRole('dialog', { name: 'New message' }).waitFor()
      await page.getByRole('combobox', { name: 'To' }).fill('Bo Berg <bo@friend.test>, no address,')
      await page.getByText('no address').waitFor()
      await text(page).click()
      await page.keyboard.type('The plan is attached.')
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByText('no address is not an address').waitFor()
      await tab.check('a wrong recipient')
      await page.getByRole('button', { name: 'Remove no address' }).click()
      await page.getByLabel('Subject').fill('The plan')
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByRole('heading', { name: 'Send it without a file?' }).waitFor()
      await page.getByRole('button', { name: 'Keep writing' }).click()
      await page.locator('input[type="file"]').setInputFiles({
        name: 'plan.json',
        mimeType: 'application/json',
        buffer: Buffer.from('{"mast":12}'),
      })
      await page.getByRole('button', { name: 'Remove plan.json' }).waitFor()
      await page.getByRole('button', { name: 'Save and close' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Drafts' }).click()
      await row(page, 'The plan').click()
      await page.getByRole('button', { name: 'Continue writing' }).click()
      await text(page).filter({ hasText: 'The plan is attached.' }).waitFor()
      await page.getByRole('button', { name: 'Remove plan.json' }).waitFor()
      await tab.checkLooks('a draft that is continued')
      await page.getByRole('button', { name: 'Delete the draft' }).click()
      await page.getByText('Draft deleted').waitFor()
      tab.hasNoComplaints('writing')
      await tab.close()
    },
  },
  {
    name: 'a person completes a recipient, is asked about a domain that looks like it, sends later, and sees the delivery of copies',
    async run(web) {
      const world = await makeMailWorld(web, 'hedda')
      await web.team.mailbox('dredger@harbour.test')
      const sent = await web.appliance.call('POST', '/mailbox/messages/send', world.mailbox.key, {
        to: [{ email: 'dredger@harbour.test', name: 'Crane Office' }, { email: 'nobody@harbour.test' }],
        subject: 'Crane on Thursday',
        text_body: 'At 7:30, please.',
      })
      assert.equal(sent.status, 202, JSON.stringify(sent.body))
      await web.appliance.settle()
      const tab = await web.open(world.person)
      const { page } = tab
      await tab.goTo(world.path.replace('inbox', 'sent'))
      await row(page, 'Crane on Thursday').click()
      await page.getByRole('button', { name: 'Delivered to 1 of 2 recipients' }).click()
      const copies = page.getByRole('list', { name: 'Delivery of each copy' })
      await copies.getByRole('listitem').filter({ hasText: 'nobody@harbour.test' }).getByText('Refused').waitFor()
      await tab.checkLooks('the delivery of copies')

      await page.keyboard.press('c')
      const to = page.getByRole('combobox', { name: 'To' })
      await to.fill('off')
      await page.getByRole('option', { name: 'Crane Office' }).waitFor()
      await tab.check('people who complete a recipient')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Remove Crane Office' }).waitFor()
      await to.fill('dredger@harbor.test,')
      await page.getByLabel('Subject').fill('Crane again')
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByRole('heading', { name: 'Is this address right?' }).waitFor()
      await page.getByText('one letter away from harbour.test').waitFor()
      await tab.check('a doubt', 'dialog')
      await page.getByRole('button', { name: 'Keep writing' }).click()
      await page.getByRole('button', { name: 'Remove dredger@harbor.test' }).click()
      await page.getByRole('button', { name: 'Send later' }).click()
      await page.getByRole('menuitem', { name: 'Tomorrow morning' }).click()
      await page.getByText('Will be sent:').first().waitFor()
      await row(page, 'Crane again').click()
      await page.getByRole('button', { name: 'Do not send it' }).click()
      await page.getByRole('dialog', { name: 'Crane again' }).waitFor()
      await page.getByRole('button', { name: 'Delete the draft' }).click()
      await page.getByText('Draft deleted').waitFor()
      tab.hasNoComplaints('sending later')
      await tab.close()
    },
  },
]

type World = Parameters<Story['run']>[0]

async function messagesOf({ appliance }: World, key: string): Promise<{ id: string }[]> {
  return (await appliance.call('GET', '/mailbox/messages', key)).body.data
}

async function bodyOf(
  { appliance }: World,
  key: string,
  id: string,
): Promise<{ html_body: string; text_body: string }> {
  return (await appliance.call('GET', `/mailbox/messages/${id}`, key)).body.data
}
