// Domains against a real name server: creation, verification, lapse, and receiving.

import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { describe, it } from 'node:test'
import { FOUND_CHARS_MAX, FOUND_MAX } from '../../../src/directory/domains/domain-checks.ts'
import type { Domain } from '../../../src/directory/domains/domains.ts'
import { failure, MAIL_HOST, openTestDirectory, type TestDirectory } from '../../support/directory.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Puts the proof of a domain into its zone. */
function prove(appliance: TestDirectory, domain: Domain): void {
  const { name, value } = domain.records.verification
  const known = appliance.dns.zone[name]?.TXT ?? []
  appliance.dns.zone[name] = { TXT: [...known, value] }
}

describe('create', () => {
  it('creates a key pair, a token and the records to publish', async () => {
    await using appliance = await openTestDirectory()
    const teamId = await appliance.team()
    const domain = await appliance.directory.domains.create(teamId, 'Shop.Example.ORG')
    assert.equal(domain.name, 'shop.example.org')
    assert.equal(domain.verificationStatus, 'pending')
    assert.equal(domain.verifiedAt, null)
    assert.equal(domain.sesDkimStatus, 'not_started')
    const { mx, spf, dmarc, dkim, verification } = domain.records
    assert.deepEqual(mx, [{ priority: 10, target: MAIL_HOST }])
    assert.deepEqual(spf, { name: 'shop.example.org', value: `v=spf1 include:_spf.${MAIL_HOST} ~all` })
    assert.equal(dmarc.name, '_dmarc.shop.example.org')
    assert.equal(dmarc.value, `v=DMARC1; p=none; rua=mailto:dmarc@${MAIL_HOST}`)
    assert.equal(verification.name, '_mail-verify.shop.example.org')
    assert.match(verification.value, /^mail-verification=[a-z0-9]{32}$/)
    assert.equal(dkim[0]!.name, 's1._domainkey.shop.example.org')
    const published = Buffer.from(/^v=DKIM1; k=rsa; p=(.+)$/.exec(dkim[0]!.value)![1]!, 'base64')
    const publicKey = createPublicKey({ key: published, format: 'der', type: 'spki' })
    assert.equal(publicKey.asymmetricKeyDetails!.modulusLength, 2048)
    const { dkimKeys } = appliance.directory
    const [key] = dkimKeys.of(appliance.db.read, [domain.id]).get(domain.id)!
    const privateKey = dkimKeys.open(appliance.db.read, key!)!
    assert.ok(createPublicKey(privateKey).equals(publicKey), 'the sealed key is the other half of the published one')
    assert.deepEqual(appliance.directory.domains.get(teamId, domain.id), domain)
  })

  it('refuses a name the team has or another team has verified, but allows two pending claims', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const [one, two] = [await appliance.team('One'), await appliance.team('Two')]
    const first = await domains.create(one, 'example.org')
    await assert.rejects(domains.create(one, 'EXAMPLE.org'), failure('conflict'))
    const second = await domains.create(two, 'example.org')
    assert.notEqual(first.records.verification.value, second.records.verification.value)
    prove(appliance, first)
    await appliance.administration.domains.verify(one, first.id)
    assert.equal(domains.get(two, second.id)!.verificationStatus, 'failed')
    await assert.rejects(domains.create(await appliance.team('Three'), 'example.org'), failure('conflict'))
  })

  it('creates one of many concurrent ones', async () => {
    await using appliance = await openTestDirectory()
    const teamId = await appliance.team()
    const asked = await Promise.allSettled(
      Array.from({ length: 4 }, () => appliance.directory.domains.create(teamId, 'example.org')),
    )
    assert.equal(asked.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  it('verifies reserved names without DNS, for one team', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const teamId = await appliance.team()
    const domain = await domains.create(teamId, 'demo.test')
    assert.equal(domain.verificationStatus, 'verified')
    assert.equal(domain.verifiedAt, appliance.clock.now())
    assert.deepEqual(appliance.dns.queries, [])
    assert.equal(domains.byName('demo.test')!.id, domain.id)
    await assert.rejects(domains.create(await appliance.team('Two'), 'demo.test'), failure('conflict'))
  })
})

describe('verify', () => {
  it('reports every record, expected and found', async () => {
    await using appliance = await openTestDirectory()
    const teamId = await appliance.team()
    const domain = await appliance.directory.domains.create(teamId, 'example.org')
    const before = await appliance.administration.domains.verify(teamId, domain.id)
    assert.deepEqual(
      before.checks.map(({ record, ok, required, found }) => [record, ok, required, found.length]),
      [
        ['verification', false, true, 0],
        ['mx', false, false, 0],
        ['spf', false, false, 0],
        ['dkim', false, false, 0],
        ['dmarc', false, false, 0],
      ],
    )
    assert.equal(before.domain.verificationStatus, 'pending')
    const { spf, dkim, verification } = domain.records
    Object.assign(appliance.dns.zone, {
      [verification.name]: { TXT: ['something else', verification.value] },
      'example.org': {
        MX: [
          { priority: 5, exchange: 'other.example' },
          { priority: 50, exchange: MAIL_HOST.toUpperCase() },
        ],
        TXT: [`v=spf1 ip4:192.0.2.1 include:_spf.${MAIL_HOST} -all`, 'site-verification=1'],
      },
      [dkim[0]!.name]: { TXT: [dkim[0]!.value.replace('p=', 'p= ')] },
      '_dmarc.example.org': { TXT: ['v=DMARC1; p=reject'] },
    })
    const after = await appliance.administration.domains.verify(teamId, domain.id)
    assert.deepEqual(
      after.checks.map(({ ok }) => ok),
      [true, true, true, true, true],
    )
    assert.deepEqual(after.checks[1]!.found, ['5 other.example', `50 ${MAIL_HOST}`])
    assert.equal(after.checks[2]!.expected, spf.value)
    assert.equal(after.domain.verificationStatus, 'verified')
    assert.equal(after.domain.verifiedAt, appliance.clock.now())
    assert.equal(appliance.directory.dkimKeys.signing(appliance.db.read, domain.id).length, 1)
  })

  it('does not accept two SPF records, another DKIM key, or two DMARC records', async () => {
    await using appliance = await openTestDirectory()
    const teamId = await appliance.team()
    const domain = await appliance.directory.domains.create(teamId, 'example.org')
    Object.assign(appliance.dns.zone, {
      'example.org': { TXT: [domain.records.spf.value, 'v=spf1 -all'] },
      [domain.records.dkim[0]!.name]: { TXT: ['v=DKIM1; k=rsa; p=AAAA', 'p='] },
      '_dmarc.example.org': { TXT: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] },
    })
    const { checks } = await appliance.administration.domains.verify(teamId, domain.id)
    assert.deepEqual(
      checks.filter(({ ok }) => ok),
      [],
    )
  })

  it('limits the values shown of a zone', async () => {
    await using appliance = await openTestDirectory()
    const teamId = await appliance.team()
    const domain = await appliance.directory.domains.create(teamId, 'example.org')
    const flood = Array.from({ length: FOUND_MAX + 10 }, (_, i) => `${i} ${'x'.repeat(FOUND_CHARS_MAX * 2)}`)
    appliance.dns.zone[domain.records.verification.name] = { TXT: flood }
    const [check] = (await appliance.administration.domains.verify(teamId, domain.id)).checks
    assert.equal(check!.found.length, FOUND_MAX)
    assert.ok(check!.found.every((text) => text.length === FOUND_CHARS_MAX))
  })

  it('changes nothing when no name server answers', async () => {
    await using appliance = await openTestDirectory()
    const teamId = await appliance.team()
    const domain = await appliance.directory.domains.create(teamId, 'example.org')
    appliance.dns.zone[domain.records.verification.name] = { error: 'servfail' }
    const before = appliance.db.read.get('SELECT * FROM domains')
    await assert.rejects(appliance.administration.domains.verify(teamId, domain.id), failure('service_unavailable'))
    assert.deepEqual(await appliance.db.read.get('SELECT * FROM domains'), before)
  })

  it('keeps the DKIM state when only that lookup fails', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const teamId = await appliance.team()
    const domain = await domains.create(teamId, 'example.org')
    const dkim = domain.records.dkim[0]!
    prove(appliance, domain)
    appliance.dns.zone[dkim.name] = { TXT: [dkim.value] }
    await appliance.administration.domains.verify(teamId, domain.id)
    appliance.dns.zone[dkim.name] = { error: 'servfail' }
    await appliance.administration.domains.verify(teamId, domain.id)
    const signing = () => appliance.directory.dkimKeys.signing(appliance.db.read, domain.id).length
    assert.equal(signing(), 1)
    appliance.dns.zone[dkim.name] = { TXT: ['v=DKIM1; p='] }
    await appliance.administration.domains.verify(teamId, domain.id)
    assert.equal(signing(), 0)
  })

  it('lets the first of two teams win although both records are published', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const [one, two] = [await appliance.team('One'), await appliance.team('Two')]
    const first = await domains.create(one, 'example.org')
    const second = await domains.create(two, 'example.org')
    prove(appliance, first)
    prove(appliance, second)
    const outcomes = await Promise.allSettled([
      appliance.administration.domains.verify(one, first.id),
      appliance.administration.domains.verify(two, second.id),
    ])
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    const winner = outcomes[0]!.status === 'fulfilled' ? first : second
    assert.equal(domains.byName('example.org')!.id, winner.id)
    const statuses = [domains.get(one, first.id), domains.get(two, second.id)].map((row) => row!.verificationStatus)
    assert.deepEqual(statuses.toSorted(), ['failed', 'verified'])
  })

  it('does not find the domain of another team', async () => {
    await using appliance = await openTestDirectory()
    const domain = await appliance.directory.domains.create(await appliance.team(), 'example.org')
    const stranger = await appliance.team('Two')
    await assert.rejects(appliance.administration.domains.verify(stranger, domain.id), failure('not_found'))
    assert.equal(appliance.directory.domains.get(stranger, domain.id), undefined)
    await assert.rejects(appliance.directory.domains.delete(stranger, domain.id), failure('not_found'))
    assert.deepEqual(appliance.dns.queries, [])
  })
})

