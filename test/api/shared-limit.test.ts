// The shared Amazon SES account over the API: its limit, requests for more, the domains it knows, and what it tells.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Domain, DomainVerification } from '../../src/api/schemas/domain.ts'
import type { LimitRequest, SharedLimit } from '../../src/api/schemas/shared-limit.ts'
import { newId } from '../../src/base/ids.ts'
import { SesIdentities } from '../../src/outbound/transports/ses-identities.ts'
import { startHouse } from '../support/house.ts'
import { startSes } from '../support/ses.ts'
import { SnsSigner, TOPIC } from '../support/sns.ts'
import { data, etagOf, failure, issues, walk } from './expect.ts'

const ses = await startSes()
const house = await startHouse({ env: { ...ses.env, SES_TOPIC_ARNS: TOPIC }, zone: {} })
after(async () => {
  await house.close()
  await ses[Symbol.asyncDispose]()
})
const { sharedLimit } = house.app.outbound
const PATH = '/providers/shared-amazon-ses-limit-request'

interface State {
  limit: SharedLimit
  pending_request: LimitRequest | null
}
interface Asked {
  limit: SharedLimit
  request: LimitRequest
}

const stateOf = async (key: string) => data<State>(await house.get(PATH, key))

test('before the operator opens it there is nothing', async () => {
  const team = await house.team('Without')
  assert.deepEqual(await stateOf(team.key), {
    limit: {
      provider_id: null,
      daily_limit: null,
      sent_today: 0,
      threshold_usage: null,
      usage_ratio: null,
      is_near_limit: false,
      can_request_increase: false,
      pending_request_id: null,
    },
    pending_request: null,
  })
  failure(await house.call('POST', PATH, team.key), 409, 'conflict')
})

test('a request goes its way: made, seen, cancelled, made again, approved', async () => {
  const team = await house.team('Asking')
  await sharedLimit.setDaily(team.id, true, 100)
  const before = await stateOf(team.key)
  assert.match(before.limit.provider_id!, /^dprov_/)
  assert.equal(before.limit.can_request_increase, true)

  const reply = await house.call('POST', PATH, team.key, { reason: 'A sale', requested_daily_limit: 500 })
  const { request, limit } = data<Asked>(reply, 201)
  assert.equal(request.status, 'pending')
  assert.deepEqual([request.current_daily_limit, request.current_daily_sent], [100, 0])
  assert.equal(limit.pending_request_id, request.id)
  assert.ok(!JSON.stringify(reply.body).includes('A sale'), 'the reason is for the operator')
  assert.deepEqual((await stateOf(team.key)).pending_request, request)
  failure(await house.call('POST', PATH, team.key), 409, 'conflict')

  const cancel = () => house.call('POST', `${PATH}/${request.id}/cancel`, team.key)
  const cancelled = data<Asked>(await cancel())
  assert.equal(cancelled.request.status, 'cancelled')
  assert.match(cancelled.request.decided_at ?? '', /Z$/)
  assert.equal(cancelled.limit.can_request_increase, true)
  failure(await cancel(), 409, 'conflict')

  const again = data<Asked>(await house.call('POST', PATH, team.key), 201).request
  await sharedLimit.approve(again.id, { approvedDailyLimit: 300, note: 'Welcome' })
  const after = await stateOf(team.key)
  assert.deepEqual([after.limit.daily_limit, after.pending_request], [300, null])
  const all = await walk<LimitRequest>(house, `${PATH}s?limit=1`, team.key)
  assert.deepEqual(
    all.map(({ status }) => status),
    ['approved', 'cancelled'],
  )
  assert.deepEqual([all[0]!.approved_daily_limit, all[0]!.decision_note], [300, 'Welcome'])
  assert.deepEqual((await walk<LimitRequest>(house, `${PATH}s?status=pending`, team.key)).length, 0)
})

