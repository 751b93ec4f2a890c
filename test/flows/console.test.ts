// People: invitation to a team, sign-in by link, API keys; and owners who decide about their agents.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { Browser } from '../support/browser.ts'
import { ManualClock } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'

const clock = new ManualClock()
const remote = await startMailServer()
const zone = {
  'people.example': { MX: [{ priority: 10, exchange: 'mx.people.example' }] },
  'mx.people.example': { A: ['127.0.0.1'] },
}
const env = {
  ...EASY_WORK,
  ALLOW_PRIVATE_SMTP_HOSTS: 'true',
  DIRECT_PORT: String(remote.port),
  TRUSTED_PROXIES: '127.0.0.1',
}
const appliance = await startAppliance({ clock, zone, env })
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})
const { people, agents } = appliance.app
let sources = 0
const from = () => ({ 'x-forwarded-for': `203.0.113.${++sources % 250}` })
const agent = new AgentClient({
  ...appliance,
  call: (method, path, key, body, headers) => appliance.call(method, path, key, body, { ...headers, ...from() }),
})

/** The last path of the appliance in a message to a recipient. */
async function linkFor(to: string): Promise<string> {
  await appliance.settle()
  const mail = remote.messages.findLast((one) => one.to.includes(to))
  assert.ok(mail, `no message to ${to}`)
  const text = mail.bytes.toString().replaceAll('=\r\n', '').replaceAll('=3D', '=')
  const [, path] = new RegExp(`${appliance.origin}(/[\\w/-]+)`).exec(text) ?? []
  assert.ok(path, text)
  return path
}

async function signIn(browser: Browser, email: string) {
  const asked = await browser.submit(await browser.get('/owner/sign-in'), '/owner/sign-in', { email })
  assert.match(asked.text, /Check your mail/)
  const path = await linkFor(email)
  return browser.submit(await browser.get(path), path)
}

test('a member is invited by email, signs in without a password, creates a key and revokes it', async () => {
  const team = await appliance.team('Shop <b>')
  const invited = await people.invite({ id: team.id, name: 'Shop' }, { email: 'Ana@people.example', role: 'owner' })
  assert.equal(invited.status, 'invited')
  const browser = new Browser(appliance, from())
  const path = await linkFor('ana@people.example')
  const looked = await browser.get(path)
  assert.match(looked.text, /sign in as <strong>ana@people\.example/)
  assert.equal(browser.cookie, '', 'opening the link does not sign in')
  assert.equal((await browser.submit(looked, path)).path, '/console')
  const inside = await browser.get('/owner/keys')
  assert.equal(inside.path, `/owner/keys/${team.id}`)
  assert.match(inside.text, /Shop &lt;b&gt;/)
  assert.equal(people.members.get(team.id, invited.id)?.status, 'active')
  const made = await browser.submit(inside, `/owner/keys/${team.id}/keys`, {
    name: 'from <the> console',
    role: 'root:readonly',
  })
  const [secret] = /srk_\w{46}/.exec(made.text) ?? []
  assert.equal((await appliance.get('/domains', secret)).status, 200)
  assert.match(made.text, /from &lt;the&gt; console/)
  const { items } = appliance.app.directory.keys.list(team.id, { limit: 10, after: null })
  const key = items.find(({ name }) => name === 'from <the> console')!
  assert.equal(key.createdBy, invited.id)
  const revoke = `/owner/keys/${team.id}/keys/${key.id}/revoke`
  assert.ok(made.text.includes(`href="${revoke}"`))
  const asked = await browser.get(revoke)
  assert.match(asked.text, /revoked immediately and permanently/)
  assert.equal((await appliance.get('/domains', secret)).status, 200, 'asking ends nothing')
  await browser.submit(asked, revoke)
  assert.equal((await appliance.get('/domains', secret)).status, 401)
  assert.equal((await new Browser(appliance, from()).get(path)).status, 410, 'a link works once')
  await appliance.app.directory.teams.setStatus(team.id, 'suspended')
  const stopped = await browser.get(`/owner/keys/${team.id}`)
  assert.equal(stopped.status, 403)
  assert.match(stopped.text, /This team is suspended/)
  await appliance.app.directory.teams.setStatus(team.id, 'active')
  const out = await browser.submit(await browser.get(`/owner/keys/${team.id}`), '/owner/sign-out')
  assert.equal(out.path, '/owner/sign-in')
  assert.equal((await browser.get(`/owner/keys/${team.id}`)).path, '/owner/sign-in')
  const form = { method: 'POST', body: new URLSearchParams({ csrf: 'x' }), redirect: 'manual' } as const
  const { headers } = await fetch(`${appliance.origin}/owner/sign-out`, form)
  assert.equal(headers.get('clear-site-data'), '"cache", "storage"')
})