describe('recheckDue', () => {
  it('checks every five minutes for an hour, then hourly, and fails after 72 hours', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const teamId = await appliance.team()
    const domain = await domains.create(teamId, 'example.org')
    let looks = 0
    for (let minutes = 0; minutes < 80 * 60; minutes += 5) {
      appliance.clock.advance(5 * MINUTE)
      looks += await appliance.administration.domains.recheckDue()
    }
    assert.equal(looks, 12 + 71)
    assert.equal(domains.get(teamId, domain.id)!.verificationStatus, 'failed')
    prove(appliance, domain)
    appliance.clock.advance(DAY)
    assert.equal(await appliance.administration.domains.recheckDue(), 0)
    assert.equal(
      (await appliance.administration.domains.verify(teamId, domain.id)).domain.verificationStatus,
      'verified',
    )
  })

  it('finds the record automatically', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const teamId = await appliance.team()
    const domain = await domains.create(teamId, 'example.org')
    prove(appliance, domain)
    appliance.clock.advance(5 * MINUTE)
    await appliance.administration.domains.recheckDue()
    const found = domains.get(teamId, domain.id)!
    assert.equal(found.verificationStatus, 'verified')
    assert.equal(found.verifiedAt, appliance.clock.now())
    assert.equal(await appliance.administration.domains.recheckDue(), 0, 'it is not due again at once')
  })

  it('stops between two groups when aborted, and continues in the next round', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const teamId = await appliance.team()
    await Promise.all(Array.from({ length: 12 }, (_, i) => domains.create(teamId, `d${i}.example.org`)))
    appliance.clock.advance(5 * MINUTE)
    const stop = new AbortController()
    const first = appliance.administration.domains.recheckDue(stop.signal)
    stop.abort()
    const looked = await first
    assert.ok(looked < 12, `${looked}`)
    assert.equal(await appliance.administration.domains.recheckDue(), 12 - looked)
    assert.equal(await appliance.administration.domains.recheckDue(), 0)
  })

  it('fails after three days without the record, with one check a day, and still receives', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const teamId = await appliance.team()
    const domain = await domains.create(teamId, 'example.org')
    prove(appliance, domain)
    await appliance.administration.domains.verify(teamId, domain.id)
    delete appliance.dns.zone[domain.records.verification.name]
    for (const expected of ['verified', 'verified', 'failed']) {
      appliance.clock.advance(DAY)
      await Promise.all([appliance.administration.domains.recheckDue(), appliance.administration.domains.recheckDue()])
      assert.equal(domains.get(teamId, domain.id)!.verificationStatus, expected)
    }
    assert.equal(domains.byName('example.org')!.id, domain.id)
    const refused = failure('validation_error', { field: 'email', code: 'unverified_domain' })
    await assert.rejects(appliance.administration.mailboxes.create(teamId, { email: 'a@example.org' }), refused)
  })

  it('resets the count when the record is back, and does not count days without an answer', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const teamId = await appliance.team()
    const domain = await domains.create(teamId, 'example.org')
    prove(appliance, domain)
    await appliance.administration.domains.verify(teamId, domain.id)
    const { name } = domain.records.verification
    const proof = appliance.dns.zone[name]!
    for (const day of ['gone', 'gone', 'back', 'gone', 'mute', 'gone']) {
      if (day === 'gone') delete appliance.dns.zone[name]
      else appliance.dns.zone[name] = day === 'back' ? proof : { error: 'servfail' }
      appliance.clock.advance(DAY)
      await appliance.administration.domains.recheckDue()
      assert.equal(domains.get(teamId, domain.id)!.verificationStatus, 'verified', day)
    }
  })
})

