// Outside accounts of Google and Microsoft: consent, access tokens in time, what happens when it is withdrawn, and IMAP with XOAUTH2.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { MINUTE_MS } from '../../src/base/durations.ts'
import { serverOpener } from '../../src/sync/imap/connect.ts'
import { ResponseMemory } from '../../src/sync/imap/response-memory.ts'
import type { RemoteAccount } from '../../src/sync/model/records.ts'
import { ServerError } from '../../src/sync/model/server.ts'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { confirmConsent } from '../support/consent.ts'
import { type Google, startGoogle } from '../support/google.ts'
import { type HostileServer, startHostileImap } from '../support/hostile-imap.ts'
import type { Issuer } from '../support/issuer.ts'
import { type Microsoft, startMicrosoft } from '../support/microsoft.ts'

const clock = new ManualClock()
let google: Google
let microsoft: Microsoft
let imap: HostileServer
let appliance: TestAppliance
let team: TestTeam
/** What the IMAP server was sent, and how many tokens it refuses before it looks at them. */
let [tokens, refusals]: [string[], number] = [[], 0]

before(async () => {
  google = await startGoogle()
  microsoft = await startMicrosoft()
  appliance = await startAppliance({
    clock,
    env: { ...google.env, ...microsoft.env, ALLOW_PRIVATE_IMAP_HOSTS: 'true' },
  })
  team = await appliance.team()
  imap = await startHostileImap({
    capability: 'SASL-IR AUTH=XOAUTH2',
    answers: {
      AUTHENTICATE(connection, tag, line) {
        const sent = Buffer.from(line.split(' ')[3]!, 'base64').toString()
        const [, user, token] = /^user=([^\x01]+)\x01auth=Bearer ([^\x01]+)\x01\x01$/.exec(sent)!
        tokens.push(token!)
        const owner = google.issuer.ownerOf(token!) ?? microsoft.issuer.ownerOf(token!)
        if (refusals-- > 0 || owner !== user)
          connection.write(`+ ${Buffer.from('{"status":"400"}').toString('base64')}\r\n`)
        else connection.write(`${tag} OK signed in\r\n`)
        refusedTag = tag
      },
      // The empty line that ends a refused XOAUTH2.
      '': (connection) => connection.write(`${refusedTag} NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)\r\n`),
    },
  })
})
after(async () => {
  for (const one of [appliance, imap, google, microsoft]) await one?.[Symbol.asyncDispose]()
})
let refusedTag = ''

/** A person opens the link, and allows it. @returns the page that they see at the end */
async function consent(
  type: 'google' | 'microsoft',
  email: string,
  more: object = {},
): Promise<{ status: number; text: string }> {
  const issuer = type === 'google' ? google.issuer : microsoft.issuer
  issuer.person = { email }
  const asked = await appliance.call('POST', '/remote-accounts/oauth/authorize', team.key, {
    type,
    name: email,
    ...more,
  })
  assert.equal(asked.status, 201, JSON.stringify(asked.body))
  const visited = await fetch(asked.body.data.authorization_url, { redirect: 'manual' })
  const { response, text } = await confirmConsent(visited.headers.get('location')!)
  return { status: response.status, text }
}

function accountOf(email: string): RemoteAccount {
  return appliance.app.sync.accounts.attached(appliance.app.db.read, team.id, email)!
}

function connect(account: RemoteAccount) {
  const server = { host: '127.0.0.1', port: imap.port, protocol: 'none' } as const
  const { app } = appliance
  const deps = {
    db: app.db,
    clock,
    config: app.config,
    resolver: app.resolver,
    vault: app.vault,
    tokens: app.sync.tokens,
    responses: new ResponseMemory(clock),
  }
  const open = serverOpener({ ...deps, servers: { google: server, microsoft: server } })
  return open(account, new AbortController().signal)
}

async function failureOf(connecting: Promise<unknown>): Promise<ServerError> {
  const error = await connecting.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ServerError, String(error))
  return error
}

