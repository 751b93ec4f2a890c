// Tags, conditions and ranges (docs/design/http.md §7, docs/design/mailbox.md §10, docs/design/http.md §12).

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { etagOf, strongEtag } from '../../../src/http/etag.ts'
import { byteRangeOf } from '../../../src/http/ranges.ts'
import { type HttpFixture, openHttpFixture, posted } from './http-fixture.ts'
import { type Memory, memory, samples } from './samples.ts'

const OFF = 'W/"66hkeTfS48PO1T1MAZMrb2qeoCa"'
const matching = (tag: string | undefined): Record<string, string> => (tag === undefined ? {} : { 'if-match': tag })
let kept: Memory
let fixture: HttpFixture
before(async () => {
  kept = memory()
  fixture = await openHttpFixture(samples(kept))
})
beforeEach(() => {
  kept.filter = { mode: 'off', rules: [] }
})
after(() => fixture[Symbol.asyncDispose]())

describe('tags', () => {
  test('the vectors of docs/design/http.md §12', () => {
    assert.equal(etagOf({ mode: 'off', rules: [] }), OFF)
    assert.equal(
      etagOf({ mode: 'denylist', rules: [{ type: 'deny', pattern: '@spam.example' }] }),
      'W/"yL-TSjpHwQI9ZioyQaOKCQWYj3h"',
    )
  })

  test('do not depend on the order of members, but on that of lists', () => {
    assert.equal(etagOf({ b: [{ z: 1, a: 2 }], a: null }), etagOf({ a: null, b: [{ a: 2, z: 1 }] }))
    assert.notEqual(etagOf([1, 2]), etagOf([2, 1]))
  })

  test('of what is frozen are computed once, and are the same', () => {
    const document = { b: 1, a: [1] }
    const frozen = Object.freeze({ ...document })
    assert.deepEqual([etagOf(frozen), etagOf(frozen)], [etagOf(document), etagOf(document)])
  })

  test('of bytes are strong', () => {
    assert.match(strongEtag(Buffer.alloc(32, 9)), /^"[\w-]{27}"$/)
  })
})

describe('If-None-Match', () => {
  const cases: [header: string, status: number][] = [
    [OFF, 304],
    [OFF.slice(2), 304],
    ['*', 304],
    [`"x", ${OFF}, "y"`, 304],
    [`W/"x",${OFF}`, 304],
    ['"66hkeTfS48PO1T1MAZMrb2qeoCb"', 200],
    [OFF.slice(3, -1), 200],
    ['', 200],
    [',,', 200],
    ['"unclosed', 200],
  ]
  for (const [header, status] of cases) {
    test(`${header || '(empty)'} is ${status}`, async () => {
      const reply = await fixture.call('/api/v1/filter', { headers: { 'if-none-match': header } })
      assert.equal(reply.status, status)
      assert.equal(reply.headers.get('etag'), OFF)
      if (status === 304) {
        assert.equal(reply.text, '')
        assert.equal(reply.headers.has('content-type'), false)
      }
    })
  }

  test('HEAD is answered alike; a write is not', async () => {
    const head = await fixture.call('/api/v1/filter', { method: 'HEAD', headers: { 'if-none-match': OFF } })
    assert.equal(head.status, 304)
    const put = await fixture.call('/api/v1/filter', {
      ...posted({ mode: 'off', rules: [] }, { 'if-none-match': OFF }),
      method: 'PUT',
    })
    assert.equal(put.status, 200)
  })
})

