// Email metrics: several days of sending and receiving, compared with counts of the logs (docs/design/sending.md §10).

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { stepsOf } from '../../src/outbound/log/timeline.ts'
import type { NewMail, Sender } from '../../src/outbound/model/new-message.ts'
import { type Counts, zeroCounts } from '../../src/store/log/tally.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startMailServer } from '../support/mail-server.ts'
import { data, failure, receive } from './expect.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** A Wednesday. */
const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const replies: Record<string, [number, string]> = {
  gone: [550, '5.1.1 no such user'],
  slow: [450, '4.2.0 greylisted, come back later'],
  never: [450, '4.2.2 mailbox full'],
}
const remote = await startMailServer({
  onRcptTo({ address }, _session, done) {
    const reply = replies[address.split('@')[0]!]
    done(reply === undefined ? null : Object.assign(new Error(reply[1]), { responseCode: reply[0] }))
  },
})
const mx = { MX: [{ priority: 10, exchange: 'mx.customer.example' }] }
const appliance = await startAppliance({
  clock,
  zone: {
    'customer.example': mx,
    'partner.example': mx,
    'mx.customer.example': { A: ['127.0.0.1'] },
    'relay.example': { A: ['127.0.0.1'] },
    'junk.test': { TXT: ['v=spf1 -all'] },
    '_dmarc.junk.test': { TXT: ['v=DMARC1; p=quarantine'] },
    '_dmarc.strict.test': { TXT: ['v=DMARC1; p=reject'] },
  },
  env: { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) },
})
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})
const { app } = appliance
const team = await appliance.team()
const other = await appliance.team('Other')
await team.domain('shop.test')
await team.domain('news.test')
await other.domain('other.test')
const ana = await team.mailbox('ana@shop.test')
const theirs = await other.mailbox('eve@other.test')
const byTeam: Sender = { kind: 'team', teamId: team.id, source: 'batch_api' }
const byAna: Sender = { kind: 'mailbox', teamId: team.id, mailboxId: ana.id, source: 'mailbox_api' }

async function send(sender: Sender, from: string, ...to: string[]): Promise<string[]> {
  const messages = to.map(
    (email): NewMail => ({
      ...{ from: { email: from, name: '' }, to: [{ email, name: '' }], cc: [], bcc: [], replyTo: [], subject: 'Hello' },
      ...{ textBody: 'Hi.', htmlBody: null, headers: {}, attachments: [], returnPath: null, inReplyTo: null },
      ...{ sendAt: null, undoSeconds: 0, saveToSent: true },
    }),
  )
  const made = await app.outbound.submit.submitter.submit(sender, messages)
  await appliance.settle()
  return made.map((one) => (one.kind === 'accepted' ? one.emailId : assert.fail(JSON.stringify(one))))
}

async function pass(hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    clock.advance(HOUR)
    await appliance.settle()
  }
}

/** A later event of a message. */
async function report(
  emailId: string,
  outcome: Parameters<typeof app.outbound.queue.transitions.apply>[2],
): Promise<void> {
  const email = app.outbound.log.emails.byId(emailId)!
  const [delivery] = app.outbound.log.emails.deliveriesOf(email.n)
  await app.db.write((tx) => app.outbound.queue.transitions.apply(tx, delivery!.n, outcome, null))
}

const complaint = (feedbackType: 'abuse' | 'not_spam', occurredAt: number) =>
  ({ kind: 'complained', feedbackType, userAgent: null, occurredAt }) as const

/** An account the team has from a time on; before, mail went straight to its recipients. */
let relay = { id: '', from: Number.POSITIVE_INFINITY }

/** One event of a log, with the properties it can be grouped by. */
interface ReportedEvent {
  at: number
  provider: string | null
  mailbox: string | null
  domain: string
  recipient_domain: string
  counts: Partial<Record<keyof Totals, number>>
}
type Totals = Omit<Counts, 'bounced_hard' | 'bounced_soft'> & { bounced: number }

