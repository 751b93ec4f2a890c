// Mail through a connected Google account: what is asked of Google, and what its answers mean.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import type { Handover } from '../../../src/outbound/model/transport.ts'
import { GMAIL_MAX, openGmail } from '../../../src/outbound/transports/accounts/gmail.ts'
import { handOnce, handover, openAccounts, outcomesOf } from '../../support/accounts.ts'
import type { Answer } from '../../support/api-server.ts'
import { startGoogle, wrong } from '../../support/google.ts'

const google = await startGoogle()
const appliance = await openAccounts(google.env)
after(async () => {
  await appliance[Symbol.asyncDispose]()
  await google[Symbol.asyncDispose]()
})
const { app } = appliance
const parts = { ...app, providers: app.outbound.accounts.providers }
const SCOPES = ['https://www.googleapis.com/auth/gmail.send', 'https://www.googleapis.com/auth/gmail.metadata']
const SEND = '/messages/send'

/** The account of ana@shop.test, with a connection that grants these scopes. */
async function account(scopes = SCOPES, email = 'ana@shop.test') {
  const token = `1//${google.issuer.refresh.size}`
  google.issuer.refresh.set(token, { email, scopes, offline: true })
  return appliance.connect('gmail_api', email, token)
}

async function hand(mail: Handover) {
  return handOnce(openGmail(parts, await account()), mail)
}

beforeEach(() => {
  google.taken.length = 0
  google.requests.length = 0
  google.rewritesIds = false
})

test('a message is sent to exactly its recipients, without our signature, and its ids are returned', async () => {
  const mail = handover({
    to: '"Bob, B." <bob@else.test>, carl@else.test',
    cc: 'Dora <dora@else.test>, =?utf-8?q?J=C3=B6rg?= <joerg@else.test>',
    recipients: ['bob@else.test', 'joerg@else.test', 'hidden@else.test'],
    hidden: ['hidden@else.test'],
  })
  const handed = await hand(mail)
  assert.deepEqual(outcomesOf(handed), ['sent', 'sent', 'sent'])
  assert.ok(handed.kind === 'answered')
  assert.equal(handed.confirmation, 'provider_api')
  assert.equal(handed.peer, '127.0.0.1')
  const [taken] = google.taken
  assert.deepEqual(handed.remoteIds, [taken!.id, mail.internetMessageId])
  assert.deepEqual(taken!.recipients, ['bob@else.test', 'joerg@else.test', 'hidden@else.test'])
  assert.equal(taken!.headers.get('to'), '"Bob, B." <bob@else.test>')
  assert.equal(taken!.headers.get('cc'), '=?utf-8?q?J=C3=B6rg?= <joerg@else.test>')
  assert.equal(taken!.headers.get('bcc'), 'hidden@else.test')
  assert.ok(!taken!.headers.has('dkim-signature'))
  assert.ok(taken!.raw.endsWith('\r\n\r\nHello, and DKIM-Signature: stays here.\r\n'))
})

test('the Message-ID that Gmail assigns is returned', async () => {
  google.rewritesIds = true
  const handed = await hand(handover())
  assert.ok(handed.kind === 'answered')
  const [taken] = google.taken
  assert.deepEqual(handed.remoteIds, [taken!.id, `CA${taken!.id}@mail.gmail.com`])
})

test('a sent message does not fail when its ids cannot be read', async () => {
  google.fail('/messages/18', wrong(500, 'backendError', 'Backend Error'))
  const handed = await hand(handover())
  assert.deepEqual(outcomesOf(handed), ['sent'])
})

test('an access token is used until a minute before its end, and refreshed by one call for all that wait', async () => {
  const transport = openGmail(parts, await account())
  const refreshes = () => google.requests.filter(({ path }) => path === '/token').length
  await Promise.all([1, 2, 3].map(() => transport.hand(handover())))
  assert.equal(refreshes(), 1)
  appliance.clock.advance(3539_000)
  await transport.hand(handover())
  assert.equal(refreshes(), 1)
  appliance.clock.advance(2_000)
  await transport.hand(handover())
  assert.equal(refreshes(), 2)
  await transport.close()
})

