// Connecting accounts: the question, the way back, and everything that can go wrong on it.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { oauthStateExpiry } from '../../../src/jobs/retention.ts'
import { type ConnectedType, OAuth, REDIRECT_MAX } from '../../../src/outbound/providers/oauth.ts'
import { STATE_MS, STATES_EACH } from '../../../src/outbound/providers/states.ts'
import { openAccounts } from '../../support/accounts.ts'
import { failure } from '../../support/directory.ts'
import { startGoogle } from '../../support/google.ts'
import { startMicrosoft } from '../../support/microsoft.ts'

const google = await startGoogle()
const microsoft = await startMicrosoft()
const appliance = await openAccounts({ ...google.env, ...microsoft.env, APP_ORIGIN: 'https://mail.example' })
after(async () => {
  await appliance[Symbol.asyncDispose]()
  await google[Symbol.asyncDispose]()
  await microsoft[Symbol.asyncDispose]()
})
const { app, clock, teamId } = appliance
const { oauth } = app.outbound.accounts

beforeEach(() => {
  google.issuer.person = { email: 'ana@shop.test' }
  microsoft.issuer.person = { email: 'ana@shop.test' }
})

async function begin(type: ConnectedType = 'gmail_api', name = 'Ana', redirectAfter: string | null = null) {
  return (await oauth.authorize(teamId, { type, name, redirectAfter })).authorizationUrl
}

/** The person opens the address and decides. @returns what their browser brings back */
async function visit(url: string): Promise<Record<string, string>> {
  const response = await fetch(url, { redirect: 'manual' })
  assert.equal(response.status, 302, await response.text())
  const back = new URL(response.headers.get('location')!)
  assert.match(back.href, /^https:\/\/mail\.example\/oauth\/callback\/(gmail_api|outlook_api)\?/)
  return Object.fromEntries(back.searchParams)
}

test('the authorization request has the minimal scopes, offline access and a PKCE challenge', async () => {
  const asked = new URL(await begin())
  assert.equal(asked.origin, google.origin)
  const { state, code_challenge, ...rest } = Object.fromEntries(asked.searchParams)
  assert.deepEqual(rest, {
    client_id: 'google-client',
    redirect_uri: 'https://mail.example/oauth/callback/gmail_api',
    response_type: 'code',
    scope: 'https://www.googleapis.com/auth/gmail.send https://www.googleapis.com/auth/gmail.metadata',
    access_type: 'offline',
    prompt: 'consent',
    code_challenge_method: 'S256',
  })
  assert.ok(state && code_challenge)
  const other = new URL(await begin('outlook_api')).searchParams
  assert.equal(other.get('scope'), 'offline_access Mail.Send Mail.ReadBasic User.Read')
})

for (const type of ['gmail_api', 'outlook_api'] as const) {
  test(`${type}: who allows it has an account, pending until it is checked`, async () => {
    const came = await oauth.callback(type, await visit(await begin(type, 'Ana at work')))
    assert.ok(came.kind === 'connected', JSON.stringify(came))
    const { provider } = came
    assert.equal(provider.name, 'Ana at work')
    assert.equal(provider.type, type)
    assert.equal(provider.status, 'pending')
    assert.equal(provider.oauthEmail, 'ana@shop.test')
    assert.equal(provider.teamId, teamId)
    assert.equal(provider.hasRefreshToken, true)
    const issuer = type === 'gmail_api' ? google.issuer : microsoft.issuer
    assert.ok(issuer.refresh.has((await appliance.refreshToken(provider))!))
  })
}

test('connecting the same account again renews it', async () => {
  google.issuer.person = { email: 'Twice@Shop.test' }
  const first = await oauth.callback('gmail_api', await visit(await begin()))
  const second = await oauth.callback('gmail_api', await visit(await begin()))
  assert.ok(first.kind === 'connected' && second.kind === 'connected')
  assert.equal(second.provider.id, first.provider.id)
  assert.equal(second.provider.oauthEmail, 'twice@shop.test')
  assert.ok(second.provider.connectionVersion > first.provider.connectionVersion)
})

test('an account of another team is another account', async () => {
  google.issuer.person = { email: 'shared@shop.test' }
  const other = (await app.directory.teams.create({ name: 'Other' })).id
  const { authorizationUrl } = await oauth.authorize(other, { type: 'gmail_api', name: 'Ours', redirectAfter: null })
  const [mine, theirs] = [
    await oauth.callback('gmail_api', await visit(await begin())),
    await oauth.callback('gmail_api', await visit(authorizationUrl)),
  ]
  assert.ok(mine.kind === 'connected' && theirs.kind === 'connected')
  assert.notEqual(mine.provider.id, theirs.provider.id)
  assert.equal(theirs.provider.teamId, other)
})