describe('byName', () => {
  it('returns the domain of the team that verified the name last, and none before', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const [one, two] = [await appliance.team('One'), await appliance.team('Two')]
    const first = await domains.create(one, 'example.org')
    assert.equal(domains.byName('example.org'), undefined)
    prove(appliance, first)
    await appliance.administration.domains.verify(one, first.id)
    delete appliance.dns.zone[first.records.verification.name]
    for (let day = 0; day < 3; day++) {
      appliance.clock.advance(DAY)
      await appliance.administration.domains.recheckDue()
    }
    const second = await domains.create(two, 'example.org')
    assert.equal(domains.byName('example.org')!.id, first.id, 'nobody else has proven it yet')
    prove(appliance, second)
    await appliance.administration.domains.verify(two, second.id)
    assert.equal(domains.byName('example.org')!.id, second.id)
    await domains.delete(two, second.id)
    assert.equal(domains.byName('example.org'), undefined, 'the lapsed one does not come back by itself')
    prove(appliance, first)
    await appliance.administration.domains.verify(one, first.id)
    assert.equal(domains.byName('example.org')!.id, first.id)
  })

  it('returns when its team was suspended', async () => {
    await using appliance = await openTestDirectory()
    const teamId = await appliance.team()
    await appliance.directory.domains.create(teamId, 'demo.test')
    assert.equal(appliance.directory.domains.byName('demo.test')!.teamSuspendedAt, null)
    const since = appliance.clock.now()
    await appliance.directory.teams.setStatus(teamId, 'suspended')
    appliance.clock.advance(DAY)
    await appliance.directory.teams.setStatus(teamId, 'suspended')
    assert.equal(appliance.directory.domains.byName('demo.test')!.teamSuspendedAt, since)
  })
})

