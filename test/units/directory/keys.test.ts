// API keys: issue, authentication in one read, rotation with a grace period, revocation.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { newSecret } from '../../../src/base/secrets.ts'
import type { Db } from '../../../src/db/db.ts'
import type { KeyInput } from '../../../src/directory/keys/key-record.ts'
import { Keys, MAILBOX_KEYS_MAX } from '../../../src/directory/keys/keys.ts'
import { MAILBOX_SCOPES } from '../../../src/directory/names/permissions.ts'
import { failure, openTestDirectory, type TestDirectory } from '../../support/directory.ts'

const MINUTE = 60_000

let appliance: TestDirectory
let keys: Keys
let teamId: string
before(async () => {
  appliance = await openTestDirectory()
  keys = appliance.directory.keys
  teamId = await appliance.team()
})
after(() => appliance[Symbol.asyncDispose]())

const issue = (more: Partial<KeyInput> = {}) =>
  keys.issue({ teamId, kind: 'root', name: 'key', role: 'root:full', createdBy: 'operator', ...more })
const issueFor = (mailboxId: string, more: Partial<KeyInput> = {}) =>
  keys.issue({ teamId, kind: 'mailbox', mailboxId, name: 'key', createdBy: 'operator', ...more })
const newMailbox = async (name: string) => {
  const known = appliance.directory.domains.list(teamId, { limit: 1, after: null })
  if (known.items.length === 0) await appliance.directory.domains.create(teamId, 'keys.test')
  return appliance.administration.mailboxes.create(teamId, { email: `${name}@keys.test` })
}

describe('issue', () => {
  it('returns the secret once and stores only its hash', async () => {
    const { record, secret } = await issue({ name: 'first' })
    assert.match(secret, /^srk_[0-9A-Za-z]{46}$/)
    assert.equal(record.prefix, secret.slice(0, 10))
    assert.equal(record.last4, secret.slice(-4))
    assert.deepEqual(
      { kind: record.kind, role: record.role, status: record.status, mailboxId: record.mailboxId, name: record.name },
      { kind: 'root', role: 'root:full', status: 'active', mailboxId: null, name: 'first' },
    )
    const rows = appliance.db.read.all('SELECT * FROM keys')
    assert.ok(!rows.some((row) => Object.values(row).some((value) => value === secret)))
    assert.deepEqual(keys.get(teamId, record.id), record)
  })

  it('gives a mailbox key the four scopes by default', async () => {
    const { id } = await newMailbox('scopes')
    const all = await issueFor(id)
    assert.match(all.secret, /^smk_/)
    assert.deepEqual(all.record.permissions, MAILBOX_SCOPES)
    const some = await issueFor(id, { permissions: ['mailbox.read'] })
    assert.deepEqual(some.record.permissions, ['mailbox.read'])
  })

  const DAY = 86_400_000
  const wrong: [string, Partial<KeyInput>, { field: string; code: string }][] = [
    ['an empty name', { name: '' }, { field: 'name', code: 'too_small' }],
    ['a long name', { name: 'x'.repeat(101) }, { field: 'name', code: 'too_big' }],
    ['a name of two lines', { name: 'a\nb' }, { field: 'name', code: 'invalid_format' }],
    ['neither role nor permissions', { role: undefined }, { field: 'role', code: 'invalid_union' }],
    ['role and permissions', { permissions: ['domain.read'] }, { field: 'role', code: 'invalid_union' }],
    ['an unknown role', { role: 'root:god' }, { field: 'role', code: 'invalid_enum' }],
    ['a role named like a member of Object', { role: 'constructor' }, { field: 'role', code: 'invalid_enum' }],
    ['no permission', { role: undefined, permissions: [] }, { field: 'permissions', code: 'too_small' }],
    [
      'an unknown permission',
      { role: undefined, permissions: ['domain.read', 'mailbox.read'] },
      { field: 'permissions.1', code: 'invalid_enum' },
    ],
    [
      'a permission twice',
      { role: undefined, permissions: ['domain.read', 'domain.read'] },
      { field: 'permissions', code: 'duplicate' },
    ],
    [
      'more than 50 permissions',
      { role: undefined, permissions: Array.from({ length: 51 }, (_, i) => `p${i}`) },
      { field: 'permissions', code: 'too_big' },
    ],
    ['an end in the past', { expiresAt: 1 }, { field: 'expires_at', code: 'too_small' }],
    [
      'an end too far away',
      { expiresAt: Date.UTC(2026, 0, 1) + 6 * 366 * DAY },
      { field: 'expires_at', code: 'too_big' },
    ],
  ]
  for (const [what, input, expected] of wrong) {
    it(`refuses ${what}`, () => assert.rejects(issue(input), failure('validation_error', expected)))
  }

  it('refuses root permissions to a mailbox key', async () => {
    const { id } = await newMailbox('noroot')
    const expected = failure('validation_error', { field: 'permissions.0', code: 'invalid_enum' })
    await assert.rejects(issueFor(id, { permissions: ['domain.read'] }), expected)
  })

  it(`stops at ${MAILBOX_KEYS_MAX} active keys of a mailbox, also for concurrent requests`, async () => {
    const { id } = await newMailbox('many')
    const asked = await Promise.allSettled(Array.from({ length: MAILBOX_KEYS_MAX + 5 }, () => issueFor(id)))
    const issued = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    assert.equal(issued.length, MAILBOX_KEYS_MAX)
    await assert.rejects(issueFor(id), failure('conflict'))
    await keys.revoke(teamId, issued[0]!.record.id)
    await issueFor(id)
    assert.deepEqual(keys.countByMailbox([id, 'mbx_none']), new Map([[id, MAILBOX_KEYS_MAX]]))
  })
})

