// The shared Amazon SES account over the API: its limit, requests for a higher one, its domains, and its notifications.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DomainJson, DomainVerificationJson } from '../../src/api/schemas/domain.ts'
import type { LimitRequestJson, SharedLimitJson } from '../../src/api/schemas/shared-limit.ts'
import { newId } from '../../src/base/ids.ts'
import { SesIdentities } from '../../src/outbound/transports/accounts/ses-identities.ts'
import { startAppliance } from '../support/appliance.ts'
import { startSes } from '../support/ses.ts'
import { SnsSigner, TOPIC } from '../support/sns.ts'
import { data, etagOf, failure, issues, walk } from './expect.ts'

const ses = await startSes()
const appliance = await startAppliance({ env: { ...ses.env, SES_TOPIC_ARNS: TOPIC }, zone: {} })
after(async () => {
  await appliance.close()
  await ses[Symbol.asyncDispose]()
})
const { sharedLimit } = appliance.app.outbound.accounts
const PATH = '/providers/shared-amazon-ses-limit-request'

interface State {
  limit: SharedLimitJson
  pending_request: LimitRequestJson | null
}
interface Asked {
  limit: SharedLimitJson
  request: LimitRequestJson
}

const stateOf = async (key: string) => data<State>(await appliance.get(PATH, key))

test('before the operator enables the account there is no limit', async () => {
  const team = await appliance.team('Without')
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
  failure(await appliance.call('POST', PATH, team.key), 409, 'conflict')
})

test('the life of a request: created, shown, cancelled, created again, approved', async () => {
  const team = await appliance.team('Asking')
  await sharedLimit.setDaily(team.id, true, 100)
  const before = await stateOf(team.key)
  assert.match(before.limit.provider_id!, /^dprov_/)
  assert.equal(before.limit.can_request_increase, true)

  const reply = await appliance.call('POST', PATH, team.key, { reason: 'A sale', requested_daily_limit: 500 })
  const { request, limit } = data<Asked>(reply, 201)
  assert.equal(request.status, 'pending')
  assert.deepEqual([request.current_daily_limit, request.current_daily_sent], [100, 0])
  assert.equal(limit.pending_request_id, request.id)
  assert.ok(!JSON.stringify(reply.body).includes('A sale'), 'the reason is for the operator')
  assert.deepEqual((await stateOf(team.key)).pending_request, request)
  failure(await appliance.call('POST', PATH, team.key), 409, 'conflict')

  const cancel = () => appliance.call('POST', `${PATH}/${request.id}/cancel`, team.key)
  const cancelled = data<Asked>(await cancel())
  assert.equal(cancelled.request.status, 'cancelled')
  assert.match(cancelled.request.decided_at ?? '', /Z$/)
  assert.equal(cancelled.limit.can_request_increase, true)
  failure(await cancel(), 409, 'conflict')

  const again = data<Asked>(await appliance.call('POST', PATH, team.key), 201).request
  await sharedLimit.approve(again.id, { approvedDailyLimit: 300, note: 'Welcome' })
  const after = await stateOf(team.key)
  assert.deepEqual([after.limit.daily_limit, after.pending_request], [300, null])
  const all = await walk<LimitRequestJson>(appliance, `${PATH}s?limit=1`, team.key)
  assert.deepEqual(
    all.map(({ status }) => status),
    ['approved', 'cancelled'],
  )
  assert.deepEqual([all[0]!.approved_daily_limit, all[0]!.decision_note], [300, 'Welcome'])
  assert.deepEqual((await walk<LimitRequestJson>(appliance, `${PATH}s?status=pending`, team.key)).length, 0)
  const canceled = await walk<LimitRequestJson>(appliance, `${PATH}s?status=canceled`, team.key)
  assert.ok(canceled.length > 0)
  assert.deepEqual(await walk(appliance, `${PATH}s?status=cancelled`, team.key), canceled)
})

test('the ETag of the limit changes with sent messages', async () => {
  const team = await appliance.team('Tagged')
  await sharedLimit.setDaily(team.id, true, 100)
  const tag = etagOf(await appliance.get(PATH, team.key))
  assert.equal((await appliance.get(PATH, team.key, { 'if-none-match': tag })).status, 304)
  await appliance.app.db.write((tx) => sharedLimit.settle(tx, team.id, 0, 85))
  const reply = await appliance.get(PATH, team.key, { 'if-none-match': tag })
  const { limit } = data<State>(reply)
  assert.deepEqual([limit.sent_today, limit.usage_ratio, limit.is_near_limit], [85, 0.85, true])
})

test('a request of another team is not found', async () => {
  const [owner, stranger] = [await appliance.team('Owner'), await appliance.team('Stranger')]
  await sharedLimit.setDaily(owner.id, true, 10)
  const { request } = data<Asked>(await appliance.call('POST', PATH, owner.key), 201)
  failure(await appliance.call('POST', `${PATH}/${request.id}/cancel`, stranger.key), 404, 'not_found')
  failure(await appliance.call('POST', `${PATH}/${newId('limitRequest')}/cancel`, owner.key), 404, 'not_found')
  failure(await appliance.call('POST', `${PATH}/nonsense/cancel`, owner.key), 404, 'not_found')
})

test('a number that is not higher is reported by its member', async () => {
  const team = await appliance.team('Small')
  await sharedLimit.setDaily(team.id, true, 10)
  const ask = (body: unknown) => appliance.call('POST', PATH, team.key, body)
  issues(await ask({ requested_daily_limit: 10 }), 422, 'validation_error', ['requested_daily_limit too_small'])
  issues(await ask({ requested_daily_limit: 0 }), 422, 'validation_error', ['requested_daily_limit too_small'])
  issues(await ask({ reason: 'x'.repeat(1001) }), 422, 'validation_error', ['reason too_big'])
})

