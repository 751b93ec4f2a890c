// Sign-in links: never sent to a mailbox of the appliance, invalid once a local mailbox has one, and bound to one team where they are shown.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { agentSweep } from '../../src/jobs/agents.ts'
import { failure, receiveRaw } from '../api/expect.ts'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { type Json, startAppliance, type TestAppliance } from '../support/appliance.ts'
import { Browser, type Page } from '../support/browser.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'

// Commands of the operator run by the clock of the machine.
const clock = new ManualClock(Date.now())
const remote = await startMailServer()
const zone = {
  'people.example': { MX: [{ priority: 10, exchange: 'mx.people.example' }] },
  'mx.people.example': { A: ['127.0.0.1'] },
  // Nothing listens there.
  'moving.test': { MX: [{ priority: 10, exchange: 'mx.moving.test' }] },
  'mx.moving.test': { A: ['127.0.0.3'] },
}
const common = {
  ...EASY_WORK,
  ALLOW_PRIVATE_SMTP_HOSTS: 'true',
  DIRECT_PORT: String(remote.port),
  TRUSTED_PROXIES: '127.0.0.1',
}
const appliance = await startAppliance({ clock, zone, env: common })
const lax = await startAppliance({ clock, zone, env: { ...common, SIGN_IN_LINKS_TO_LOCAL: 'true' } })
after(async () => {
  await appliance.close()
  await lax.close()
  await remote[Symbol.asyncDispose]()
})
let count = 0
const source = () => ({ 'x-forwarded-for': `203.0.113.${++count % 250}` })
const agentOf = (at: TestAppliance) =>
  new AgentClient({
    ...at,
    call: (method, path, key, body, headers) => at.call(method, path, key, body, { ...headers, ...source() }),
  })

async function ask(at: TestAppliance, email: string): Promise<void> {
  const reply = await new Browser(at, source()).post('/owner/sign-in', { email })
  assert.match(reply.text, /Check your mail/)
  await at.settle()
}

function member(at: TestAppliance, teamId: string, email: string) {
  return at.app.db.write((tx) => at.app.people.members.add(tx, teamId, { email, role: 'owner' }))
}

const links = (at: TestAppliance) => at.app.db.read.all('SELECT 1 FROM sign_in_links').length

const pathIn = (text: string) =>
  /\/(?:owner\/session|invites)\/[\w-]{43}/.exec(text.replaceAll('=\r\n', '').replaceAll('=3D', '='))?.[0]

/** What a key of a mailbox can read of its newest message. */
async function newest(at: TestAppliance, key: string): Promise<string> {
  const { body } = await at.get('/mailbox/messages?q=in:anywhere', key)
  const [first] = (body as Json).data
  if (first === undefined) return ''
  return (await at.get(`/mailbox/messages/${first.id}/raw`, key, { accept: 'message/rfc822' })).body
}

async function use(at: TestAppliance, path: string, browser = new Browser(at, source())): Promise<Page> {
  const page = await browser.get(path)
  if (page.status !== 200) return page
  const next = await browser.submit(page, path)
  return next.path === '/console' ? browser.get('/owner/keys') : next
}

const lastTo = (to: string) => remote.messages.findLast((mail) => mail.to.includes(to))!.bytes

test('a mailbox key cannot be used to sign in as the person with its address', async () => {
  const team = await appliance.team('Shop')
  const stranger = await appliance.team('Stranger')
  for (const name of ['shop.test', 'bücher.test']) await team.domain(name)
  await stranger.domain('other.test')
  const ana = await team.mailbox('ana@shop.test')
  const idn = await team.mailbox('ida@xn--bcher-kva.test')
  const other = await stranger.mailbox('eve@other.test')
  await appliance.call('POST', `/mailboxes/${ana.id}/aliases`, team.key, { email: 'orders@shop.test' })
  const addresses = [
    ...[
      'ana@shop.test',
      'Ana@SHOP.test',
      'ana+x@shop.test',
      '"ana"@shop.test',
      'orders@shop.test',
      'postmaster@shop.test',
    ],
    ...['ida@bücher.test', 'ida@xn--bcher-kva.test', 'IDA@BÜCHER.test', 'eve@other.test', 'later@shop.test'],
    ...['scout@agents.mailstead.test', 'postmaster@mx.mailstead.test', 'x@bounce.mx.mailstead.test', 'ana@[127.0.0.1]'],
  ]
  for (const email of addresses) {
    if (email === email.toLowerCase()) await member(appliance, team.id, email)
    await ask(appliance, email)
    clock.advance(1000)
  }
  assert.equal(links(appliance), 0)
  // A mailbox that is made after the link was asked for.
  const later = await team.mailbox('later@shop.test')
  await appliance.settle()
  for (const { key } of [ana, idn, other, later]) assert.equal(await newest(appliance, key), '')
})

