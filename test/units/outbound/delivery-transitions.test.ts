// The fate of a delivery: every move of docs/design/sending.md §7 with what follows from it, and everything that is no move.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Tx } from '../../../src/db/db.ts'
import { COMPLAINTS_MAX } from '../../../src/outbound/log/transition-rules.ts'
import type { Carrier, Email, Outcome } from '../../../src/outbound/model/records.ts'
import { DELAY_REPORTED_EVERY_MS, DELAY_REPORTED_FROM_MS } from '../../../src/outbound/queue/delivery-transitions.ts'
import { openSendingAppliance, type SendingAppliance } from '../../support/sending-appliance.ts'
import { watchedTx } from '../../support/watched-tx.ts'

const MINUTE = 60_000

let appliance: SendingAppliance
before(async () => {
  appliance = await openSendingAppliance()
})
after(() => appliance[Symbol.asyncDispose]())

const reply = (smtpCode: number | null, enhancedCode: string | null, text: string) => ({ smtpCode, enhancedCode, text })
const taken: Outcome = { kind: 'sent', reply: reply(250, '2.0.0', '250 2.0.0 Ok'), confirmation: 'recipient_mx' }
const unknown = {
  kind: 'bounced' as const,
  reply: reply(550, '5.1.1', 'user unknown'),
  ...{ type: 'permanent' as const, subType: 'no_such_user' as const, reportingMta: null, occurredAt: 0 },
}
const refusedAtOnce: Outcome = { ...unknown, afterAccept: false }
const cameBack: Outcome = { ...unknown, afterAccept: true }
const complaint: Outcome = { kind: 'complained', feedbackType: 'abuse', userAgent: 'Loop/1', occurredAt: 1000 }
const late = (nextAt: number): Outcome => ({
  kind: 'deferred',
  reply: reply(452, '4.2.2', '452 4.2.2 over quota'),
  cause: 'mailbox_full',
  nextAt,
})

const CARRIER: Carrier = { id: 'dprov_m1n2b3v4c5x6z7l8k9j0h1g2', name: 'Primary SMTP' }
let addresses = 0

/** One mail to one new recipient, and how things stand with it. */
async function mail(from?: { id: string; email: string }) {
  const to = `r${++addresses}@customer.test`
  const email = await appliance.accepted([to], from)
  const state = async () => (await appliance.deliveries(email))[0]!
  const { n } = await state()
  return {
    email,
    n,
    to,
    state,
    apply: (outcome: Outcome, carrier: Carrier | null = CARRIER) =>
      appliance.app.db.write((tx) => appliance.transitions.apply(tx, n, outcome, carrier)),
    try: () =>
      appliance.app.db.write((tx) =>
        appliance.emails.recordRoute(tx, [n], { carrier: CARRIER, reason: 'Its turn', attempts: 1 }),
      ),
    waits: () => appliance.queue.ofEmail(appliance.app.db.read, email.n).length === 1,
    wanted: () => appliance.emails.byId(email.id)!.hash !== null,
    events: async () => (await appliance.events()).filter(({ data }) => data.message_id === email.id),
    stopped: () => appliance.suppressions.of(appliance.app.db.read, appliance.teamId, [to]).size === 1,
  }
}

const types = (events: { type: string }[]) => events.map(({ type }) => type)

const firstMoves: { what: string; outcome: () => Outcome; status: string; reason: string | null; event: string[] }[] = [
  {
    what: 'the next hop answers 250',
    outcome: () => taken,
    status: 'sent',
    reason: null,
    event: ['message.delivered'],
  },
  {
    what: 'a permanent refusal of the recipient',
    outcome: () => refusedAtOnce,
    status: 'failed',
    reason: 'bounced: 550 5.1.1 user unknown',
    event: ['message.bounced'],
  },
  {
    what: 'a lifetime that is over',
    outcome: () => ({ kind: 'expired', reply: reply(null, null, 'connect to mx.customer.test timed out') }),
    status: 'failed',
    reason: 'expired: connect to mx.customer.test timed out',
    event: ['message.bounced'],
  },
  {
    what: 'cancelling',
    outcome: () => ({ kind: 'cancelled' }),
    status: 'failed',
    reason: 'cancelled',
    event: [],
  },
  ...(
    [
      'suppressed',
      'unverified_domain',
      'no_provider',
      'content_refused',
      'message_too_large',
      'policy',
      'sending_not_approved',
      'approval_denied',
      'approval_expired',
    ] as const
  ).map((reason) => ({
    what: `a rejection as ${reason}`,
    outcome: (): Outcome => ({ kind: 'rejected', reason, detail: 'Said why.' }),
    status: 'rejected',
    reason: `${reason}: Said why.`,
    event: ['message.rejected'],
  })),
]

