// The response stored in the unit of work it describes: whatever happens after the commit, the work is not done twice.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { Type } from 'typebox'
import { conflict } from '../../../src/base/errors.ts'
import { newId } from '../../../src/base/ids.ts'
import { LOCK_MS } from '../../../src/directory/names/replays.ts'
import { answer, type Route, route } from '../../../src/http/route.ts'
import { type HttpFixture, openHttpFixture, posted, type Reply } from './http-fixture.ts'

/** What stands between a handler and its unit of work. */
let gate: Promise<void> = Promise.resolve()
let arrived = 0
let last = 0
let fixture: HttpFixture

/** What a send route does: one row as the effect, the answer kept beside it. */
const things: Route = route({
  docs: {
    tag: 'Sample',
    summary: 'A sample.',
    operation: 'createEffect',
  },
  access: { as: 'team', permission: 'domain.create' },
  method: 'POST',
  path: '/effects',
  idempotent: true,
  reply: { status: 202, schema: Type.Object({ id: Type.String() }) },
  body: {
    schema: Type.Object({
      end: Type.Union(['answer', 'hang', 'fail', 'refuse', 'waver'].map((word) => Type.Literal(word))),
    }),
  },
  async handle({ body, app, request }) {
    const id = newId('team')
    const given = { data: { id }, headers: { Location: `/api/v1/effects/${id}` } }
    arrived++
    await gate
    await app.db.write((tx) => {
      if (body.end !== 'waver') tx.insert('teams', { id, name: 'effect', created_at: 1 })
      if (body.end !== 'waver') request.keep(tx, given)
      if (body.end === 'refuse') throw conflict('Not now.')
    })
    if (body.end === 'hang') await new Promise(() => {})
    if (body.end === 'fail') throw new Error('the lights went out')
    return answer(body.end === 'waver' ? { ...given, lasting: false } : given)
  },
})

before(async () => {
  fixture = await openHttpFixture([things], { env: { RATE_LIMIT_PER_MINUTE: '100000' } })
})
beforeEach(() => {
  gate = Promise.resolve()
})
after(() => fixture[Symbol.asyncDispose]())

const freshKey = () => `within-${++last}`
const post = (key: string, end: string, at: HttpFixture = fixture): Promise<Reply> =>
  at.call('/api/v1/effects', posted({ end }, { 'idempotency-key': key }))

function effects(): string[] {
  const rows = fixture.db.read.all<{ id: string }>('SELECT id FROM teams')
  return rows.map(({ id }) => id)
}

/** The effects that `work` leaves. */
async function added(work: () => Promise<unknown>): Promise<string[]> {
  const known = new Set(effects())
  await work()
  return effects().filter((id) => !known.has(id))
}

describe('an answer kept within', () => {
  test('is given again as it was, status and headers too', async () => {
    const key = freshKey()
    const first = await post(key, 'answer')
    const again = await post(key, 'answer')
    assert.deepEqual([first.status, again.status], [202, 202])
    assert.deepEqual(again.json.data, first.json.data)
    assert.equal(again.headers.get('location'), first.headers.get('location'))
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
  })

  test('fifty at once are one effect', async () => {
    const key = freshKey()
    const made = await added(async () => {
      const replies = await Promise.all(Array.from({ length: 50 }, () => post(key, 'answer')))
      assert.ok(replies.every(({ status }) => status === 202 || status === 409))
      const ids = replies.filter(({ status }) => status === 202).map(({ json }) => json.data.id)
      assert.equal(new Set(ids).size, 1)
    })
    assert.equal(made.length, 1)
  })

  test('is there when the process that worked never came to answer', async () => {
    const key = freshKey()
    const leaving = new AbortController()
    const made = await added(async () => {
      const hanging = fixture
        .call('/api/v1/effects', { ...posted({ end: 'hang' }, { 'idempotency-key': key }), signal: leaving.signal })
        .catch(() => null)
      const before = effects().length
      while (effects().length === before) await new Promise(setImmediate)
      const restarted = await openHttpFixture([things], { folder: fixture.folder, clock: fixture.clock })
      const again = await post(key, 'hang', restarted)
      assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [202, 'true'])
      await restarted.stop()
      leaving.abort()
      await hanging
    })
    assert.equal(made.length, 1)
  })

  test('stays when what follows the commit fails', async () => {
    const key = freshKey()
    const made = await added(async () => {
      assert.equal((await post(key, 'fail')).status, 500)
      assert.equal((await post(key, 'fail')).status, 202)
    })
    assert.equal(made.length, 1)
  })
})

describe('an answer that is not', () => {
  test('goes with a unit of work that fails', async () => {
    const key = freshKey()
    const made = await added(async () => {
      assert.equal((await post(key, 'refuse')).status, 409)
      assert.equal((await post(key, 'answer')).status, 202)
    })
    assert.equal(made.length, 1)
  })

  test('is computed again when a retry may improve it', async () => {
    const key = freshKey()
    assert.equal((await post(key, 'waver')).status, 202)
    const again = await post(key, 'waver')
    assert.deepEqual([again.status, again.headers.has('idempotent-replayed')], [202, false])
  })

  test('is the late one of two: its work is undone, and it hears why', async () => {
    const key = freshKey()
    const late = Promise.withResolvers<void>()
    const made = await added(async () => {
      gate = late.promise
      const before = arrived
      const first = post(key, 'answer')
      while (arrived === before) await new Promise(setImmediate)
      gate = Promise.resolve()
      fixture.clock.advance(LOCK_MS + 1)
      const second = await post(key, 'answer')
      assert.equal(second.status, 202)
      late.resolve()
      const { status, json } = await first
      assert.deepEqual([status, json.error.code, json.error.param], [409, 'idempotency_conflict', 'Idempotency-Key'])
    })
    assert.equal(made.length, 1)
  })
})