const domainOf = (email: string) => email.split('@')[1]!

/** All events of the delivery log of the team. */
function sentFacts(): ReportedEvent[] {
  const rows = app.db.read.all<Record<string, string> & { created_at: number }>(
    `SELECT d.*, e.from_email FROM deliveries d JOIN emails e ON e.n = d.email
     WHERE d.team_id = ? AND e.source <> 'system' ORDER BY d.n`,
    [team.id],
  )
  return rows.flatMap((row) => {
    const names = {
      mailbox: row.mailbox_id!,
      domain: domainOf(row.from_email!),
      recipient_domain: domainOf(row.to_email!),
    }
    const facts: ReportedEvent[] = [{ at: row.created_at, provider: null, ...names, counts: { accepted: 1 } }]
    const seen = new Set<string>()
    for (const { type, detail, at } of stepsOf(row.timeline!)) {
      const kind = type === 'complained' && detail.startsWith('not_spam') ? 'praised' : type
      const sent = seen.has('sent') ? 0 : 1
      const counted: Record<string, ReportedEvent['counts']> = {
        deferred: { delayed: 1 },
        sent: { sent: 1, delivered: 1 },
        bounced: { sent, bounced: 1, failed: 1 },
        expired: { sent, bounced: 1, failed: 1 },
        cancelled: { failed: 1 },
        rejected: { rejected: 1 },
        complained: { complained: 1 },
      }
      const counts = counted[kind]
      if (counts !== undefined && !seen.has(kind))
        facts.push({ at, provider: at < relay.from ? null : (row.provider_id ?? null), ...names, counts })
      seen.add(kind)
    }
    return facts
  })
}

/** All events of the inbound log of the team. */
function receivedFacts(): ReportedEvent[] {
  const rows = app.db.read.all<Record<string, string> & { created_at: number }>(
    'SELECT * FROM inbound_log WHERE team_id = ? ORDER BY n',
    [team.id],
  )
  return rows.flatMap(({ status, message_id, mailbox_id, domain, created_at, evidence }) => {
    const { probes = 1 } = JSON.parse(evidence!) as { probes?: number }
    const counted: Record<string, ReportedEvent['counts']> = {
      stored: message_id === null ? {} : { received: 1 },
      junk: { received_spam: 1 },
      refused: { received_blocked: probes },
    }
    const names = { provider: null, mailbox: mailbox_id!, domain: domain!, recipient_domain: domain! }
    return [{ at: created_at, ...names, counts: counted[status!] ?? {} }]
  })
}

const recounted = () => [...sentFacts(), ...receivedFacts()]

function add(facts: readonly ReportedEvent[]): Totals {
  const { bounced_hard: _hard, bounced_soft: _soft, ...none } = zeroCounts()
  const sum: Totals = { ...none, bounced: 0 }
  for (const { counts } of facts) {
    for (const [name, count] of Object.entries(counts)) sum[name as keyof Totals] += count
  }
  return sum
}

function withoutKinds({ bounced_hard, bounced_soft, ...totals }: Counts & Totals): Totals {
  assert.equal(totals.bounced, bounced_hard + bounced_soft)
  return totals
}

const path = (rest: string) => `/emails/metrics${rest}`
const read = async (rest: string, key = team.key) => data<Json>(await appliance.get(path(rest), key))
const WHOLE = 'from_date=2030-01-02T03:00:00Z&to_date=2030-01-12'
/** Ends of WHOLE. */
const [FROM, TO] = [Date.UTC(2030, 0, 2, 3), Date.UTC(2030, 0, 13)]

