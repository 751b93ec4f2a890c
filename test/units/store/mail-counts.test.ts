// Counts of message events against a list of all events: random events, failed units of work, roll-up to days and merged domains.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Db, Reader, SqlValue } from '../../../src/db/db.ts'
import type { CountedEvent } from '../../../src/store/log/counters.ts'
import { BREAKDOWNS, type BreakdownBy, type CountFilter, Reports, type Span } from '../../../src/store/log/reports.ts'
import { DETAILED_MAX, RollUp } from '../../../src/store/log/roll-up.ts'
import { COUNTED, type Counts, zeroCounts } from '../../../src/store/log/tally.ts'
import { openTestStore, type TestStore } from '../../support/mailbox.ts'
import { Random } from '../../support/random.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let appliance: TestStore
before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

const count = (...facts: CountedEvent[]) =>
  appliance.db.write((tx) => {
    for (const fact of facts) appliance.store.log.counters.count(tx, fact)
  })

/** The scheduled maintenance after a restart. */
const rollUp = () => new RollUp(appliance).run(new AbortController().signal)

const hourOf = (time: number) => Math.floor(time / HOUR)

function factOf(teamId: string, given: Partial<CountedEvent> = {}): CountedEvent {
  return {
    ...{ teamId, at: appliance.clock.now(), provider: null, mailboxId: null, domain: 'shop.test', isOwnDomain: true },
    ...{ recipientDomain: 'customer.test', reason: null, counts: { accepted: 1 } },
    ...given,
  }
}

function anyFact(random: Random, teamId: string): CountedEvent {
  const provider = random.pick([null, 'dprov_a', 'dprov_b'])
  return factOf(teamId, {
    provider: provider === null ? null : { id: provider, name: provider.toUpperCase() },
    mailboxId: random.pick([null, 'mbx_a', 'mbx_b', 'mbx_c']),
    ...random.pick([
      { domain: 'shop.test', isOwnDomain: true },
      { domain: 'Shop.test', isOwnDomain: true },
      { domain: 'foreign.example', isOwnDomain: false },
    ]),
    recipientDomain: random.pick(['shop.test', 'a.example', 'b.example', 'c.example']),
    reason: random.pick([null, 'no_such_user', 'greylisted']),
    counts: { [random.pick(COUNTED)]: 1 + random.below(3), [random.pick(COUNTED)]: 1 },
  })
}

function keyOf(fact: CountedEvent, by: BreakdownBy): string | null {
  const keys: Record<BreakdownBy, string | null> = {
    provider: fact.provider?.id ?? null,
    mailbox: fact.mailboxId,
    domain: fact.domain.toLowerCase(),
    recipient_domain: fact.recipientDomain,
    event_reason: fact.reason,
  }
  return keys[by]
}

/** The sum of the events. */
function recount(facts: readonly CountedEvent[]): Counts {
  const sum = zeroCounts()
  for (const { counts } of facts) for (const name of COUNTED) sum[name] += counts[name] ?? 0
  return sum
}

function within(
  facts: readonly CountedEvent[],
  teamId: string,
  { from, to }: Span,
  filter: CountFilter,
): CountedEvent[] {
  return facts.filter(
    (fact) =>
      fact.teamId === teamId &&
      hourOf(fact.at) >= from &&
      hourOf(fact.at) < to &&
      (filter.providerId === undefined || fact.provider?.id === filter.providerId) &&
      (filter.mailboxId === undefined || fact.mailboxId === filter.mailboxId) &&
      (filter.domain === undefined || fact.domain.toLowerCase() === filter.domain),
  )
}

