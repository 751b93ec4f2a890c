// A person keeps order in their mailbox: what comes later, and what is not to be seen.

import assert from 'node:assert/strict'
import { fillInbox, makeMailWorld } from '../mail-world.ts'
import type { Story } from '../story.ts'
import { row, subjectsIn } from './mail-reading.ts'

export const mailOrderStories: readonly Story[] = [
  {
    name: 'a person snoozes a conversation, finds it waiting, returns it, and mutes another one with keys',
    async run(web) {
      const world = await makeMailWorld(web, 'signe')
      await fillInbox(world, 5)
      const tab = await web.open(world.person)
      const { page } = tab
      await tab.goTo(world.path)
      await row(page, 'Mooring fees for May').click()
      await page.getByRole('heading', { level: 2, name: 'Mooring fees for May' }).waitFor()
      await page.keyboard.press('b')
      await page.getByRole('heading', { name: 'Snooze' }).waitFor()
      await tab.checkLooks('until when it is snoozed', ['light', 'dark', 'phone'], 'dialog')
      await page.getByRole('button', { name: 'Next week' }).click()
      await page.getByText('1 conversation returns').waitFor()
      await page.getByText('4 conversations', { exact: true }).waitFor()

      await page.getByRole('link', { name: 'Snoozed' }).click()
      await page.getByText('1 conversation', { exact: true }).waitFor()
      assert.deepEqual(await subjectsIn(page), ['Mooring fees for May'])
      await row(page, 'Mooring fees for May').getByText('until').waitFor()
      await tab.checkLooks('what is snoozed')
      await row(page, 'Mooring fees for May').click()
      await page.getByRole('toolbar').getByRole('button', { name: 'Snooze' }).last().click()
      await page.getByRole('button', { name: 'Return it now' }).click()
      await page.getByText('1 conversation returned to the folder').waitFor()
      await page.getByRole('link', { name: 'Inbox' }).click()
      await page.getByText('5 conversations', { exact: true }).waitFor()

      await row(page, 'Crane on Thursday').click()
      await page.getByRole('heading', { level: 2, name: 'Crane on Thursday' }).waitFor()
      await page.keyboard.press('m')
      await page.getByText('answers go to the Archive').waitFor()
      await page.getByText('4 conversations', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Archive' }).click()
      await row(page, 'Crane on Thursday').getByText('muted').waitFor({ state: 'attached' })
      await row(page, 'Crane on Thursday').click()
      await page.getByRole('button', { name: 'More for this conversation' }).click()
      await page.getByRole('menuitem', { name: 'Stop muting' }).click()
      await page.getByText('not muted any more').waitFor()
      tab.hasNoComplaints('snoozed and muted')
      await tab.close()
    },
  },
]
