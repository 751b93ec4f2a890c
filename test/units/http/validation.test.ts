// What is wrong with a request, and how it is reported (docs/design/http.md §4).

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Type } from 'typebox'
import { JSON_DEPTH_MAX } from '../../../src/http/json.ts'
import { prepareRoute } from '../../../src/http/prepared-route.ts'
import { route } from '../../../src/http/route.ts'
import { parseTime } from '../../../src/http/schema.ts'
import { closed, compileCheck, LIST_MAX } from '../../../src/http/validate.ts'
import { type HttpFixture, openHttpFixture, posted } from './http-fixture.ts'
import { type Memory, memory, samples } from './samples.ts'

const ID = `mdom_${'x'.repeat(24)}`
let kept: Memory
let fixture: HttpFixture
before(async () => {
  kept = memory()
  fixture = await openHttpFixture(samples(kept))
})
after(() => fixture[Symbol.asyncDispose]())

type Told = [field: string, code: string][]

describe('bodies against their schema', () => {
  const name = 'abc'
  const cases: [what: string, body: unknown, status: number, code: string, told: Told][] = [
    ['a member missing', {}, 400, 'missing_parameter', [['name', 'required']]],
    ['a member missing inside', { name, inner: {} }, 400, 'missing_parameter', [['inner.deep', 'required']]],
    [
      'one missing, one wrong',
      { size: 0 },
      422,
      'validation_error',
      [
        ['name', 'required'],
        ['size', 'too_small'],
      ],
    ],
    ['a wrong type', { name: 7 }, 422, 'validation_error', [['name', 'invalid_type']]],
    ['a number as a text', { name, size: '3' }, 422, 'validation_error', [['size', 'invalid_type']]],
    ['no integer', { name, size: 1.5 }, 422, 'validation_error', [['size', 'invalid_type']]],
    ['null', { name: null }, 422, 'validation_error', [['name', 'invalid_type']]],
    ['too short', { name: 'a' }, 422, 'validation_error', [['name', 'too_small']]],
    ['too long', { name: 'a'.repeat(11) }, 422, 'validation_error', [['name', 'too_big']]],
    ['too small', { name, size: 0 }, 422, 'validation_error', [['size', 'too_small']]],
    ['too big', { name, size: 10 }, 422, 'validation_error', [['size', 'too_big']]],
    ['another word', { name, kind: 'z' }, 422, 'validation_error', [['kind', 'invalid_enum']]],
    ['a broken pattern', { name: 'ab!' }, 422, 'validation_error', [['name', 'invalid_format']]],
    ['a broken format', { name, at: 'today' }, 422, 'validation_error', [['at', 'invalid_format']]],
    ['an unknown member', { name, more: 1 }, 422, 'validation_error', [['more', 'unknown_field']]],
    [
      'an unknown member inside',
      { name, inner: { deep: 1, x: 1 } },
      422,
      'validation_error',
      [['inner.x', 'unknown_field']],
    ],
    ['too many items', { name, tags: ['a', 'b', 'c', 'd'] }, 422, 'validation_error', [['tags', 'too_big']]],
    ['an item of another type', { name, tags: ['a', 1] }, 422, 'validation_error', [['tags.1', 'invalid_type']]],
    ['an item twice', { name, tags: ['a', 'a'] }, 422, 'validation_error', [['tags', 'duplicate']]],
    ['no branch of a union', { name, scope: { type: 'none' } }, 422, 'validation_error', [['scope', 'invalid_union']]],
    [
      'a member of the other branch',
      { name, scope: { type: 'all', ids: [] } },
      422,
      'validation_error',
      [['scope', 'invalid_union']],
    ],
    ['too long where null is allowed', { name, note: 'long' }, 422, 'validation_error', [['note', 'too_big']]],
    [
      'a prototype as a member',
      '{"name":"abc","__proto__":{"x":1}}',
      422,
      'validation_error',
      [['__proto__', 'unknown_field']],
    ],
    [
      'a constructor as a member',
      '{"name":"abc","constructor":1}',
      422,
      'validation_error',
      [['constructor', 'unknown_field']],
    ],
    ['a rule of the product', { name: 'bad' }, 422, 'validation_error', [['name', 'forbidden_value']]],
    ['everything right', { name, note: null, at: '2026-01-01', scope: { type: 'all' } }, 201, '', []],
  ]
  for (const [what, body, status, code, told] of cases) {
    test(what, async () => {
      const { status: got, json } = await fixture.call('/api/v1/things', posted(body))
      assert.equal(got, status, JSON.stringify(json))
      if (status === 201) return
      assert.equal(json.error.code, code)
      assert.deepEqual(
        json.error.errors.map((issue: { field: string; code: string }) => [issue.field, issue.code]),
        told,
      )
      assert.equal(json.error.param, told[0]?.[0])
      assert.equal(json.error.message, json.error.errors[0].message)
      assert.equal(json.error.retryable, false)
    })
  }

  test('members left out get their default', async () => {
    assert.equal((await fixture.call('/api/v1/things', posted({ name: 'abc' }))).json.data.level, 3)
    assert.equal((await fixture.call('/api/v1/things', posted({ name: 'abc', level: 7 }))).json.data.level, 7)
  })

  test('at most 50 entries, whatever is sent', async () => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`k${n}`, n]))
    const { json } = await fixture.call('/api/v1/things', posted({ ...many, name: 'abc' }))
    assert.equal(json.error.errors.length, 50)
    assert.ok(json.error.errors.every((issue: { code: string }) => issue.code === 'unknown_field'))
  })

  test('a name of a megabyte does not come back', async () => {
    const { status, text } = await fixture.call('/api/v1/things', posted({ name: 'abc', ['x'.repeat(1_000_000)]: 1 }))
    assert.equal(status, 422)
    assert.ok(text.length < 2_000)
  })

  test('a list of half a million repeated items is reported like a short one', async () => {
    const { status, json } = await fixture.call(
      '/api/v1/things',
      posted(`{"name":"abc","tags":[${'0,'.repeat(500_000)}0]}`),
    )
    assert.equal(status, 422)
    assert.equal(json.error.errors.length, 50)
  })
})

