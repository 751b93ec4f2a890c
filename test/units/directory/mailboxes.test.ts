// Mailboxes: addresses, quotas, states, lists.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  QUOTA_DEFAULT_BYTES,
  QUOTA_MAX_BYTES,
  QUOTA_MIN_BYTES,
} from '../../../src/directory/mailboxes/mailbox-input.ts'
import type { MailboxInput } from '../../../src/directory/mailboxes/mailboxes.ts'
import { failure, openTestDirectory, type TestDirectory } from '../../support/directory.ts'

let appliance: TestDirectory
let teamId: string
before(async () => {
  appliance = await openTestDirectory()
  teamId = await appliance.team()
  await appliance.directory.domains.create(teamId, 'demo.test')
  await appliance.directory.domains.create(teamId, 'pending.example.org')
  await appliance.directory.domains.create(teamId, 'xn--mller-kva.test')
})
after(() => appliance[Symbol.asyncDispose]())

const create = (email: string, more: Partial<MailboxInput> = {}) =>
  appliance.administration.mailboxes.create(teamId, { email, ...more })

describe('create', () => {
  it('creates a mailbox and its mail account together', async () => {
    const opened = appliance.accounts.length
    const mailbox = await create('Ana.Lopez@Demo.Test', { displayName: 'Ana López' })
    assert.equal(mailbox.email, 'ana.lopez@demo.test')
    assert.equal(mailbox.displayName, 'Ana López')
    assert.equal(mailbox.quotaBytes, QUOTA_DEFAULT_BYTES)
    assert.deepEqual(mailbox.sendScope, { type: 'all' })
    assert.equal(mailbox.status, 'active')
    assert.deepEqual(appliance.accounts.slice(opened), [mailbox.id])
    assert.deepEqual(appliance.directory.mailboxes.byId(mailbox.id), mailbox)
    assert.deepEqual(appliance.directory.mailboxes.get(teamId, mailbox.id), mailbox)
    assert.deepEqual(appliance.directory.mailboxes.byEmail('ANA.LOPEZ@demo.test'), mailbox)
  })

  it('accepts letters beyond ASCII in the domain', async () => {
    const { id, email } = await create('info@Müller.test')
    assert.equal(email, 'info@xn--mller-kva.test')
    assert.equal(appliance.directory.mailboxes.byEmail('INFO@müller.test')!.id, id)
    for (const none of ['info', '@müller.test', 'info@', '', 'info@[127.0.0.1]']) {
      assert.equal(appliance.directory.mailboxes.byEmail(none), undefined)
    }
  })

  it('assigns an address once, also for concurrent requests', async () => {
    const asked = await Promise.allSettled(Array.from({ length: 10 }, () => create('once@demo.test')))
    assert.equal(asked.filter(({ status }) => status === 'fulfilled').length, 1)
    await assert.rejects(create('ONCE@demo.test'), failure('conflict'))
  })

  it('rolls back when the mail account cannot be created', async () => {
    appliance.accountFailure = new Error('the disk is full')
    await assert.rejects(create('half@demo.test'), /the disk is full/)
    appliance.accountFailure = null
    assert.equal(appliance.directory.mailboxes.byEmail('half@demo.test'), undefined)
    await create('half@demo.test')
  })

  it('creates a mailbox and its key together', async () => {
    const { mailbox, key } = await appliance.administration.mailboxes.createWithKey(
      teamId,
      { email: 'key@demo.test' },
      'operator',
    )
    assert.equal(key.record.mailboxId, mailbox.id)
    const known = appliance.directory.keys.recognise(key.secret)
    assert.equal(known!.principal.kind === 'mailbox' && known!.principal.mailboxId, mailbox.id)
  })

  const refused: [string, string, Partial<MailboxInput>, string, string][] = [
    ['an address without a domain', 'ana', {}, 'email', 'invalid_format'],
    ['an address without a name', '@demo.test', {}, 'email', 'invalid_format'],
    ['a sub-address', 'ana+x@demo.test', {}, 'email', 'invalid_format'],
    ['a leading dot', '.ana@demo.test', {}, 'email', 'invalid_format'],
    ['a trailing dot', 'ana.@demo.test', {}, 'email', 'invalid_format'],
    ['two dots', 'a..b@demo.test', {}, 'email', 'invalid_format'],
    ['a quoted name', '"ana"@demo.test', {}, 'email', 'invalid_format'],
    ['a name beyond ASCII', 'änä@demo.test', {}, 'email', 'invalid_format'],
    ['a line break', 'ana\n@demo.test', {}, 'email', 'invalid_format'],
    ['two addresses', 'a@demo.test,b@demo.test', {}, 'email', 'invalid_format'],
    ['a long name', `${'a'.repeat(65)}@demo.test`, {}, 'email', 'too_big'],
    ['a domain of nobody', 'ana@other.test', {}, 'email', 'not_found'],
    ['a domain that is not verified', 'ana@pending.example.org', {}, 'email', 'unverified_domain'],
    ['too small a quota', 'q@demo.test', { quotaBytes: QUOTA_MIN_BYTES - 1 }, 'quota_bytes', 'too_small'],
    ['too large a quota', 'q@demo.test', { quotaBytes: QUOTA_MAX_BYTES + 1 }, 'quota_bytes', 'too_big'],
    ['half a byte', 'q@demo.test', { quotaBytes: QUOTA_MIN_BYTES + 0.5 }, 'quota_bytes', 'invalid_type'],
    ['a long display name', 'd@demo.test', { displayName: 'x'.repeat(256) }, 'display_name', 'too_big'],
    ['a display name of two lines', 'd@demo.test', { displayName: 'a\nBcc: b' }, 'display_name', 'invalid_format'],
    [
      'a provider nobody has',
      's@demo.test',
      { sendScope: { type: 'providers', providerIds: ['dprov_x'] } },
      'send_scope.provider_public_ids.0',
      'not_found',
    ],
    [
      'a group nobody has',
      's@demo.test',
      { sendScope: { type: 'group', groupIds: ['dgrp_x'] } },
      'send_scope.group_public_ids.0',
      'not_found',
    ],
  ]
  for (const [what, email, more, field, code] of refused) {
    it(`refuses ${what}`, () => assert.rejects(create(email, more), failure('validation_error', { field, code })))
  }

  it('refuses the domain of another team', async () => {
    const stranger = await appliance.team('Stranger')
    const expected = failure('validation_error', { field: 'email', code: 'not_found' })
    await assert.rejects(appliance.administration.mailboxes.create(stranger, { email: 'x@demo.test' }), expected)
  })

  it('accepts the largest and the smallest quota, and a name of 64 characters', async () => {
    assert.equal((await create('min@demo.test', { quotaBytes: QUOTA_MIN_BYTES })).quotaBytes, QUOTA_MIN_BYTES)
    assert.equal((await create('max@demo.test', { quotaBytes: QUOTA_MAX_BYTES })).quotaBytes, QUOTA_MAX_BYTES)
    assert.equal((await create(`${'l'.repeat(64)}@demo.test`)).status, 'active')
  })
})