test('an invitation to a local address creates a member and sends no message', async () => {
  const team = await appliance.team()
  await team.domain('invited.test')
  const { key } = await team.mailbox('ben@invited.test')
  const invite = (email: string) => appliance.call('POST', '/team/members', team.key, { email, role: 'admin' })
  const [here, away] = [await invite('ben@invited.test'), await invite('ben@people.example')]
  assert.deepEqual([here.body.meta.link_mailed, away.body.meta.link_mailed], [false, true])
  const agent = agentOf(appliance)
  const registered = await agent.register()
  const invited = await agent.invite(await agent.readToken(registered.identity_assertion), 'ben@invited.test')
  assert.deepEqual([invited.status, invited.body.status], [202, 'pending'])
  const made = await new Commands({ DATA_DIR: appliance.dataDir, MAIL_HOSTS: 'mx.mailstead.test' }).run(
    ...['team', 'create', '--name', 'Made', '--owner', 'ben@invited.test'],
  )
  assert.match(
    made.out.join('\n'),
    /No link is mailed to ben@invited\.test, .* mailstead login-link ben@invited\.test --team team_/,
  )
  await appliance.settle()
  assert.equal(await newest(appliance, key), '')
})

const encoded = (link: string) => `https://safe.example/?url=${encodeURIComponent(link)}`
const forms: [what: string, wrap: (mail: Buffer, link: string) => Buffer | string][] = [
  ['as it is', (mail) => mail],
  [
    'encoded again',
    (_, link) =>
      `From: a@people.example\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(`<a href="${link}">x</a>`).toString('base64')}\r\n`,
  ],
  ['rewritten', (_, link) => `From: a@people.example\r\n\r\n${encoded(link)}\r\n`],
  [
    'inside a message',
    (mail) =>
      Buffer.concat([
        Buffer.from(
          'From: a@people.example\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n',
        ),
        mail,
        Buffer.from('\r\n--b--\r\n'),
      ]),
  ],
]
for (const [what, wrap] of forms) {
  test(`a link forwarded to a mailbox here is invalid when it can be read there: ${what}`, async () => {
    const team = await appliance.team()
    const id = `f${++count}`
    const email = `${id}@people.example`
    await team.domain(`${id}.test`)
    const { key, email: to } = await team.mailbox(`ana@${id}.test`)
    await member(appliance, team.id, email)
    await ask(appliance, email)
    const path = pathIn(lastTo(email).toString())!
    assert.equal((await new Browser(appliance, source()).get(path)).status, 200)
    await receiveRaw(appliance, { from: email, to, content: wrap(lastTo(email), appliance.origin + path) })
    assert.notEqual(await newest(appliance, key), '')
    assert.equal((await use(appliance, path)).status, 410)
    await ask(appliance, email)
    assert.match(
      (await use(appliance, pathIn(lastTo(email).toString())!)).text,
      /API keys/,
      'who reads it elsewhere gets in',
    )
  })
}

test('the same for the invitation of an agent, which stays open', async () => {
  const team = await appliance.team()
  await team.domain('forwards.test')
  await team.mailbox('ana@forwards.test')
  const agent = agentOf(appliance)
  const registered = await agent.register()
  await agent.invite(await agent.readToken(registered.identity_assertion), 'una@people.example')
  await appliance.settle()
  const content = lastTo('una@people.example')
  await receiveRaw(appliance, { from: 'una@people.example', to: 'ana@forwards.test', content })
  assert.equal((await new Browser(appliance, source()).get(pathIn(content.toString())!)).status, 404)
  const [open] = await appliance.app.agents.invites.openFor('una@people.example')
  assert.equal(open?.registration.id, registered.registration_id)
})

