// Connection of an account over the API and in a browser.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import type { ProviderJson } from '../../src/api/schemas/provider.ts'
import { type Reply, startAppliance } from '../support/appliance.ts'
import { confirmConsent, pressButton } from '../support/consent.ts'
import { startGoogle } from '../support/google.ts'
import { data, failure, issues } from './expect.ts'

const google = await startGoogle()
const appliance = await startAppliance({ env: google.env })
after(async () => {
  await appliance.close()
  await google[Symbol.asyncDispose]()
})
const team = await appliance.team()

interface Begun {
  authorization_url: string
  state_expires_at: string
}

beforeEach(() => {
  google.issuer.person = { email: 'ana@shop.test' }
})

function authorize(body: Record<string, unknown> = {}, headers?: Record<string, string>) {
  return appliance.call(
    'POST',
    '/providers/oauth/authorize',
    team.key,
    { type: 'gmail_api', name: 'Ana', ...body },
    headers,
  )
}

/** What the browser of the person opens after they decided. */
async function back(begun: Begun): Promise<string> {
  const response = await fetch(begun.authorization_url, { redirect: 'manual' })
  return response.headers.get('location')!
}

/** Opens that, and presses the button of the page that asks. */
async function finish(url: string): Promise<Reply> {
  const { response, text } = await confirmConsent(url)
  return { status: response.status, headers: response.headers, body: text } as Reply
}

/** A page, with what every page has. */
function page(reply: Reply, status: number, title: string): string {
  assert.equal(reply.status, status, String(reply.body))
  assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(reply.headers.get('content-security-policy')!, /^default-src 'none';/)
  assert.equal(reply.headers.get('referrer-policy'), 'no-referrer')
  const text = String(reply.body)
  assert.ok(text.includes(`<h1>${title}</h1>`), text)
  assert.ok(!text.includes('<script'))
  return text
}

test('after a person authorises it, the account is among the providers', async () => {
  const begun = data<Begun>(await authorize(), 201)
  assert.match(begun.state_expires_at, /Z$/)
  const url = await back(begun)
  assert.ok(url.startsWith(`${appliance.origin}/oauth/callback/gmail_api?`))
  const text = page(await finish(url), 200, 'The account is connected')
  assert.ok(text.includes('ana@shop.test can be sent from as &quot;Ana&quot;'))
  const [provider] = data<ProviderJson[]>(await appliance.get('/providers?type=gmail_api', team.key))
  assert.equal(provider!.oauth_email, 'ana@shop.test')
  assert.equal(provider!.from_email, 'ana@shop.test')
  assert.equal(provider!.has_refresh_token, true)
  assert.ok(!JSON.stringify(provider).includes('1//'))
})

test('it is tested like every account', async () => {
  const [provider] = data<ProviderJson[]>(await appliance.get('/providers?type=gmail_api', team.key))
  const result = data<{ success: boolean; stage: string; message: string; provider: ProviderJson }>(
    await appliance.call('POST', `/providers/${provider!.id}/test`, team.key, { to_email: 'bob@else.test' }),
  )
  assert.equal(result.success, true, result.message)
  assert.equal(result.provider.status, 'active')
  assert.deepEqual(google.taken.at(-1)!.recipients, ['bob@else.test'])
})

test('the browser is redirected to the requested page', async () => {
  const begun = data<Begun>(await authorize({ redirect_after: '/console?tab=accounts' }), 201)
  const reply = await finish(await back(begun))
  page(reply, 303, 'The account is connected')
  assert.equal(reply.headers.get('location'), `${appliance.origin}/console?tab=accounts`)
})

test('error pages say what to do', async () => {
  const used = await back(data<Begun>(await authorize(), 201))
  await finish(used)
  page(await appliance.get(used), 410, 'This link was already used')
  page(await appliance.get(`${appliance.origin}/oauth/callback/gmail_api`), 400, 'Invalid link')
  page(await appliance.get(`${appliance.origin}/oauth/callback/gmail_api?state=<script>&code=x`), 400, 'Invalid link')

  google.issuer.person = { email: 'ana@shop.test', refuses: true }
  const refused = await appliance.get(
    await back(data<Begun>(await authorize({ redirect_after: '/console/a?b=1&c=2' }), 201)),
  )
  const text = page(refused, 200, 'The account was not connected')
  assert.ok(text.includes(`<a href="${appliance.origin}/console/a?b=1&amp;c=2">`))

  google.issuer.person = { email: 'ana@shop.test', allows: ['https://www.googleapis.com/auth/gmail.send'] }
  page(await finish(await back(data<Begun>(await authorize(), 201))), 200, 'A permission is missing')

  google.issuer.person = { email: 'ana@shop.test' }
  const broken = await back(data<Begun>(await authorize(), 201))
  google.fail('/token', { status: 500, body: '<b>oops</b>' })
  const failed = page(await finish(broken), 502, 'The account could not be connected')
  assert.ok(failed.includes('Google gave no token (status 500).') && !failed.includes('oops'))
})

