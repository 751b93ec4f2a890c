// Who gets no more mail: added once, found in any case, listed, removed.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { NOTE_MAX } from '../../../src/outbound/queue/suppressions.ts'
import { openSendingAppliance } from '../../support/sending-appliance.ts'

const appliance = await openSendingAppliance()
after(() => appliance[Symbol.asyncDispose]())
const { suppressions, teamId } = appliance
const { db } = appliance.app
const entry = { teamId, reason: 'bounce', sourceMessageId: null, note: null } as const
const page = { limit: 10, after: null }

test('an address is added once and found in any case, by its own team only', async () => {
  const email = 'Gone@Customer.test'
  const added = await db.write((tx) => suppressions.add(tx, { ...entry, email, note: 'first\r\nline' }))
  const again = await db.write((tx) =>
    suppressions.add(tx, { ...entry, email: 'gone@customer.test', reason: 'complaint' }),
  )
  assert.deepEqual([added, again], [true, false])
  const asked = ['gone@customer.TEST', 'other@customer.test']
  assert.deepEqual(suppressions.of(db.read, teamId, asked), new Set(['gone@customer.test']))
  assert.deepEqual(suppressions.of(db.read, newId('team'), asked), new Set())
  assert.deepEqual(suppressions.of(db.read, teamId, []), new Set())
  const { items } = await suppressions.list(teamId, { ...page, search: 'GONE@' })
  assert.deepEqual(
    items.map(({ email, reason, note }) => [email, reason, note]),
    [['gone@customer.test', 'bounce', 'first line']],
  )
})

test('more addresses than one statement can look up', async () => {
  await db.write((tx) => suppressions.add(tx, { ...entry, email: 'a1999@many.test' }))
  const asked = Array.from({ length: 2000 }, (_, at) => `a${at}@many.test`)
  assert.deepEqual(suppressions.of(db.read, teamId, asked), new Set(['a1999@many.test']))
})

test('a note is one line within its bound', async () => {
  await db.write((tx) => suppressions.add(tx, { ...entry, email: 'long@note.test', note: 'x'.repeat(5000) }))
  const { items } = await suppressions.list(teamId, { ...page, search: 'long@note' })
  assert.equal(items[0]!.note!.length, NOTE_MAX)
})

test('by hand: created, then found to be there, then removed', async () => {
  const { record, created } = await suppressions.create(teamId, 'Hand@Made.test', 'asked by phone')
  assert.deepEqual(
    [record.email, record.reason, record.note, created],
    ['hand@made.test', 'manual', 'asked by phone', true],
  )
  const second = await suppressions.create(teamId, 'hand@made.test', 'other')
  assert.deepEqual([second.record, second.created], [record, false])
  await assert.rejects(suppressions.create(teamId, 'no address', null), { code: 'validation_error' })
  await assert.rejects(suppressions.remove(newId('team'), record.id), { code: 'not_found' })
  await suppressions.remove(teamId, record.id)
  await assert.rejects(suppressions.remove(teamId, record.id), { code: 'not_found' })
  assert.deepEqual(suppressions.of(db.read, teamId, ['hand@made.test']), new Set())
})

test('pages, newest first, narrowed by reason', async () => {
  const other = (await appliance.app.directory.teams.create({ name: 'Pages' })).id
  for (let at = 0; at < 5; at++) {
    appliance.clock.advance(at === 2 ? 0 : 1)
    const reason = at % 2 === 0 ? 'bounce' : 'complaint'
    await db.write((tx) => suppressions.add(tx, { ...entry, teamId: other, email: `p${at}@x.test`, reason }))
  }
  const first = await suppressions.list(other, { limit: 2, after: null })
  const second = await suppressions.list(other, { limit: 2, after: first.next })
  const third = await suppressions.list(other, { limit: 2, after: second.next })
  const names = [first, second, third].map(({ items }) => items.map(({ email }) => email.slice(0, 2)))
  assert.deepEqual(names, [['p4', 'p3'], ['p2', 'p1'], ['p0']])
  assert.equal(third.next, null)
  const complaints = await suppressions.list(other, { ...page, reason: 'complaint' })
  assert.deepEqual(
    complaints.items.map(({ email }) => email),
    ['p3@x.test', 'p1@x.test'],
  )
})
