// Mail through the shared Amazon SES account: what is asked of SES, what its answers mean, and what the team's share counts.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import type { Handover } from '../../../src/outbound/model/transport.ts'
import { openSes, SES_MAX, SES_TAG } from '../../../src/outbound/transports/accounts/ses.ts'
import { SesIdentities } from '../../../src/outbound/transports/accounts/ses-identities.ts'
import { handOnce, handover, openAccounts, outcomesOf } from '../../support/accounts.ts'
import type { Answer } from '../../support/api-server.ts'
import { sesError, startSes } from '../../support/ses.ts'

const ses = await startSes()
const appliance = await openAccounts(ses.env)
after(async () => {
  await appliance[Symbol.asyncDispose]()
  await ses[Symbol.asyncDispose]()
})
const { app, teamId } = appliance
const { sharedLimit, providers } = app.outbound.accounts
const parts = { ...app, sharedLimit }
await sharedLimit.setDaily(teamId, true, 1000)
const provider = (await providers.connections.sharedOf(teamId))!
const SEND = '/outbound-emails'

function hand(mail: Handover) {
  return openSes(parts, provider).then((transport) => handOnce(transport, mail))
}

const many = (count: number) => Array.from({ length: count }, (_, index) => `r${index}@else.test`)
const sentToday = () => sharedLimit.limitOf(teamId).sentToday

beforeEach(() => {
  ses.taken.length = 0
  ses.identities.clear()
  ses.identities.set('shop.test', { status: 'SUCCESS', tokens: [] })
  ses.quota = { max: 50_000, sent: 12, enabled: true }
})

test('a mail goes to the recipients of the envelope, as it is but for our signature, with our mark', async () => {
  const mail = handover({ to: 'bob@else.test, carl@else.test', recipients: ['bob@else.test', 'hidden@else.test'] })
  const handed = await hand(mail)
  assert.deepEqual(outcomesOf(handed), ['sent', 'sent'])
  const [taken] = ses.taken
  assert.deepEqual(taken!.to, ['bob@else.test', 'hidden@else.test'])
  assert.equal(taken!.from, 'ana@shop.test')
  assert.deepEqual(taken!.tags, { [SES_TAG]: mail.emailId })
  const text = mail.bytes.toString()
  assert.equal(taken!.raw.toString(), text.slice(text.indexOf('From:')))
  assert.ok(handed.kind === 'answered')
  assert.deepEqual(handed.remoteIds, [`${taken!.messageId}@eu-west-1.amazonses.com`])
})

test('more than fifty recipients are told in several calls, and each has its verdict', async () => {
  const before = sentToday()
  const handed = await hand(handover({ recipients: many(120) }))
  assert.deepEqual(
    ses.taken.map(({ to }) => to.length),
    [50, 50, 20],
  )
  assert.equal(outcomesOf(handed).filter((word) => word === 'sent').length, 120)
  assert.ok(handed.kind === 'answered')
  assert.equal(handed.remoteIds.length, 3)
  assert.equal(sentToday(), before + 120)
})

