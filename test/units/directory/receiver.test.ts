// Resolving recipient addresses to mailboxes.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ReceiverLookup } from '../../../src/directory/mailboxes/receiver.ts'
import { SUSPENDED_DEFER_MS } from '../../../src/directory/mailboxes/receiver.ts'
import { MAIL_HOST, openTestDirectory, type TestDirectory } from '../../support/directory.ts'

let appliance: TestDirectory
let teamId: string
before(async () => {
  appliance = await openTestDirectory()
  teamId = await appliance.team()
  const { domains, mailboxes } = appliance.directory
  await domains.create(teamId, 'demo.test')
  await domains.create(teamId, 'empty.test')
  await domains.create(teamId, 'pending.example.org')
  await appliance.administration.mailboxes.create(teamId, { email: 'ana@demo.test' })
  await appliance.administration.mailboxes.create(teamId, { email: 'bob.b@demo.test' })
  const { id } = await appliance.administration.mailboxes.create(teamId, { email: 'asleep@demo.test' })
  await mailboxes.suspend(teamId, id)
  const gone = await appliance.administration.mailboxes.create(teamId, { email: 'gone@demo.test' })
  await appliance.administration.mailboxes.delete(teamId, gone.id)
})
after(() => appliance[Symbol.asyncDispose]())

function told(receiver: ReceiverLookup): string {
  return receiver.reason ?? receiver.mailbox.email
}

const table: [local: string, domain: string | null, expected: string][] = [
  ['ana', 'demo.test', 'ana@demo.test'],
  ['ANA', 'demo.test', 'ana@demo.test'],
  ['ana+news', 'demo.test', 'ana@demo.test'],
  ['ana+', 'demo.test', 'ana@demo.test'],
  ['ana++a+b', 'demo.test', 'ana@demo.test'],
  ['"ana"', 'demo.test', 'ana@demo.test'],
  ['"a\\na"', 'demo.test', 'ana@demo.test'],
  ['"Bob.B+tag"', 'demo.test', 'bob.b@demo.test'],
  ['bob.b', 'demo.test', 'bob.b@demo.test'],
  ['bobb', 'demo.test', 'unknown_recipient'],
  ['+ana', 'demo.test', 'unknown_recipient'],
  ['', 'demo.test', 'unknown_recipient'],
  ['""', 'demo.test', 'unknown_recipient'],
  ['"', 'demo.test', 'unknown_recipient'],
  ['ana ', 'demo.test', 'unknown_recipient'],
  ['"ana "', 'demo.test', 'unknown_recipient'],
  ['ana@demo.test', 'demo.test', 'unknown_recipient'],
  ['%', 'demo.test', 'unknown_recipient'],
  ['ÄNA', 'demo.test', 'unknown_recipient'],
  ['gone', 'demo.test', 'unknown_recipient'],
  ['asleep', 'demo.test', 'mailbox_suspended'],
  ['asleep+x', 'demo.test', 'mailbox_suspended'],
  ['ana', 'other.test', 'unknown_domain'],
  ['ana', 'sub.demo.test', 'unknown_domain'],
  ['ana', 'pending.example.org', 'unknown_domain'],
  ['postmaster', 'other.test', 'unknown_domain'],
  ['postmaster', 'demo.test', 'ana@demo.test'],
  ['PostMaster', 'demo.test', 'ana@demo.test'],
  ['abuse', 'demo.test', 'ana@demo.test'],
  ['abuse+list', 'demo.test', 'ana@demo.test'],
  ['hostmaster', 'demo.test', 'unknown_recipient'],
  ['postmaster', 'empty.test', 'ana@demo.test'],
  ['ana', 'empty.test', 'unknown_recipient'],
  ['postmaster', null, 'ana@demo.test'],
  ['POSTMASTER', null, 'ana@demo.test'],
  ['ana', null, 'unknown_recipient'],
  ['postmaster', MAIL_HOST, 'ana@demo.test'],
  ['abuse', MAIL_HOST, 'ana@demo.test'],
  ['ana', MAIL_HOST, 'unknown_recipient'],
  ['dmarc', MAIL_HOST, 'ana@demo.test'],
  ['DMARC+reports', MAIL_HOST, 'ana@demo.test'],
  ['dmarc', 'demo.test', 'unknown_recipient'],
]