async function compare(random: Random, facts: readonly CountedEvent[], teams: readonly string[]): Promise<void> {
  const { reports } = appliance.store.log
  const now = hourOf(appliance.clock.now()) + 1
  for (let round = 0; round < 25; round++) {
    const team = random.pick(teams)
    const from = now - 1 - random.below(24 * 12)
    const span = { from, to: from + 1 + random.below(now - from) }
    const filter: CountFilter = {
      providerId: random.pick([undefined, undefined, 'dprov_a', 'dprov_none']),
      mailboxId: random.pick([undefined, undefined, 'mbx_b']),
      domain: random.pick([undefined, undefined, 'shop.test', 'foreign.example']),
    }
    const middle = span.from + random.below(span.to - span.from + 1)
    const spans = [span, { from: span.from, to: middle }, { from: middle, to: span.to }]
    assert.deepEqual(
      await reports.sums(team, spans, filter),
      spans.map((one) => recount(within(facts, team, one, filter))),
    )
    const by = random.pick(BREAKDOWNS)
    const limit = 1 + random.below(5)
    const { shares, other } = await reports.breakdown(team, span, { ...filter, by, limit })
    const mine = within(facts, team, span, filter)
    const keys = new Set(mine.map((fact) => keyOf(fact, by)))
    assert.equal(shares.length, Math.min(limit, keys.size))
    for (const { key, counts } of shares) {
      assert.deepEqual(counts, recount(mine.filter((fact) => keyOf(fact, by) === key)))
    }
    const shown = new Set(shares.map(({ key }) => key))
    assert.deepEqual(other, recount(mine.filter((fact) => !shown.has(keyOf(fact, by)))))
  }
}

for (const seed of [1, 2]) {
  test(`the counts equal the events, seed ${seed}`, async () => {
    const random = new Random(seed)
    const teams = [`team_${seed}a`, `team_${seed}b`]
    const facts: CountedEvent[] = []
    for (let step = 0; step < 400; step++) {
      const units = Array.from({ length: 1 + random.below(4) }, () =>
        Array.from({ length: random.below(4) }, () => anyFact(random, random.pick(teams))),
      )
      // Some units of work in a transaction fail: their counts must be dropped.
      await Promise.all(
        units.map(async (unit) => {
          const fails = random.chance(0.2)
          const done = appliance.db.write((tx) => {
            for (const fact of unit) appliance.store.log.counters.count(tx, fact)
            if (fails) throw new Error('no')
          })
          if (fails) await assert.rejects(done)
          else await done.then(() => facts.push(...unit))
        }),
      )
      appliance.clock.advance(random.below(90) * 60_000)
      if (random.chance(0.1)) await rollUp()
      if (step % 100 === 99) await compare(random, facts, teams)
    }
    appliance.clock.advance(2 * DAY)
    assert.ok((await rollUp()) > 0)
    assert.equal(await rollUp(), 0, 'what was done is not done again')
    await compare(random, facts, teams)
  })
}

test('foreign domains beyond the busiest are merged, per hour and per day', async () => {
  const team = 'team_many'
  appliance.clock.advance(DAY - (appliance.clock.now() % DAY))
  const first = hourOf(appliance.clock.now())
  const more = 40
  for (const [hour, name] of ['a', 'b'].entries()) {
    const facts = Array.from({ length: DETAILED_MAX + more }, (_, index) =>
      factOf(team, { recipientDomain: `${name}${index}.example`, counts: { accepted: index + 1 } }),
    )
    // Inbound messages are for domains of the team, which are never merged.
    const own = Array.from({ length: DETAILED_MAX + more }, (_, index) =>
      factOf(team, { domain: `own${index}.test`, recipientDomain: `own${index}.test`, counts: { received: 1 } }),
    )
    await count(...facts, ...own, factOf(team, { domain: 'gmail.com', isOwnDomain: false, counts: { accepted: 1 } }))
    appliance.clock.advance((hour + 1) * HOUR)
  }
  const span = { from: first, to: first + 24 }
  const busiest = await appliance.store.log.reports.breakdown(team, span, { by: 'recipient_domain', limit: 3 })
  const before = await appliance.store.log.reports.sums(team, [span], {})
  const rows = (hours: number) =>
    appliance.db.read.all<{ start: number; count: number }>(
      `SELECT start, count(*) AS count FROM mail_counts
       WHERE team_id = ? AND hours = ? AND accepted > 0 AND recipient_domain <> '*' GROUP BY start`,
      [team, hours],
    )
  assert.deepEqual(
    rows(1).map(({ count }) => count),
    [DETAILED_MAX + more + 1, DETAILED_MAX + more + 1],
  )
  appliance.clock.advance(2 * DAY)
  await rollUp()
  for (const { count } of [...rows(1), ...rows(24)]) assert.ok(count <= DETAILED_MAX)
  assert.equal(rows(24).length, 1)
  assert.deepEqual(await appliance.store.log.reports.sums(team, [span], {}), before)
  const after = await appliance.store.log.reports.breakdown(team, span, { by: 'recipient_domain', limit: 3 })
  assert.deepEqual(after, busiest)
  const all = await appliance.store.log.reports.breakdown(team, span, { by: 'domain', limit: 1000 })
  assert.equal(all.shares.length, DETAILED_MAX + more + 1)
  assert.equal(all.other.accepted, 2, 'a foreign sender that sent little has no name any more')
})