for (const { what, outcome, status, reason, event } of firstMoves) {
  test(`pending ends with ${what}`, async () => {
    const sent = await mail()
    assert.equal(await sent.apply(outcome()), true)
    const state = await sent.state()
    assert.deepEqual([state.status, state.statusReason], [status, reason])
    assert.deepEqual(types(await sent.events()), event)
    assert.equal(sent.waits(), false)
    assert.equal(sent.wanted(), false)
    assert.equal(state.sentAt, status === 'sent' ? appliance.clock.now() : null)
    assert.deepEqual([state.providerId, state.providerName], [CARRIER.id, CARRIER.name])
    assert.equal(state.updatedAt, appliance.clock.now())
  })
}

test('pending stays with a deferral, and waits until it is tried again', async () => {
  const sent = await mail()
  const nextAt = appliance.clock.now() + MINUTE
  assert.equal(await sent.apply(late(nextAt)), true)
  const state = await sent.state()
  assert.deepEqual([state.status, state.statusReason], ['pending', 'deferred: 452 4.2.2 over quota'])
  assert.equal(state.lastReply, '452 4.2.2 over quota')
  const [row] = appliance.queue.ofEmail(appliance.app.db.read, sent.email.n)
  assert.equal(row!.dueAt, nextAt)
  assert.equal(sent.wanted(), true)
})

test('sent fails when a report comes back', async () => {
  const sent = await mail()
  await sent.apply(taken)
  const { sentAt } = await sent.state()
  assert.equal(await sent.apply(cameBack, null), true)
  const state = await sent.state()
  assert.deepEqual([state.status, state.statusReason], ['failed', 'bounced_after_accept: 550 5.1.1 user unknown'])
  assert.equal(state.sentAt, sentAt)
  assert.equal(state.providerId, CARRIER.id, 'a report does not say through whom it went')
  assert.deepEqual(types(await sent.events()), ['message.delivered', 'message.bounced'])
})

test('a report that is faster than the row of its try counts, and the try does not any more', async () => {
  const sent = await mail()
  assert.equal(await sent.apply(cameBack, null), false, 'nobody had the mail yet')
  await sent.try()
  assert.equal(await sent.apply(cameBack, null), true)
  assert.equal(sent.waits(), false)
  assert.equal(await sent.apply(taken), false)
  assert.deepEqual(types(await sent.events()), ['message.bounced'])
})

test('sent stays sent with a complaint, reported once for each report', async () => {
  const sent = await mail()
  await sent.apply(taken)
  assert.equal(await sent.apply(complaint, null), true)
  assert.deepEqual([(await sent.state()).status, (await sent.state()).statusReason], ['sent', 'complained'])
  assert.equal(await sent.apply(complaint, null), false, 'the same report again')
  assert.equal(await sent.apply({ ...complaint, occurredAt: 2000 }, null), true, 'another report')
  assert.deepEqual(types(await sent.events()), ['message.delivered', 'message.complained', 'message.complained'])
  assert.equal(sent.stopped(), true)
  assert.equal(await sent.apply(cameBack, null), true, 'it may come back all the same')
})

test('the number of complaints per delivery is limited', async () => {
  const sent = await mail()
  await sent.apply(taken)
  let told = 0
  for (let at = 0; at < COMPLAINTS_MAX + 5; at++) {
    if (await sent.apply({ ...complaint, occurredAt: at }, null)) told++
  }
  assert.equal(told, COMPLAINTS_MAX)
})

test('a withdrawn complaint has no effect', async () => {
  const sent = await mail()
  await sent.apply(taken)
  assert.equal(await sent.apply({ ...complaint, feedbackType: 'not_spam' }, null), true)
  assert.equal((await sent.state()).statusReason, null)
  assert.equal(sent.stopped(), false)
  const { complaint: told } = (await sent.events()).at(-1)!.data as { complaint: Record<string, unknown> }
  assert.deepEqual([told.feedback_type, told.suppressed], ['not_spam', false])
})

