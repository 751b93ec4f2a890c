// Random outcomes against a model of a delivery: whatever comes in whatever order, both end up in the same place.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Email, Outcome } from '../../../src/outbound/model/records.ts'
import { amount } from '../../support/amount.ts'
import { Random } from '../../support/random.ts'
import { openSendingAppliance, type SendingAppliance } from '../../support/sending-appliance.ts'

const MAILS = 60
const STEPS = amount(400, 1500)
const MINUTE = 60_000

let appliance: SendingAppliance
before(async () => {
  appliance = await openSendingAppliance()
})
after(() => appliance[Symbol.asyncDispose]())

/** A delivery as it is thought to stand. */
interface Model {
  status: string
  word: string | null
  attempts: number
  waits: boolean
  noticed: boolean
  stopped: boolean
  toldLateAt: number | null
  complaints: Set<string>
  events: string[]
}

function fail(model: Model, word: string, status: string, event: string | null, fromMailbox: boolean): void {
  Object.assign(model, { status, word, waits: false, noticed: fromMailbox && event !== null })
  if (event !== null) model.events.push(event)
}

/** What the table of docs/design/sending.md §7 does to the model. @returns whether it is a move at all */
function play(model: Model, outcome: Outcome, now: number, fromMailbox: boolean): boolean {
  if (outcome.kind === 'complained') {
    const report = `${outcome.feedbackType} ${outcome.occurredAt}`
    if (model.status !== 'sent' || model.complaints.has(report)) return false
    model.complaints.add(report)
    model.events.push('message.complained')
    if (outcome.feedbackType !== 'not_spam') Object.assign(model, { word: 'complained', stopped: true })
    return true
  }
  if (outcome.kind === 'bounced' && outcome.afterAccept) {
    const wasHandedOver = model.status === 'sent' || (model.status === 'pending' && model.attempts > 0)
    if (!wasHandedOver) return false
    fail(model, 'bounced_after_accept', 'failed', 'message.bounced', fromMailbox)
    if (outcome.type === 'permanent') model.stopped = true
    return true
  }
  if (model.status !== 'pending') return false
  switch (outcome.kind) {
    case 'sent':
      Object.assign(model, { status: 'sent', word: null, waits: false })
      model.events.push('message.delivered')
      break
    case 'deferred':
      model.word = 'deferred'
      if (outcome.nextAt > now + 5 * MINUTE && (model.toldLateAt === null || now >= model.toldLateAt + 60 * MINUTE)) {
        model.toldLateAt = now
        model.events.push('message.delivery_delayed')
      }
      break
    case 'bounced':
      fail(model, 'bounced', 'failed', 'message.bounced', fromMailbox)
      if (outcome.type === 'permanent') model.stopped = true
      break
    case 'expired':
      fail(model, 'expired', 'failed', 'message.bounced', fromMailbox)
      break
    case 'rejected':
      fail(model, outcome.reason, 'rejected', 'message.rejected', fromMailbox)
      break
    case 'cancelled':
      fail(model, 'cancelled', 'failed', null, fromMailbox)
  }
  return true
}

function anyOutcome(random: Random, now: number): Outcome {
  const dead = { smtpCode: 550, enhancedCode: '5.1.1', text: 'user unknown' }
  const bounce = { kind: 'bounced', reply: dead, subType: 'no_such_user', reportingMta: null, occurredAt: now } as const
  return random.pick<() => Outcome>([
    () => ({ kind: 'sent', reply: { smtpCode: 250, enhancedCode: null, text: 'Ok' }, confirmation: 'relay' }),
    () => ({
      kind: 'deferred',
      reply: { smtpCode: 451, enhancedCode: null, text: 'Later' },
      cause: 'greylisted',
      nextAt: now + random.below(12) * MINUTE,
    }),
    () => ({
      kind: 'deferred',
      reply: { smtpCode: null, enhancedCode: null, text: 'No answer' },
      cause: 'network',
      nextAt: now + random.below(12) * MINUTE,
    }),
    () => ({ ...bounce, afterAccept: false, type: random.pick(['permanent', 'transient'] as const) }),
    () => ({ ...bounce, afterAccept: true, type: random.pick(['permanent', 'undetermined'] as const) }),
    () => ({ kind: 'expired', reply: dead }),
    () => ({ kind: 'rejected', reason: random.pick(['policy', 'content_refused'] as const), detail: 'No.' }),
    () => ({ kind: 'cancelled' }),
    () => ({
      kind: 'complained',
      feedbackType: random.pick(['abuse', 'not_spam'] as const),
      userAgent: null,
      occurredAt: random.below(3) * MINUTE,
    }),
  ])()
}