describe('states', () => {
  it('suspended, active again, deleted for good', async () => {
    const { mailboxes } = appliance.directory
    const { id, createdAt } = await create('states@demo.test')
    appliance.clock.advance(1000)
    const suspended = await mailboxes.suspend(teamId, id, 'abuse')
    assert.equal(suspended.status, 'suspended')
    assert.equal(suspended.statusReason, 'abuse')
    assert.equal(suspended.suspendedAt, appliance.clock.now())
    assert.equal(suspended.updatedAt, appliance.clock.now())
    assert.equal(suspended.createdAt, createdAt)
    assert.deepEqual(mailboxes.byId(id), suspended)
    const active = await mailboxes.reactivate(teamId, id)
    assert.deepEqual([active.status, active.statusReason, active.suspendedAt], ['active', null, null])
    const deleted = await appliance.administration.mailboxes.delete(teamId, id)
    assert.equal(deleted.status, 'deleted')
    assert.equal(deleted.deletedAt, appliance.clock.now())
    appliance.clock.advance(1000)
    assert.deepEqual(
      await appliance.administration.mailboxes.delete(teamId, id),
      deleted,
      'deleting twice changes nothing',
    )
    for (const act of [
      () => mailboxes.suspend(teamId, id),
      () => mailboxes.reactivate(teamId, id),
      () => appliance.administration.mailboxes.update(teamId, id, { displayName: 'x' }, 0),
    ]) {
      await assert.rejects(act, failure('conflict'))
    }
    assert.equal(mailboxes.byEmail('states@demo.test'), undefined)
    const again = await create('states@demo.test')
    assert.notEqual(again.id, id, 'the address is free at once')
    assert.equal(mailboxes.byEmail('states@demo.test')!.id, again.id)
  })

  it('belong to the team only', async () => {
    const { mailboxes } = appliance.directory
    const { id } = await create('own@demo.test')
    const stranger = await appliance.team('Stranger')
    assert.equal(mailboxes.get(stranger, id), undefined)
    for (const act of [mailboxes.suspend, mailboxes.reactivate] as const) {
      await assert.rejects(act.call(mailboxes, stranger, id), failure('not_found'))
    }
    await assert.rejects(appliance.administration.mailboxes.delete(stranger, id), failure('not_found'))
    await assert.rejects(appliance.administration.mailboxes.update(stranger, id, {}, 0), failure('not_found'))
  })
})

