// One Idempotency-Key, one execution (docs/design/http.md §8).

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { KEEP_MS, LOCK_MS, Replays } from '../../../src/directory/names/replays.ts'
import { type HttpFixture, openHttpFixture, posted, type Reply } from './http-fixture.ts'
import { type Memory, memory, samples } from './samples.ts'

let kept: Memory
let fixture: HttpFixture
let last = 0
before(async () => {
  kept = memory()
  fixture = await openHttpFixture(samples(kept), { env: { RATE_LIMIT_PER_MINUTE: '100000' } })
})
beforeEach(() => {
  kept.made = 0
  kept.gate = Promise.resolve()
})
after(() => fixture[Symbol.asyncDispose]())

const freshKey = () => `key-${++last}`
const make = (key: string, body: unknown = { name: 'abc' }, who = 'root', path = '/api/v1/things') =>
  fixture.call(path, { ...posted(body, { 'idempotency-key': key }), key: who })
const codeOf = (reply: Reply) => [reply.status, reply.json.error?.code, reply.headers.get('retry-after')]

describe('the same key', () => {
  test('gives the first answer again, under a fresh request id', async () => {
    const key = freshKey()
    const first = await make(key)
    const again = await make(key)
    assert.deepEqual([first.status, again.status, kept.made], [201, 201, 1])
    assert.deepEqual(again.json.data, first.json.data)
    assert.equal(again.headers.get('location'), first.headers.get('location'))
    assert.notEqual(again.json.meta.request_id, first.json.meta.request_id)
    assert.equal(first.headers.has('idempotent-replayed'), false)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
  })

  test('with the members in another order, or a default spelled out, is the same request', async () => {
    const key = freshKey()
    await make(key, '{"name":"abc","size":3}')
    assert.equal((await make(key, '{ "size": 3, "level": 3, "name": "abc" }')).status, 201)
    assert.equal(kept.made, 1)
  })

  test('with another body is a conflict for good', async () => {
    const key = freshKey()
    await make(key)
    const other = await make(key, { name: 'other' })
    assert.deepEqual(codeOf(other), [409, 'idempotency_conflict', null])
    assert.match(other.json.error.message, /used with a different body/)
    assert.equal(other.json.error.retryable, false)
  })

  test('of another team, mailbox or route is another key', async () => {
    const key = freshKey()
    await make(key)
    assert.equal((await make(key, { name: 'other' }, 'other')).status, 201)
    assert.equal((await make(key, {}, 'root', '/api/v1/secrets')).status, 200)
    assert.equal(kept.made, 3)
  })

  test('of another credential of the same team is the same key', async () => {
    const key = freshKey()
    await make(key)
    assert.equal((await make(key, { name: 'abc' }, 'reader')).status, 403, 'permission comes first')
    assert.equal(kept.made, 1)
  })
})

describe('while the first is under way', () => {
  test('the same request gets idempotency_conflict', async () => {
    const key = freshKey()
    const gate = Promise.withResolvers<void>()
    kept.gate = gate.promise
    const first = make(key)
    while (kept.made === 0) await new Promise(setImmediate)
    const second = await make(key)
    assert.deepEqual(codeOf(second), [409, 'idempotency_conflict', '1'])
    assert.match(second.json.error.message, /still being processed/)
    assert.deepEqual(codeOf(await make(key, { name: 'other' })), [409, 'idempotency_conflict', null])
    gate.resolve()
    assert.equal((await first).status, 201)
    assert.equal((await make(key)).status, 201)
    assert.equal(kept.made, 1)
  })

  test('fifty at once are one execution and 49 conflicts', async () => {
    const key = freshKey()
    const gate = Promise.withResolvers<void>()
    kept.gate = gate.promise
    const all = Array.from({ length: 50 }, () => make(key))
    const waiting = await Promise.all(
      // Forty-nine end before the gate opens; the one that works is the fiftieth.
      await firstOf(all, 49),
    )
    assert.ok(waiting.every((reply) => reply.status === 409 && reply.headers.get('retry-after') === '1'))
    gate.resolve()
    const replies = await Promise.all(all)
    assert.equal(replies.filter((reply) => reply.status === 201).length, 1)
    assert.equal(kept.made, 1)
  })
})

