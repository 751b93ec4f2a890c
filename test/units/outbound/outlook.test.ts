// Mail through a connected Microsoft account: what is asked of Graph, and what its answers mean.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import type { Handover } from '../../../src/outbound/model/transport.ts'
import { OUTLOOK_MAX, openOutlook } from '../../../src/outbound/transports/accounts/outlook.ts'
import { handOnce, handover, openAccounts, outcomesOf } from '../../support/accounts.ts'
import type { Answer } from '../../support/api-server.ts'
import { startMicrosoft, wrong } from '../../support/microsoft.ts'

const microsoft = await startMicrosoft()
const appliance = await openAccounts(microsoft.env)
after(async () => {
  await appliance[Symbol.asyncDispose]()
  await microsoft[Symbol.asyncDispose]()
})
const { app } = appliance
const parts = { ...app, providers: app.outbound.accounts.providers }
const SCOPES = ['offline_access', 'Mail.Send', 'Mail.ReadBasic', 'User.Read']
const SEND = '/sendMail'

async function account(scopes = SCOPES, email = 'ana@shop.test') {
  const token = `M.C1_${microsoft.requests.length}_${microsoft.issuer.refresh.size}`
  microsoft.issuer.refresh.set(token, { email, scopes, offline: true })
  return appliance.connect('outlook_api', email, token)
}

async function hand(mail: Handover) {
  return handOnce(openOutlook(parts, await account()), mail)
}

beforeEach(() => {
  microsoft.taken.length = 0
  microsoft.requests.length = 0
  microsoft.personal = false
})

test('a message is sent as MIME in base64 to exactly its recipients', async () => {
  const mail = handover({
    to: 'Bob <bob@else.test>, carl@else.test',
    recipients: ['bob@else.test', 'hidden@else.test'],
    hidden: ['hidden@else.test'],
  })
  const handed = await hand(mail)
  assert.deepEqual(outcomesOf(handed), ['sent', 'sent'])
  assert.ok(handed.kind === 'answered')
  assert.deepEqual(handed.remoteIds, [])
  const [taken] = microsoft.taken
  assert.deepEqual(taken!.recipients, ['bob@else.test', 'hidden@else.test'])
  assert.equal(taken!.headers.get('to'), 'Bob <bob@else.test>')
  assert.equal(taken!.headers.get('message-id'), `<${mail.internetMessageId}>`)
  assert.ok(!taken!.headers.has('dkim-signature'))
})

test('each refresh token is used once: its successor is stored sealed', async () => {
  const provider = await account()
  const before = await appliance.refreshToken(provider)
  const transport = openOutlook(parts, provider)
  await transport.hand(handover())
  const next = await appliance.refreshToken(provider)
  assert.notEqual(next, before)
  assert.deepEqual([...microsoft.issuer.refresh.keys()].includes(next!), true)
  const { connectionVersion } = await appliance.provider(provider.id)
  assert.equal(connectionVersion, provider.connectionVersion)
  appliance.clock.advance(3_600_000)
  assert.deepEqual(outcomesOf(await transport.hand(handover())), ['sent'])
  await transport.close()
})

test('a token that another thread has replaced meanwhile is no refusal', async () => {
  const provider = await account()
  const old = (await appliance.refreshToken(provider))!
  const slow = openOutlook(
    {
      ...parts,
      providers: {
        ...parts.providers,
        health: parts.providers.health,
        connections: Object.assign(Object.create(parts.providers.connections), {
          // What the other thread read before its neighbour wrote.
          secretsOf: () => ({ refreshToken: reads++ === 0 ? 'spent' : old }),
        }),
      } as typeof parts.providers,
    },
    provider,
  )
  let reads = 0
  assert.deepEqual(outcomesOf(await slow.hand(handover())), ['unavailable auth transient'])
  assert.notEqual((await appliance.provider(provider.id)).status, 'error')
  await slow.close()
})

test('a revoked consent puts the account in error with a reason', async () => {
  const provider = await account()
  microsoft.issuer.refresh.clear()
  await handOnce(openOutlook(parts, provider), handover())
  const { status, statusReason } = await appliance.provider(provider.id)
  assert.equal(status, 'error')
  assert.match(statusReason!, /^auth: Microsoft no longer accepts the connection \(invalid_grant\)/)
})

