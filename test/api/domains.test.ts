// Domains over the API: create, list, verify by DNS, filter.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DomainJson, DomainVerificationJson } from '../../src/api/schemas/domain.ts'
import { newId } from '../../src/base/ids.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, issues, walk } from './expect.ts'

const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()

test('a new domain is pending, shows its records and its location', async () => {
  const reply = await appliance.call('POST', '/domains', team.key, { domain: 'Shop.Example.ORG' })
  const domain = data<DomainJson>(reply, 201)
  assert.equal(reply.headers.get('location'), `/api/v1/domains/${domain.id}`)
  assert.equal(domain.domain, 'shop.example.org')
  assert.equal(domain.verification_status, 'pending')
  assert.equal(domain.verified_at, null)
  const { mx, verification } = domain.dns_records
  assert.deepEqual(mx, [{ priority: 10, target: 'mx.mailstead.test' }])
  assert.equal(verification.name, '_mail-verify.shop.example.org')
  assert.deepEqual(data<DomainJson>(await appliance.get(reply.headers.get('location')!, team.key)), domain)
})

test('a domain is rejected when the team has it or when it is invalid', async () => {
  await team.domain('mine.test')
  failure(await appliance.call('POST', '/domains', team.key, { domain: 'mine.test' }), 409, 'conflict')
  const wrong: [unknown, string][] = [
    ['nolabels', 'domain invalid_format'],
    ['192.0.2.1', 'domain invalid_format'],
    ['co.uk', 'domain forbidden_value'],
    ['mx.mailstead.test', 'domain forbidden_value'],
    ['bounce.mx.mailstead.test', 'domain forbidden_value'],
    ['a b.test', 'domain invalid_format'],
    ['a.b', 'domain too_small'],
    [7, 'domain invalid_type'],
    ['x'.repeat(254), 'domain too_big'],
  ]
  for (const [domain, issue] of wrong) {
    issues(await appliance.call('POST', '/domains', team.key, { domain }), 422, 'validation_error', [issue])
  }
  issues(await appliance.call('POST', '/domains', team.key, {}), 400, 'missing_parameter', ['domain required'])
})

test('a domain with non-ASCII letters is stored in A-labels', async () => {
  const domain = data<DomainJson>(await appliance.call('POST', '/domains', team.key, { domain: 'Bücher.test' }), 201)
  assert.equal(domain.domain, 'xn--bcher-kva.test')
})

test('the same Idempotency-Key creates one domain', async () => {
  const send = () =>
    appliance.call('POST', '/domains', team.key, { domain: 'once.test' }, { 'idempotency-key': 'once-1' })
  const first = await send()
  const second = await send()
  assert.deepEqual(data(second, 201), data(first, 201))
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
  assert.equal(second.headers.get('location'), first.headers.get('location'))
})

test('the list is ordered newest first, paged, and filtered', async () => {
  const other = await appliance.team('Lists')
  const names = ['a.test', 'b.test', 'c.example.net', 'd.test']
  for (const name of names) {
    await other.domain(name)
    clock.advance(1000)
  }
  const all = await walk<DomainJson>(appliance, '/domains?limit=3', other.key)
  assert.deepEqual(
    all.map((domain) => domain.domain),
    names.toReversed(),
  )
  const pending = data<DomainJson[]>(await appliance.get('/domains?verification_status=pending', other.key))
  assert.deepEqual(
    pending.map(({ domain }) => domain),
    ['c.example.net'],
  )
  const found = data<DomainJson[]>(await appliance.get('/domains?search=B.T', other.key))
  assert.equal(found.length, 1)
})