test('a token refused before its expiry is renewed once, and the message is sent', async () => {
  const transport = openGmail(parts, await account())
  await transport.hand(handover())
  google.issuer.endAccess()
  assert.deepEqual(outcomesOf(await transport.hand(handover())), ['sent'])
  google.fail(SEND, wrong(401, 'authError', 'Invalid Credentials'))
  google.fail(SEND, wrong(401, 'authError', 'Invalid Credentials'))
  assert.deepEqual(outcomesOf(await transport.hand(handover())), ['unavailable auth transient'])
  assert.equal(google.taken.length, 2)
  await transport.close()
})

test('a revoked consent puts the account in error with a reason', async () => {
  const provider = await account()
  google.issuer.refresh.clear()
  const handed = await handOnce(openGmail(parts, provider), handover())
  assert.deepEqual(outcomesOf(handed), ['unavailable auth transient'])
  const { status, statusReason } = await appliance.provider(provider.id)
  assert.equal(status, 'error')
  assert.equal(
    statusReason,
    'auth: Google no longer accepts the connection (invalid_grant): connect the account again.',
  )
  assert.equal(google.taken.length, 0)
})

test('an issuer in trouble is no refusal of the account', async () => {
  const provider = await account()
  google.fail('/token', { status: 503, headers: { 'retry-after': '30' }, body: 'busy' })
  const handed = await handOnce(openGmail(parts, provider), handover())
  assert.ok(handed.kind === 'unavailable')
  assert.equal(handed.retryAfterMs, 30_000)
  assert.notEqual((await appliance.provider(provider.id)).status, 'error')
})

const MEANINGS: [string, Answer, string][] = [
  ['the limit of a day', wrong(403, 'dailyLimitExceeded', 'Daily Limit Exceeded'), 'unavailable api provider_quota'],
  ['too fast', wrong(403, 'userRateLimitExceeded', 'User Rate Limit Exceeded'), 'unavailable api throttled'],
  [
    'too fast, said so',
    wrong(429, 'rateLimitExceeded', 'Too many concurrent requests for user'),
    'unavailable api throttled',
  ],
  [
    'too much mail in a day',
    wrong(429, 'rateLimitExceeded', 'User-rate limit exceeded.  (Mail sending)'),
    'unavailable api provider_quota',
  ],
  ['a permission that is gone', wrong(403, 'insufficientPermissions', 'Insufficient'), 'unavailable auth transient'],
  ['Gmail switched off', wrong(400, 'failedPrecondition', 'Mail service not enabled'), 'unavailable auth transient'],
  ['a mail it does not take', wrong(400, 'invalidArgument', 'Invalid To header'), 'never content'],
  ['a mail too large for it', wrong(413, 'uploadTooLarge', 'Too large'), 'never content'],
  ['trouble on its side', wrong(500, 'backendError', 'Backend Error'), 'later transient'],
  ['an answer that is none', { status: 502, body: '<html>' }, 'later transient'],
]
for (const [what, answer, meaning] of MEANINGS) {
  test(`${what}: ${meaning}`, async () => {
    google.fail(SEND, answer)
    assert.deepEqual(outcomesOf(await hand(handover())), [meaning])
    assert.equal(google.taken.length, 0)
  })
}

test('Retry-After of Gmail is returned, as seconds and as a date', async () => {
  const busy = wrong(429, 'rateLimitExceeded', 'Slow down')
  google.fail(SEND, { ...busy, headers: { 'retry-after': '120' } })
  const seconds = await hand(handover())
  assert.ok(seconds.kind === 'unavailable')
  assert.equal(seconds.retryAfterMs, 120_000)
  google.fail(SEND, { ...busy, headers: { 'retry-after': new Date(appliance.clock.now() + 60_000).toUTCString() } })
  const date = await hand(handover())
  assert.ok(date.kind === 'unavailable')
  // A date has whole seconds.
  assert.ok(Math.abs(date.retryAfterMs! - 60_000) < 1000)
})

test('after a lost response Sent is searched, and the message is not sent twice', async () => {
  const transport = openGmail(parts, await account())
  const mail = handover()
  google.fail(SEND, 'lose the answer')
  assert.deepEqual(outcomesOf(await transport.hand(mail)), ['later transient'])
  google.rewritesIds = true
  const again = await transport.hand(mail)
  assert.deepEqual(outcomesOf(again), ['sent'])
  assert.ok(again.kind === 'answered')
  assert.deepEqual(again.remoteIds, [google.taken[0]!.id, mail.internetMessageId])
  assert.equal(google.taken.length, 1)
  await transport.close()
})

