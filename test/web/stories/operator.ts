// The operator: the doctor, a backup, settings without secrets, and a team that is made and suspended.

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

export const operatorStories: readonly Story[] = [
  {
    name: 'the doctor runs, and its findings say what to do; a filter shows the warnings alone',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo('/operator')
      await page.getByRole('button', { name: 'Run the checks' }).click()
      const findings = page.getByRole('list', { name: 'Checks' }).getByRole('listitem')
      await findings.first().waitFor()
      const all = await findings.count()
      assert.ok((await page.locator('.finding [lang="en"]').count()) >= all, 'sentences of the server are English')
      assert.match(await findings.first().innerText(), /MAIL_HOSTS|TLS_CERT_FILE/, 'what needs the operator is first')
      await tab.checkLooks('the doctor has run')
      await page.getByRole('button', { name: 'Result' }).click()
      await page.getByRole('menuitemradio', { name: 'Warning' }).click()
      await page.waitForURL('**/operator?status=warn')
      assert.ok((await findings.count()) < all)
      const see = page.getByRole('link', { name: /^See [A-Z_]+$/ }).first()
      const setting = (await see.innerText()).replace('See ', '')
      await see.click()
      await page.waitForURL(`**/operator/settings?q=${setting}&open=${setting}`)
      await page.getByText('To change it').waitFor()
      await page.getByText(/^[A-Z_]+=./).waitFor()
      await tab.checkLooks('how a setting is changed')
      tab.hasNoComplaints('the doctor')
      await tab.close()
    },
  },
  {
    name: 'the folder of backups has a name and a disk; a schedule is chosen, and a backup is made and listed with its size',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo('/operator/backups')
      await page.getByText('No backup yet').waitFor()
      await page.getByText(web.appliance.app.maintenance.backups.folder, { exact: true }).waitFor()
      await page.getByText('The data folder is on this disk too').waitFor()
      await chooseSchedule(page)
      await page.getByRole('button', { name: 'Back up now' }).click()
      await page.getByRole('cell', { name: 'Complete' }).waitFor({ timeout: 60_000 })
      assert.match(await page.getByRole('row').last().innerText(), /mailstead-\d{8}T\d{6}Z\.tar\.zst[\s\S]*(?:kB|MB)/)
      await page.getByText(/mailstead restore \/.*\/mailstead-\d{8}T/).waitFor()
      await tab.checkLooks('a backup is listed')
      await scheduleNothing(page)
      await tab.close()
    },
  },
  {
    name: 'settings say where they are from, and no secret is in the page',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo('/operator/settings?source=environment')
      const row = (name: string) => page.getByRole('row').filter({ hasText: name })
      assert.match(await row('DATA_DIR').innerText(), /Environment/)
      assert.equal(await row('SPAM_JUNK_SCORE').count(), 0)
      await page.getByRole('searchbox').fill('POW_SECRET')
      await row('POW_SECRET').getByText('set, not shown').waitFor()
      assert.ok(!(await page.content()).includes(web.appliance.app.config.POW_SECRET))
      await tab.close()
    },
  },
  { name: 'a team is made, gets a key that is shown once, and is suspended', run: manageTeam },
]

async function chooseSchedule(page: Page): Promise<void> {
  await page.getByText('No backup is made unless').waitFor()
  await page.getByRole('button', { name: 'Choose a schedule' }).click()
  const dialog = page.getByRole('dialog')
  const times = dialog.getByLabel('Times of the day, in UTC')
  await times.fill('4 am')
  await dialog.getByText('Enter times such as 03:15').waitFor()
  await times.fill('4:15, 16:15')
  await dialog.getByLabel('Months').fill('12')
  await dialog.getByRole('button', { name: 'Save schedule' }).click()
  await page.getByText('Every day at 04:15, 16:15 UTC').waitFor()
  await page.getByText('The newest of the last 7 days, 4 weeks and 12 months').waitFor()
}

/** The job of the shared appliance makes none in other stories. */
async function scheduleNothing(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByLabel('Make backups every day').uncheck()
  await page.getByRole('button', { name: 'Save schedule' }).click()
  await page.getByText('No backup is made unless').waitFor()
}

async function manageTeam(web: WebAppliance): Promise<void> {
  const tab = await web.open(web.owner)
  const { page } = tab
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await tab.goTo('/operator/teams')
  await press('New team')
  await page.getByLabel('Name', { exact: true }).fill('Lighthouse')
  await page.getByRole('dialog').getByRole('button', { name: 'New team' }).click()
  const row = page.getByRole('row').filter({ hasText: 'Lighthouse' })
  await row.getByRole('button').click()
  await press('New root key')
  await press('Make key')
  const key = await page.locator('.secret code').innerText()
  assert.equal((await web.appliance.get('/team', key)).body.data.name, 'Lighthouse')
  await press('Done')
  await press('Suspend')
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
  await row.getByText('Suspended').waitFor()
  assert.equal((await web.appliance.get('/team', key)).status, 403)
  await press('Reactivate')
  await row.getByText('Active').waitFor()
  tab.hasNoComplaints('teams')
  await tab.close()
}