test('the tag of the limit changes with what is sent', async () => {
  const team = await house.team('Tagged')
  await sharedLimit.setDaily(team.id, true, 100)
  const tag = etagOf(await house.get(PATH, team.key))
  assert.equal((await house.get(PATH, team.key, { 'if-none-match': tag })).status, 304)
  await house.app.db.write((tx) => sharedLimit.settle(tx, team.id, 0, 85))
  const reply = await house.get(PATH, team.key, { 'if-none-match': tag })
  const { limit } = data<State>(reply)
  assert.deepEqual([limit.sent_today, limit.usage_ratio, limit.is_near_limit], [85, 0.85, true])
})

test('a request of another team is as missing as one of nobody', async () => {
  const [owner, stranger] = [await house.team('Owner'), await house.team('Stranger')]
  await sharedLimit.setDaily(owner.id, true, 10)
  const { request } = data<Asked>(await house.call('POST', PATH, owner.key), 201)
  failure(await house.call('POST', `${PATH}/${request.id}/cancel`, stranger.key), 404, 'not_found')
  failure(await house.call('POST', `${PATH}/${newId('limitRequest')}/cancel`, owner.key), 404, 'not_found')
  failure(await house.call('POST', `${PATH}/nonsense/cancel`, owner.key), 404, 'not_found')
})

test('a number that is not more is told by its member', async () => {
  const team = await house.team('Small')
  await sharedLimit.setDaily(team.id, true, 10)
  const ask = (body: unknown) => house.call('POST', PATH, team.key, body)
  issues(await ask({ requested_daily_limit: 10 }), 422, 'validation_error', ['requested_daily_limit too_small'])
  issues(await ask({ requested_daily_limit: 0 }), 422, 'validation_error', ['requested_daily_limit too_small'])
  issues(await ask({ reason: 'x'.repeat(1001) }), 422, 'validation_error', ['reason too_big'])
})

test('a domain gets the records of SES when its team may send through it, and shows its state there', async () => {
  const team = await house.team('Domains')
  const id = await team.domain('ses.test')
  const verify = async () => data<DomainVerification>(await house.call('POST', `/domains/${id}/verify`, team.key))
  const plain = data<Domain>(await house.get(`/domains/${id}`, team.key))
  assert.equal(plain.ses_dkim_status, 'not_started')
  assert.ok(!plain.dns_records.spf.value.includes('amazonses'))

  await sharedLimit.setDaily(team.id, true, 10)
  await house.app.directory.domains.recheckDue()
  const pending = data<Domain>(await house.get(`/domains/${id}`, team.key))
  assert.equal(pending.ses_dkim_status, 'pending')
  assert.match(pending.dns_records.spf.value, / include:amazonses\.com ~all$/)
  const own = pending.dns_records.dkim.filter(({ value }) => !value.startsWith('v='))
  const { tokens } = ses.identities.get('ses.test')!
  const expected = tokens.map((token) => ({
    name: `${token}._domainkey.ses.test`,
    value: `${token}.dkim.amazonses.com`,
  }))
  assert.deepEqual(own, expected)

  ses.identities.get('ses.test')!.status = 'SUCCESS'
  const verified = await verify()
  assert.equal(verified.ses_dkim_status, 'success')
  assert.equal(verified.checks.filter(({ record }) => record === 'dkim').length, 4)

  ses.asked.length = 0
  await sharedLimit.setDaily(team.id, false, 10)
  await house.app.directory.domains.recheckDue()
  const off = data<Domain>(await house.get(`/domains/${id}`, team.key))
  assert.equal(off.ses_dkim_status, 'not_started')
  assert.deepEqual(off.dns_records, plain.dns_records)
  assert.deepEqual(ses.asked, [], 'who sends nothing through SES is not asked for there')
})