test('what breaks off after some were accepted holds for the others alone', async () => {
  const transport = await openSes(parts, provider)
  const before = sentToday()
  await app.db.write((tx) => sharedLimit.take(tx, teamId, 120))
  const mail = handover({ recipients: many(120) })
  // The faults meet the first call that fits: the second is made to fail by its number.
  const calls = ses.taken
  ses.fail(SEND, { status: 200, body: { MessageId: 'first' } })
  ses.fail(SEND, sesError(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.'))
  const words = outcomesOf(await transport.hand(mail))
  assert.deepEqual([...new Set(words.slice(0, 50))], ['sent'])
  assert.deepEqual([...new Set(words.slice(50, 100))], ['later throttled'])
  assert.deepEqual([...new Set(words.slice(100))], ['sent'])
  assert.deepEqual(
    calls.map(({ to }) => to.length),
    [20],
  )
  assert.equal(sentToday(), before + 70)
  await transport.close()
})

const UNVERIFIED = 'Email address is not verified. The following identities failed the check in region EU-WEST-1: x'
const MEANINGS: [string, Answer, string][] = [
  ['a mail it refuses', sesError(400, 'MessageRejected', 'Message contains a virus.'), 'never content'],
  ['a mail it cannot read', sesError(400, 'BadRequestException', 'Missing final @domain'), 'never content'],
  ['a domain it does not know', sesError(400, 'MessageRejected', UNVERIFIED), 'unavailable sender transient'],
  ['a domain not ready', sesError(400, 'MailFromDomainNotVerifiedException', 'No'), 'unavailable sender transient'],
  [
    'too fast',
    sesError(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.'),
    'unavailable api throttled',
  ],
  [
    'the quota',
    sesError(400, 'LimitExceededException', 'Daily message quota exceeded'),
    'unavailable api provider_quota',
  ],
  ['sending paused', sesError(400, 'SendingPausedException', 'Paused'), 'unavailable api provider_quota'],
  ['an account on hold', sesError(400, 'AccountSuspendedException', 'Suspended'), 'unavailable api provider_quota'],
  ['a wrong key', sesError(403, 'UnrecognizedClientException', 'Invalid token'), 'unavailable auth transient'],
  ['no right to send', sesError(403, 'AccessDeniedException', 'Not authorized'), 'unavailable auth transient'],
  ['trouble on its side', sesError(500, 'InternalServiceErrorException', 'Oops'), 'later transient'],
  ['a proxy in trouble', { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>' }, 'later transient'],
]
for (const [what, answer, meaning] of MEANINGS) {
  test(`${what}: ${meaning}`, async () => {
    const before = sentToday()
    ses.fail(SEND, answer)
    assert.deepEqual(outcomesOf(await hand(handover())), [meaning])
    assert.equal(sentToday(), before)
    assert.equal(ses.requests.filter(({ path }) => path.includes(SEND)).length > 0, true)
  })
}

test('a call is made once: what is tried again, the queue decides', async () => {
  ses.requests.length = 0
  ses.fail(SEND, sesError(500, 'InternalServiceErrorException', 'Oops'))
  await hand(handover())
  assert.equal(ses.requests.length, 1)
})

test('an answer that was lost: nobody knows, and no other account is tried', async () => {
  ses.fail(SEND, 'lose the answer')
  assert.deepEqual(outcomesOf(await hand(handover())), ['later transient'])
  assert.equal(ses.taken.length, 1)
})

test('a connection failure is reported with its stage, and another account may be used', async () => {
  const open = (endpoint: string) => openSes({ ...parts, config: { ...app.config, SES_ENDPOINT: endpoint } }, provider)
  assert.deepEqual(outcomesOf(await handOnce(await open('http://127.0.0.1:1'), handover())), [
    'unavailable connect network',
  ])
  assert.deepEqual(outcomesOf(await handOnce(await open('http://no-such-host.invalid'), handover())), [
    'unavailable dns dns',
  ])
  const plain = ses.origin.replace('http:', 'https:')
  assert.deepEqual(outcomesOf(await handOnce(await open(plain), handover())), ['unavailable tls network'])
})

test('a wrong secret is seen by the other side', async () => {
  const config = { ...app.config, SES_SECRET_ACCESS_KEY: 'wrong' }
  const transport = await openSes({ ...parts, config }, provider)
  assert.deepEqual(outcomesOf(await transport.hand(handover())), ['unavailable auth transient'])
  const { success, stage } = await transport.check(null)
  assert.deepEqual([success, stage], [false, 'auth'])
  await transport.close()
})

test('without the account of the operator it says so', async () => {
  const closed = await openSes({ ...parts, config: { ...app.config, SES_ACCESS_KEY_ID: '' } }, provider)
  assert.deepEqual(outcomesOf(await closed.hand(handover())), ['unavailable auth transient'])
  assert.match((await closed.check(null)).message, /no Amazon SES account/)
  await closed.close()
})

test('a mail larger than SES takes is refused before anybody is asked', async () => {
  ses.requests.length = 0
  const handed = await hand(handover({ bytes: Buffer.concat([handover().bytes, Buffer.alloc(SES_MAX, 'x')]) }))
  assert.deepEqual(outcomesOf(handed), ['never content'])
  assert.equal(ses.requests.length, 0)
})

test('a check reads how much may be sent', async () => {
  const transport = await openSes(parts, provider)
  const { success, message } = await transport.check(null)
  assert.equal(success, true)
  assert.equal(message, 'Amazon SES knows the account: 12 of 50000 messages in the last 24 hours.')
  ses.quota = { max: 200, sent: 200, enabled: true }
  assert.match((await transport.check(null)).message, /has sent its 200 messages/)
  ses.quota = { max: 200, sent: 0, enabled: false }
  assert.deepEqual((await transport.check(null)).success, false)
  await transport.close()
})

test('a test mail needs a domain of the team that SES knows', async () => {
  const transport = await openSes(parts, provider)
  assert.match((await transport.check('bob@else.test')).message, /No domain of the team/)
  await transport.close()
})

test('a domain that is proven is made known, one that is not is only looked at; both only for teams that may send', async () => {
  const identities = new SesIdentities(parts)
  assert.deepEqual(await identities.look(teamId, 'new.test', false), { status: 'not_started', tokens: [] })
  assert.ok(!ses.identities.has('new.test'))
  const made = await identities.look(teamId, 'new.test', true)
  assert.equal(made?.status, 'pending')
  assert.deepEqual(made?.tokens, ses.identities.get('new.test')!.tokens)
  ses.identities.get('new.test')!.status = 'SUCCESS'
  assert.equal((await identities.look(teamId, 'new.test', true))?.status, 'success')
  ses.fail('/identities/', sesError(500, 'InternalServiceErrorException', 'Oops'))
  assert.equal(await identities.look(teamId, 'new.test', true), undefined)
  const other = (await app.directory.teams.create({ name: 'Other' })).id
  assert.equal(await identities.look(other, 'other.test', true), null)
  ses.identities.set('odd.test', { status: 'NEWLY_INVENTED', tokens: ['ok', 'not a label', 'x.y', '<b>'] })
  assert.deepEqual(await identities.look(teamId, 'odd.test', true), { status: 'not_started', tokens: ['ok'] })
  await identities.close()
})

test('the npm package aws-ses-v2-local takes the test mail as SES would', async () => {
  type Local = { default(options: { port: number }): Server }
  const local = (createRequire(import.meta.url)('aws-ses-v2-local') as Local).default({ port: 0 })
  await once(local, 'listening')
  const origin = `http://127.0.0.1:${(local.address() as AddressInfo).port}`
  const domain = await app.directory.domains.create(teamId, 'ready.test')
  const directory = {
    ...app.directory,
    domains: { list: () => ({ items: [{ ...domain, sesDkimStatus: 'success' }], next: null }) },
  } as unknown as typeof app.directory
  const config = { ...app.config, SES_ENDPOINT: origin }
  const transport = await openSes({ ...parts, config, directory }, provider)
  try {
    const { success, message } = await transport.check('bob@else.test')
    assert.equal(success, true, message)
    const store = (await (await fetch(`${origin}/store`)).json()) as { emails: Record<string, unknown>[] }
    const { from, destination, subject, body } = store.emails[0]!
    assert.equal(from, 'postmaster@ready.test')
    assert.deepEqual(destination, { to: ['bob@else.test'], cc: [], bcc: [] })
    assert.equal(subject, 'Test of a sending account')
    assert.deepEqual(body, { text: 'This message shows that the sending account works.' })
    // This version of the package takes no raw content: it says so, and the mail is refused, not lost.
    assert.deepEqual(outcomesOf(await transport.hand(handover())), ['never content'])
  } finally {
    await transport.close()
    local.closeAllConnections()
    local.close()
  }
})