describe('what is kept', () => {
  test('an error gives the key back', async () => {
    const key = freshKey()
    assert.equal((await make(key, { name: 'taken' })).status, 409)
    assert.equal((await make(key, { name: 'bad' })).status, 422)
    assert.equal((await make(key, { name: 'a' })).status, 422)
    assert.equal((await make(key, { name: 'good' })).status, 201)
  })

  test('a day, not longer', async () => {
    const key = freshKey()
    await make(key)
    fixture.clock.advance(KEEP_MS - 1000)
    assert.equal((await make(key)).headers.get('idempotent-replayed'), 'true')
    fixture.clock.advance(2000)
    assert.equal((await make(key)).headers.has('idempotent-replayed'), false)
    assert.equal(kept.made, 2)
  })

  test('secrets are sealed under the key, which is itself not kept', async () => {
    const key = `a-very-particular-${freshKey()}`
    const first = await make(key, {}, 'root', '/api/v1/secrets')
    const again = await make(key, {}, 'root', '/api/v1/secrets')
    assert.equal(first.json.data.key, 'open-sesame-1')
    assert.deepEqual(again.json.data, first.json.data)
    const rows = fixture.db.read.all<{ scope: string; body: Uint8Array | null }>('SELECT scope, body FROM replays')
    assert.ok(rows.length > 0)
    for (const row of rows) {
      assert.doesNotMatch(Buffer.from(row.body ?? []).toString('latin1'), /open-sesame/)
      assert.doesNotMatch(row.scope, /particular/)
    }
  })
})

describe('the key itself', () => {
  test('is 1 to 255 visible ASCII characters', async () => {
    const cases: [key: string, status: number][] = [
      ['x', 201],
      ['~!"$%&/()=?', 201],
      ['x'.repeat(255), 201],
      ['x'.repeat(256), 400],
      ['', 400],
      ['a b', 400],
      ['a\tb', 400],
      [Buffer.from('ä').toString('latin1'), 400],
    ]
    for (const [key, status] of cases) {
      const reply = await make(key)
      assert.equal(reply.status, status, key)
      if (status === 400)
        assert.deepEqual([reply.json.error.code, reply.json.error.param], ['invalid_parameter', 'Idempotency-Key'])
    }
  })

  test('means nothing where nothing is created', async () => {
    const reply = await fixture.call('/api/v1/filter', { headers: { 'idempotency-key': 'a b' } })
    assert.equal(reply.status, 200)
  })
})

describe('claims in the database', () => {
  const print = (text: string) => Buffer.from(text)

  test('a lock whose holder vanished runs out, and the late holder changes nothing', async () => {
    const replays = new Replays(fixture.db, fixture.clock)
    const first = await replays.claim('lost', print('a'))
    assert.ok(first.kind === 'claimed')
    assert.equal((await replays.claim('lost', print('a'))).kind, 'running')
    assert.equal((await replays.claim('lost', print('b'))).kind, 'other')
    fixture.clock.advance(LOCK_MS + 1)
    const second = await replays.claim('lost', print('b'))
    assert.ok(second.kind === 'claimed')
    await replays.keep('lost', first.lock, 201, print('first'))
    await replays.release('lost', first.lock)
    assert.equal((await replays.claim('lost', print('b'))).kind, 'running')
    await replays.keep('lost', second.lock, 201, print('second'))
    const done = await replays.claim('lost', print('b'))
    assert.ok(done.kind === 'done')
    assert.deepEqual([done.status, Buffer.from(done.body).toString()], [201, 'second'])
  })

  test('what ran out is swept away', async () => {
    const replays = new Replays(fixture.db, fixture.clock)
    await replays.claim('old', print('a'))
    fixture.clock.advance(KEEP_MS * 2)
    await replays.claim('new', print('a'))
    const rows = fixture.db.read.all<{ scope: string }>('SELECT scope FROM replays')
    assert.deepEqual(
      rows.map((row) => row.scope),
      ['new'],
    )
  })
})

/** The first `count` promises that settle. */
function firstOf<T>(promises: Promise<T>[], count: number): Promise<Promise<T>[]> {
  return new Promise((resolve) => {
    const settled: Promise<T>[] = []
    for (const promise of promises) {
      void promise.finally(() => {
        settled.push(promise)
        if (settled.length === count) resolve(settled)
      })
    }
  })
}
