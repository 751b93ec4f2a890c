// DKIM keys of domains against a real name server: first key, rotation, superseded keys, and migration of older databases.

import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Db } from '../../../src/db/db.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { mailMigrations } from '../../../src/db/migrations/migrations.ts'
import { DKIM_PURPOSE, DkimKeys, RETIRED_NEEDED_MS } from '../../../src/directory/domains/dkim-keys.ts'
import type { Domain } from '../../../src/directory/domains/domains.ts'
import { failure, openTestDirectory, type TestDirectory } from '../../support/directory.ts'

const DAY = 24 * 60 * 60 * 1000

/** A domain that is proven and whose first key is in DNS. */
async function provenDomain(appliance: TestDirectory): Promise<{ teamId: string; domain: Domain }> {
  const teamId = await appliance.team()
  const domain = await appliance.directory.domains.create(teamId, 'example.org')
  publish(appliance, [domain.records.verification, ...domain.records.dkim])
  return { teamId, domain: (await appliance.administration.domains.verify(teamId, domain.id)).domain }
}

function publish(appliance: TestDirectory, records: readonly { name: string; value: string }[]): void {
  for (const { name, value } of records) appliance.dns.zone[name] = { TXT: [value] }
}

const selectors = (domain: Domain) => domain.records.dkim.map(({ name }) => name.split('.')[0])

function signing(appliance: TestDirectory, domain: Domain): string[] {
  const keys = appliance.directory.dkimKeys.signing(appliance.db.read, domain.id)
  return keys.map(({ selector, algorithm }) => `${selector} ${algorithm}`)
}

describe('a further key of a domain', () => {
  it('signs once its record is found; the previous key signs until then, and is needed for another week', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const { teamId, domain } = await provenDomain(appliance)
    assert.deepEqual(signing(appliance, domain), ['s1 rsa'])

    const rotated = await domains.rotateKey(teamId, domain.id, 'rsa')
    assert.deepEqual(selectors(rotated), ['s1', 's2'])
    assert.notEqual(rotated.records.dkim[1]!.value, rotated.records.dkim[0]!.value)
    assert.deepEqual(signing(appliance, domain), ['s1 rsa'])
    const early = await appliance.administration.domains.verify(teamId, domain.id)
    assert.deepEqual(
      early.checks.filter(({ record }) => record === 'dkim').map(({ name, ok }) => [name.split('.')[0], ok]),
      [
        ['s1', true],
        ['s2', false],
      ],
    )
    assert.deepEqual(signing(appliance, domain), ['s1 rsa'])

    publish(appliance, rotated.records.dkim)
    appliance.clock.advance(DAY)
    await appliance.administration.domains.recheckDue()
    assert.deepEqual(signing(appliance, domain), ['s2 rsa'])
    const after = domains.get(teamId, domain.id)!
    assert.deepEqual([selectors(after), after.removable], [['s1', 's2'], []])

    appliance.clock.advance(RETIRED_NEEDED_MS)
    const later = domains.get(teamId, domain.id)!
    assert.deepEqual(selectors(later), ['s2'])
    assert.deepEqual(later.removable, [rotated.records.dkim[0]])
    const still = await appliance.administration.domains.verify(teamId, domain.id)
    assert.deepEqual(still.domain.removable, later.removable)
    assert.equal(still.checks.filter(({ record }) => record === 'dkim').length, 1)

    appliance.dns.zone[later.removable[0]!.name] = { error: 'servfail' }
    assert.equal(
      (await appliance.administration.domains.verify(teamId, domain.id)).domain.removable.length,
      1,
      'no answer is no proof',
    )
    delete appliance.dns.zone[later.removable[0]!.name]
    const gone = await appliance.administration.domains.verify(teamId, domain.id)
    assert.deepEqual(gone.domain.removable, [])
    assert.equal(appliance.db.read.all('SELECT n FROM dkim_keys').length, 1)
    assert.deepEqual(selectors(await domains.rotateKey(teamId, domain.id, 'rsa')), ['s2', 's3'])
  })

  it('can be added once the last one was found in DNS, even when that record is missing now', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const { teamId, domain } = await provenDomain(appliance)
    await domains.rotateKey(teamId, domain.id, 'rsa')
    const waits = async () => assert.rejects(domains.rotateKey(teamId, domain.id, 'rsa'), failure('conflict'))
    await waits()
    const shown = domains.get(teamId, domain.id)!
    publish(appliance, shown.records.dkim)
    await appliance.administration.domains.verify(teamId, domain.id)
    for (const { name } of shown.records.dkim) delete appliance.dns.zone[name]
    await appliance.administration.domains.verify(teamId, domain.id)
    assert.deepEqual(signing(appliance, domain), [], 'nothing is signed with a key nobody can see')
    assert.deepEqual(selectors(await domains.rotateKey(teamId, domain.id, 'rsa')), ['s1', 's2', 's3'])
    await waits()
    await assert.rejects(domains.rotateKey(await appliance.team('Two'), domain.id, 'rsa'), failure('not_found'))
  })

  it('of another algorithm signs together with the first', async () => {
    await using appliance = await openTestDirectory()
    const { domains, dkimKeys } = appliance.directory
    const { teamId, domain } = await provenDomain(appliance)
    const both = await domains.rotateKey(teamId, domain.id, 'ed25519')
    const [, record] = both.records.dkim
    const published = /^v=DKIM1; k=ed25519; p=([A-Za-z0-9+/]{43}=)$/.exec(record!.value)![1]!
    publish(appliance, both.records.dkim)
    await appliance.administration.domains.verify(teamId, domain.id)
    assert.deepEqual(signing(appliance, domain), ['s1 rsa', 's2 ed25519'])
    const [, key] = dkimKeys.signing(appliance.db.read, domain.id)
    const jwk = createPublicKey(dkimKeys.open(appliance.db.read, key!)!).export({ format: 'jwk' })
    assert.equal(Buffer.from(jwk.x!, 'base64url').toString('base64'), published)

    const next = await domains.rotateKey(teamId, domain.id, 'ed25519')
    publish(appliance, next.records.dkim)
    await appliance.administration.domains.verify(teamId, domain.id)
    assert.deepEqual(signing(appliance, domain), ['s1 rsa', 's3 ed25519'])
    // RSA is replaced by itself.
    const last = await domains.rotateKey(teamId, domain.id, 'rsa')
    publish(appliance, last.records.dkim)
    await appliance.administration.domains.verify(teamId, domain.id)
    assert.deepEqual(signing(appliance, domain), ['s4 rsa', 's3 ed25519'])
  })

  it('of a reserved name signs immediately, until DNS definitely has no such record', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const teamId = await appliance.team()
    const domain = await domains.create(teamId, 'demo.test')
    assert.deepEqual(signing(appliance, domain), ['s1 rsa'])
    await domains.rotateKey(teamId, domain.id, 'rsa')
    assert.deepEqual(signing(appliance, domain), ['s2 rsa'])
    assert.deepEqual(appliance.dns.queries, [])
    const look = async () => {
      const { checks, domain: after } = await appliance.administration.domains.verify(teamId, domain.id)
      const keys = checks.filter(({ record }) => record === 'dkim')
      return [after.verificationStatus, keys.at(-1)!.ok, signing(appliance, domain)]
    }
    // A name server in trouble says nothing.
    const { name, value } = domains.get(teamId, domain.id)!.records.dkim.at(-1)!
    appliance.dns.zone[name] = { error: 'servfail' }
    assert.deepEqual(await look(), ['verified', true, ['s2 rsa']])
    appliance.dns.zone[name] = { TXT: ['v=DKIM1; p=AAAA'] }
    assert.deepEqual(await look(), ['verified', false, []])
    delete appliance.dns.zone[name]
    assert.deepEqual(await look(), ['verified', false, []])
    appliance.dns.zone[name] = { TXT: [value] }
    assert.deepEqual(await look(), ['verified', true, ['s2 rsa']])
  })

  it('of a reserved name is checked in the next round', async () => {
    await using appliance = await openTestDirectory()
    const { domains } = appliance.directory
    const teamId = await appliance.team()
    const domain = await domains.create(teamId, 'demo.test')
    assert.equal(await appliance.administration.domains.recheckDue(), 1)
    assert.deepEqual(signing(appliance, domain), [])
    assert.equal(await appliance.administration.domains.recheckDue(), 0)
  })
})