describe('bodies as JSON', () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
  const cases: [what: string, body: string | Uint8Array, words: RegExp][] = [
    ['broken', '{"name":', /not valid JSON/],
    ['two values', '{} {}', /not valid JSON/],
    ['a comment', '{/**/}', /not valid JSON/],
    ['NaN', '{"name":NaN}', /not valid JSON/],
    ['a list', '[]', /not a JSON object/],
    ['a text', '"x"', /not a JSON object/],
    ['null', 'null', /not a JSON object/],
    ['only space', '  ', /not valid JSON/],
    ['a byte-order mark', Buffer.from('\ufeff{"name":"abc"}'), /byte-order mark/],
    ['UTF-16', Buffer.from('\ufeff{"name":"abc"}', 'utf16le'), /not valid UTF-8/],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /not valid UTF-8/],
    ['an encoded surrogate', Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1'), /not valid UTF-8/],
    ['half a pair', '{"name":"a\\ud800b"}', /half a surrogate pair/],
    ['half a pair in a name', '{"\\udc00":1}', /half a surrogate pair/],
    ['half a pair deep inside', '{"inner":{"tags":["\\uD83D"]}}', /half a surrogate pair/],
    ['a member twice', '{"name":"abc","name":"abd"}', /names a member twice/],
    ['a member twice, once escaped', '{"name":"abc","n\\u0061me":"abd"}', /names a member twice/],
    ['a member twice inside', '{"name":"abc","inner":{"deep":1,"deep":2}}', /names a member twice/],
    ['too many members', `{${Array.from({ length: 1001 }, (_, n) => `"k${n}":1`).join()}}`, /more than 1000 members/],
    ['too many objects', `{"a":[${'{},'.repeat(20_000)}{}]}`, /more than 20000 objects and lists/],
    ['33 levels', nested(JSON_DEPTH_MAX + 1), /more than 32 levels/],
    ['100,000 lists', '['.repeat(100_000), /more than 32 levels/],
    ['100,000 objects', nested(100_000), /more than 32 levels/],
  ]
  for (const [what, body, words] of cases) {
    test(`${what} is 400`, async () => {
      const { status, json } = await fixture.call('/api/v1/things', posted(body))
      assert.equal(status, 400)
      assert.equal(json.error.code, 'invalid_parameter')
      assert.equal(json.error.param, 'body')
      assert.match(json.error.message, words)
    })
  }

  test('what only looks like that is let through to the schema', async () => {
    for (const body of [
      nested(JSON_DEPTH_MAX),
      '{"name":"\\ud83d\\ude00"}',
      '{"name":"{\\"name\\":1,\\"name\\":2}"}',
      '{"name":"abc","inner":{"name":1}}',
      '{"name":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}',
      '{"tags":["name","name"]}',
    ]) {
      assert.notEqual((await fixture.call('/api/v1/things', posted(body))).json.error?.code, 'invalid_parameter', body)
    }
  })

  test('an empty body is for actions; elsewhere its members are missing', async () => {
    const create = await fixture.call('/api/v1/things', { method: 'POST' })
    assert.deepEqual(
      [create.status, create.json.error.code, create.json.error.param],
      [400, 'missing_parameter', 'name'],
    )
    const patch = await fixture.call(`/api/v1/things/${ID}`, { method: 'PATCH' })
    assert.deepEqual([patch.status, patch.json.error.code, patch.json.error.param], [400, 'missing_parameter', 'body'])
    assert.equal((await fixture.call('/api/v1/secrets', { method: 'POST' })).status, 200)
    assert.equal((await fixture.call('/api/v1/secrets', posted({}))).status, 200)
    assert.equal((await fixture.call('/api/v1/secrets', posted({ x: 1 }))).status, 422)
    assert.equal((await fixture.call(`/api/v1/things/${ID}`, { method: 'DELETE', body: 'whatever' })).status, 200)
  })
})