async function compare(email: Email, models: readonly Model[]): Promise<void> {
  const states = await appliance.deliveries(email)
  const waiting = new Set(appliance.queue.ofEmail(appliance.app.db.read, email.n).map(({ delivery }) => delivery))
  const told = (await appliance.events()).filter(({ data }) => data.message_id === email.id)
  for (const [index, model] of models.entries()) {
    const state = states[index]!
    const stopped = appliance.suppressions.of(appliance.app.db.read, appliance.teamId, [state.to])
    assert.deepEqual(
      {
        status: state.status,
        word: state.statusReason?.split(':')[0] ?? null,
        attempts: state.attempts,
        waits: waiting.has(state.n),
        noticed: state.noticeDue,
        stopped: stopped.size === 1,
        events: told.filter(({ data }) => data.delivery_log_id === state.id).map(({ type }) => type),
      },
      {
        status: model.status,
        word: model.word,
        attempts: model.attempts,
        waits: model.waits,
        noticed: model.noticed,
        stopped: model.stopped,
        events: model.events,
      },
    )
  }
  const wanted = models.some(({ status, noticed }) => status === 'pending' || noticed)
  const known = appliance.emails.byId(email.id)!.hash !== null
  // Once let go, content does not come back: a report that comes later finds none.
  if (!wanted) assert.equal(known, false)
  if (models.some(({ status }) => status === 'pending')) assert.equal(known, true)
}

for (const seed of [1, 2, 3]) {
  test(`random outcomes, seed ${seed}`, async () => {
    const random = new Random(seed)
    const ana = await appliance.mailbox(`ana${seed}@shop.test`)
    const mails: { email: Email; ns: number[]; fromMailbox: boolean; models: Model[] }[] = []
    for (let mail = 0; mail < MAILS; mail++) {
      const to = Array.from({ length: 1 + random.below(3) }, (_, index) => `r${seed}-${mail}-${index}@customer.test`)
      const fromMailbox = random.chance(0.5)
      const email = await appliance.accepted(to, fromMailbox ? ana : undefined)
      const models = to.map(() => ({
        ...{ status: 'pending', word: null, attempts: 0, waits: true, noticed: false, stopped: false },
        ...{ toldLateAt: null, complaints: new Set<string>(), events: [] },
      }))
      mails.push({ email, ns: (await appliance.deliveries(email)).map(({ n }) => n), fromMailbox, models })
    }
    for (let step = 0; step < STEPS; step++) {
      const { ns, models, fromMailbox } = random.pick(mails)
      const which = random.below(ns.length)
      const [n, model] = [ns[which]!, models[which]!]
      if (random.chance(0.1)) appliance.clock.advance(random.below(40) * MINUTE)
      if (random.chance(0.3)) {
        await appliance.app.db.write((tx) =>
          appliance.emails.recordRoute(tx, [n], { carrier: null, reason: 'Its turn', attempts: 1 }),
        )
        model.attempts++
      } else {
        const now = appliance.clock.now()
        const outcome = anyOutcome(random, now)
        const expected = play(model, outcome, now, fromMailbox)
        const moved = await appliance.app.db.write((tx) => appliance.transitions.apply(tx, n, outcome, null))
        assert.equal(moved, expected, `${outcome.kind} in step ${step}`)
      }
    }
    for (const { email, models } of mails) await compare(email, models)
    const ends = new Set(mails.flatMap(({ models }) => models.map(({ status, word }) => `${status} ${word}`)))
    assert.ok(ends.size >= 8, `the outcomes reach enough ends: ${[...ends].join(', ')}`)
  })
}