describe('recognise', () => {
  /** A database that counts its reads, and nothing else. */
  function countingDb() {
    const counts = { reads: 0 }
    const read = {
      get: async () => void counts.reads++,
      all: async () => [],
    }
    return { counts, db: { read } as unknown as Db }
  }

  it('reads the database once for a well-formed key, and never for a malformed one', () => {
    const { counts, db } = countingDb()
    const blind = new Keys({ db, clock: appliance.clock })
    const real = newSecret('srk_')
    const broken = [
      '',
      'srk_',
      real.slice(0, -1),
      `${real}x`,
      `${real.slice(0, -1)}${real.endsWith('0') ? '1' : '0'}`,
      `${real.slice(0, 10)}${real[10] === 'a' ? 'b' : 'a'}${real.slice(11)}`,
      real.replace('srk_', 'xyz_'),
      ` ${real}`,
      `${real}\n`,
      'a'.repeat(100_000),
    ]
    for (const secret of broken) assert.equal(blind.recognise(secret), undefined)
    assert.equal(counts.reads, 0)
    assert.equal(blind.recognise(real), undefined)
    assert.equal(counts.reads, 1)
  })

  it('finds either hash by index', () => {
    const plan = appliance.db.read.all<{ detail: string }>(
      'EXPLAIN QUERY PLAN SELECT * FROM keys WHERE hash = ? OR previous_hash = ?',
      [Buffer.alloc(32), Buffer.alloc(32)],
    )
    assert.ok(!plan.some(({ detail }) => detail.startsWith('SCAN')), JSON.stringify(plan))
  })

  it('returns the principal of a key', async () => {
    const root = await issue({ role: undefined, permissions: ['domain.*', 'logs.read'] })
    assert.deepEqual(keys.recognise(root.secret), {
      principal: { kind: 'team', keyId: root.record.id, teamId, permissions: ['domain.*', 'logs.read'] },
      suspended: false,
    })
    const { id } = await newMailbox('who')
    const own = await issueFor(id)
    assert.deepEqual(keys.recognise(own.secret), {
      principal: { kind: 'mailbox', keyId: own.record.id, teamId, mailboxId: id, permissions: MAILBOX_SCOPES },
      suspended: false,
    })
  })

  it('resolves a secret that was hashed before to what the key is now', async () => {
    const { record, secret } = await issue({ expiresAt: appliance.clock.now() + 10 * MINUTE })
    const recognise = keys.recogniser(secret)
    for (let n = 0; n < 3; n++) assert.equal(recognise()?.principal.keyId, record.id)
    await keys.rotate(teamId, record.id, 60)
    assert.equal(recognise()?.principal.keyId, record.id)
    appliance.clock.advance(MINUTE)
    assert.equal(recognise(), undefined)
    const other = await issue()
    const recogniseOther = keys.recogniser(other.secret)
    for (let n = 0; n < 3; n++) assert.equal(recogniseOther()?.suspended, false)
    await keys.revoke(teamId, other.record.id)
    assert.equal(recogniseOther(), undefined)
  })

  it('refuses expired and revoked keys', async () => {
    const short = await issue({ expiresAt: appliance.clock.now() + 1000 })
    appliance.clock.advance(999)
    assert.ok(keys.recognise(short.secret))
    appliance.clock.advance(1)
    assert.equal(keys.recognise(short.secret), undefined)
    assert.equal(keys.get(teamId, short.record.id)!.status, 'expired')
    const gone = await issue()
    await keys.revoke(teamId, gone.record.id)
    await keys.revoke(teamId, gone.record.id)
    assert.equal(keys.recognise(gone.secret), undefined)
    assert.equal(keys.get(teamId, gone.record.id)!.status, 'revoked')
  })

  it('recognises keys of a suspended team and reports the suspension', async () => {
    const otherId = await appliance.team('Other')
    const { secret } = await issue({ teamId: otherId })
    await appliance.directory.teams.setStatus(otherId, 'suspended')
    assert.equal(keys.recognise(secret)!.suspended, true)
    await appliance.directory.teams.setStatus(otherId, 'active')
    assert.equal(keys.recognise(secret)!.suspended, false)
  })

  it('works for a suspended mailbox and not for a deleted one', async () => {
    const { id } = await newMailbox('ends')
    const { secret } = await issueFor(id)
    await appliance.directory.mailboxes.suspend(teamId, id)
    assert.equal(keys.recognise(secret)!.suspended, false)
    await appliance.administration.mailboxes.delete(teamId, id)
    assert.equal(keys.recognise(secret), undefined)
  })

  it('stores the minute of the last use, once a minute', async () => {
    const { record, secret } = await issue()
    const used = async () => {
      await Promise.all(Array.from({ length: 20 }, () => keys.recognise(secret)))
      // Units of work are done in order: what was asked before this one is written when it ends.
      const { units } = appliance.db.counts
      await appliance.db.write(() => {})
      return { writes: appliance.db.counts.units - units - 1, at: keys.get(teamId, record.id)!.lastUsedAt }
    }
    const minute = () => appliance.clock.now() - (appliance.clock.now() % MINUTE)
    appliance.clock.advance(MINUTE - (appliance.clock.now() % MINUTE) + 5)
    assert.deepEqual(await used(), { writes: 1, at: minute() })
    appliance.clock.advance(MINUTE - 10)
    assert.deepEqual(await used(), { writes: 0, at: minute() })
    appliance.clock.advance(10)
    assert.deepEqual(await used(), { writes: 1, at: minute() })
  })
})

