// Agents that ask a person, and pages that follow what happens by themselves.

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { AgentClient } from '../../support/agents.ts'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

export const agentStories: readonly Story[] = [
  {
    name: 'an agent asks for an owner: the person decides, lets it send, takes it back, and ends it by typing its address',
    async run(web) {
      const { email } = await invite(web)
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${web.ids.team}`)
      await page.getByText(`${email} asks you to be its owner`).waitFor()
      await page.getByRole('link', { name: 'Asks you' }).click()
      await page.getByRole('button', { name: 'Become its owner' }).waitFor()
      await tab.check('something waits for the person')
      await tab.goTo(`/console/${web.ids.team}/agents`)
      await page.getByRole('button', { name: 'Become its owner' }).click()
      await page.getByRole('link', { name: email }).click()
      await page.getByRole('button', { name: 'Let it send' }).click()
      await page.getByText('Reads and sends').waitFor()
      await tab.check('an agent that sends')
      await page.getByRole('button', { name: 'Take sending back' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Take sending back' }).click()
      await page.getByRole('button', { name: 'Let it send' }).waitFor()
      await page.getByRole('button', { name: 'End agent' }).click()
      const end = page.getByRole('dialog').getByRole('button', { name: 'End agent' })
      assert.ok(await end.isDisabled(), 'the address has to be typed')
      await page.getByLabel(`Type ${email} to go on`).fill(email)
      await end.click()
      await page.getByText('This agent has ended.').waitFor()
      tab.hasNoComplaints('agents')
      await tab.close()
    },
  },
  {
    name: 'an agent is refused, and may not ask this address again',
    async run(web) {
      const { email } = await invite(web)
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo('/me/asks')
      await page.getByText(`${email} asks you to be its owner`).waitFor()
      await page.getByRole('button', { name: 'Refuse' }).click()
      await page.getByLabel('No agent may ask this address again').check()
      await tab.check('the dialog that refuses')
      await page.getByRole('dialog').getByRole('button', { name: 'Refuse' }).click()
      await page.getByText('Nothing waits for you').waitFor()
      tab.hasNoComplaints('refused')
      await tab.close()
    },
  },
  {
    name: 'a list refreshes by itself when a program changes it, in every tab, over one stream',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      let streams = 0
      page.context().on('request', (request) => {
        if (request.url().includes('/me/v1/events')) streams++
      })
      await tab.goTo(`/console/${web.ids.team}/delivery`)
      await page.getByText('Live', { exact: true }).waitFor()
      const other = await page.context().newPage()
      await other.goto(`${web.appliance.origin}/console/${web.ids.team}/mailboxes`)
      await other.getByRole('link', { name: 'ana@harbour.test' }).waitFor()
      assert.equal(streams, 1, 'the second tab opens no stream')
      await web.appliance.call('POST', '/mailboxes', web.team.key, { email: 'crane@harbour.test' })
      await untilShown(web, other, 'crane@harbour.test')
      await page.close()
      await other.getByRole('link', { name: 'Delivery' }).click()
      await other.getByText('Live', { exact: true }).waitFor()
      await tab.close()
    },
  },
  {
    name: 'a theme follows the person to another browser',
    async run(web) {
      const tab = await web.open(web.viewer)
      await tab.goTo('/me/appearance')
      const saved = tab.page.waitForResponse((one) => one.request().method() === 'PUT' && one.ok())
      await tab.page.getByRole('radio', { name: 'Dark' }).check()
      await tab.page.getByRole('radio', { name: 'Compact' }).check()
      await saved
      await tab.close()
      const other = await web.open(web.viewer)
      await other.goTo('/me/appearance')
      await other.page.locator('html[data-theme="dark"][data-density="compact"]').waitFor()
      other.hasNoComplaints('appearance')
      await other.close()
    },
  },
]

const MOST_TRIES = 100

/** Lets the server look for changes, until the page has drawn a link. */
async function untilShown({ clock }: WebAppliance, page: Page, name: string): Promise<void> {
  const link = page.getByRole('link', { name })
  for (let tries = 0; tries < MOST_TRIES && !(await link.isVisible()); tries++) {
    clock.advance(1000)
    await page.evaluate('new Promise((drawn) => requestIdleCallback(drawn))')
  }
  await link.waitFor()
}

/** An agent that names the owner of the team as its own. */
async function invite({ appliance, owner }: WebAppliance): Promise<{ email: string }> {
  const agent = new AgentClient(appliance)
  const made = await agent.register()
  const reply = await agent.invite(await agent.readToken(made.identity_assertion), owner.email)
  assert.ok(reply.status < 300, JSON.stringify(reply.body))
  await appliance.settle()
  return { email: made.mailbox.email as string }
}