test('after a crash Sent is searched first: found, or sent', async () => {
  const mail = handover()
  await hand(mail)
  assert.deepEqual(outcomesOf(await hand({ ...mail, uncertain: true })), ['sent'])
  assert.equal(google.taken.length, 1)
  assert.deepEqual(outcomesOf(await hand(handover({ uncertain: true }))), ['sent'])
  assert.equal(google.taken.length, 2)
})

test('the same message to other recipients is no match', async () => {
  const mail = handover({ to: 'bob@else.test, carl@else.test' })
  await hand(mail)
  await hand({ ...mail, recipients: ['carl@else.test'], uncertain: true })
  assert.deepEqual(
    google.taken.map(({ recipients }) => recipients),
    [['bob@else.test'], ['carl@else.test']],
  )
})

test('while Sent cannot be read nothing is sent; without the scope to read it, the message is sent', async () => {
  google.fail('/users/me/messages', wrong(500, 'backendError', 'Backend Error'))
  assert.deepEqual(outcomesOf(await hand(handover({ uncertain: true }))), ['later network'])
  assert.equal(google.taken.length, 0)
  const narrow = await account([SCOPES[0]!])
  const handed = await handOnce(openGmail(parts, narrow), handover({ uncertain: true }))
  assert.deepEqual(outcomesOf(handed), ['sent'])
})

test('a connection failure is reported with its stage, and another account may be used', async () => {
  const lost = { ...parts, config: { ...app.config, GOOGLE_API_BASE: 'http://127.0.0.1:1' } }
  const refused = await handOnce(openGmail(lost, await account()), handover())
  assert.deepEqual(outcomesOf(refused), ['unavailable connect network'])
  const nameless = { ...parts, config: { ...app.config, GOOGLE_API_BASE: 'https://no-such-host.invalid' } }
  const unknown = await handOnce(openGmail(nameless, await account()), handover())
  assert.deepEqual(outcomesOf(unknown), ['unavailable dns dns'])
  const broken = { ...parts, config: { ...app.config, GOOGLE_API_BASE: google.origin.replace('http:', 'https:') } }
  const plain = await handOnce(openGmail(broken, await account()), handover())
  assert.deepEqual(outcomesOf(plain), ['unavailable tls network'])
})

test('without the client of the operator the account says so', async () => {
  const closed = openGmail({ ...parts, config: { ...app.config, GOOGLE_CLIENT_ID: '' } }, await account())
  assert.deepEqual(outcomesOf(await closed.hand(handover())), ['unavailable auth transient'])
  assert.match((await closed.check(null)).message, /no OAuth client/)
  await closed.close()
})

test('a message above the upload limit is refused without a request', async () => {
  const mail = handover({ bytes: Buffer.concat([handover().bytes, Buffer.alloc(GMAIL_MAX, 'x')]) })
  const handed = await hand(mail)
  assert.deepEqual(outcomesOf(handed), ['never content'])
  assert.ok(handed.kind === 'answered')
  assert.equal(handed.verdicts[0]!.reply.enhancedCode, '5.3.4')
  assert.equal(google.requests.length, 0)
})

test('a check reads the profile; with an address it sends a message', async () => {
  const transport = openGmail(parts, await account())
  const checked = await transport.check(null)
  assert.deepEqual(checked, {
    success: true,
    stage: 'api',
    smtpCode: null,
    message: 'Google knows the account ana@shop.test.',
  })
  assert.equal(google.taken.length, 0)
  assert.equal((await transport.check('bob@else.test')).success, true)
  assert.deepEqual(google.taken[0]!.recipients, ['bob@else.test'])
  assert.equal((await transport.check('bob@nowhere.invalid')).message, '400 Invalid To header')
  await transport.close()
})

test('a connection that belongs to another account fails the check', async () => {
  const token = '1//other'
  google.issuer.refresh.set(token, { email: 'eve@else.test', scopes: SCOPES, offline: true })
  const provider = await appliance.connect('gmail_api', 'carl@shop.test', token)
  const transport = openGmail(parts, provider)
  const { success, message } = await transport.check(null)
  assert.equal(success, false)
  assert.equal(message, 'The connection is for eve@else.test, not for carl@shop.test: connect it again.')
  await transport.close()
})