describe('list and delete', () => {
  it('pages newest first, filtered by status and by a part of the name', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const teamId = await appliance.team()
    for (const name of ['a.test', 'shop.example.org', 'b.test', 'SHOP-2.example.org'])
      await domains.create(teamId, name)
    const names = (filter: object) =>
      domains.list(teamId, { limit: 10, after: null, ...filter }).items.map(({ name }) => name)
    assert.deepEqual(names({}), ['shop-2.example.org', 'b.test', 'shop.example.org', 'a.test'])
    assert.deepEqual(names({ status: 'verified' }), ['b.test', 'a.test'])
    assert.deepEqual(names({ search: 'SHOP' }), ['shop-2.example.org', 'shop.example.org'])
    assert.deepEqual(names({ search: '%' }), [])
    const first = domains.list(teamId, { limit: 3, after: null })
    const rest = domains.list(teamId, { limit: 3, after: first.next })
    assert.deepEqual(
      rest.items.map(({ name }) => name),
      ['a.test'],
    )
    assert.equal(rest.next, null)
    assert.deepEqual(domains.list(await appliance.team('Two'), { limit: 3, after: null }), {
      items: [],
      next: null,
    })
  })

  it('deletes a domain only without mailboxes, and its filter with it', async () => {
    await using appliance = await openTestDirectory()
    const { domains, mailboxes, filters } = appliance.directory
    const teamId = await appliance.team()
    const domain = await domains.create(teamId, 'demo.test')
    await filters.put(domain.id, { mode: 'denylist', rules: [] })
    const mailbox = await appliance.administration.mailboxes.create(teamId, { email: 'a@demo.test' })
    await assert.rejects(domains.delete(teamId, domain.id), failure('conflict'))
    await mailboxes.suspend(teamId, mailbox.id)
    await assert.rejects(domains.delete(teamId, domain.id), failure('conflict'))
    await appliance.administration.mailboxes.delete(teamId, mailbox.id)
    await domains.delete(teamId, domain.id)
    assert.equal(domains.get(teamId, domain.id), undefined)
    assert.equal(filters.get(domain.id).mode, 'off')
    await assert.rejects(domains.delete(teamId, domain.id), failure('not_found'))
    await domains.create(teamId, 'demo.test')
  })
})