describe('receiver', () => {
  for (const [local, domain, expected] of table) {
    it(`${local}@${domain} is ${expected}`, () => {
      assert.equal(told(appliance.directory.mailboxes.receiver(local, domain)), expected)
    })
  }

  it('returns the addressed domain, also when a mailbox of another domain receives', () => {
    const found = appliance.directory.mailboxes.receiver('postmaster', 'empty.test')
    assert.equal(found.reason === null && found.domain.name, 'empty.test')
  })

  it('prefers a mailbox over an alias of the same name', async () => {
    await using own = await openTestDirectory()
    const { domains, mailboxes } = own.directory
    const team = await own.team()
    await domains.create(team, 'demo.test')
    assert.equal(told(mailboxes.receiver('abuse', 'demo.test')), 'unknown_recipient', 'nobody is there yet')
    assert.equal(told(mailboxes.receiver('postmaster', null)), 'unknown_recipient')
    await own.administration.mailboxes.create(team, { email: 'first@demo.test' })
    const { id } = await own.administration.mailboxes.create(team, { email: 'abuse@demo.test' })
    assert.equal(told(mailboxes.receiver('abuse', 'demo.test')), 'abuse@demo.test')
    await mailboxes.suspend(team, id)
    assert.equal(told(mailboxes.receiver('abuse', 'demo.test')), 'mailbox_suspended')
    await own.administration.mailboxes.delete(team, id)
    assert.equal(told(mailboxes.receiver('abuse', 'demo.test')), 'first@demo.test')
  })

  it('defers mail for a suspended team for seven days', async () => {
    await using own = await openTestDirectory()
    const { domains, mailboxes, teams } = own.directory
    const team = await own.team()
    await domains.create(team, 'demo.test')
    await own.administration.mailboxes.create(team, { email: 'ana@demo.test' })
    await teams.setStatus(team, 'suspended')
    const ask = () => {
      const found = mailboxes.receiver('ana', 'demo.test')
      return found.reason === 'team_suspended' ? found.deferred : found.reason
    }
    own.clock.advance(SUSPENDED_DEFER_MS - 1)
    assert.equal(ask(), true)
    own.clock.advance(1)
    assert.equal(ask(), false)
    await teams.setStatus(team, 'active')
    assert.equal(ask(), null)
  })

  it('reads by index only', () => {
    const { db } = appliance
    const { mailboxes } = appliance.openAgain()
    const asked: string[] = []
    const get = db.read.get.bind(db.read)
    db.read.get = (sql, values) => {
      asked.push(sql)
      return get(sql, values)
    }
    mailboxes.receiver('ana+x', 'demo.test')
    assert.equal(asked.length, 2)
    mailboxes.receiver('postmaster', 'empty.test')
    mailboxes.receiver('postmaster', null)
    db.read.get = get
    for (const sql of asked) {
      const values = Array.from({ length: sql.split('?').length - 1 }, () => 'x')
      const plan = db.read.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
      // Only the oldest mailbox of all is looked for from the front of the table, where it lies.
      const slow = plan.filter(({ detail }) => /^SCAN|TEMP B-TREE/.test(detail))
      assert.equal(slow.length > 0, sql.includes('WHERE status'), `${sql}: ${JSON.stringify(plan)}`)
    }
  })
})

describe('receivers in memory', () => {
  it('follow each change of the database', async () => {
    const { db, directory, administration } = appliance
    const reads = (): number => {
      let count = 0
      const all = db.read.get.bind(db.read)
      db.read.get = (sql, values) => {
        if (!sql.startsWith('PRAGMA')) count++
        return all(sql, values)
      }
      assert.equal(told(directory.mailboxes.receiver('ana', 'demo.test')), 'ana@demo.test')
      db.read.get = all
      return count
    }
    reads()
    assert.ok(reads() <= 2)
    assert.equal(reads(), 0, 'nothing has changed')
    const { id } = await administration.mailboxes.create(teamId, { email: 'eva@demo.test' })
    assert.equal(reads(), 2, 'something has changed')
    for (const status of ['eva@demo.test', 'mailbox_suspended', 'eva@demo.test']) {
      if (status === 'mailbox_suspended') await directory.mailboxes.suspend(teamId, id)
      else await directory.mailboxes.reactivate(teamId, id)
      for (let times = 0; times < 3; times++)
        assert.equal(told(directory.mailboxes.receiver('eva', 'demo.test')), status)
      const other = told(appliance.openAgain().mailboxes.receiver('eva', 'demo.test'))
      assert.equal(other, status)
    }
  })
})
