// Room at sending accounts: counted in windows against a model, drawn from ranges, and never given out twice.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Provider, QuotaRange } from '../../../src/outbound/model/records.ts'
import { NO_QUOTAS } from '../../../src/outbound/providers/input.ts'
import { forgetCounts, QuotaCounts } from '../../../src/outbound/providers/quotas.ts'
import { openAccounts } from '../../support/accounts.ts'
import { providerOf } from '../../support/carriers.ts'
import { Random } from '../../support/random.ts'

const appliance = await openAccounts({})
after(() => appliance[Symbol.asyncDispose]())
const { app, clock } = appliance
const LENGTHS = { perSecond: 1000, perMinute: 60_000, perHour: 3_600_000, perDay: 86_400_000 }
const NAMES = { perSecond: 'second', perMinute: 'minute', perHour: 'hour', perDay: 'day' }
type Member = keyof typeof LENGTHS

const take = (quotas: QuotaCounts, provider: Provider, recipients: number) =>
  app.db.write((tx) => quotas.take(tx, provider, recipients))

/** What was let through, one entry a hand-over; asked anew each time. */
class Model {
  readonly taken: { at: number; recipients: number }[] = []

  /** When there may be room, null for now. */
  opensAt(provider: Provider, recipients: number, now: number, capOf: QuotaCounts['capOf']): number | null {
    const ends = (Object.keys(LENGTHS) as Member[]).flatMap((member) => {
      const range = provider.quotas[member]
      if (range === null) return []
      const start = Math.floor(now / LENGTHS[member]) * LENGTHS[member]
      const count = this.taken.filter(({ at }) => at >= start).reduce((sum, one) => sum + one.recipients, 0)
      const cap = capOf(provider.id, range, NAMES[member], start)
      return count > 0 && count + recipients > cap ? [start + LENGTHS[member]] : []
    })
    return ends.length === 0 ? null : Math.max(...ends)
  }
}

test('what a model lets through is let through, across windows, ranges and restarts', async () => {
  const random = new Random(11)
  const range = (min: number): QuotaRange | null =>
    random.chance(0.25) ? null : { min, max: min + random.below(min + 1) }
  let refused = 0
  for (let n = 1; n <= 12; n++) {
    const quotas = { perSecond: range(3), perMinute: range(20), perHour: range(150), perDay: range(400) }
    const provider = providerOf({ n, id: `dprov_${n}`, quotas })
    const model = new Model()
    for (let step = 0; step < 250; step++) {
      clock.advance(random.pick([0, 0, 1, 400, 1000, 7000, 50_000, 900_000]))
      // A new instance knows only what is written down.
      const counts = new QuotaCounts(app)
      const recipients = 1 + random.below(random.chance(0.05) ? 60 : 4)
      const expected = model.opensAt(provider, recipients, clock.now(), (...given) => counts.capOf(...given))
      assert.equal(await take(counts, provider, recipients), expected, `account ${n}, step ${step}`)
      if (expected === null) model.taken.push({ at: clock.now(), recipients })
      else refused++
    }
  }
  assert.ok(refused > 300, `${refused} refused`)
})

test('takes at the same time never exceed a cap, and a full account takes from no window', async () => {
  const quotas = { ...NO_QUOTAS, perHour: { min: 20, max: 20 }, perDay: { min: 1000, max: 1000 } }
  const provider = providerOf({ n: 100, quotas })
  const counts = new QuotaCounts(app)
  clock.advance(3_600_000 - (clock.now() % 3_600_000))
  const answers = await Promise.all(Array.from({ length: 60 }, () => take(counts, provider, 1)))
  assert.equal(answers.filter((answer) => answer === null).length, 20)
  const rows = app.db.read.all<{ window: string; count: number }>(
    'SELECT window, count FROM quota_counts WHERE provider = 100 ORDER BY window',
  )
  assert.deepEqual(
    rows.map(({ window, count }) => [window, count]),
    [
      ['day', 20],
      ['hour', 20],
    ],
  )
})

test('a mail to more people than a window takes goes alone into an empty one', async () => {
  const provider = providerOf({ n: 101, quotas: { ...NO_QUOTAS, perMinute: { min: 2, max: 2 } } })
  const counts = new QuotaCounts(app)
  clock.advance(60_000 - (clock.now() % 60_000))
  assert.equal(await take(counts, provider, 40), null)
  assert.equal(await take(counts, provider, 1), clock.now() + 60_000)
  clock.advance(60_000)
  assert.equal(await take(counts, provider, 1), null)
  assert.equal(await take(counts, provider, 40), clock.now() + 60_000)
})

test('a cap is drawn evenly from its range for each window and account, and stays', () => {
  const counts = new QuotaCounts(app)
  const draw = (id: string) =>
    Array.from({ length: 5000 }, (_, hour) => counts.capOf(id, { min: 3, max: 7 }, 'hour', hour * 3_600_000))
  const caps = draw('dprov_x')
  assert.deepEqual(draw('dprov_x'), caps)
  assert.notDeepEqual(draw('dprov_y'), caps)
  for (const cap of [3, 4, 5, 6, 7]) {
    const share = caps.filter((one) => one === cap).length / caps.length
    assert.ok(Math.abs(share - 0.2) < 0.03, `${cap}: ${share}`)
  }
  assert.deepEqual(new Set(caps).size, 5)
})

test('an account without caps is not counted; one that ended leaves no counts for the next of its key', async () => {
  const counts = new QuotaCounts(app)
  assert.equal(counts.isFree(providerOf()), true)
  const provider = providerOf({ n: 102, quotas: { ...NO_QUOTAS, perDay: { min: 1, max: 1 } } })
  assert.equal(counts.isFree(provider), false)
  assert.equal(await take(counts, provider, 1), null)
  assert.notEqual(await take(counts, provider, 1), null)
  await app.db.write((tx) => forgetCounts(tx, 102))
  assert.equal(await take(counts, provider, 1), null)
})

test('the windows of an account show what is used now, and nothing of windows that have ended', async () => {
  const counts = new QuotaCounts(app)
  const quotas = { ...NO_QUOTAS, perMinute: { min: 5, max: 5 }, perDay: { min: 100, max: 100 } }
  const provider = providerOf({ n: 103, quotas })
  clock.advance(86_400_000 - (clock.now() % 86_400_000))
  const start = clock.now()
  assert.equal(await take(counts, provider, 3), null)
  const minute = { window: 'minute', most: 5 } as const
  const day = { window: 'day', used: 3, most: 100, endsAt: start + 86_400_000 } as const
  assert.deepEqual(counts.windows(app.db.read, provider), [{ ...minute, used: 3, endsAt: start + 60_000 }, day])
  clock.advance(60_000)
  assert.deepEqual(counts.windows(app.db.read, provider), [{ ...minute, used: 0, endsAt: start + 120_000 }, day])
  assert.deepEqual(counts.windows(app.db.read, providerOf()), [])
})