test('verification queries DNS, reports the results, and is limited to once in ten seconds', async () => {
  const domain = data<DomainJson>(
    await appliance.call('POST', '/domains', team.key, { domain: 'proof.example.net' }),
    201,
  )
  const checks = async () => data<Json>(await appliance.get(`/domains/${domain.id}/checks`, team.key))
  assert.deepEqual([await checks(), domain.checks_ok], [{ checked_at: null, checks: [], changes: [] }, null])
  const verify = () => appliance.call('POST', `/domains/${domain.id}/verify`, team.key)

  const missing = data<DomainVerificationJson>(await verify())
  assert.deepEqual(await checks(), { checked_at: missing.checked_at, checks: missing.checks, changes: [] })
  assert.deepEqual([missing.checks_ok, missing.checked_at !== null], [false, true])
  assert.equal(missing.verification_status, 'pending')
  const [first] = missing.checks
  assert.deepEqual([first?.record, first?.ok, first?.required, first?.found], ['verification', false, true, []])

  const early = await verify()
  failure(early, 429, 'rate_limit_exceeded')
  assert.equal(early.headers.get('retry-after'), '10')

  const { verification } = domain.dns_records
  appliance.dns.zone[verification.name] = { TXT: [verification.value] }
  clock.advance(10_000)
  const found = data<DomainVerificationJson>(await verify())
  assert.equal(found.verification_status, 'verified')
  assert.equal(found.verified_at, new Date(clock.now()).toISOString())
  assert.equal(data<DomainJson>(await appliance.get(`/domains/${domain.id}`, team.key)).verification_status, 'verified')

  appliance.dns.zone[verification.name] = { error: 'servfail' }
  clock.advance(10_000)
  const down = await verify()
  failure(down, 503, 'service_unavailable')
  assert.ok(Number(down.headers.get('retry-after')) >= 1)
})

test('a check says who answered and since when, and what changed; a name server that fails changes nothing', async () => {
  const name = 'dated.example.net'
  const { id } = data<DomainJson>(await appliance.call('POST', '/domains', team.key, { domain: name }), 201)
  const { zone } = appliance.dns
  const verify = async () => {
    clock.advance(10_000)
    const result = data<DomainVerificationJson>(await appliance.call('POST', `/domains/${id}/verify`, team.key))
    return { ...result, spf: result.checks.find(({ record }) => record === 'spf')! }
  }
  const now = () => new Date(clock.now()).toISOString()
  const first = await verify()
  const start = now()
  assert.deepEqual([first.spf.since, first.changes], [start, []])
  assert.deepEqual(first.spf.asked, [{ server: null, ms: 0, error: null }])

  zone[name] = { TXT: ['v=spf1 -all'] }
  const appeared = await verify()
  const change = { record: 'spf', name, ok: false }
  assert.equal(appeared.spf.since, now())
  assert.deepEqual(appeared.changes, [{ ...change, change: 'appeared', at: now() }])
  const same = await verify()
  assert.deepEqual([same.spf.since, same.changes], [appeared.spf.since, appeared.changes])

  zone[name] = { error: 'servfail' }
  const down = await verify()
  assert.deepEqual([down.spf.found, down.spf.since, down.changes], [[], appeared.spf.since, appeared.changes])
  assert.ok(down.spf.asked.every(({ error }) => error === 'ESERVFAIL'))
  zone[name] = { TXT: ['v=spf1 -all'] }
  assert.deepEqual((await verify()).changes, appeared.changes)

  const stored = data<DomainVerificationJson>(await appliance.get(`/domains/${id}/checks`, team.key))
  assert.deepEqual(stored.changes, appeared.changes)
  const other = await appliance.team('Curious')
  failure(await appliance.get(`/domains/${id}/checks`, other.key), 404, 'not_found')
  delete zone[name]
})

test('a reserved name has no records to be wrong, unless a zone of ours has some of them', async () => {
  const id = await team.domain('trial.test')
  const verify = async () => {
    clock.advance(10_000)
    return data<DomainVerificationJson>(await appliance.call('POST', `/domains/${id}/verify`, team.key))
  }
  const first = await verify()
  assert.deepEqual([first.verification_status, first.checks_ok, first.checked_at !== null], ['verified', null, true])
  appliance.dns.zone['trial.test'] = { TXT: ['v=spf1 -all'] }
  assert.equal((await verify()).checks_ok, false)
  delete appliance.dns.zone['trial.test']
})