test('an interrupted roll-up is continued', async () => {
  const team = 'team_stopped'
  const from = hourOf(appliance.clock.now())
  for (let hour = 0; hour < 72; hour++) {
    await count(factOf(team), factOf('team_other'))
    appliance.clock.advance(HOUR)
  }
  const stop = new AbortController()
  stop.abort()
  assert.equal(await new RollUp(appliance).run(stop.signal), 0)
  const span = { from, to: from + 72 }
  assert.equal((await appliance.store.log.reports.sums(team, [span], {}))[0]!.accepted, 72)
  await rollUp()
  // As if the process had crashed between the teams of the newest day.
  await appliance.db.write((tx) =>
    tx.run('DELETE FROM mail_counts WHERE hours = 24 AND team_id = ? AND start >= ?', [team, from + 24]),
  )
  assert.equal((await appliance.store.log.reports.sums(team, [span], {}))[0]!.accepted, 72)
  // Two concurrent runs, as of the scheduler and the test.
  await Promise.all([rollUp(), rollUp(), rollUp()])
  assert.equal((await appliance.store.log.reports.sums(team, [span], {}))[0]!.accepted, 72)
})

test('counts are kept for 400 days', async () => {
  const team = 'team_old'
  appliance.clock.advance(DAY - (appliance.clock.now() % DAY))
  const old = { from: hourOf(appliance.clock.now()), to: hourOf(appliance.clock.now()) + 24 }
  await count(factOf(team, { recipientDomain: 'first.example' }))
  appliance.clock.advance(DAY)
  await count(factOf(team))
  await rollUp()
  appliance.clock.leap(399 * DAY)
  await rollUp()
  await appliance.store.log.rollUp.prune()
  assert.equal((await appliance.store.log.reports.sums(team, [old], {}))[0]!.accepted, 1)
  appliance.clock.leap(HOUR)
  assert.ok((await appliance.store.log.rollUp.prune()) > 0)
  const hours = appliance.db.read.all('SELECT * FROM mail_counts WHERE team_id = ? AND hours = 1', [team])
  assert.equal(hours.length, 1)
  appliance.clock.leap(2 * DAY)
  await appliance.store.log.rollUp.prune()
  assert.deepEqual(appliance.db.read.all('SELECT * FROM mail_counts WHERE team_id = ?', [team]), [])
})

test('only the rows of the team and the span are read', async () => {
  const plans: string[] = []
  const all: Reader['all'] = <R>(sql: string, values?: readonly SqlValue[]) => {
    const lines = appliance.db.read.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
    plans.push(...lines.map(({ detail }) => detail).filter((detail) => /\bc\b|mail_counts/.test(detail)))
    return appliance.db.read.all<R>(sql, values)
  }
  const reports = new Reports({ scan: { all } } as unknown as Db)
  const filter = { providerId: 'dprov_a', mailboxId: 'mbx_a', domain: 'shop.test' }
  await reports.sums('team_a', [{ from: 0, to: 100 }], filter)
  for (const by of BREAKDOWNS) await reports.breakdown('team_a', { from: 0, to: 100 }, { ...filter, by, limit: 1 })
  assert.ok(plans.length >= 12)
  for (const line of plans)
    assert.match(line, /^SEARCH (?:c|mail_counts EXISTS) USING PRIMARY KEY \(hours=\? AND start=\? AND team_id=\?/)
})
