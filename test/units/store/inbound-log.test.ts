// The inbound log: rows as written, newest first, with each filter, page by page, and pruned by age.

import assert from 'node:assert/strict'
import { after, before, beforeEach, it } from 'node:test'
import { newId } from '../../../src/base/ids.ts'
import { DETAIL_MAX, type InboundFilter, type NewInboundRow } from '../../../src/store/log/inbound-log.ts'
import { zeroCounts } from '../../../src/store/log/tally.ts'
import type { PageKey } from '../../../src/store/rows/records.ts'
import { openTestStore, type TestStore } from '../../support/mailbox.ts'

let appliance: TestStore
let team: string

before(async () => {
  appliance = await openTestStore()
})
beforeEach(() => {
  team = newId('team')
})
after(() => appliance[Symbol.asyncDispose]())

const BARE: Omit<NewInboundRow, 'teamId'> = {
  mailboxId: null,
  domain: 'shop.example',
  status: 'stored',
  reason: null,
  detail: 'Queued',
  smtpReply: '250 2.0.0 Queued',
  mailFrom: 'ana@out.example',
  rcptTo: 'bob@shop.example',
  remoteAddress: '192.0.2.1',
  remoteName: null,
  helo: 'out.example',
  tls: null,
  evidence: {},
  createdAt: 1000,
}

const write = (...rows: Partial<NewInboundRow>[]) =>
  appliance.db.write((tx) =>
    appliance.store.log.inbound.appendMany(
      tx,
      rows.map((row) => ({ teamId: team, ...BARE, ...row })),
    ),
  )

async function found(filter: InboundFilter, limit = 100): Promise<number[]> {
  const times: number[] = []
  let at: PageKey | null = null
  do {
    const page = await appliance.store.log.inbound.list(team, filter, { limit, after: at })
    times.push(...page.items.map(({ createdAt }) => createdAt))
    at = page.next
  } while (at !== null)
  return times
}

it('a row reads back as it was written, with its evidence', async () => {
  const row: NewInboundRow = {
    ...BARE,
    teamId: team,
    mailboxId: newId('mailbox'),
    status: 'junk',
    headerFrom: 'Ana@out.example',
    subject: 'Hi',
    remoteName: 'out.example',
    tls: 'TLSv1.3 X',
    sizeBytes: 5,
    authentication: { spf: 'pass', dkim: 'none', dmarc: 'fail', arc: 'none' },
    spamScore: 5.5,
    messageId: newId('message'),
    evidence: { dns: [{ name: 'a', type: 'TXT', answer: 'b' }], __proto__x: 1 },
  }
  await write(row)
  const [listed] = (await appliance.store.log.inbound.list(team, {}, { limit: 5, after: null })).items
  const { evidence, ...shown } = row
  assert.match(listed!.id, /^ilog_[a-z0-9]{24}$/)
  assert.deepEqual(listed, { id: listed!.id, ...shown })
  assert.deepEqual(appliance.store.log.inbound.get(team, listed!.id), { id: listed!.id, ...shown, evidence })
  assert.equal(appliance.store.log.inbound.get(newId('team'), listed!.id), undefined)
})

it('unknown members are null, and a long text is truncated', async () => {
  await write({ detail: 'x'.repeat(DETAIL_MAX + 10) })
  const [row] = (await appliance.store.log.inbound.list(team, {}, { limit: 5, after: null })).items
  assert.deepEqual(
    [row!.headerFrom, row!.subject, row!.sizeBytes, row!.authentication, row!.spamScore, row!.messageId],
    [null, null, null, null, null, null],
  )
  assert.equal(row!.detail.length, DETAIL_MAX)
})

it('rows are listed newest first, page by page, while others are inserted', async () => {
  await write(...[3, 1, 2, 2, 2].map((createdAt) => ({ createdAt })))
  assert.deepEqual(await found({}, 2), [3, 2, 2, 2, 1])
  const first = await appliance.store.log.inbound.list(team, {}, { limit: 2, after: null })
  await write({ createdAt: 9 })
  const second = await appliance.store.log.inbound.list(team, {}, { limit: 2, after: first.next })
  assert.deepEqual(
    second.items.map(({ createdAt }) => createdAt),
    [2, 2],
  )
  assert.equal((await appliance.store.log.inbound.list(team, {}, { limit: 6, after: null })).next, null)
})

it('every filter returns the matching rows', async () => {
  const mailboxId = newId('mailbox')
  await write(
    { createdAt: 1, status: 'refused', reason: 'sender_filtered' },
    { createdAt: 2, domain: 'Other.Example', rcptTo: 'x@other.example' },
    { createdAt: 3, mailboxId, subject: 'Grüße AUS Wien', headerFrom: 'Eva@wien.example' },
    { createdAt: 4, mailFrom: '' },
  )
  assert.deepEqual(await found({ status: 'refused' }), [1])
  assert.deepEqual(await found({ domain: 'other.EXAMPLE' }), [2])
  assert.deepEqual(await found({ mailboxId }), [3])
  assert.deepEqual(await found({ from: 2, to: 4 }), [3, 2])
  for (const [search, times] of Object.entries({
    sender_filtered: [1],
    grüsse: [],
    GRÜSSE: [],
    'grüße wien': [3],
    'wien eva@ BOB': [3],
    'other.example': [2],
    'ana@out': [3, 2, 1],
    '100%': [],
    "' OR 1=1 --": [],
    '  ': [4, 3, 2, 1],
  }))
    assert.deepEqual(await found({ search }), times, search)
})

it('rows of another team are never returned', async () => {
  await write({})
  team = newId('team')
  assert.deepEqual(await found({}), [])
  assert.deepEqual(await found({ search: 'ana' }), [])
})

it('rows are pruned by age', async () => {
  await write(...Array.from({ length: 1500 }, (_, index) => ({ createdAt: -2000 + index })), { createdAt: 50 })
  assert.equal(await appliance.store.log.inbound.prune(0), 1500)
  assert.deepEqual(await found({}), [50])
  assert.equal(await appliance.store.log.inbound.prune(0), 0)
})

it('rows are counted by outcome; a row for probes counts all of them', async () => {
  await write(
    { messageId: newId('message') },
    { status: 'junk', reason: 'spam', messageId: newId('message') },
    { status: 'refused', reason: 'spam' },
    { status: 'refused', reason: 'unknown_recipient', evidence: { probes: 70 } },
    // A report has no recipient, a deferred message is sent again, and a duplicate was counted before.
    { status: 'stored' },
    { status: 'deferred', reason: 'mailbox_full' },
    { status: 'duplicate', messageId: newId('message') },
  )
  const [counts] = await appliance.store.log.reports.sums(team, [{ from: 0, to: 1 }], { domain: 'shop.example' })
  assert.deepEqual(counts, { ...zeroCounts(), received: 1, received_spam: 1, received_blocked: 71 })
  const { shares } = await appliance.store.log.reports.breakdown(
    team,
    { from: 0, to: 1 },
    { by: 'event_reason', limit: 9 },
  )
  assert.deepEqual(
    shares.map(({ key, counts: found }) => [key, found.received_blocked]),
    [
      ['unknown_recipient', 70],
      ['spam', 1],
      [null, 0],
    ],
  )
})