test('a state works once, also when it comes twice at the same moment', async () => {
  const back = await visit(await begin())
  const kinds = (await Promise.all([1, 2, 3].map(() => oauth.callback('gmail_api', back)))).map(({ kind }) => kind)
  assert.deepEqual(kinds.sort(), ['connected', 'used', 'used'])
})

test('a state ends after ten minutes, and the job deletes it', async () => {
  const back = await visit(await begin())
  clock.advance(STATE_MS - 1)
  await begin()
  clock.advance(1)
  assert.equal((await oauth.callback('gmail_api', back)).kind, 'expired')
  const signal = new AbortController().signal
  const run = () => oauthStateExpiry.run({ app, log: app.log, signal })
  assert.ok((await run()) > 0)
  const rows = app.db.read.all<{ expires_at: number }>('SELECT expires_at FROM oauth_states')
  assert.deepEqual(
    rows.map((row) => row.expires_at),
    [clock.now() + STATE_MS - 1],
  )
  assert.equal(await run(), 0)
})

test('the newest states of a person or key work, and those of others stay', async () => {
  const input = { type: 'gmail_api' as const, name: 'Ana', redirectAfter: null }
  const beginAs = async (createdBy: string, team = teamId) =>
    (await oauth.authorize(team, input, { sessionId: null, createdBy })).authorizationUrl
  const other = (await app.directory.teams.create({ name: 'Other' })).id
  const [ben, elsewhere] = [await beginAs('usr_ben'), await beginAs('usr_ana', other)]
  const mine: string[] = []
  for (let n = 0; n <= STATES_EACH; n++) {
    clock.advance(1000)
    mine.push(await beginAs('usr_ana'))
  }
  const browser = { sessionId: null, mayConnect: () => true }
  const kindOf = async (url: string) => (await oauth.callback('gmail_api', await visit(url), browser)).kind
  assert.equal(await kindOf(mine[0]!), 'used')
  for (const url of [mine[1]!, mine.at(-1)!, ben, elsewhere]) assert.equal(await kindOf(url), 'connected')
})

test('a forged state, one of the other issuer or a changed one is rejected without a database read', async () => {
  const back = await visit(await begin())
  const { state } = back as { state: string }
  const [end, random, mac] = state.split('.') as [string, string, string]
  const later = (Number.parseInt(end, 36) + 1).toString(36)
  const forged = [
    '',
    'x',
    state.toUpperCase(),
    `${later}.${random}.${mac}`,
    `${end}.${'A'.repeat(43)}.${mac}`,
    `${end}.${random}.${'A'.repeat(22)}`,
    `${state}x`,
    'x'.repeat(100_000),
  ]
  for (const one of forged) assert.equal((await oauth.callback('gmail_api', { ...back, state: one })).kind, 'unknown')
  assert.equal((await oauth.callback('outlook_api', back)).kind, 'unknown')
  assert.equal((await oauth.callback('gmail_api', {})).kind, 'unknown')
  assert.equal((await oauth.callback('gmail_api', back)).kind, 'connected')
})

test('neither state nor verifier is stored in clear in the database', async () => {
  const { state } = await visit(await begin())
  const rows = app.db.read.all('SELECT * FROM oauth_states')
  const open = JSON.stringify(
    rows.map((row) => Object.values(row).map((value) => Buffer.from(String(value)).toString())),
  )
  assert.ok(!open.includes(state!.split('.')[1]!))
})

test('a denied consent changes nothing', async () => {
  google.issuer.person = { email: 'no@shop.test', refuses: true }
  const came = await oauth.callback('gmail_api', await visit(await begin('gmail_api', 'No', '/console/x/sending')))
  assert.deepEqual(came, { kind: 'denied', redirectAfter: 'https://mail.example/console/x/sending' })
})

test('a declined scope is reported, and no account is created', async () => {
  google.issuer.person = { email: 'half@shop.test', allows: ['https://www.googleapis.com/auth/gmail.send'] }
  assert.equal((await oauth.callback('gmail_api', await visit(await begin()))).kind, 'incomplete')
  const { items } = app.outbound.accounts.providers.list(teamId, { limit: 100, after: null })
  assert.ok(items.every(({ oauthEmail }) => oauthEmail !== 'half@shop.test'))
})

