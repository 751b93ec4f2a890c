// Statements of receiving and sending are prepared once: no bound value decides which index they use.

import assert from 'node:assert/strict'
import { constants, DatabaseSync, type SQLInputValue, StatementSync } from 'node:sqlite'
import { test } from 'node:test'
import { openSendingAppliance } from '../../support/sending-appliance.ts'

const ROUNDS = 5

/** Counts by statement how often SQLite prepares it again while it runs: it asks the authorizer then. */
function watchPreparing() {
  const again = new Map<string, number>()
  const watched = new WeakSet<DatabaseSync>()
  const sqlOf = new WeakMap<StatementSync, string>()
  let [asked, isPreparing] = [0, false]
  const { prepare } = DatabaseSync.prototype
  const { all, run } = StatementSync.prototype
  DatabaseSync.prototype.prepare = function (sql) {
    if (!watched.has(this)) {
      watched.add(this)
      this.setAuthorizer(() => {
        if (!isPreparing) asked++
        return constants.SQLITE_OK
      })
    }
    isPreparing = true
    try {
      const statement = prepare.call(this, sql)
      sqlOf.set(statement, sql)
      return statement
    } finally {
      isPreparing = false
    }
  }
  const counted = <T>(statement: StatementSync, execute: () => T): T => {
    const before = asked
    const result = execute()
    const sql = sqlOf.get(statement)!
    if (asked > before) again.set(sql, (again.get(sql) ?? 0) + 1)
    return result
  }
  StatementSync.prototype.all = function (this: StatementSync, ...values: SQLInputValue[]) {
    return counted(this, () => Reflect.apply(all, this, values))
  } as typeof all
  StatementSync.prototype.run = function (this: StatementSync, ...values: SQLInputValue[]) {
    return counted(this, () => Reflect.apply(run, this, values))
  } as typeof run
  return {
    again,
    [Symbol.dispose]() {
      DatabaseSync.prototype.prepare = prepare
      Object.assign(StatementSync.prototype, { all, run })
    },
  }
}

test('statements of directory, queue and delivery log, whatever is bound', async () => {
  using watch = watchPreparing()
  await using appliance = await openSendingAppliance()
  const { app, mailbox, sent, emails, queue, clock } = appliance
  const { id } = await mailbox('ben@shop.test')
  watch.again.clear()
  for (let round = 0; round < ROUNDS; round++) {
    assert.equal(app.directory.mailboxes.byEmail('ben@shop.test')?.id, id)
    assert.equal(app.directory.mailboxes.byEmail(`nobody${round}@shop.test`), undefined)
    const email = await sent([`ann${round}@far.test`], { id, email: 'ben@shop.test' })
    assert.equal(emails.deliveriesOf(email.n)[0]?.status, 'sent')
    const range = { after: { dueAt: round, delivery: 0 }, upTo: round % 2 === 0 ? null : { dueAt: 9, delivery: 9 } }
    queue.due(clock.now(), 10 + round, { teams: [], origins: [], lanes: [] }, range)
  }
  // Each may be prepared again after the tables have changed.
  const often = [...watch.again].filter(([, times]) => times > 1)
  assert.deepEqual(often, [])
})