describe('queries', () => {
  const wrong: [query: string, param: string, code?: string][] = [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=%201', 'limit'],
    ['limit=abc', 'limit'],
    ['limit=99999999999999999999', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['status=other', 'status'],
    ['status=', 'status'],
    ['min=-1', 'min'],
    ['since=yesterday', 'since'],
    ['since=2026-02-30', 'since'],
    ['since=2026-01-01T00:00:00', 'since'],
    ['open=yes', 'open'],
    ['open=1', 'open'],
    ['include=a,c', 'include.1'],
    ['include=a,b,a', 'include'],
    ['cursor=', 'cursor'],
    ['status=%ff', 'status'],
  ]
  for (const [query, param] of wrong) {
    test(`${query} is 400`, async () => {
      const { status, json } = await fixture.call(`/api/v1/things?${query}`)
      assert.deepEqual([status, json.error.code, json.error.param], [400, 'invalid_parameter', param])
    })
  }

  test('values are what the schema says', async () => {
    const query = 'limit=3&status=new&min=7&open=false&since=2026-01-01T10:00:00%2B02:00&include=a&include=b'
    assert.equal((await fixture.call(`/api/v1/things?${query}`)).status, 200)
    assert.deepEqual(kept.seen, {
      limit: 3,
      status: 'new',
      min: 7,
      since: '2026-01-01T10:00:00+02:00',
      open: false,
      include: ['a', 'b'],
      sort: 'desc',
    })
    await fixture.call('/api/v1/things?include=a,b&sort=asc')
    assert.deepEqual(kept.seen, { limit: 2, include: ['a', 'b'], sort: 'asc' })
  })

  test('unknown parameters are rejected, also strange ones', async () => {
    for (const query of ['nothing=1', '__proto__=1', 'constructor', '%zz=%zz', '=', 'a=%ff', '?']) {
      const { status, json } = await fixture.call(`/api/v1/things?limit=1&${query}`)
      assert.equal(status, 422, query)
      const field = query === '?' ? '?' : query.replace(/=.*/, '')
      assert.deepEqual([json.error.code, json.error.param], ['validation_error', field])
    }
    assert.equal((await fixture.call('/api/v1/things?&&&')).status, 200)
  })

  test('the nearest parameter is named, or all of them', async () => {
    const messageOf = async (query: string) => (await fixture.call(`/api/v1/things?${query}`)).json.error.message
    assert.equal(await messageOf('limti=1'), 'Unknown parameter `limti`. Did you mean `limit`?')
    assert.equal(await messageOf('statsu=new&limit=x'), 'Unknown parameter `statsu`. Did you mean `status`?')
    assert.equal(await messageOf('page=2'), 'Unknown parameter `page`. Did you mean `cursor`?')
    assert.equal(await messageOf('order=desc'), 'Unknown parameter `order`. Did you mean `sort`?')
    assert.match(await messageOf('x=1'), /^Unknown parameter `x`\. This path takes `limit`, `cursor`, `status`, /)
  })
})

describe('times', () => {
  test('RFC 3339 with any offset, or a date', () => {
    const cases: [text: string, time: string][] = [
      ['2026-03-01', '2026-03-01T00:00:00.000Z'],
      ['2024-02-29', '2024-02-29T00:00:00.000Z'],
      ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00.000Z'],
      ['2026-03-01t10:00:00z', '2026-03-01T10:00:00.000Z'],
      ['2026-03-01T10:00:00.123456Z', '2026-03-01T10:00:00.123Z'],
      ['2026-03-01T00:30:00+05:30', '2026-02-28T19:00:00.000Z'],
    ]
    for (const [text, time] of cases) assert.equal(new Date(parseTime(text)).toISOString(), time)
  })

  test('a date alone may mean the end of its day, a time never', () => {
    assert.equal(parseTime('2026-03-01', { endOfDay: true }), Date.UTC(2026, 2, 2))
    assert.equal(parseTime('2026-03-01T00:00:00Z', { endOfDay: true }), Date.UTC(2026, 2, 1))
  })

  test('anything else is refused', () => {
    for (const text of [
      '',
      '2026',
      '2026-02-30',
      '2023-02-29',
      '2026-13-01',
      '2026-01-01T24:00:00Z',
      '2026-01-01 10:00:00Z',
    ]) {
      assert.throws(() => parseTime(text, { param: 'after' }), { code: 'invalid_parameter', param: 'after' }, text)
    }
  })
})

describe('schemas', () => {
  test('every object is closed, at every depth, and intersections as a whole', () => {
    const part = Type.Object({ a: Type.String() })
    const check = compileCheck(closed(Type.Object({ both: Type.Intersect([part, Type.Object({ b: Type.String() })]) })))
    assert.deepEqual(check.issues({ both: { a: '', b: '' } }), [])
    assert.deepEqual(
      check.issues({ both: { a: '', b: '', c: '' } }).map(({ field, code }) => [field, code]),
      [['both.c', 'unknown_field']],
    )
    assert.equal('additionalProperties' in part, false, 'the schema itself is left as it was')
  })

  test('refinements survive and say their own words', () => {
    const Even = Type.Refine(
      Type.Integer(),
      (n) => n % 2 === 0,
      () => 'must be even',
    )
    const check = compileCheck(closed(Type.Object({ n: Even })))
    assert.deepEqual(check.issues({ n: 3 }), [{ field: 'n', code: 'invalid_format', message: 'n must be even.' }])
  })

  test('a body with a list that has no bound, and a list without a page, are found at start', () => {
    const base = {
      docs: {
        tag: 't',
        summary: 's',
      },
      access: { as: 'team' },
      reply: { schema: Type.Null() },
      handle: async () => null,
    } as const
    const body = Type.Object({ list: Type.Array(Type.String(), { maxItems: LIST_MAX + 1 }) })
    assert.throws(
      () =>
        prepareRoute(
          route({
            ...base,
            method: 'POST',
            path: '/x',
            docs: {
              ...base.docs,
              operation: 'makeX',
            },
            body: { schema: body },
          }),
        ),
      /body of makeX has a list without a bound at \/properties\/list/,
    )
    assert.throws(
      () =>
        prepareRoute(
          route({
            ...base,
            method: 'GET',
            path: '/x',
            docs: {
              ...base.docs,
              operation: 'listX',
            },
            reply: { ...base.reply, list: { limit: 5 } },
          }),
        ),
      /listX is a list without limit and cursor/,
    )
  })
})