/** Every view of the span says what the logs say. */
async function compare(): Promise<void> {
  const facts = recounted().filter(({ at }) => at >= FROM && at < TO)
  const whole = await read(`?${WHOLE}`)
  assert.deepEqual(withoutKinds(whole.totals), add(facts))
  const { points } = await read(`/timeseries?${WHOLE}&interval=hour`)
  assert.equal(points.length, (TO - FROM) / HOUR)
  for (const { start, end, totals } of points) {
    const [from, to] = [Date.parse(start), Date.parse(end)]
    assert.deepEqual(withoutKinds(totals), add(facts.filter(({ at }) => at >= from && at < to)), start)
  }
  for (const interval of ['day', 'week', 'month']) {
    for (const { start, end, totals } of (await read(`/timeseries?${WHOLE}&interval=${interval}`)).points) {
      const [from, to] = [Date.parse(start), Date.parse(end)]
      assert.deepEqual(withoutKinds(totals), add(facts.filter(({ at }) => at >= from && at < to)), start)
    }
  }
  for (const by of ['provider', 'mailbox', 'domain', 'recipient_domain'] as const) {
    const { rows, other: rest } = await read(`/breakdown?${WHOLE}&by=${by}&limit=2`)
    for (const { key, totals } of rows) {
      assert.deepEqual(withoutKinds(totals), add(facts.filter((fact) => fact[by] === key)), `${by} ${key}`)
    }
    const shown = rows.map(({ key }: { key: string | null }) => key)
    assert.deepEqual(withoutKinds(rest.totals), add(facts.filter((fact) => !shown.includes(fact[by]))), by)
  }
  const mine = await read(`?${WHOLE}&mailbox_id=${ana.id}&domain=SHOP.test`)
  const narrow = facts.filter(({ mailbox, domain }) => mailbox === ana.id && domain === 'shop.test')
  assert.deepEqual(withoutKinds(mine.totals), add(narrow))
}

test('several days of mail are counted as in the logs', async () => {
  const [anna, ben] = await send(byTeam, 'info@shop.test', 'anna@customer.example', 'ben@customer.example')
  await send(byTeam, 'info@news.test', 'gone@customer.example', 'carl@partner.example')
  await send(byAna, ana.email, 'slow@customer.example', 'gone@partner.example', 'ana@shop.test')
  await send(byAna, ana.email, 'never@partner.example')
  await pass(1)
  await receive(appliance, { to: ana.email })
  await assert.rejects(receive(appliance, { to: 'nobody@shop.test' }))
  await assert.rejects(receive(appliance, { to: ana.email, from: 'boss@strict.test' }))
  await receive(appliance, { to: ana.email, from: 'boss@junk.test' })
  delete replies.slow
  await pass(2)
  const dead = { smtpCode: 550, enhancedCode: '5.1.1', text: 'user unknown' }
  const bounced = { kind: 'bounced', reply: dead, type: 'permanent', subType: 'no_such_user' } as const
  await report(anna!, { ...bounced, reportingMta: null, afterAccept: true, occurredAt: clock.now() })
  await send(byTeam, 'info@shop.test', 'gone@customer.example')
  await pass(2)
  // The same complaint twice, another one, and one that is none.
  await report(ben!, complaint('not_spam', 1))
  await report(ben!, complaint('abuse', 2))
  await report(ben!, complaint('abuse', 2))
  await report(ben!, complaint('abuse', 3))
  await send(byTeam, 'info@shop.test', 'ben@customer.example')
  const later = { to: [{ email: 'dora@customer.example' }], subject: 'x', text_body: 'x', undo_seconds: 60 }
  const sent = data<Json>(await appliance.call('POST', '/mailbox/messages/send', ana.key, later), 202)
  data(await appliance.call('POST', `/mailbox/submissions/${sent.submission_id}/cancel`, ana.key))
  await compare()
  const made = data<Json>(
    await appliance.call('POST', '/providers', team.key, {
      ...{ name: 'Relay', smtp_host: 'relay.example', smtp_port: remote.port, smtp_protocol: 'none' },
      ...{ smtp_username: 'shop', smtp_password: 'secret', from_email: 'info@shop.test' },
    }),
    201,
  )
  relay = { id: made.id, from: clock.now() }
  data(await appliance.call('POST', `/providers/${relay.id}/test`, team.key, {}))
  await send(byTeam, 'info@shop.test', 'emil@customer.example', 'gone@elsewhere.example')
  await pass(60)
  await send(byTeam, 'info@shop.test', 'fred@customer.example')
  await compare()
  assert.ok(
    Object.values((await read(`?${WHOLE}`)).totals).every((count) => (count as number) > 0),
    'everything happened',
  )
})

