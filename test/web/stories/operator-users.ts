// The operator and the users of the server: people, agents, limit requests, credits, and the records of the server itself.

import assert from 'node:assert/strict'
import { newId } from '../../../src/base/ids.ts'
import { AgentClient } from '../../support/agents.ts'
import { signInMember } from '../../support/person.ts'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

export const operatorUserStories: readonly Story[] = [
  { name: 'an operator signs a person out, makes them an operator and withdraws it', run: managePeople },
  { name: 'an operator limits an agent and ends it, and turns registration off and on', run: manageAgents },
  {
    name: 'a limit request is denied with a note; a credit is entered; records say that a trial has none',
    run: decide,
  },
]

async function managePeople(web: WebAppliance): Promise<void> {
  const opa = await signInMember(web.appliance, web.team.id, 'viewer', 'opa@people.example')
  const tab = await web.open(web.owner)
  const { page } = tab
  const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name }).click()
  await tab.goTo('/operator/people')
  await page.getByRole('searchbox').fill('opa')
  await page.waitForURL(/q=opa/)
  const row = page.getByRole('row').filter({ hasText: opa.email })
  await row.locator('.row-button').click()
  await page.getByRole('button', { name: 'End sessions' }).click()
  await inDialog('End sessions')
  await page.getByText(`Sessions of ${opa.email} ended`).waitFor()
  assert.equal((await opa.get('/me/v1/self')).status, 401)
  await page.getByRole('button', { name: 'Make operator' }).click()
  await inDialog('Make operator')
  await row.getByText('Operator', { exact: true }).waitFor()
  await tab.check('a person who is an operator')
  await page.getByRole('button', { name: 'Withdraw operator' }).click()
  await inDialog('Withdraw operator')
  await page.getByRole('button', { name: 'Make operator' }).waitFor()
  assert.equal(web.appliance.app.people.persons.get(opa.email)!.isOperator, false)
  await page.getByRole('button', { name: 'Link to sign in' }).click()
  await inDialog('Show the link')
  const url = await page.locator('.secret code').innerText()
  assert.equal((await web.appliance.app.people.signIn(url.split('/').at(-1)!))?.teamId, web.team.id)
  await page.getByRole('button', { name: 'Done' }).click()
  await web.appliance.app.people.remove(web.team.id, opa.memberId)
  tab.hasNoComplaints('people of the operator')
  await tab.close()
}

async function manageAgents(web: WebAppliance): Promise<void> {
  const { mailbox } = await new AgentClient(web.appliance).register()
  const tab = await web.open(web.owner)
  const { page } = tab
  await tab.goTo('/operator/agents')
  await page.getByRole('searchbox').fill(mailbox.email)
  const row = page.getByRole('row').filter({ hasText: mailbox.email })
  await row.locator('.row-button').click()
  await page.getByRole('button', { name: 'Change limits' }).click()
  await page.getByLabel('Recipients an hour').fill('3')
  await page.getByLabel('Recipients a day').fill('20')
  await tab.check('limits of an agent', 'dialog[open]')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('3 an hour, 20 a day').waitFor()
  await tab.check('an agent with limits of its own')
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
  await row.getByText('Ended').waitFor()
  await page.getByRole('button', { name: 'End many' }).click()
  await page.getByRole('button', { name: 'Count them' }).click()
  await page.getByText('would end').waitFor()
  await page.getByRole('button', { name: 'Keep it' }).click()
  await page.getByRole('button', { name: 'Turn registration off' }).click()
  await page.getByText('Registration is off').waitFor()
  await page.getByRole('button', { name: 'Turn registration on' }).click()
  await page.getByText('Agents may register').waitFor()
  tab.hasNoComplaints('agents of the operator')
  await tab.close()
}

/** A request of the team: without an account at Amazon it cannot make one itself. */
function addRequest({ appliance, team, clock }: WebAppliance): Promise<void> {
  return appliance.app.db.write((tx) => {
    tx.insert('limit_requests', {
      ...{ id: newId('limitRequest'), team_id: team.id, status: 'pending', reason: 'A sale in December' },
      ...{ requested_daily_limit: 5000, current_daily_limit: 1000, current_daily_sent: 870 },
      ...{ approved_daily_limit: null, decision_note: null, created_at: clock.now(), decided_at: null },
    })
  })
}

async function decide(web: WebAppliance): Promise<void> {
  await addRequest(web)
  const tab = await web.open(web.owner)
  const { page } = tab
  await tab.goTo('/operator/requests?status=pending')
  await page.getByRole('row').filter({ hasText: 'Harbour & Sons' }).locator('.row-button').click()
  await page.getByText('A sale in December').waitFor()
  await page.getByRole('button', { name: 'Approve' }).click()
  assert.equal(await page.getByLabel('Recipients a day from now on').inputValue(), '5000')
  await tab.check('the dialog that approves', 'dialog[open]')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.getByLabel('Note to the team').fill('Ask again in a month')
  await page.getByRole('dialog').getByRole('button', { name: 'Deny' }).click()
  await page.getByText('Nothing matches these filters').waitFor()
  await tab.goTo('/operator/credits')
  await page.getByRole('button', { name: /^Team: / }).click()
  await page.getByRole('menuitemradio', { name: 'Harbour & Sons' }).click()
  await page.getByRole('button', { name: 'Enter a credit' }).click()
  await page.getByLabel('Amount').fill('-3')
  await page.getByRole('textbox', { name: 'Purpose' }).fill('Invoice 2030-117')
  await page.getByRole('dialog').getByRole('button', { name: 'Enter a credit' }).click()
  await page.getByText('The amount of a purchase is positive').waitFor()
  await page.getByLabel('Amount').fill('25.00')
  await page.getByRole('dialog').getByRole('button', { name: 'Enter a credit' }).click()
  await page.getByRole('row').filter({ hasText: 'Invoice 2030-117' }).waitFor()
  await tab.goTo('/operator/records?status=not_checked')
  await page.getByText('The name is reserved for trials').first().waitFor()
  assert.match(await page.getByRole('table', { name: 'Mail hosts' }).innerText(), /_spf\.mx\.mailstead\.test/)
  await tab.close()
}