test('what the issuer does wrong is a sentence', async () => {
  const stranger = { ...(await visit(await begin())), code: 'made-up' }
  assert.match(reasonOf(await oauth.callback('gmail_api', stranger)), /did not accept its own code/)
  const faults: [string, Parameters<typeof google.fail>[1], RegExp][] = [
    ['/token', { status: 500, body: 'oops' }, /Google gave no token \(status 500\)/],
    ['/token', { status: 401, body: { error: 'invalid_client' } }, /Google gave no token \(invalid_client\)/],
    ['/token', 'hang up', /.+/],
    ['/token', { status: 200, body: { access_token: 'a\r\nX-Evil: 1', refresh_token: 'x' } }, /contains no token/],
    [
      '/token',
      { status: 200, body: { access_token: 'a', token_type: 'mac', refresh_token: 'x' } },
      /contains no token/,
    ],
    [
      '/token',
      { status: 200, body: { access_token: 'a', expires_in: 'soon', refresh_token: 'x' } },
      /contains no token/,
    ],
    ['/token', { status: 200, body: ['a'] }, /contains no token/],
    ['/token', { status: 204, body: '' }, /Google gave no token \(status 204\)/],
    ['/token', { status: 302, body: { access_token: 'a', refresh_token: 'x' } }, /Google gave no token \(status 302\)/],
    ['/token', { status: 200, body: { access_token: 'a', expires_in: 3600 } }, /returned no refresh token/],
    ['/profile', { status: 200, body: { emailAddress: 'not an address' } }, /returned no address/],
    ['/profile', { status: 403, body: {} }, /returned no address/],
  ]
  for (const [path, fault, reason] of faults) {
    const back = await visit(await begin())
    google.fail(path, fault)
    assert.match(reasonOf(await oauth.callback('gmail_api', back)), reason)
  }
  const { code: _code, ...empty } = await visit(await begin())
  assert.match(reasonOf(await oauth.callback('gmail_api', { ...empty, error: 'server_error' })), /\(server_error\)/)
  const odd = await visit(await begin())
  const { code: _, ...without } = odd
  assert.equal(
    reasonOf(await oauth.callback('gmail_api', { ...without, error: '<script>' })),
    'Google gave no consent.',
  )
})

test('a code of another question does not fit: the verifier is that of the state', async () => {
  const one = await visit(await begin())
  const other = await visit(await begin())
  assert.match(
    reasonOf(await oauth.callback('gmail_api', { ...one, code: other.code! })),
    /did not accept its own code/,
  )
})

test('a person is sent on only to pages of the console', async () => {
  const team = '/console/team_0a1b2c3d4e5f6g7h8i9j0k1l'
  const own = ['/console', 'console', '/console?done', `${team}/sending?x=1#y`, `https://mail.example${team}`]
  for (const redirect of [...own, '/a/../console/', '/console?next=https://evil.example/']) {
    await begin('gmail_api', 'Ana', redirect)
  }
  const others = [
    ...['/', '?done', '/a', '/consoles', '/console%2f', '/Console', '/CONSOLE/x', '/console\u200b'],
    ...[
      `/as/${team.slice(9)}/api/v1/domains`,
      '/api/v1/domains',
      '/out/x',
      '/me/v1/self',
      '/operator',
      '/sign-in?next=/',
    ],
    ...['/console/../api/v1', '/console/%2e%2e/as/x', '/console/..\\out/x', '/console/.%2E/oauth/callback/gmail_api'],
    ...['/console/..%2fapi', '/console/%2F..%2Fas', '/console/..%5Cout', 'https://mail.example/a'],
  ]
  for (const redirect of others) {
    const wrong = failure('validation_error', { field: 'redirect_after', code: 'forbidden_value' })
    await assert.rejects(begin('gmail_api', 'Ana', redirect), wrong, redirect)
  }
  const foreign = [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    'https://mail.example@evil.example/',
    'https://ana:secret@mail.example/',
    'https://mail.example.evil.example/',
    'http://mail.example/',
    'https://mail.example:8443/',
    'javascript:alert(1)',
    'data:text/html,x',
  ]
  for (const redirect of foreign) {
    const wrong = failure('validation_error', { field: 'redirect_after', code: 'forbidden_value' })
    await assert.rejects(begin('gmail_api', 'Ana', redirect), wrong, redirect)
  }
  const form = failure('validation_error', { field: 'redirect_after', code: 'invalid_format' })
  await assert.rejects(begin('gmail_api', 'Ana', 'https://['), form)
  const long = failure('validation_error', { field: 'redirect_after', code: 'too_big' })
  await assert.rejects(begin('gmail_api', 'Ana', `/${'x'.repeat(REDIRECT_MAX)}`), long)
})

test('without a client of the operator there is nothing to connect to', async () => {
  const config = { ...app.config, GOOGLE_CLIENT_ID: '' }
  const closed = new OAuth({ ...app, config, providers: app.outbound.accounts.providers })
  const asked = { type: 'gmail_api' as const, name: 'Ana', redirectAfter: null }
  await assert.rejects(closed.authorize(teamId, asked), failure('service_unavailable'))
  await closed.close()
})

function reasonOf(came: Awaited<ReturnType<OAuth['callback']>>): string {
  assert.ok(came.kind === 'failed', JSON.stringify(came))
  return came.reason
}