test('login-link signs in to one team, also for a member of several', async () => {
  const [one, two] = [await appliance.team('One'), await appliance.team('Two')]
  for (const { id } of [one, two]) await member(appliance, id, 'nia@people.example')
  const cli = new Commands({
    DATA_DIR: appliance.dataDir,
    APP_ORIGIN: appliance.origin,
    MAIL_HOSTS: 'mx.mailstead.test',
  })
  await cli.refused(['login-link', 'nia@people.example'], 'The link opens one team', one.id, two.id)
  await cli.refused(['login-link', 'nia@people.example', '--team', 'Three'], 'does not belong to the team Three')
  const { url } = await cli.json('login-link', 'Nia@people.example', '--team', 'One')
  const browser = new Browser(appliance, source())
  const path = new URL(url).pathname
  assert.match((await browser.get(path)).text, /of the team <strong>One</)
  assert.equal((await use(appliance, path, browser)).path, `/owner/keys/${one.id}`)
  assert.equal((await browser.get(`/owner/keys/${two.id}`)).status, 404)
  const joined = appliance.app.people.members.of('nia@people.example')
  assert.deepEqual(
    joined.map(({ status }) => status),
    ['active', 'invited'],
  )
})

test('login-link opens everything to an operator, also the pages of the operator', async () => {
  const { people, db } = appliance.app
  const team = await appliance.team('Operated')
  await member(appliance, team.id, 'opal@people.example')
  await db.write((tx) => people.persons.setOperator(tx, 'opal@people.example', true))
  const cli = new Commands({
    DATA_DIR: appliance.dataDir,
    APP_ORIGIN: appliance.origin,
    MAIL_HOSTS: 'mx.mailstead.test',
  })
  const { url } = await cli.json('login-link', 'opal@people.example')
  const session = await people.signIn(new URL(url).pathname.split('/').at(-1)!)
  assert.equal(session?.teamId, null)
  assert.ok(people.isOperator(session!))
  const narrow = await cli.json('login-link', 'opal@people.example', '--team', team.id)
  assert.equal((await people.signIn(new URL(narrow.url).pathname.split('/').at(-1)!))?.teamId, team.id)
})

test('an owner is shown a link for a member; it signs in to this team only, and expires with the owner', async () => {
  const [team, other] = [await appliance.team('Mine'), await appliance.team('Other')]
  const { people } = appliance.app
  const boss = await member(appliance, team.id, 'boss@people.example')
  const add = (teamId: string, email: string, role: 'owner' | 'admin') =>
    appliance.app.db.write((tx) => people.members.add(tx, teamId, { email, role }))
  await add(team.id, 'adam@people.example', 'admin')
  const victim = await add(team.id, 'vic@people.example', 'owner')
  await add(other.id, 'vic@people.example', 'owner')
  const enter = async (email: string) => {
    const browser = new Browser(appliance, source())
    await use(appliance, new URL((await people.showLink(team.id, email, null))!).pathname, browser)
    return browser
  }
  const action = `/owner/keys/${team.id}/members/${victim.id}/link`
  const show = async (browser: Browser) => {
    const page = await browser.submit(await browser.get(`/owner/keys/${team.id}/members`), action)
    return pathIn(page.text)!
  }
  const adam = await enter('adam@people.example')
  assert.ok(!(await adam.get(`/owner/keys/${team.id}/members`)).text.includes('/link"'))
  const csrf = people.sessions.formToken(people.sessions.read(adam.cookie.split('=')[1]!)!.token)
  assert.equal((await adam.post(action, { csrf })).status, 403, 'an admin is not an owner')
  const owner = await enter('boss@people.example')
  assert.equal((await owner.post(action, { csrf: 'x' })).status, 403)
  const elsewhere = action.replace(team.id, other.id)
  const own = people.sessions.formToken(people.sessions.read(owner.cookie.split('=')[1]!)!.token)
  assert.equal((await owner.post(elsewhere, { csrf: own })).status, 404)
  const browser = new Browser(appliance, source())
  assert.match((await use(appliance, await show(owner), browser)).text, /API keys/)
  assert.equal((await browser.get(`/owner/keys/${other.id}`)).status, 404)
  const unused = await show(owner)
  await people.changeRole(team.id, boss.id, 'viewer', () => {})
  assert.equal((await use(appliance, unused)).status, 410)
  assert.equal((await browser.get(`/owner/keys/${team.id}`)).path, '/owner/sign-in')
})