test('days summed from hours have the same counts', async () => {
  const views = async () => [
    await read(`?${WHOLE}`),
    await read(`/timeseries?${WHOLE}&interval=day`),
    await read(`/breakdown?${WHOLE}&by=event_reason&limit=100`),
  ]
  const before = await views()
  await pass(24)
  await app.store.log.rollUp.run(new AbortController().signal)
  const made = app.db.read.all('SELECT 1 FROM mail_counts WHERE hours = 24 AND team_id = ?', [team.id])
  assert.ok(made.length > 0)
  assert.deepEqual(await views(), before)
  await compare()
})

test('reasons, and display names', async () => {
  const { rows } = await read(`/breakdown?${WHOLE}&by=event_reason&limit=100`)
  const reasons = new Map(rows.map(({ key, label, totals }: Json) => [key, { label, totals }]))
  const total = (key: string | null, name: keyof Counts) => (reasons.get(key) as Json).totals[name]
  assert.equal((reasons.get('no_such_user') as Json).label, 'no such user')
  assert.deepEqual([total('no_such_user', 'bounced_hard'), total('no_such_user', 'bounced_soft')], [4, 0])
  assert.deepEqual([total('expired', 'bounced_soft'), total('expired', 'sent')], [1, 1])
  assert.deepEqual([total('greylisted', 'delayed'), total('mailbox_full', 'delayed')], [1, 1])
  assert.deepEqual(
    [total('suppressed', 'rejected'), total('cancelled', 'failed'), total('abuse', 'complained')],
    [2, 1, 1],
  )
  assert.deepEqual([total('unknown_recipient', 'received_blocked'), total('dmarc_reject', 'received_blocked')], [1, 1])
  assert.deepEqual([total('spam', 'received_spam'), total(null, 'bounced_hard')], [1, 0])
  const labels = async (by: string) => {
    const { rows: found } = await read(`/breakdown?${WHOLE}&by=${by}`)
    return new Map(found.map(({ key, label }: Json) => [key, label]))
  }
  assert.deepEqual(
    await labels('provider'),
    new Map([
      [null, 'None'],
      [relay.id, 'Relay'],
    ]),
  )
  data(await appliance.call('PATCH', `/providers/${relay.id}`, team.key, { name: 'New relay' }))
  assert.equal((await labels('provider')).get(relay.id), 'New relay')
  data(await appliance.call('DELETE', `/providers/${relay.id}`, team.key))
  assert.equal((await labels('provider')).get(relay.id), 'Relay')
  data(await appliance.call('DELETE', `/mailboxes/${ana.id}`, team.key))
  assert.equal((await labels('mailbox')).get(ana.id), 'ana@shop.test')
})

test('rates have four decimal places, and are null when the divisor is 0', async () => {
  const { totals, rates } = await read(`?${WHOLE}`)
  assert.equal(rates.delivery_rate, Math.round((totals.delivered / totals.sent) * 10_000) / 10_000)
  assert.equal(rates.bounce_rate, Math.round((totals.bounced / totals.sent) * 10_000) / 10_000)
  assert.equal(rates.complaint_rate, Math.round((totals.complained / totals.delivered) * 10_000) / 10_000)
  assert.equal(rates.rejection_rate, Math.round((totals.rejected / totals.accepted) * 10_000) / 10_000)
  const none = { delivery_rate: null, bounce_rate: null, complaint_rate: null, rejection_rate: null }
  assert.deepEqual((await read('?from_date=2029-01-01&to_date=2029-01-02')).rates, none)
  // The bounce of a later hour than its mail left: one bounce and nothing else, or more of them than were sent.
  const late = await read(`?from_date=2030-01-02T06:00:00Z&to_date=2030-01-02T06:30:00Z`)
  assert.deepEqual([late.totals.bounced, late.totals.sent, late.rates.bounce_rate], [1, 0, null])
})