test('final states stay final, and nothing else moves', async () => {
  const now = appliance.clock.now()
  const ends: Outcome[] = [refusedAtOnce, { kind: 'cancelled' }, { kind: 'rejected', reason: 'policy', detail: 'No.' }]
  const all: Outcome[] = [taken, late(now + 9 * MINUTE), refusedAtOnce, cameBack, complaint, ...ends]
  all.push({ kind: 'expired', reply: reply(null, null, 'x') })
  const whole = ({ n }: { n: number }) => appliance.app.db.read.all('SELECT * FROM deliveries WHERE n = ?', [n])[0]
  for (const end of ends) {
    const sent = await mail()
    await sent.try()
    await sent.apply(end)
    const [before, told] = [whole(sent), (await appliance.events()).length]
    for (const outcome of all) assert.equal(await sent.apply(outcome), false, `${outcome.kind} after ${end.kind}`)
    assert.deepEqual(whole(sent), before)
    assert.equal((await appliance.events()).length, told)
  }
  const sent = await mail()
  await sent.apply(taken)
  for (const outcome of [taken, late(now), refusedAtOnce, ...ends]) {
    assert.equal(await sent.apply(outcome), false, `${outcome.kind} after sent`)
  }
  const pending = await mail()
  assert.equal(await pending.apply(complaint), false, 'nobody complains about what did not arrive')
})

test('a delivery that is not there moves nowhere', async () => {
  assert.equal(await appliance.app.db.write((tx) => appliance.transitions.apply(tx, 10 ** 9, taken, null)), false)
})

test('a delay is told when it is long, and not again for an hour', async () => {
  const sent = await mail()
  const defer = (ms: number) => sent.apply(late(appliance.clock.now() + ms))
  const told = async () => (await sent.events()).length
  await defer(DELAY_REPORTED_FROM_MS)
  assert.equal(await told(), 0)
  await defer(DELAY_REPORTED_FROM_MS + 1)
  assert.equal(await told(), 1)
  appliance.clock.advance(DELAY_REPORTED_EVERY_MS - 1)
  await defer(30 * MINUTE)
  assert.equal(await told(), 1)
  appliance.clock.advance(1)
  await defer(30 * MINUTE)
  assert.equal(await told(), 2)
  await sent.apply({ kind: 'cancelled' })
})

test('a hard bounce stops mail to the address, a soft one and one of unknown kind do not', async () => {
  const cases: [Outcome, boolean][] = [
    [refusedAtOnce, true],
    [{ ...unknown, afterAccept: false, reply: reply(550, '5.2.1', 'disabled'), subType: 'general' }, true],
    [{ ...unknown, afterAccept: false, reply: reply(552, '5.2.2', 'over quota'), subType: 'mailbox_full' }, false],
    [{ ...unknown, afterAccept: false, type: 'transient' }, false],
    [{ ...unknown, afterAccept: false, type: 'undetermined' }, false],
    [{ ...unknown, afterAccept: false, reply: reply(null, null, 'Permanent'), subType: 'general', dead: true }, true],
    [{ kind: 'expired', reply: reply(550, '5.1.1', 'user unknown') }, false],
  ]
  for (const [outcome, stops] of cases) {
    const sent = await mail()
    await sent.apply(outcome)
    assert.equal(sent.stopped(), stops, JSON.stringify(outcome))
    const { bounce } = (await sent.events())[0]!.data as { bounce: { suppressed: boolean } }
    assert.equal(bounce.suppressed, stops)
  }
})

test('who wrote from a mailbox is told what failed, and the content is kept until then', async () => {
  const ana = await appliance.mailbox('ana@shop.test')
  const due = ({ email }: { email: Email }) => appliance.emails.noticesDue(1000).includes(email.n)
  const failed = await mail(ana)
  await failed.apply({ kind: 'rejected', reason: 'no_provider', detail: 'None.' })
  assert.equal(due(failed), true)
  assert.equal(failed.wanted(), true)
  const noted = () => appliance.app.db.write((tx) => appliance.emails.clearNoticeDue(tx, failed.email.n, [failed.n]))
  await noted()
  await noted()
  assert.equal(due(failed), false)
  assert.equal(failed.wanted(), false)
  const [{ open }] = appliance.app.db.read.all('SELECT open_deliveries AS open FROM emails WHERE n = ?', [
    failed.email.n,
  ]) as [{ open: number }]
  assert.equal(open, 0, 'told twice is counted once')

  const back = await mail(ana)
  await back.apply(taken)
  await back.apply(cameBack, null)
  assert.equal(due(back), true)
  const cancelled = await mail(ana)
  await cancelled.apply({ kind: 'cancelled' })
  assert.equal(due(cancelled), false)
  const fromKey = await mail()
  await fromKey.apply(refusedAtOnce)
  assert.equal(due(fromKey), false)
})