describe('update', () => {
  it('changes the given members and keeps the rest', async () => {
    const { id, email } = await create('change@demo.test', { displayName: 'Old' })
    appliance.clock.advance(5)
    const named = await appliance.administration.mailboxes.update(teamId, id, { displayName: 'New' }, 0)
    assert.deepEqual([named.displayName, named.quotaBytes, named.email], ['New', QUOTA_DEFAULT_BYTES, email])
    assert.equal(named.updatedAt, appliance.clock.now())
    const bare = await appliance.administration.mailboxes.update(
      teamId,
      id,
      { displayName: null, quotaBytes: QUOTA_MIN_BYTES },
      QUOTA_MIN_BYTES,
    )
    assert.deepEqual([bare.displayName, bare.quotaBytes], [null, QUOTA_MIN_BYTES])
    const expected = failure('validation_error', { field: 'quota_bytes', code: 'below_usage' })
    await assert.rejects(
      appliance.administration.mailboxes.update(teamId, id, { quotaBytes: 20_000_000 }, 20_000_001),
      expected,
    )
    // A mailbox that is over its quota already may still be renamed.
    assert.equal(
      (await appliance.administration.mailboxes.update(teamId, id, { displayName: 'Full' }, 20_000_001)).displayName,
      'Full',
    )
  })

  it('lets one of many concurrent writers with the same precondition win', async () => {
    const { id, updatedAt } = await create('race@demo.test')
    appliance.clock.advance(1)
    const asked = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        appliance.administration.mailboxes.update(teamId, id, { displayName: `w${i}` }, 0, (current) => {
          if (current.updatedAt !== updatedAt) throw new Error('changed since')
        }),
      ),
    )
    assert.equal(asked.filter(({ status }) => status === 'fulfilled').length, 1)
  })
})

describe('list', () => {
  it('pages, filters and searches', async () => {
    await using own = await openTestDirectory()
    const { mailboxes, domains } = own.directory
    const team = await own.team()
    const domain = await domains.create(team, 'list.test')
    const other = await domains.create(team, 'more.test')
    const made: string[] = []
    for (const [email, displayName] of [
      ['ana@list.test', 'Ägidius'],
      ['bob@list.test', undefined],
      ['cleo@more.test', '100%'],
      ['dan@list.test', 'Dan_X'],
    ] as const) {
      made.unshift((await own.administration.mailboxes.create(team, { email, displayName })).id)
    }
    await mailboxes.suspend(team, made[0]!)
    await own.administration.mailboxes.delete(team, made[2]!)
    const ids = async (filter: object) =>
      (await mailboxes.list(team, { limit: 10, after: null, ...filter })).items.map(({ id }) => id)
    assert.deepEqual(await ids({}), [made[0], made[1], made[3]])
    assert.deepEqual(await ids({ statuses: ['deleted'] }), [made[2]])
    assert.deepEqual(await ids({ domainId: other.id }), [made[1]])
    assert.deepEqual(await ids({ domainId: domain.id }), [made[0], made[3]])
    assert.deepEqual(await ids({ search: 'ägi' }), [made[3]])
    assert.deepEqual(await ids({ search: 'ANA@' }), [made[3]])
    assert.deepEqual(await ids({ search: '%' }), [made[1]])
    assert.deepEqual(await ids({ search: 'dan_' }), [made[0]])
    assert.deepEqual(await ids({ isAgent: true }), [])
    const first = await mailboxes.list(team, { limit: 2, after: null })
    const rest = await mailboxes.list(team, { limit: 2, after: first.next })
    assert.deepEqual(
      [...first.items, ...rest.items].map(({ id }) => id),
      [made[0], made[1], made[3]],
    )
    assert.equal(rest.next, null)
  })
})