test('what SES does not answer changes nothing of what is known of a domain', async () => {
  const team = await house.team('Silent')
  const id = await team.domain('silent.test')
  await sharedLimit.setDaily(team.id, true, 10)
  await house.app.directory.domains.recheckDue()
  ses.identities.get('silent.test')!.status = 'SUCCESS'
  await house.app.directory.domains.verify(team.id, id)
  ses.fail('/identities/', 'hang up')
  const { domain } = await house.app.directory.domains.verify(team.id, id)
  assert.equal(domain.sesDkimStatus, 'success')
})

test('the records of SES are looked for in DNS, as CNAME, and its SPF term as well', async () => {
  const team = await house.team('Checked')
  const { domains } = house.app.directory
  const { id, records } = await domains.create(team.id, 'ses-checked.example.net')
  house.dns.zone[records.verification.name] = { TXT: [records.verification.value] }
  await sharedLimit.setDaily(team.id, true, 10)
  await domains.verify(team.id, id)
  const wanted = (await domains.get(team.id, id))!.records
  const failing = async () =>
    (await domains.verify(team.id, id)).checks.filter(({ ok }) => !ok).map(({ record, name }) => `${record} ${name}`)
  const [ours, ...theirs] = wanted.dkim
  assert.equal(theirs.length, 3)
  house.dns.zone[wanted.spf.name] = { TXT: ['v=spf1 include:_spf.mx.mailstead.test ~all'] }
  for (const { name, value } of theirs) house.dns.zone[name] = { CNAME: value }
  const first = await failing()
  assert.ok(first.includes(`spf ${wanted.spf.name}`))
  assert.ok(first.includes(`dkim ${ours!.name}`))
  for (const { name } of theirs) assert.ok(!first.includes(`dkim ${name}`), name)
  house.dns.zone[wanted.spf.name] = { TXT: [wanted.spf.value] }
  house.dns.zone[theirs[0]!.name] = { CNAME: 'other.dkim.amazonses.com' }
  const second = await failing()
  assert.ok(!second.includes(`spf ${wanted.spf.name}`))
  assert.ok(second.includes(`dkim ${theirs[0]!.name}`))
})

test('a domain of nobody is not made known at SES', async () => {
  const identities = new SesIdentities({ ...house.app, sharedLimit })
  const team = await house.team('Unproven')
  await sharedLimit.setDaily(team.id, true, 10)
  const { id } = await house.app.directory.domains.create(team.id, 'unproven.example.net')
  house.dns.zone['unproven.example.net'] = {}
  const { domain } = await house.app.directory.domains.verify(team.id, id)
  assert.deepEqual([domain.verificationStatus, domain.sesDkimStatus], ['pending', 'not_started'])
  assert.ok(!ses.identities.has('unproven.example.net'))
  await identities.close()
})

function hook(body: unknown, type = 'text/plain; charset=UTF-8') {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return house.call('POST', `${house.origin}/hooks/ses`, null, text, { 'content-type': type })
}

test('the hook takes what SNS posts, and judges it', async () => {
  const signer = new SnsSigner()
  // Its certificate lies in another region than the topic.
  const elsewhere = signer.notification('{}', { TopicArn: TOPIC.replace('eu-west-1', 'eu-west-9') })
  failure(await hook(elsewhere), 422, 'validation_error')
  const foreign = signer.notification('{}', { TopicArn: TOPIC.replace('123456789012', '999999999999') })
  failure(await hook(foreign), 403, 'insufficient_permissions')
  failure(await hook({ Type: 'Newsletter' }), 422, 'validation_error')
  failure(await hook({}), 400, 'missing_parameter')
  failure(await hook('not json'), 400, 'invalid_parameter')
  failure(await hook(signer.notification('{}'), 'text/html'), 415, 'unsupported_media_type')
  failure(await hook({ Type: 'Notification', Message: 'x'.repeat(1_048_576) }), 413, 'payload_too_large')
  failure(await house.get(`${house.origin}/hooks/ses`), 405, 'method_not_allowed')
})