test('a domain gets the SES records when its team may use the account, and shows its status there', async () => {
  const team = await appliance.team('Domains')
  const id = await team.domain('ses.test')
  const verify = async () =>
    data<DomainVerificationJson>(await appliance.call('POST', `/domains/${id}/verify`, team.key))
  const plain = data<DomainJson>(await appliance.get(`/domains/${id}`, team.key))
  assert.equal(plain.ses_dkim_status, 'not_started')
  assert.ok(!plain.dns_records.spf.value.includes('amazonses'))

  await sharedLimit.setDaily(team.id, true, 10)
  await appliance.app.administration.domains.recheckDue()
  const pending = data<DomainJson>(await appliance.get(`/domains/${id}`, team.key))
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

  ses.requests.length = 0
  await sharedLimit.setDaily(team.id, false, 10)
  await appliance.app.administration.domains.recheckDue()
  const off = data<DomainJson>(await appliance.get(`/domains/${id}`, team.key))
  assert.equal(off.ses_dkim_status, 'not_started')
  assert.deepEqual(off.dns_records, plain.dns_records)
  assert.deepEqual(ses.requests, [], 'who sends nothing through SES is not asked for there')
})

test('an unanswered SES call does not change the known status of a domain', async () => {
  const team = await appliance.team('Silent')
  const id = await team.domain('silent.test')
  await sharedLimit.setDaily(team.id, true, 10)
  await appliance.app.administration.domains.recheckDue()
  ses.identities.get('silent.test')!.status = 'SUCCESS'
  await appliance.app.administration.domains.verify(team.id, id)
  ses.fail('/identities/', 'hang up')
  const { domain } = await appliance.app.administration.domains.verify(team.id, id)
  assert.equal(domain.sesDkimStatus, 'success')
})

test('the SES records are checked in DNS as CNAMEs, and the SPF term too', async () => {
  const team = await appliance.team('Checked')
  const { domains } = appliance.app.directory
  const { id, records } = await domains.create(team.id, 'ses-checked.example.net')
  appliance.dns.zone[records.verification.name] = { TXT: [records.verification.value] }
  await sharedLimit.setDaily(team.id, true, 10)
  await appliance.app.administration.domains.verify(team.id, id)
  const wanted = domains.get(team.id, id)!.records
  const failing = async () =>
    (await appliance.app.administration.domains.verify(team.id, id)).checks
      .filter(({ ok }) => !ok)
      .map(({ record, name }) => `${record} ${name}`)
  const [ours, ...theirs] = wanted.dkim
  assert.equal(theirs.length, 3)
  appliance.dns.zone[wanted.spf.name] = { TXT: ['v=spf1 include:_spf.mx.mailstead.test ~all'] }
  for (const { name, value } of theirs) appliance.dns.zone[name] = { CNAME: value }
  const first = await failing()
  assert.ok(first.includes(`spf ${wanted.spf.name}`))
  assert.ok(first.includes(`dkim ${ours!.name}`))
  for (const { name } of theirs) assert.ok(!first.includes(`dkim ${name}`), name)
  appliance.dns.zone[wanted.spf.name] = { TXT: [wanted.spf.value] }
  appliance.dns.zone[theirs[0]!.name] = { CNAME: 'other.dkim.amazonses.com' }
  const second = await failing()
  assert.ok(!second.includes(`spf ${wanted.spf.name}`))
  assert.ok(second.includes(`dkim ${theirs[0]!.name}`))
})

test('an unverified domain is not registered at SES', async () => {
  const identities = new SesIdentities({ ...appliance.app, sharedLimit })
  const team = await appliance.team('Unproven')
  await sharedLimit.setDaily(team.id, true, 10)
  const { id } = await appliance.app.directory.domains.create(team.id, 'unproven.example.net')
  appliance.dns.zone['unproven.example.net'] = {}
  const { domain } = await appliance.app.administration.domains.verify(team.id, id)
  assert.deepEqual([domain.verificationStatus, domain.sesDkimStatus], ['pending', 'not_started'])
  assert.ok(!ses.identities.has('unproven.example.net'))
  await identities.close()
})

function hook(body: unknown, type = 'text/plain; charset=UTF-8') {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return appliance.call('POST', `${appliance.origin}/hooks/ses`, null, text, { 'content-type': type })
}

test('the webhook accepts SNS messages, and verifies them', async () => {
  const signer = new SnsSigner()
  // Its certificate is from another region than the topic.
  const elsewhere = signer.notification('{}', { TopicArn: TOPIC.replace('eu-west-1', 'eu-west-9') })
  failure(await hook(elsewhere), 422, 'validation_error')
  const foreign = signer.notification('{}', { TopicArn: TOPIC.replace('123456789012', '999999999999') })
  failure(await hook(foreign), 403, 'insufficient_permissions')
  failure(await hook({ Type: 'Newsletter' }), 422, 'validation_error')
  failure(await hook({}), 400, 'missing_parameter')
  failure(await hook('not json'), 400, 'invalid_parameter')
  failure(await hook(signer.notification('{}'), 'text/html'), 415, 'unsupported_media_type')
  failure(await hook({ Type: 'Notification', Message: 'x'.repeat(1_048_576) }), 413, 'payload_too_large')
  failure(await appliance.get(`${appliance.origin}/hooks/ses`), 405, 'method_not_allowed')
})
