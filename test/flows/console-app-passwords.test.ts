// App passwords in the console: a member creates one, sees it once, signs in with it, and revokes it.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startAppliance, type TestTeam } from '../support/appliance.ts'
import { Browser } from '../support/browser.ts'
import { signIn } from '../support/mail-program.ts'

const appliance = await startAppliance({ env: { CLIENT_HOST: 'mail.in.test' } })
after(() => appliance.close())
const { people, db, directory } = appliance.app
const [team, other] = [await appliance.team('Shop'), await appliance.team('Other')]
await team.domain('in.test')
await other.domain('other.test')
const ana = await team.mailbox('ana@in.test')
const eve = await other.mailbox('eve@other.test')

/** A browser in which a new member is signed in. */
async function member(of: TestTeam, role: 'owner' | 'viewer'): Promise<Browser> {
  const email = `${role}@people.example`
  await db.write((tx) => people.members.add(tx, of.id, { email, role }))
  const { pathname } = new URL((await people.showLink(of.id, email, null))!)
  const browser = new Browser(appliance)
  await browser.submit(await browser.get(pathname), pathname)
  return browser
}

test('an owner creates an app password, sees it once with what to enter, and revokes it', async () => {
  const browser = await member(team, 'owner')
  const path = `/owner/keys/${team.id}/mailboxes/${ana.id}`
  assert.match(
    (await browser.get(`/owner/keys/${team.id}`)).text,
    new RegExp(`href="/owner/keys/${team.id}/mailboxes"`),
  )
  assert.match((await browser.get(`/owner/keys/${team.id}/mailboxes`)).text, new RegExp(`href="${path}">ana@in\\.test`))
  const page = await browser.get(path)
  assert.match(page.text, /<code>mail\.in\.test<\/code>, port 993, TLS/)
  assert.match(page.text, /No mail program has signed in/)
  const made = await browser.submit(page, `${path}/app-passwords`, { name: '<b>Phone', access: 'read' })
  const [secret] = /(?:[a-z2-9]{5}-){3}[a-z2-9]{5}/.exec(made.text)!
  assert.match(made.text, /&lt;b&gt;Phone/)
  const result = await signIn(appliance, ana.email, secret, { client: '<i>Mail' })
  assert.ok(result.accepted)
  assert.deepEqual(result.session.principal.permissions, ['mailbox.read'])
  await db.write(() => {})
  const shown = await browser.get(path)
  assert.ok(!shown.text.includes(secret))
  assert.match(shown.text, /from 192\.0\.2\.1 by &lt;i&gt;Mail/)
  assert.match(shown.text, /signed in<\/td>\s*<td>192\.0\.2\.1, &lt;i&gt;Mail/)
  const { id, createdBy } = directory.appPasswords.get(ana.id, result.session.principal.keyId)!
  assert.match(createdBy, /^usr_/)
  const revoke = `${path}/app-passwords/${id}/revoke`
  const asked = await browser.get(revoke)
  assert.equal(directory.appPasswords.get(ana.id, id)!.status, 'active', 'asking ends nothing')
  assert.equal((await browser.post(revoke, { csrf: 'x' })).status, 403)
  assert.equal((await browser.submit(asked, revoke)).path, path)
  assert.equal(directory.appPasswords.get(ana.id, id)!.status, 'revoked')
  const forged = { csrf: 'x', name: 'x', access: 'all' }
  assert.equal((await browser.post(`${path}/app-passwords`, forged)).status, 403)
  for (const foreign of [`/owner/keys/${team.id}/mailboxes/${eve.id}`, `/owner/keys/${other.id}/mailboxes`]) {
    assert.equal((await browser.get(foreign)).status, 404)
  }
})

test('a viewer sees settings and sign-ins, and neither lists nor creates nor revokes app passwords', async () => {
  const { record } = await directory.appPasswords.issue(team.id, ana.id, {
    name: 'Secret device',
    createdBy: 'operator',
  })
  const browser = await member(team, 'viewer')
  const path = `/owner/keys/${team.id}/mailboxes/${ana.id}`
  const page = await browser.get(path)
  assert.equal(page.status, 200)
  assert.ok(!page.text.includes('Secret device') && !page.text.includes('A new app password'))
  const session = people.sessions.read(browser.cookie.split('=')[1]!)!
  const csrf = people.sessions.formToken(session.token)
  assert.equal((await browser.post(`${path}/app-passwords`, { csrf, name: 'x', access: 'all' })).status, 403)
  const revoke = `${path}/app-passwords/${record.id}/revoke`
  assert.equal((await browser.get(revoke)).status, 403)
  assert.equal((await browser.post(revoke, { csrf })).status, 403)
  assert.equal((await new Browser(appliance).get(path)).path, '/owner/sign-in')
})