test('who opens a link of a key is asked first: which team, which key, and for what', async () => {
  const count = async () => data<ProviderJson[]>(await appliance.get('/providers', team.key)).length
  const before = await count()
  google.issuer.person = { email: 'eve@shop.test' }
  const url = await back(data<Begun>(await authorize({ name: '<Eve>' }), 201))
  const asked = page(await appliance.get(url), 200, 'Connect your Google account?')
  const key = appliance.app.directory.keys.list(team.id, { limit: 1, after: null }).items[0]!
  const name = appliance.app.directory.teams.get(team.id)!.name
  for (const word of [name, key.name, '&lt;Eve&gt;', 'sends mail from your address'])
    assert.ok(asked.includes(word), asked)
  assert.equal(await count(), before)
  assert.equal((await pressButton(url, asked, { 'sec-fetch-site': 'cross-site' })).response.status, 403)
  assert.equal((await pressButton(url, asked.replace(/(name="csrf" value=")[^"]*/, '$1x'))).response.status, 403)
  assert.equal(await count(), before)
  assert.equal((await pressButton(url, asked, { 'sec-fetch-site': 'same-origin' })).response.status, 200)
  assert.equal(await count(), before + 1)
})

test('what was begun with a key ends with it, and is not completed while the team is suspended', async () => {
  const { directory } = appliance.app
  const other = await appliance.team('Ending')
  const issue = (permissions: string[]) =>
    directory.keys.issue({ teamId: other.id, kind: 'root', name: 'Short', permissions, createdBy: 'operator' })
  const begin = async (key: string) => {
    const body = { type: 'gmail_api', name: 'Ana' }
    return back(data<Begun>(await appliance.call('POST', '/providers/oauth/authorize', key, body), 201))
  }
  const { secret, record } = await issue(['provider.*'])
  const shown = await begin(secret)
  const asked = page(await appliance.get(shown), 200, 'Connect your Google account?')
  await directory.keys.revoke(other.id, record.id)
  assert.equal((await pressButton(shown, asked)).response.status, 403)

  const { secret: second } = await issue(['provider.create'])
  const open = await begin(second)
  await directory.teams.setStatus(other.id, 'suspended')
  page(await appliance.get(open), 403, 'The account was not connected')
  assert.deepEqual(appliance.app.db.read.all('SELECT id FROM providers WHERE team_id = ?', [other.id]), [])
})

test('there are pages for the supported providers only', async () => {
  failure(await appliance.get(`${appliance.origin}/oauth/callback/smtp`), 404, 'not_found')
  failure(await appliance.call('POST', `${appliance.origin}/oauth/callback/gmail_api`), 405, 'method_not_allowed')
})

test('without an OAuth client of the operator it is unavailable, and no error is logged', async (t) => {
  const error = t.mock.method(appliance.app.log, 'error')
  failure(await authorize({ type: 'outlook_api' }), 503, 'service_unavailable')
  assert.equal(error.mock.callCount(), 0)
})

test('an invalid request is reported by its member', async () => {
  for (const redirect_after of [
    'https://evil.test/',
    '//evil.test',
    '/\\evil.test',
    '/api/v1/domains',
    '/console/..%2fas',
  ]) {
    issues(await authorize({ redirect_after }), 422, 'validation_error', ['redirect_after forbidden_value'])
  }
  issues(await authorize({ type: 'smtp' }), 422, 'validation_error', ['type invalid_enum'])
  issues(await authorize({ name: 'a\r\nb' }), 422, 'validation_error', ['name invalid_format'])
})

test('the same key returns the same URL again', async () => {
  const headers = { 'idempotency-key': 'connect-ana' }
  const first = data<Begun>(await authorize({}, headers), 201)
  const again = await authorize({}, headers)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(data<Begun>(again, 201), first)
})