test('pages are strict: no script, no frame, nothing from other origins, no forged form, nothing of other teams', async () => {
  const team = await appliance.team()
  const other = await appliance.team()
  await people.invite({ id: team.id, name: 'Team' }, { email: 'vera@people.example', role: 'viewer' })
  const browser = new Browser(appliance, from())
  await signIn(browser, 'vera@people.example')
  const page = await browser.get(`/owner/keys/${team.id}`)
  const policy = page.headers.get('content-security-policy')!
  assert.equal(
    policy,
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  )
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  assert.equal(page.headers.get('x-robots-tag'), 'noindex')
  assert.equal(page.headers.get('cross-origin-opener-policy'), 'same-origin')
  assert.equal(page.headers.get('cross-origin-resource-policy'), 'same-origin')
  assert.match(page.headers.get('permissions-policy')!, /clipboard-write=\(self\).*camera=\(\)/)
  assert.equal(page.headers.get('cache-control'), 'no-store')
  assert.doesNotMatch(page.text, /<script|style=|onclick/)
  assert.equal((await browser.get('/style.css')).headers.get('content-type'), 'text/css; charset=utf-8')
  assert.equal((await browser.get(`/owner/keys/${other.id}`)).status, 404)
  const forged = { csrf: 'x', name: 'mine', role: 'root:full' }
  assert.equal((await browser.post(`/owner/keys/${team.id}/keys`, forged)).status, 403)
  const session = people.sessions.read(browser.cookie.split('=')[1]!)
  const csrf = people.sessions.formToken(session!.token)
  assert.equal(
    (await browser.post(`/owner/keys/${team.id}/keys`, { ...forged, csrf })).status,
    403,
    'a viewer issues no keys',
  )
  const stranger = people.sessions.formToken('another session')
  assert.equal((await browser.post('/owner/sign-out', { csrf: stranger })).status, 403)
  clock.leap(12 * 3_600_000)
  assert.equal((await browser.get('/owner/keys')).path, '/owner/sign-in')
})

test('a trial on localhost: a person with a mailbox here is invited, gets no link by email, and signs in with one shown in the console', async () => {
  await using trial = await startAppliance({ env: { MAIL_HOSTS: 'localhost' } })
  const team = await trial.team('Trial')
  await team.domain('home.test')
  const { id } = await team.mailbox('ana@home.test')
  const invited = await trial.call('POST', '/team/members', team.key, { email: 'ana@home.test', role: 'owner' })
  assert.equal(invited.status, 202, JSON.stringify(invited.body))
  assert.equal(invited.body.meta.link_mailed, false)
  trial.app.people.mailLinkSoon('ana@home.test', { source: '203.0.113.1', device: null }, assert.ifError)
  await trial.settle()
  assert.equal(trial.app.store.accounts.byMailbox(id)!.messageCount, 0)
  const link = new URL((await trial.app.people.showLink(team.id, 'ana@home.test', null))!).pathname
  const browser = new Browser(trial)
  assert.equal((await browser.submit(await browser.get(link), link)).path, '/console')
  assert.match((await browser.get('/owner/keys')).text, /API keys/)
})

test('a removed member loses the team, its links and its sessions, and nothing of another team', async () => {
  const [one, two] = [await appliance.team('One'), await appliance.team('Two')]
  await people.invite({ id: one.id, name: 'One' }, { email: 'boss@people.example', role: 'owner' })
  const member = await people.invite({ id: one.id, name: 'One' }, { email: 'eva@people.example', role: 'admin' })
  await people.invite({ id: two.id, name: 'Two' }, { email: 'eva@people.example', role: 'owner' })
  const browser = new Browser(appliance, from())
  const path = await linkFor('eva@people.example')
  await browser.submit(await browser.get(path), path)
  assert.equal((await browser.get(`/owner/keys/${one.id}`)).status, 200)
  const [gone, unused] = [
    (await people.showLink(one.id, 'eva@people.example', null))!,
    (await people.showLink(two.id, 'eva@people.example', null))!,
  ]
  await people.remove(one.id, member.id)
  assert.equal((await browser.get(`/owner/keys/${one.id}`)).status, 404)
  assert.equal((await browser.get(`/owner/keys/${two.id}`)).status, 200)
  assert.equal(await people.signIn(gone.split('/').at(-1)!), undefined)
  const fresh = new URL(unused).pathname
  const other = new Browser(appliance, from())
  await other.submit(await other.get(fresh), fresh)
  assert.equal((await other.get(`/owner/keys/${two.id}`)).status, 200)
  assert.equal((await other.get(`/owner/keys/${one.id}`)).status, 404)
})

test('an unknown person gets the same page and no message; at most three links an hour for one source', async () => {
  const browser = new Browser(appliance, from())
  const before = remote.messages.length
  const known = await browser.post('/owner/sign-in', { email: 'vera@people.example' })
  await appliance.settle()
  const unknown = await new Browser(appliance, from()).post('/owner/sign-in', { email: 'nobody@people.example' })
  assert.equal(known.text, unknown.text)
  for (let asked = 0; asked < 4; asked++) {
    await browser.post('/owner/sign-in', { email: 'vera@people.example' })
    await appliance.settle()
  }
  assert.equal(remote.messages.length - before, 3)
})