test('a domain can be deleted when no mailbox uses it, and its name is free then', async () => {
  const id = await team.domain('leaving.test')
  const { id: mailbox } = await team.mailbox('last@leaving.test')
  failure(await appliance.call('DELETE', `/domains/${id}`, team.key), 409, 'conflict')
  data(await appliance.call('POST', `/mailboxes/${mailbox}/suspend`, team.key))
  failure(await appliance.call('DELETE', `/domains/${id}`, team.key), 409, 'conflict')
  data(await appliance.call('DELETE', `/mailboxes/${mailbox}`, team.key))
  assert.deepEqual(data(await appliance.call('DELETE', `/domains/${id}`, team.key)), { deleted: true, id })
  failure(await appliance.call('DELETE', `/domains/${id}`, team.key), 404, 'not_found')
  failure(await appliance.get(`/domains/${id}/filters`, team.key), 404, 'not_found')
  const other = await appliance.team('Heir')
  await other.domain('leaving.test')
})

test('a filter is replaced as a whole and has an ETag', async () => {
  const id = await team.domain('filtered.test')
  const path = `/domains/${id}/filters`
  const empty = await appliance.get(path, team.key)
  assert.deepEqual(data(empty), { mode: 'off', rules: [] })
  // The vector of docs/design/http.md §12.
  assert.equal(empty.headers.get('etag'), 'W/"66hkeTfS48PO1T1MAZMrb2qeoCa"')
  assert.equal((await appliance.get(path, team.key, { 'if-none-match': empty.headers.get('etag')! })).status, 304)

  const rules = [
    { type: 'deny', pattern: '@Spam.Example' },
    { type: 'deny', pattern: '@spam.example' },
    { type: 'allow', pattern: 'friend@spam.example' },
  ]
  const put = await appliance.call('PUT', path, team.key, { mode: 'denylist', rules })
  assert.deepEqual(data(put), { mode: 'denylist', rules: rules.slice(1) })
  assert.equal(put.headers.get('etag'), (await appliance.get(path, team.key)).headers.get('etag'))

  const stale = { 'if-match': empty.headers.get('etag')! }
  const refused = await appliance.call('PUT', path, team.key, { mode: 'off', rules: [] }, stale)
  assert.match(failure(refused, 409, 'conflict').message, /Resource changed since it was read/)
  const fresh = { 'if-match': put.headers.get('etag')! }
  data(await appliance.call('PUT', path, team.key, { mode: 'off', rules: [] }, fresh))
})

test('of fifty concurrent writers with the same ETag one wins', async () => {
  const id = await team.domain('race.test')
  const path = `/domains/${id}/filters`
  const etag = (await appliance.get(path, team.key)).headers.get('etag')!
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      appliance.call(
        'PUT',
        path,
        team.key,
        { mode: 'denylist', rules: [{ type: 'deny', pattern: `a${index}@x.test` }] },
        { 'if-match': etag },
      ),
    ),
  )
  const won = replies.filter((reply) => reply.status === 200)
  assert.equal(won.length, 1)
  for (const reply of replies) if (reply !== won[0]) failure(reply, 409, 'conflict')
  assert.deepEqual(data(await appliance.get(path, team.key)), data(won[0]!))
})

test('too many rules and malformed rules are reported by their position', async () => {
  const id = await team.domain('rules.test')
  const path = `/domains/${id}/filters`
  const rule = { type: 'deny', pattern: 'a@x.test' }
  const many = { mode: 'off', rules: Array.from({ length: 1001 }, () => rule) }
  issues(await appliance.call('PUT', path, team.key, many), 422, 'validation_error', ['rules too_big'])
  const wrong = { mode: 'off', rules: [rule, { type: 'deny', pattern: 'not a pattern' }] }
  issues(await appliance.call('PUT', path, team.key, wrong), 422, 'validation_error', [
    'rules.1.pattern invalid_format',
  ])
  issues(await appliance.call('PUT', path, team.key, { mode: 'off' }), 400, 'missing_parameter', ['rules required'])
  data(await appliance.call('PUT', path, team.key, { mode: 'off', rules: many.rules.slice(1) }))
})