for (const [type, issuerOf] of [
  ['google', () => google.issuer],
  ['microsoft', () => microsoft.issuer],
] as ['google' | 'microsoft', () => Issuer][]) {
  test(`${type}: consent attaches an account with its sending account, which sign in with tokens that are renewed in time`, async () => {
    const email = `ana@${type}.test`
    const page = await consent(type, email)
    assert.equal(page.status, 200, page.text)
    assert.match(page.text, /The mail of ana@/)
    const account = accountOf(email)
    assert.deepEqual(
      { auth: account.auth, mode: account.mode, imap: account.imap },
      { auth: type, mode: 'mirror', imap: null },
    )
    const provider = appliance.app.outbound.accounts.providers.byId(account.providerId!)!
    assert.equal(provider.hasSmtpPassword, false)
    assert.equal(provider.smtpUsername, email)
    // The issuer has named the address: its messages are read here.
    assert.equal(appliance.app.people.linkMailPolicy(email).mailed, false)

    tokens = []
    await (await connect(account)).close()
    assert.equal(issuerOf().ownerOf(tokens[0]!), email)
    const before = issuerOf().refreshes
    clock.advance(54 * MINUTE_MS)
    const { tokens: known } = appliance.app.sync
    assert.equal(await known.use(account.id), tokens[0])
    assert.equal(issuerOf().refreshes, before)
    clock.advance(2 * MINUTE_MS)
    const renewed = await Promise.all([1, 2, 3, 4, 5].map(() => known.use(account.id)))
    assert.equal(new Set([...renewed, tokens[0]]).size, 2)
    assert.equal(issuerOf().refreshes, before + 1)
    assert.deepEqual(await known.of(account.id), { kind: 'given', token: renewed[0] })
  })

  test(`${type}: a token that the server refuses is requested once more; a consent that was withdrawn needs a person`, async () => {
    const email = `ben@${type}.test`
    await consent(type, email)
    const account = accountOf(email)
    tokens = []
    refusals = 1
    await (await connect(account)).close()
    assert.equal(new Set(tokens).size, 2)
    refusals = 2
    const refused = await failureOf(connect(account))
    assert.deepEqual([refused.effect, refused.kind], ['failed', 'consent'])
    for (const token of tokens) assert.ok(!refused.message.includes(token))
    refusals = 0
    for (const token of issuerOf().refresh.keys()) issuerOf().refresh.delete(token)
    appliance.app.sync.tokens.drop(account.id)
    const withdrawn = await failureOf(connect(account))
    assert.deepEqual([withdrawn.effect, withdrawn.kind], ['failed', 'consent'])
    assert.match(withdrawn.message, /consent was withdrawn/)
    await consent(type, email)
    assert.equal(accountOf(email).id, account.id)
    await (await connect(accountOf(email))).close()
  })
}

test('an address that is attached with a password is not taken over by a consent', async () => {
  const body = { email: 'pass@google.test', password: 'x', imap_host: '127.0.0.1', imap_port: 1, imap_protocol: 'none' }
  assert.equal((await appliance.call('POST', '/remote-accounts', team.key, body)).status, 201)
  const page = await consent('google', 'pass@google.test')
  assert.equal(page.status, 502)
  assert.match(page.text, /already in use by an outside account/)
})

test('the page that asks names the mailbox into which mail is collected', async () => {
  await team.domain('collects.test')
  const { id } = await team.mailbox('box@collects.test')
  const ask = { type: 'google', name: 'Old account', mode: 'collect', mailbox_id: id }
  google.issuer.person = { email: 'old@google.test' }
  const asked = await appliance.call('POST', '/remote-accounts/oauth/authorize', team.key, ask)
  const visited = await fetch(asked.body.data.authorization_url, { redirect: 'manual' })
  const url = visited.headers.get('location')!
  const page = await (await fetch(url)).text()
  for (const words of ['box@collects.test', 'receives a copy of all your mail']) assert.ok(page.includes(words), page)
  assert.equal(appliance.app.sync.accounts.attached(appliance.app.db.read, team.id, 'old@google.test'), undefined)
  assert.equal((await confirmConsent(url)).response.status, 200)
  assert.equal(accountOf('old@google.test').mode, 'collect')
})

test('the consent of an account that is attached in another way changes nothing', async () => {
  await consent('google', 'twice@google.test')
  const { id: mirror, settingsVersion } = accountOf('twice@google.test')
  const { id } = await team.mailbox('second@collects.test')
  const page = await consent('google', 'twice@google.test', { mode: 'collect', mailbox_id: id })
  assert.equal(page.status, 502)
  assert.match(page.text, /attached in this team already/)
  const after = accountOf('twice@google.test')
  assert.deepEqual([after.id, after.mode, after.settingsVersion], [mirror, 'mirror', settingsVersion])
})

test('microsoft: the address is the sign-in name; the e-mail claim counts for personal accounts alone', async (t) => {
  t.after(() => {
    microsoft.issuer.claims = {}
  })
  microsoft.issuer.claims = { email: 'chief@victim.test', tid: 'a-tenant' }
  await consent('microsoft', 'carl@microsoft.test')
  assert.ok(accountOf('carl@microsoft.test'))
  microsoft.issuer.claims = { preferred_username: '+43 1 234', email: 'chief@victim.test', tid: 'a-tenant' }
  const page = await consent('microsoft', 'dora@microsoft.test')
  assert.match(page.text, /no address/)
  assert.equal(appliance.app.sync.accounts.byEmail('chief@victim.test').length, 0)
  microsoft.issuer.claims = {
    ...{ preferred_username: '+43 1 234', email: 'emil@outlook.test' },
    tid: '9188040d-6c67-4c5b-b112-36a304b66dad',
  }
  await consent('microsoft', 'emil@outlook.test')
  assert.ok(accountOf('emil@outlook.test'))
})