describe('rotate', () => {
  it('accepts the old secret until the grace period ends', async () => {
    const first = await issue()
    const second = await keys.rotate(teamId, first.record.id, 60)
    assert.equal(second.record.id, first.record.id)
    assert.equal(second.record.last4, second.secret.slice(-4))
    appliance.clock.advance(59_999)
    assert.ok(keys.recognise(first.secret))
    assert.ok(keys.recognise(second.secret))
    appliance.clock.advance(1)
    assert.equal(keys.recognise(first.secret), undefined)
    assert.ok(keys.recognise(second.secret))
  })

  it('invalidates the old secret immediately without grace, and the one before it always', async () => {
    const first = await issue()
    const second = await keys.rotate(teamId, first.record.id, 600)
    const third = await keys.rotate(teamId, first.record.id, 600)
    assert.equal(keys.recognise(first.secret), undefined)
    assert.ok(keys.recognise(second.secret))
    const fourth = await keys.rotate(teamId, first.record.id, 0)
    assert.equal(keys.recognise(second.secret), undefined)
    assert.equal(keys.recognise(third.secret), undefined)
    assert.ok(keys.recognise(fourth.secret))
  })

  it('invalidates both secrets when the key is revoked', async () => {
    const first = await issue()
    const second = await keys.rotate(teamId, first.record.id, 600)
    await keys.revoke(teamId, first.record.id)
    assert.equal(keys.recognise(first.secret), undefined)
    assert.equal(keys.recognise(second.secret), undefined)
    await assert.rejects(keys.rotate(teamId, first.record.id, 0), failure('conflict'))
  })

  it('refuses grace periods out of range', async () => {
    const { record } = await issue()
    for (const grace of [-1, 86_401, 0.5, Number.NaN]) {
      await assert.rejects(keys.rotate(teamId, record.id, grace), failure('validation_error'))
    }
  })
})

describe('other teams', () => {
  it('cannot see a key', async () => {
    const strangerId = await appliance.team('Stranger')
    const { record } = await issue()
    assert.equal(keys.get(strangerId, record.id), undefined)
    await assert.rejects(keys.revoke(strangerId, record.id), failure('not_found'))
    await assert.rejects(keys.rotate(strangerId, record.id, 0), failure('not_found'))
    assert.deepEqual(keys.list(strangerId, { limit: 10, after: null }), { items: [], next: null })
  })
})

describe('list', () => {
  it('pages through everything once, newest first, while keys are added', async () => {
    const otherId = await appliance.team('Pages')
    const made: string[] = []
    for (let i = 0; i < 7; i++) {
      made.unshift((await issue({ teamId: otherId, name: `k${i}` })).record.id)
      if (i % 2 === 0) appliance.clock.advance(1)
    }
    const seen: string[] = []
    let after: (string | number)[] | null = null
    do {
      const page = keys.list(otherId, { limit: 3, after })
      seen.push(...page.items.map(({ id }) => id))
      await issue({ teamId: otherId, name: 'late' })
      after = page.next
    } while (after !== null)
    assert.deepEqual(seen, made)
  })

  it('filters by status, kind and mailbox', async () => {
    const otherId = await appliance.team('Filters')
    const active = await issue({ teamId: otherId })
    const expired = await issue({ teamId: otherId, expiresAt: appliance.clock.now() + 10 })
    const revoked = await issue({ teamId: otherId })
    await keys.revoke(otherId, revoked.record.id)
    appliance.clock.advance(10)
    const ids = (filter: object) => keys.list(otherId, { limit: 10, after: null, ...filter }).items.map(({ id }) => id)
    assert.deepEqual(ids({ status: 'active' }), [active.record.id])
    assert.deepEqual(ids({ status: 'expired' }), [expired.record.id])
    assert.deepEqual(ids({ status: 'revoked' }), [revoked.record.id])
    assert.equal(ids({ kind: 'root' }).length, 3)
    assert.deepEqual(ids({ kind: 'mailbox' }), [])
    assert.deepEqual(ids({ mailboxId: 'mbx_none' }), [])
  })
})