describe('If-Match', () => {
  const put = (body: unknown, tag?: string) =>
    fixture.call('/api/v1/filter', { ...posted(body, matching(tag)), method: 'PUT' })
  const body = { mode: 'allowlist', rules: ['a'] }

  test('lets a write pass without a write in between', async () => {
    for (const tag of [undefined, '*', OFF, OFF.slice(2), `"x", ${OFF}`]) {
      kept.filter = { mode: 'off', rules: [] }
      const reply = await put(body, tag)
      assert.equal(reply.status, 200, String(tag))
      assert.equal(reply.headers.get('etag'), etagOf(body), 'the new tag saves a GET')
    }
  })

  test('is a conflict otherwise, and nothing is written', async () => {
    for (const tag of ['"x"', etagOf(body), 'nonsense', '']) {
      const reply = await put(body, tag)
      assert.equal(reply.status, 409, tag)
      assert.deepEqual([reply.json.error.code, reply.json.error.param], ['conflict', 'If-Match'])
      assert.equal(reply.json.error.message, 'Resource changed since it was read.')
      assert.deepEqual(kept.filter, { mode: 'off', rules: [] })
    }
  })

  test('lets exactly one of fifty parallel writes win', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => put({ mode: 'allowlist', rules: [`r${n}`] }, OFF)),
    )
    assert.equal(replies.filter((reply) => reply.status === 200).length, 1)
    assert.equal(replies.filter((reply) => reply.status === 409).length, 49)
    assert.deepEqual(replies.find((reply) => reply.status === 200)?.json.data, kept.filter)
  })
})

describe('ranges', () => {
  const cases: [range: string, status: number, text: string, contentRange: string | null][] = [
    ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=8-', 206, '89', 'bytes 8-9/10'],
    ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['Bytes=1-1', 206, '1', 'bytes 1-1/10'],
    ['bytes=0-1,3-4', 200, '0123456789', null],
    ['bytes=4-2', 200, '0123456789', null],
    ['bytes=-', 200, '0123456789', null],
    ['bytes=a-b', 200, '0123456789', null],
    ['lines=0-1', 200, '0123456789', null],
    ['bytes=99999999999999999999-', 200, '0123456789', null],
  ]
  for (const [range, status, text, contentRange] of cases) {
    test(`${range} is ${status}`, async () => {
      const reply = await fixture.call('/api/v1/content', { headers: { range } })
      assert.deepEqual([reply.status, reply.text, reply.headers.get('content-range')], [status, text, contentRange])
      assert.equal(reply.headers.get('content-length'), String(text.length))
      assert.equal(reply.headers.get('content-type'), 'application/pdf')
      assert.equal(reply.headers.get('accept-ranges'), 'bytes')
      assert.equal(reply.headers.get('etag'), '"content"')
    })
  }

  test('outside the content is 416 with the size', async () => {
    for (const range of ['bytes=10-', 'bytes=10-12', 'bytes=-0']) {
      const reply = await fixture.call('/api/v1/content', { headers: { range } })
      assert.equal(reply.status, 416, range)
      assert.equal(reply.json.error.code, 'range_not_satisfiable')
      assert.equal(reply.headers.get('content-range'), 'bytes */10')
    }
    assert.equal(byteRangeOf('bytes=0-', undefined, 0, '"x"'), 'unsatisfiable')
  })

  test('If-Range is compared strongly', async () => {
    const cases: [ifRange: string, status: number][] = [
      ['"content"', 206],
      ['W/"content"', 200],
      ['"other"', 200],
      ['Wed, 21 Oct 2026 07:28:00 GMT', 200],
    ]
    for (const [ifRange, status] of cases) {
      const reply = await fixture.call('/api/v1/content', { headers: { range: 'bytes=0-1', 'if-range': ifRange } })
      assert.equal(reply.status, status, ifRange)
    }
  })

  test('bytes with a weak tag have none', async () => {
    const reply = await fixture.call('/api/v1/content?weak=true', { headers: { range: 'bytes=0-1' } })
    assert.deepEqual([reply.status, reply.text, reply.headers.has('accept-ranges')], [200, '0123456789', false])
  })

  test('an unchanged content is 304 before any range; HEAD knows no ranges', async () => {
    const headers = { range: 'bytes=0-1', 'if-none-match': '"content"' }
    assert.equal((await fixture.call('/api/v1/content', { headers })).status, 304)
    const head = await fixture.call('/api/v1/content', { method: 'HEAD', headers: { range: 'bytes=0-1' } })
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, '10'])
  })
})