test('a missing domain is 404, after the permission check', async () => {
  failure(await appliance.get(`/domains/${newId('domain')}`, team.key), 404, 'not_found')
  failure(await appliance.get('/domains/mdom_short', team.key), 404, 'not_found')
  failure(await appliance.get(`/domains/${newId('domain')}`), 401, 'authentication_required')
  const { secret } = await appliance.app.directory.keys.issue({
    teamId: team.id,
    kind: 'root',
    name: 'reader',
    role: 'root:readonly',
    createdBy: 'operator',
  })
  const refused = await appliance.call('POST', '/domains', secret, { domain: 'x.test' })
  assert.match(failure(refused, 403, 'insufficient_permissions').message, /domain\.create/)
  data(await appliance.get('/domains', secret))
})

test('the use of limits counts what the team has', async () => {
  const counted = await appliance.team('Counted')
  await counted.domain('counted.test')
  await counted.mailbox('ana@counted.test')
  const { limits } = data<Json>(await appliance.get('/team/usage', counted.key))
  const used = Object.fromEntries(limits.map((one: Json) => [one.resource, one.used]))
  assert.deepEqual(used, {
    ...{ domains: 1, mailboxes: 1, members: 0, api_keys: 2, providers: 0, webhooks: 0, requests_per_minute: null },
    remote_accounts: 0,
  })
})

test('the storage of a team is the sum over its mailboxes, and of no other team', async () => {
  const stored = await appliance.team('Stored')
  await stored.domain('stored.test')
  const ana = await stored.mailbox('ana@stored.test', { quotaBytes: 50_000_000 })
  await stored.mailbox('ben@stored.test', { quotaBytes: 30_000_000 })
  const storage = async () => data<Json>(await appliance.get('/team/usage', stored.key)).storage
  assert.deepEqual(await storage(), { used_bytes: 0, quota_bytes: 80_000_000 })
  const body = { to: [{ email: 'ben@stored.test' }], subject: 'Hello', text_body: 'Hello' }
  data(await appliance.call('POST', '/mailbox/messages/send', ana.key, body), 202)
  await appliance.settle()
  const all = data<Json[]>(await appliance.get('/mailboxes', stored.key))
  const sizes: number[] = all.map((one) => one.quota_used_bytes)
  assert.ok(sizes.length === 2 && sizes.every((bytes) => bytes > 0), String(sizes))
  assert.equal((await storage()).used_bytes, sizes[0]! + sizes[1]!)
})

test('the next signing key waits for its record, then signs; the old one can be removed after a week', async () => {
  const domain = data<DomainJson>(
    await appliance.call('POST', '/domains', team.key, { domain: 'keys.example.org' }),
    201,
  )
  const rotate = () => appliance.call('POST', `/domains/${domain.id}/dkim/rotate`, team.key, { algorithm: 'ed25519' })
  const keys = async () => {
    const list = data<Json[]>(await appliance.get(`/domains/${domain.id}/dkim`, team.key))
    return list.map(({ selector, algorithm, state }) => `${selector} ${algorithm} ${state}`)
  }
  const publish = async () => {
    const { dns_records } = data<DomainJson>(await appliance.get(`/domains/${domain.id}`, team.key))
    for (const { name, value } of dns_records.dkim) appliance.dns.zone[name] = { TXT: [value] }
    clock.advance(10_000)
    data(await appliance.call('POST', `/domains/${domain.id}/verify`, team.key))
  }
  assert.deepEqual(await keys(), ['s1 rsa2048 waiting'])
  data(await rotate())
  failure(await rotate(), 409, 'conflict')
  assert.deepEqual(await keys(), ['s2 ed25519 waiting', 's1 rsa2048 waiting'])
  await publish()
  assert.deepEqual(await keys(), ['s2 ed25519 signing', 's1 rsa2048 signing'])
  data(await rotate())
  await publish()
  assert.deepEqual(await keys(), ['s3 ed25519 signing', 's2 ed25519 replaced', 's1 rsa2048 signing'])
  clock.advance(7 * 86_400_000)
  // Connections that were idle for so long are closed.
  await appliance.settle()
  assert.deepEqual(await keys(), ['s3 ed25519 signing', 's2 ed25519 removable', 's1 rsa2048 signing'])
  const stranger = await appliance.team('Stranger')
  failure(await appliance.get(`/domains/${domain.id}/dkim`, stranger.key), 404, 'not_found')
})