test('the range is extended to whole hours; the previous one has the same length', async () => {
  const asked = await read('?from_date=2030-01-02T05:30:00%2B01:00&to_date=2030-01-02T06:04:06Z')
  assert.deepEqual([asked.from_date, asked.to_date], ['2030-01-02T04:00:00.000Z', '2030-01-02T07:00:00.000Z'])
  const before = await read('?from_date=2030-01-02T01:00:00Z&to_date=2030-01-02T04:00:00Z')
  assert.deepEqual(asked.previous, { totals: before.totals, rates: before.rates })
  assert.ok(before.totals.accepted > 0)
  const lately = await read('')
  const end = Math.ceil(clock.now() / HOUR) * HOUR
  assert.deepEqual([Date.parse(lately.from_date), Date.parse(lately.to_date)], [end - 7 * DAY - HOUR, end])
})

test('intervals are contiguous in UTC; weeks begin on Monday', async () => {
  const starts = async (interval: string, span: string) => {
    const { points } = await read(`/timeseries?${span}&interval=${interval}`)
    for (const [index, point] of points.entries()) if (index > 0) assert.equal(point.start, points[index - 1].end)
    return [...points.map(({ start }: Json) => start), points.at(-1).end].map((time) => time.slice(0, 13))
  }
  const span = 'from_date=2030-01-30T12:00:00Z&to_date=2030-03-01'
  assert.deepEqual(await starts('month', span), ['2030-01-30T12', '2030-02-01T00', '2030-03-01T00', '2030-03-02T00'])
  assert.deepEqual((await starts('week', span)).slice(0, 3), ['2030-01-30T12', '2030-02-04T00', '2030-02-11T00'])
  assert.equal((await starts('day', span)).length, 32)
  assert.equal((await starts('hour', 'from_date=2030-01-01&to_date=2030-01-14')).length, 14 * 24 + 1)
  assert.equal((await starts('day', 'from_date=2030-01-01&to_date=2031-01-01')).length, 367)
})

test('two teams have separate counts', async () => {
  const nothing = { ...zeroCounts(), bounced: 0 }
  assert.deepEqual((await read(`?${WHOLE}`, other.key)).totals, nothing)
  assert.deepEqual((await read(`/breakdown?${WHOLE}&by=domain`, other.key)).rows, [])
  failure(await appliance.get(path(`?mailbox_id=${ana.id}`), other.key), 404, 'not_found')
  await receive(appliance, { to: theirs.email })
  assert.equal((await read(`?provider_id=${relay.id}`, other.key)).totals.received, 0)
  assert.equal((await read('', other.key)).totals.received, 1)
})

test('invalid queries', async () => {
  const wrong: [string, string][] = [
    ['?from_date=2030-01-02&to_date=2030-01-01', 'from_date'],
    ['?from_date=2030-01-02T00:00:00Z&to_date=2030-01-02T00:00:00Z', 'from_date'],
    ['?from_date=2029-01-01&to_date=2030-01-02', 'to_date'],
    ['/timeseries?from_date=2030-01-01&to_date=2030-01-15&interval=hour', 'to_date'],
    ['/timeseries?interval=year', 'interval'],
    ['/breakdown?by=subject', 'by'],
    ['/breakdown?by=domain&limit=101', 'limit'],
    ['/breakdown?by=domain&limit=0', 'limit'],
  ]
  for (const [query, param] of wrong) {
    assert.equal(failure(await appliance.get(path(query), team.key), 400, 'invalid_parameter').param, param, query)
  }
  failure(await appliance.get(path('/breakdown'), team.key), 400, 'missing_parameter')
  failure(await appliance.get(path(''), theirs.key), 403, 'insufficient_permissions')
})