const MEANINGS: [string, Answer, string][] = [
  ['too fast', wrong(429, 'ApplicationThrottled', 'Over its MailboxConcurrency limit.'), 'unavailable api throttled'],
  ['the limit of a day', wrong(429, 'ErrorExceededMessageLimit', 'Limit'), 'unavailable api provider_quota'],
  ['a sender who is blocked', wrong(403, 'ErrorMessageSubmissionBlocked', 'Blocked'), 'unavailable api provider_quota'],
  ['a full mailbox', wrong(507, 'ErrorQuotaExceeded', 'Full'), 'unavailable api provider_quota'],
  ['another From', wrong(403, 'ErrorSendAsDenied', 'No right'), 'unavailable auth transient'],
  ['no mailbox', wrong(404, 'MailboxNotEnabledForRESTAPI', 'No mailbox'), 'unavailable auth transient'],
  ['a recipient it does not take', wrong(400, 'ErrorInvalidRecipients', 'Not valid'), 'never content'],
  ['a mail too large for it', wrong(413, 'RequestEntityTooLarge', 'Too large'), 'never content'],
  ['trouble on its side', wrong(503, 'ServiceUnavailable', 'Busy'), 'later transient'],
]
for (const [what, answer, meaning] of MEANINGS) {
  test(`${what}: ${meaning}`, async () => {
    microsoft.fail(SEND, answer)
    assert.deepEqual(outcomesOf(await hand(handover())), [meaning])
    assert.equal(microsoft.taken.length, 0)
  })
}

test('after a crash Sent is searched by Message-ID and recipients', async () => {
  const mail = handover({ to: 'bob@else.test, carl@else.test' })
  await hand(mail)
  assert.deepEqual(outcomesOf(await hand({ ...mail, uncertain: true })), ['sent'])
  assert.equal(microsoft.taken.length, 1)
  await hand({ ...mail, recipients: ['carl@else.test'], uncertain: true })
  assert.deepEqual(
    microsoft.taken.map(({ recipients }) => recipients),
    [['bob@else.test'], ['carl@else.test']],
  )
})

test('a quote in a Message-ID ends no filter', async () => {
  const mail = handover()
  const internetMessageId = "a' or 'x'='x@shop.test"
  const handed = await hand({ ...mail, internetMessageId, uncertain: true })
  assert.deepEqual(outcomesOf(handed), ['sent'])
  assert.equal(microsoft.taken.length, 1)
})

test('after a lost response Sent is searched, and the message is not sent twice', async () => {
  const transport = openOutlook(parts, await account())
  const mail = handover()
  microsoft.fail(SEND, 'lose the answer')
  assert.deepEqual(outcomesOf(await transport.hand(mail)), ['later transient'])
  microsoft.fail('/sentitems/', 'hang up')
  assert.deepEqual(outcomesOf(await transport.hand(mail)), ['later network'])
  assert.deepEqual(outcomesOf(await transport.hand(mail)), ['sent'])
  assert.equal(microsoft.taken.length, 1)
  await transport.close()
})

test('a message above the request limit is refused with a reason', async () => {
  const within = Buffer.alloc(OUTLOOK_MAX - 1000, 'x')
  assert.deepEqual(outcomesOf(await hand(handover({ bytes: Buffer.concat([handover().bytes, within]) }))), ['sent'])
  const beyond = Buffer.alloc(OUTLOOK_MAX, 'x')
  const handed = await hand(handover({ bytes: Buffer.concat([handover().bytes, beyond]) }))
  assert.deepEqual(outcomesOf(handed), ['never content'])
  assert.ok(handed.kind === 'answered')
  const { reply } = handed.verdicts[0]!
  assert.equal(reply.enhancedCode, '5.3.4')
  assert.equal(reply.text, 'The message is too large for this account, which accepts at most 3145728 bytes.')
})

test('a check reads the profile, also of a personal account; with an address it sends a message', async () => {
  const transport = openOutlook(parts, await account())
  assert.equal((await transport.check(null)).message, 'Microsoft knows the account ana@shop.test.')
  microsoft.personal = true
  assert.equal((await transport.check(null)).success, true)
  assert.equal((await transport.check('bob@else.test')).success, true)
  assert.deepEqual(microsoft.taken[0]!.recipients, ['bob@else.test'])
  microsoft.fail('/v1.0/me', wrong(403, 'ErrorAccessDenied', 'Denied'))
  const failed = await transport.check(null)
  assert.deepEqual([failed.success, failed.stage], [false, 'api'])
  await transport.close()
})