test('an owner accepts on their page, allows sending, revokes it, and ends the agent', async () => {
  const registered: Json = await agent.register({ client_name: '<img src=x>' })
  const token = await agent.readToken(registered.identity_assertion)
  assert.equal((await agent.invite(token, 'olga@people.example')).status, 202)
  const browser = new Browser(appliance, from())
  const path = await linkFor('olga@people.example')
  const asked = await browser.get(path)
  assert.match(asked.text, /&lt;img src=x&gt;/)
  assert.doesNotMatch(asked.text, /<input[^>]* checked/)
  assert.equal((await browser.post(path, { csrf: 'x', decision: 'accept' })).status, 403)
  const accepted = await browser.submit(asked, path)
  assert.match(accepted.text, /You are the owner of this agent\. It may not send/)
  const list = await browser.get('/owner/agents')
  assert.match(list.text, new RegExp(registered.mailbox.email))
  const base = `/owner/agents/${registered.registration_id}`
  const allowed = await browser.submit(list, `${base}/approve-sending`)
  assert.match(allowed.text, /May read and send/)
  const granted = (await agent.claim(registered.claim_token)).body
  assert.equal(granted.scope, 'email.send')
  const stopped = await browser.submit(allowed, `${base}/revoke-sending`)
  assert.match(stopped.text, /may not send/)
  assert.equal((await browser.submit(stopped, `${base}/revoke`, { address: 'wrong' })).status, 409)
  const ended = await browser.submit(stopped, `${base}/revoke`, { address: registered.mailbox.email })
  assert.match(ended.text, /Revoked/)
  assert.equal((await agent.claim(registered.claim_token)).body.error, 'invalid_grant')
  await appliance.settle()
  const reported = remote.messages.filter(({ to }) => to.includes('olga@people.example'))
  assert.deepEqual(
    reported.map(({ bytes }) => /^Subject: (.*?) [\w-]+@/m.exec(bytes.toString().replaceAll('\r\n ', ' '))?.[1]),
    ['Request to become owner of', 'You own', 'Sending allowed for', 'Sending stopped for', 'Agent revoked:'],
  )
  assert.equal((await browser.get(path)).status, 410)
  assert.equal((await browser.get(`/invites/${'x'.repeat(43)}`)).status, 404)
  assert.equal((await browser.get('/invites/short')).status, 404)
})

test('an agent of another owner is not found; declining leaves the agent without an owner', async () => {
  const registered: Json = await agent.register()
  await agent.invite(await agent.readToken(registered.identity_assertion), 'paul@people.example')
  const path = await linkFor('paul@people.example')
  const stranger = new Browser(appliance, from())
  await signIn(stranger, 'vera@people.example')
  const session = people.sessions.read(stranger.cookie.split('=')[1]!)
  const csrf = people.sessions.formToken(session!.token)
  const theirs = `/owner/agents/${registered.registration_id}/approve-sending`
  assert.equal((await stranger.post(theirs, { csrf })).status, 404)
  const browser = new Browser(appliance, from())
  const declined = await browser.submit(await browser.get(path), path, { opt_out: 'yes' }, 1)
  assert.match(declined.text, /You declined/)
  assert.equal(agents.registrations.byId(appliance.app.db.read, registered.registration_id)?.state, 'unclaimed')
  assert.equal(browser.cookie, '')
})

test('browsers accept the session cookie: `Secure` and `__Host-` over https only', async () => {
  await using secure = await startAppliance({ env: { APP_ORIGIN: 'https://mail.example' } })
  const cases: [at: typeof appliance, port: string, form: RegExp][] = [
    [appliance, appliance.origin, /^mailstead=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/],
    [
      secure,
      `http://127.0.0.1:${secure.ports.app}`,
      /^__Host-mailstead=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    ],
  ]
  for (const [at, origin, form] of cases) {
    const team = await at.team()
    const { people: own } = at.app
    await at.app.db.write((tx) => own.members.add(tx, team.id, { email: 'lan@people.example', role: 'owner' }))
    const { pathname } = new URL((await own.showLink(team.id, 'lan@people.example', null))!)
    const body = new URLSearchParams({ csrf: own.sessions.formToken(pathname.split('/').at(-1)!) })
    const reply = await fetch(origin + pathname, { method: 'POST', redirect: 'manual', body })
    const cookie = reply.headers.get('set-cookie')!
    assert.match(cookie, form)
    const inside = await fetch(`${origin}/owner/keys/${team.id}`, { headers: { cookie: cookie.split(';')[0]! } })
    assert.match(await inside.text(), /API keys/)
    // What a plain page of the same name could have set is no session where the origin is https.
    const forged = cookie.split(';')[0]!.replace(/^[^=]+/, at === secure ? 'mailstead' : '__Host-mailstead')
    const outside = await fetch(`${origin}/owner/keys/${team.id}`, { redirect: 'manual', headers: { cookie: forged } })
    assert.equal(outside.status, 303)
  }
})