test('the content of a mail to two goes when both have it', async () => {
  const email = await appliance.accepted(['one@customer.test', 'two@customer.test'])
  const [one, two] = await appliance.deliveries(email)
  const wanted = () => appliance.emails.byId(email.id)!.hash !== null
  await appliance.app.db.write((tx) => appliance.transitions.apply(tx, one!.n, taken, null))
  assert.equal(wanted(), true)
  await appliance.app.db.write((tx) => appliance.transitions.apply(tx, two!.n, taken, null))
  assert.equal(wanted(), false)
})

test('what the appliance writes by itself is told by no event and stops nothing', async () => {
  const sent = await mail()
  await appliance.app.db.write((tx) => tx.run("UPDATE emails SET source = 'system' WHERE n = ?", [sent.email.n]))
  await sent.apply(refusedAtOnce)
  assert.equal((await sent.state()).status, 'failed')
  assert.deepEqual(await sent.events(), [])
  assert.equal(sent.stopped(), false)
})

test('a move that is rolled back leaves nothing', async () => {
  const sent = await mail()
  const work = appliance.app.db.write((tx) => {
    appliance.transitions.apply(tx, sent.n, taken, CARRIER)
    throw new Error('another part of the unit failed')
  })
  await assert.rejects(work, /another part/)
  assert.equal((await sent.state()).status, 'pending')
  assert.equal(sent.waits(), true)
  assert.deepEqual(await sent.events(), [])
})

test('times of reports that are no times do no harm', async () => {
  for (const occurredAt of [Number.NaN, -1, 1e300, Number.POSITIVE_INFINITY]) {
    const sent = await mail()
    await sent.apply(taken)
    assert.equal(await sent.apply({ ...cameBack, occurredAt } as Outcome, null), true)
    const { bounce } = (await sent.events()).at(-1)!.data as { bounce: { occurred_at: string } }
    assert.match(bounce.occurred_at, /^\d{4}-\d\d-\d\dT/)
    assert.ok(Date.parse(bounce.occurred_at) <= appliance.clock.now(), 'nothing happens after it is known')
  }
})

test('a delivery that arrives costs at most four statements, beside what is written once at the end of a transaction', async () => {
  const sent = await mail()
  const seen: string[] = []
  await appliance.app.db.write((tx) => {
    const watched = watchedTx(tx, (method, sql) => seen.push(`${method} ${sql.slice(0, 40)}`))
    appliance.transitions.apply(watched, sent.n, taken, CARRIER)
  })
  assert.ok(seen.length <= 4, seen.join('\n'))
})

test('the outcomes of fifty deliveries cost less than one statement for each, and are the same as one by one', async () => {
  const sent = await Array.fromAsync({ length: 50 }, () => mail())
  const outcomeOf = (index: number) => (index === 7 ? refusedAtOnce : taken)
  const outcomes = sent.map(({ n }, index) => ({ delivery: n, outcome: outcomeOf(index), carrier: CARRIER }))
  const seen: string[] = []
  const absent = { delivery: 10 ** 9, outcome: taken, carrier: CARRIER }
  const apply = (tx: Tx) =>
    appliance.transitions.applyAll(
      watchedTx(tx, (method, sql) => seen.push(`${method} ${sql.slice(0, 40)}`)),
      [...outcomes, absent],
    )
  const applied = await appliance.app.db.write(apply)
  assert.deepEqual(applied, [...sent.map(() => true), false])
  assert.ok(seen.length <= 16, seen.join('\n'))
  const statuses = await Promise.all(sent.map(async (one) => (await one.state()).status))
  assert.deepEqual(
    statuses,
    sent.map((_, index) => (index === 7 ? 'failed' : 'sent')),
  )
  assert.deepEqual(
    await appliance.app.db.write((tx) => appliance.transitions.applyAll(tx, outcomes)),
    sent.map(() => false),
  )
})