test('the trial on localhost: the operator shows the link of an invitation, and it is valid for that agent only', async () => {
  const team = await appliance.team('Home')
  await team.domain('home.test')
  await team.mailbox('me@home.test')
  await member(appliance, team.id, 'me@home.test')
  const agent = agentOf(appliance)
  const registered = await agent.register()
  await agent.invite(await agent.readToken(registered.identity_assertion), 'me@home.test')
  const cli = new Commands({
    ...EASY_WORK,
    DATA_DIR: appliance.dataDir,
    APP_ORIGIN: appliance.origin,
    MAIL_HOSTS: 'mx.mailstead.test',
  })
  const { url } = await cli.json('login-link', 'me@home.test', '--team', registered.mailbox.email)
  const browser = new Browser(appliance, source())
  const path = new URL(url).pathname
  const accepted = await browser.submit(await browser.get(path), path, { approve_sending: 'yes' })
  assert.match(accepted.text, /You are the owner of this agent\. It may send mail/)
  assert.match((await browser.get('/owner/agents')).text, /May read and send/)
  assert.equal((await browser.get(`/owner/keys/${team.id}`)).status, 404)
  assert.equal((await agent.claim(registered.claim_token)).body.scope, 'email.send')
})

test("with the operator's permission links are sent to mailboxes here; deleting the mailbox ends the sessions they started", async () => {
  const team = await lax.team()
  await team.domain('lax.test')
  const { id, key } = await team.mailbox('ana@lax.test')
  const alias = await lax.call('POST', `/mailboxes/${id}/aliases`, team.key, { email: 'orders@lax.test' })
  const signedIn = async (email: string) => {
    await ask(lax, email)
    const browser = new Browser(lax, source())
    assert.match((await use(lax, pathIn(await newest(lax, key))!, browser)).text, /API keys/)
    clock.advance(1000)
    return browser
  }
  for (const email of ['ana@lax.test', 'orders@lax.test', 'nobody@lax.test']) await member(lax, team.id, email)
  await ask(lax, 'nobody@lax.test')
  assert.equal(links(lax), 0, 'the queue has no message')
  const byAlias = await signedIn('orders@lax.test')
  await lax.call('DELETE', `/mailboxes/${id}/aliases/${alias.body.data.id}`, team.key)
  assert.equal((await byAlias.get('/owner/keys')).path, '/owner/sign-in')
  const browser = await signedIn('ana@lax.test')
  await ask(lax, 'ana@lax.test')
  const unused = pathIn(await newest(lax, key))!
  const agent = agentOf(lax)
  const registered = await agent.register()
  await agent.invite(await agent.readToken(registered.identity_assertion), 'ana@lax.test')
  clock.advance(1000)
  await lax.settle()
  const invitation = pathIn(await newest(lax, key))!
  assert.match(invitation, /^\/invites\//)
  assert.equal((await browser.get(`/owner/keys/${team.id}`)).status, 200)
  await lax.call('DELETE', `/mailboxes/${id}`, team.key)
  assert.equal((await browser.get(`/owner/keys/${team.id}`)).path, '/owner/sign-in')
  assert.equal((await use(lax, unused)).status, 410)
  assert.equal((await new Browser(lax, source()).get(invitation)).status, 404)
})

test('the inbox of an agent gets no link, whatever the setting', async () => {
  const agent = agentOf(lax)
  const registered = await agent.register()
  const token = await agent.readToken(registered.identity_assertion)
  const team = await lax.team()
  await member(lax, team.id, registered.mailbox.email)
  await ask(lax, registered.mailbox.email)
  assert.equal(await newest(lax, token), '')
  assert.equal(links(lax), 0)
  failure(await agent.invite(token, registered.mailbox.email), 422, 'validation_error')
})

// Last: it moves the clock away from that of the commands.
test('a queued link is invalid when its domain has become local meanwhile', async () => {
  const team = await appliance.team()
  await member(appliance, team.id, 'mia@moving.test')
  await ask(appliance, 'mia@moving.test')
  assert.equal(appliance.app.db.read.all('SELECT 1 FROM queue').length, 1)
  await team.domain('moving.test')
  const { key } = await team.mailbox('mia@moving.test')
  clock.advance(3_600_000)
  await appliance.app.db.write((tx) => tx.run('UPDATE sign_in_links SET expires_at = expires_at + 86400000'))
  await appliance.settle()
  const path = pathIn(await newest(appliance, key))!
  assert.equal((await use(appliance, path)).status, 410)
})

test('an owner is always shown a link that works, and a person with something of their own learns of it', async () => {
  const team = await appliance.team('Own')
  const { people, db } = appliance.app
  await team.domain('own.test')
  const boss = await member(appliance, team.id, 'head@people.example')
  const box = await team.mailbox('zoe@own.test')
  const add = () => db.write((tx) => people.members.add(tx, team.id, { email: box.email, role: 'user' }))
  await add()
  const by = { by: boss.email, memberId: boss.id }
  const show = () => people.showLink(team.id, box.email, by)
  const first = (await show())!
  assert.ok(await people.signIn(first.split('/').at(-1)!), 'the first sign-in of a new person')
  const received = async () => {
    await appliance.settle()
    const { body } = await appliance.get('/mailbox/messages', box.key)
    return (body.data as Json[]).map(({ subject }) => subject)
  }
  assert.deepEqual(await received(), [], 'a new person has nothing yet')
  await people.showLink(team.id, box.email, null)
  assert.deepEqual(await received(), [], 'the command notifies nobody')
  const second = await people.signIn((await show())!.split('/').at(-1)!)
  assert.deepEqual([second?.email, second?.teamId], [box.email, team.id])
  assert.deepEqual(await received(), ['A link that signs in as zoe@own.test'])
  assert.match(await newest(appliance, box.key), /head@people\.example was shown a link .* It opens: zoe@own\.test\./s)
  const yan = await db.write((tx) => people.members.add(tx, team.id, { email: 'yan@people.example', role: 'viewer' }))
  await db.write((tx) => people.persons.setPassword(tx, { email: yan.email, teamId: null }, 'x'))
  await people.sharing.grant(team.id, box, { memberId: yan.id, access: 'reader', createdBy: boss.id })
  assert.ok(await people.signIn((await people.showLink(team.id, yan.email, by))!.split('/').at(-1)!))
  assert.equal((await received()).filter((one) => one === 'A link that signs in as yan@people.example').length, 1)
})

test('links, counts of their messages and sessions that have expired are deleted by the job', async () => {
  const { app } = appliance
  const team = await appliance.team('Job')
  await member(appliance, team.id, 'joe@people.example')
  await member(appliance, team.id, 'ida@people.example')
  await ask(appliance, 'joe@people.example')
  assert.equal((await use(appliance, pathIn(lastTo('joe@people.example').toString())!)).status, 200)
  await ask(appliance, 'ida@people.example')
  const rows = () =>
    ['sign_in_links', 'sign_in_mails', 'sessions'].map((table) => {
      const sql = `SELECT count(*) AS n FROM ${table} WHERE email IN ('joe@people.example', 'ida@people.example')`
      return app.db.read.get<{ n: number }>(sql)!.n
    })
  const run = () => agentSweep.run({ app, log: app.log, signal: new AbortController().signal })
  await run()
  assert.deepEqual(rows(), [1, 2, 1], 'nothing has expired')
  clock.advance(3_600_000)
  await run()
  assert.deepEqual(rows(), [0, 0, 1])
  await app.db.write((tx) => tx.run('UPDATE sessions SET expires_at = ?', [clock.now()]))
  await run()
  assert.deepEqual(rows(), [0, 0, 0])
})
