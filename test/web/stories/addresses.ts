// Mailboxes, keys and people: made in the console, checked through the API, secrets nowhere but on the screen.

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { signInMember } from '../../support/person.ts'
import type { Story } from '../story.ts'
import type { WebAppliance } from '../web-appliance.ts'

/** Everything the browser stores for the origin, as text. */
const STORED =
  'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])'

export const addressStories: readonly Story[] = [
  {
    name: 'the out-of-office answer and the scripts of any mailbox are two clicks from the list of mailboxes',
    async run(web) {
      const { appliance, team } = web
      const box = await team.mailbox('rita@harbour.test')
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${team.id}/mailboxes?q=rita`)
      await page.getByRole('link', { name: 'rita@harbour.test' }).click()
      await page.getByRole('link', { name: 'Out of office' }).click()
      await page.getByLabel('Answer messages while I am away').check()
      await page.getByLabel('Text').fill('Rita is back on Monday.')
      await page.getByRole('button', { name: 'Save answer' }).click()
      await page.getByText('Answer saved').waitFor()
      const { data } = (await appliance.get('/mailbox/vacation-response', box.key)).body
      assert.deepEqual([data.is_enabled, data.text_body], [true, 'Rita is back on Monday.'])
      await tab.checkLooks('the answer of a mailbox')
      await tab.goTo(`/console/${team.id}/mailboxes?q=rita`)
      await page.getByRole('link', { name: 'rita@harbour.test' }).click()
      await page.getByRole('link', { name: 'Scripts' }).click()
      await page.getByRole('button', { name: 'New script' }).click()
      await page.getByLabel('Name').fill('Lists')
      await page.getByLabel('Text').fill('stopp;')
      await page.getByRole('button', { name: 'Check' }).click()
      await page.getByText('Line 1, column 1:').waitFor()
      await page.getByLabel('Text').fill('redirect "rita@elsewhere.example";')
      await page.getByRole('button', { name: 'Check' }).click()
      await page.getByText('It has no errors.').waitFor()
      await page.getByRole('button', { name: 'Save script' }).click()
      await page.getByText('“Lists” saved').waitFor()
      await page.getByRole('button', { name: 'Activate Lists' }).click()
      await page.getByRole('button', { name: 'Deactivate Lists' }).waitFor()
      const [script] = (await appliance.get('/mailbox/sieve-scripts', box.key)).body.data
      assert.deepEqual([script.name, script.is_active], ['Lists', true])
      tab.hasNoComplaints('the answer and the scripts of a mailbox')
      await tab.close()
    },
  },
  {
    name: 'a new mailbox is made at any of more domains than a list shows',
    async run(web) {
      const team = await web.appliance.team('Many domains')
      for (let n = 1; n <= 101; n++) await team.domain(`n${n}.many.test`)
      const owner = await signInMember(web.appliance, team.id, 'owner', 'many@people.example')
      const tab = await web.open(owner)
      const { page } = tab
      await tab.goTo(`/console/${team.id}/mailboxes?new=1`)
      const choice = page.getByLabel('Domain', { exact: true })
      for (const name of ['n1.many.test', 'n101.many.test']) {
        await page.getByLabel('Find the domain').fill(name)
        await choice.locator('option', { hasText: `@${name}` }).waitFor({ state: 'attached' })
      }
      await choice.selectOption('n101.many.test')
      await page.getByLabel('Address', { exact: true }).fill('last')
      await tab.check('many domains', 'dialog')
      await page.getByRole('dialog').getByRole('button', { name: 'New mailbox' }).click()
      await page.getByRole('heading', { name: 'last@n101.many.test' }).waitFor()
      tab.hasNoComplaints('many domains')
      await tab.close()
    },
  },
  {
    name: 'a mailbox with an app password: made, shown once, stored nowhere in the browser, revoked',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${web.ids.team}/mailboxes`)
      await page.getByRole('button', { name: 'New mailbox' }).click()
      await page.getByLabel('Address', { exact: true }).fill('ben')
      await page.getByLabel('Domain').selectOption('harbour.test')
      await page.getByRole('dialog').getByRole('button', { name: 'New mailbox' }).click()
      await page.getByRole('heading', { name: 'ben@harbour.test' }).waitFor()
      await page.getByRole('button', { name: 'New app password' }).click()
      await page.getByLabel('Name', { exact: true }).fill('Thunderbird')
      await page.getByRole('dialog').getByRole('button', { name: 'New app password' }).click()
      const secret = await shownSecret(page)
      await tab.check('the app password is shown')
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('button', { name: 'Revoke Thunderbird' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByText('Revoked', { exact: true }).waitFor()
      assert.ok(!String(await page.evaluate(STORED)).includes(secret.replaceAll('-', '').slice(0, 8)))
      assert.ok(!(await page.content()).includes(secret), 'nothing of it is left on the page')
      tab.hasNoComplaints('mailboxes')
      await tab.close()
    },
  },
  {
    name: 'a key is shown once and works; the row that is open is in the address; a filter can be sent to a colleague',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${web.ids.team}/keys`)
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByLabel('Name', { exact: true }).fill('shop')
      await page.getByRole('dialog').getByRole('combobox').first().selectOption('root:readonly')
      await page.getByRole('dialog').getByRole('button', { name: 'New key' }).click()
      const secret = await shownSecret(page)
      assert.equal((await web.appliance.get('/domains', secret)).status, 200)
      assert.equal((await web.appliance.call('POST', '/domains', secret, { domain: 'x.example' })).status, 403)
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('button', { name: 'shop' }).click()
      await page.getByText('Permissions').waitFor()
      await page.getByText(`by ${web.owner.email}`).waitFor()
      assert.match(page.url(), /open=key_/)
      await page.getByRole('button', { name: 'Kind' }).click()
      await page.getByRole('menuitemradio', { name: 'Team' }).click()
      await page.getByRole('button', { name: 'Kind: Team' }).waitFor()
      const address = new URL(page.url())
      await tab.goTo(address.pathname + address.search)
      await page.getByRole('button', { name: 'Kind: Team' }).waitFor()
      await page.getByText('Permissions').waitFor()
      // A search finds what is not in the first part of the list.
      await page.route('**/api-keys?*', (route) => route.continue({ url: `${route.request().url()}&limit=2` }))
      const { body } = await web.appliance.get('/api-keys?kind=root&limit=100', web.team.key)
      await tab.goTo(`/console/${web.ids.team}/keys?kind=root`)
      await page.getByRole('button', { name: 'Load more' }).waitFor()
      await page.getByRole('searchbox').fill(body.data.at(-1).last4)
      await page.getByRole('row').getByText(body.data.at(-1).last4).waitFor()
      tab.hasNoComplaints('keys')
      await tab.close()
    },
  },
  {
    name: 'what is typed stays when another person changes the record, and saving sends only that',
    run: typedStays,
  },
  {
    name: 'a form is saved again before its record is read again, which is no change of another person',
    run: savedAgain,
  },
  {
    name: 'an old session proves itself before a key is made, by passkey, and the request is repeated',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.addAuthenticator()
      await tab.goTo('/me/sign-in')
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      await page.getByLabel('Name', { exact: true }).fill('Laptop')
      await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click()
      await page.getByText('Laptop', { exact: true }).waitFor()
      expireProof(web)
      await tab.goTo(`/console/${web.ids.team}/keys`)
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByLabel('Name', { exact: true }).fill('late')
      await page.getByRole('dialog').getByRole('button', { name: 'New key' }).click()
      await page.getByRole('heading', { name: 'Is it still you?' }).waitFor()
      assert.equal(tab.forgive(/403/), 1)
      await tab.check('the proof is asked for')
      await page.getByRole('button', { name: 'Confirm with a passkey' }).click()
      assert.match(await shownSecret(page), /^srk_/)
      tab.hasNoComplaints('proof')
      await tab.close()
    },
  },
  {
    name: 'a deleted mailbox is restored under another address, and erased',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      const { id } = await web.team.mailbox('wrong@harbour.test')
      await tab.goTo(`/console/${web.ids.team}/mailboxes/${id}/settings`)
      const remove = async (email: string) => {
        await page.getByRole('button', { name: 'Delete mailbox' }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByText('can restore it').waitFor()
        await dialog.getByRole('textbox').fill(email)
        await dialog.getByRole('button', { name: 'Delete mailbox' }).click()
        await page.waitForURL(/mailboxes$/)
      }
      await remove('wrong@harbour.test')
      await web.team.mailbox('wrong@harbour.test')
      await page.getByRole('button', { name: 'Status' }).click()
      await page.getByRole('menuitemradio', { name: 'Deleted' }).click()
      await page.getByRole('link', { name: 'wrong@harbour.test' }).click()
      await page.getByText('It can be restored until').waitFor()
      await tab.check('a deleted mailbox')
      await page.getByRole('button', { name: 'Restore' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Restore' }).click()
      await dialog.getByText('The address is already in use.').waitFor()
      assert.equal(tab.forgive(/409/), 1)
      await tab.check('the dialog that restores a mailbox')
      await dialog.getByLabel('Address').fill('right@harbour.test')
      await dialog.getByRole('button', { name: 'Restore' }).click()
      await page.getByText('right@harbour.test restored').waitFor()
      await page.getByRole('link', { name: 'Settings' }).click()
      await remove('right@harbour.test')
      await tab.goTo(`/console/${web.ids.team}/mailboxes/${id}`)
      await page.getByRole('button', { name: 'Erase now' }).click()
      await dialog.getByRole('textbox').fill('right@harbour.test')
      await dialog.getByRole('button', { name: 'Erase now' }).click()
      await page.getByText('right@harbour.test erased').waitFor()
      assert.equal((await web.appliance.get(`/mailboxes/${id}`, web.team.key)).status, 404)
      // The page that is left may read the mailbox once more.
      tab.forgive(/404/)
      tab.hasNoComplaints('deleted mailboxes')
      await tab.close()
    },
  },
  {
    name: 'the settings of a mailbox keep what is typed while messages arrive, and are saved then',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      const made = await web.team.mailbox('busy@harbour.test')
      await tab.goTo(`/console/${web.ids.team}/mailboxes/${made.id}/settings`)
      await page.getByLabel('Name', { exact: true }).fill('Busy people')
      await web.appliance.call('POST', '/mailbox/messages/send', made.key, {
        to: [{ email: 'busy@harbour.test' }],
        subject: 'Meanwhile',
        text_body: 'Hello',
      })
      await web.appliance.settle()
      // The same choice again: the mailbox is read afterwards.
      await page.getByRole('button', { name: 'Save accounts' }).click()
      await page.getByText('Settings saved').waitFor()
      await tab.isDrawn()
      assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Busy people')
      // The server does not answer for a moment.
      const reading = new RegExp(`/mailboxes/${made.id}$`)
      await page.route(reading, (route) => (route.request().method() === 'GET' ? route.abort() : route.continue()))
      const failed = page.waitForEvent('requestfailed')
      await page.getByRole('button', { name: 'Save accounts' }).click()
      await failed
      await tab.isDrawn()
      await page.unroute(reading)
      assert.equal(tab.forgive(/ERR_FAILED/), 1)
      await page.getByRole('button', { name: 'Save settings' }).click()
      await page.locator('.page-title').getByText('Busy people').waitFor()
      // What another person has chosen is not taken back by a choice that was not changed.
      const theirs = { type: 'providers', provider_public_ids: [web.ids.provider] }
      const record = `/mailboxes/${made.id}`
      await tab.isDrawn()
      const chosen = await web.appliance.call('PATCH', record, web.team.key, { send_scope: theirs })
      assert.equal(chosen.status, 200, JSON.stringify(chosen.body))
      await page.getByRole('button', { name: 'Save accounts' }).click()
      await page.getByText('Another person changed this').waitFor()
      assert.deepEqual((await web.appliance.get(record, web.team.key)).body.data.send_scope, theirs)
      assert.ok(tab.forgive(/409/) >= 1)
      tab.hasNoComplaints('settings of a mailbox')
      await tab.close()
    },
  },
  {
    name: 'everything is reached by keys: palette, list, search, menu, dialog; focus returns to where it was',
    async run(web) {
      const tab = await web.open(web.owner)
      const { page } = tab
      await tab.goTo(`/console/${web.ids.team}`)
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search, or paste any id' }).waitFor()
      await tab.check('the palette is open')
      await page.keyboard.type('mailb')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Mailboxes' }).waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('ana')
      await page.waitForURL(/q=ana/)
      await page.getByRole('link', { name: 'ana@harbour.test' }).waitFor()
      await page.getByRole('button', { name: 'Status' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('menuitemradio', { name: 'All' }).waitFor()
      await tab.check('a menu is open')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Escape')
      await focusReturns(page, 'Status')
      await page.getByRole('button', { name: 'as curl' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByText('curl', { exact: false }).first().waitFor()
      assert.match(await page.getByRole('dialog').innerText(), /\/api\/v1\/mailboxes\?q=ana[\s\S]*Bearer \$KEY/)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await focusReturns(page, 'as curl')
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search, or paste any id' }).waitFor()
      await page.keyboard.type(web.ids.domain)
      await page.getByText(`Open ${web.ids.domain}`).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'shop.example' }).waitFor()
      tab.hasNoComplaints('keys')
      await tab.close()
    },
  },
]

/** The secret in the open dialog. */
async function shownSecret(page: Page): Promise<string> {
  await page.getByText('It is not shown again').waitFor()
  return page.locator('dialog .secret code').innerText()
}

async function focusReturns(page: Page, text: string): Promise<void> {
  await page.locator('button:focus', { hasText: text }).waitFor()
}

/** Lets the fresh proof of all sessions run out, not the sessions. */
function expireProof({ clock }: WebAppliance): void {
  clock.advance(16 * 60_000)
}

async function typedStays(web: WebAppliance): Promise<void> {
  const tab = await web.open(web.owner)
  const { page } = tab
  const { call, get } = web.appliance
  const note = page.getByText('Another person changed this')
  const forms = [
    {
      path: '/console/{team}/mailboxes/{mailbox}/settings',
      record: `/mailboxes/${web.ids.mailbox}`,
      typed: { label: 'Name', text: 'Ana at the harbour', member: 'display_name' },
      theirs: { label: 'Space in GB', text: '7', member: 'quota_bytes', value: 7_000_000_000 },
      save: 'Save settings',
    },
    {
      path: '/console/{team}/webhooks/{webhook}/settings',
      record: `/webhooks/${web.ids.webhook}`,
      typed: { label: 'Note', text: 'Orders and returns', member: 'description' },
      theirs: {
        label: 'Address',
        text: 'https://93.184.215.14/theirs',
        member: 'url',
        value: 'https://93.184.215.14/theirs',
      },
      save: 'Save',
    },
    {
      path: '/console/{team}/sending/{provider}',
      record: `/providers/${web.ids.provider}`,
      typed: { label: 'Name', text: 'Second relay', member: 'name' },
      theirs: { label: 'Port', text: '465', member: 'smtp_port', value: 465 },
      save: 'Save',
    },
  ]
  for (const { path, record, typed, theirs, save } of forms) {
    const before = (await get(record, web.team.key)).body.data
    const stream = page.waitForResponse(/\/me\/v1\/events/)
    await tab.goTo(web.pathOf(path))
    await stream
    const form = page.locator('form').filter({ has: page.getByRole('button', { name: save, exact: true }) })
    await form.getByLabel(typed.label, { exact: true }).fill(typed.text)
    const changed = await call('PATCH', record, web.team.key, { [theirs.member]: theirs.value })
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    // The stream reports what changed once in a second.
    web.clock.advance(1000)
    await note.waitFor()
    assert.equal(await form.getByLabel(theirs.label, { exact: true }).inputValue(), theirs.text)
    assert.equal(await form.getByLabel(typed.label, { exact: true }).inputValue(), typed.text)
    await tab.check(`${path}, changed by another person`)
    await form.getByRole('button', { name: save, exact: true }).click()
    await note.waitFor({ state: 'detached' })
    const { data } = (await get(record, web.team.key)).body
    assert.deepEqual([data[typed.member], data[theirs.member]], [typed.text, theirs.value])
    const back = { [typed.member]: before[typed.member], [theirs.member]: before[theirs.member] }
    assert.equal((await call('PATCH', record, web.team.key, back)).status, 200)
  }
  // A secret that was saved does not stay: the same one may be needed again, with another host.
  await tab.goTo(web.pathOf('/console/{team}/sending/{provider}'))
  const secret = page.locator('input[type=password]')
  await secret.fill('the next secret')
  const saved = page.waitForResponse((response) => response.request().method() === 'PATCH')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  assert.equal((await saved).status(), 200)
  await tab.isDrawn()
  assert.equal(await secret.inputValue(), '')
  tab.hasNoComplaints('forms of records that others change')
  await tab.close()
}

/** Reading a record takes long: what is saved meanwhile is compared with the answer to the last save. */
async function savedAgain(web: WebAppliance): Promise<void> {
  const tab = await web.open(web.owner)
  const { page } = tab
  const { id } = await web.team.mailbox('again@harbour.test')
  await tab.goTo(`/console/${web.ids.team}/mailboxes/${id}/settings`)
  const record = new RegExp(`/mailboxes/${id}$`)
  const reading = Promise.withResolvers<void>()
  let typing = Promise.resolve()
  await page.route(record, async (route) => {
    await (route.request().method() === 'GET' ? reading.promise : typing)
    await route.continue()
  })
  const answerTo = (method: string) =>
    page.waitForResponse((answer) => record.test(answer.url()) && answer.request().method() === method)
  const save = async (button: string, meanwhile = async () => {}) => {
    const saved = answerTo('PATCH')
    await page.getByRole('button', { name: button }).click()
    await meanwhile()
    assert.equal((await saved).status(), 200)
    await page.locator('button[aria-busy="true"]').waitFor({ state: 'detached' })
  }
  await page.getByLabel('Some accounts').check()
  await page.getByLabel('Backup relay').check()
  await save('Save accounts')
  await save('Save accounts')
  const name = page.getByLabel('Name', { exact: true })
  await name.fill(' Again ')
  await save('Save settings')
  assert.equal(await name.inputValue(), 'Again', 'as the server stored it')
  const typed = Promise.withResolvers<void>()
  typing = typed.promise
  await name.fill('Once more')
  await save('Save settings', async () => {
    await name.fill('For the last time')
    typed.resolve()
  })
  const read = answerTo('GET')
  reading.resolve()
  await read
  await tab.isDrawn()
  assert.equal(await page.getByText('Another person changed this').count(), 0)
  await save('Save settings')
  const { data } = (await web.appliance.get(`/mailboxes/${id}`, web.team.key)).body
  const expected = { type: 'providers', provider_public_ids: [web.ids.provider] }
  assert.deepEqual([data.display_name, data.send_scope], ['For the last time', expected])
  tab.hasNoComplaints('a form that is saved again')
  await tab.close()
}