it('keys are deleted with their domain', async () => {
  await using appliance = await openTestDirectory()
  const { teamId, domain } = await provenDomain(appliance)
  const [key] = appliance.directory.dkimKeys.signing(appliance.db.read, domain.id)
  await appliance.directory.domains.delete(teamId, domain.id)
  assert.deepEqual(appliance.db.read.all('SELECT n FROM dkim_keys'), [])
  assert.equal(appliance.directory.dkimKeys.open(appliance.db.read, key!), undefined)
  // The next domain's key may get the number of the one that is gone; it is still another key.
  const again = await appliance.directory.domains.create(teamId, 'demo.test')
  assert.equal(appliance.directory.dkimKeys.signing(appliance.db.read, again.id)[0]!.n, key!.n)
  assert.equal(appliance.directory.dkimKeys.open(appliance.db.read, key!), undefined)
})

it('keys of the older schema are migrated', async () => {
  await using appliance = await openTestDirectory()
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-keys-'))
  const db = new Db({ file: join(folder, 'mail.db') })
  try {
    await migrate(db, mailMigrations.slice(0, 2))
    const { privateKey } = generateKeyPairSync('ed25519')
    const sealed = appliance.vault.seal(DKIM_PURPOSE, privateKey.export({ type: 'pkcs8', format: 'der' }))
    await db.write((tx) => {
      tx.insert('teams', { id: 'team_1', name: 'One', created_at: 1 })
      for (const [name, ok] of [
        ['a.example.org', 1],
        ['b.example.org', 0],
        ['c.test', 0],
      ] as const) {
        tx.insert('domains', {
          ...{
            id: name,
            team_id: 'team_1',
            name,
            verification_status: 'verified',
            verification_token: 't',
            created_at: 5,
          },
          ...{ dkim_selector: 's1', dkim_public: `public of ${name}`, dkim_private_sealed: sealed, dkim_ok: ok },
        })
      }
    })
    await migrate(db, mailMigrations)
    const keys = new DkimKeys(appliance)
    const known = keys.of(db.read, ['a.example.org', 'b.example.org', 'c.test'])
    assert.deepEqual(
      [...known.values()]
        .flat()
        .map((key) => [key.selector, key.algorithm, key.public, key.dnsOk, key.foundAt, key.retiredAt]),
      [
        ['s1', 'rsa', 'public of a.example.org', true, 5, null],
        ['s1', 'rsa', 'public of b.example.org', false, null, null],
        ['s1', 'rsa', 'public of c.test', true, 5, null],
      ],
    )
    const [key] = keys.signing(db.read, 'c.test')
    assert.ok(keys.open(db.read, key!)!.equals(privateKey))
    const columns = Object.keys((await db.read.get('SELECT * FROM domains'))!)
    assert.deepEqual(
      columns.filter((name) => name.startsWith('dkim')),
      [],
    )
  } finally {
    await db.close()
    await rm(folder, { recursive: true })
  }
})
