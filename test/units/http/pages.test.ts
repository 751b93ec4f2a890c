// Paged lists and their cursors (docs/design/http.md §6).

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Vault } from '../../../src/base/secrets.ts'
import { cursorScope, decodeCursor, encodeCursor } from '../../../src/http/cursor.ts'
import { type HttpFixture, openHttpFixture } from './http-fixture.ts'
import { memory, samples } from './samples.ts'

let fixture: HttpFixture
before(async () => {
  fixture = await openHttpFixture(samples(memory()))
})
after(() => fixture[Symbol.asyncDispose]())

async function cursorOf(query: string, key = 'root'): Promise<string> {
  return (await fixture.call(`/api/v1/things?${query}`, { key })).json.pagination.next_cursor
}

describe('pages', () => {
  test('follow one another to the end', async () => {
    const seen: number[] = []
    let query = ''
    for (;;) {
      const { json } = await fixture.call(`/api/v1/things?${query}`)
      seen.push(...json.data.map((item: { n: number }) => item.n))
      assert.equal(json.meta.state, 'm1')
      if (!json.pagination.has_more) {
        assert.deepEqual(json.pagination, { has_more: false })
        break
      }
      query = `cursor=${json.pagination.next_cursor}`
    }
    assert.deepEqual(seen, [1, 2, 3, 4, 5])
  })

  test('may change in size on the way', async () => {
    const cursor = await cursorOf('limit=1')
    const { json } = await fixture.call(`/api/v1/things?limit=100&cursor=${cursor}`)
    assert.deepEqual(
      json.data.map((item: { n: number }) => item.n),
      [2, 3, 4, 5],
    )
  })

  test('lists carry no ETag', async () => {
    assert.equal((await fixture.call('/api/v1/things')).headers.has('etag'), false)
  })
})

describe('a cursor', () => {
  test('has the form of docs/design/http.md §6', async () => {
    const cursor = await cursorOf('status=new')
    assert.match(cursor, /^[\w-]+\.[\w-]{16}$/)
    const value = JSON.parse(Buffer.from(cursor.split('.')[0]!, 'base64url').toString())
    assert.deepEqual(Object.keys(value), ['v', 'k', 'f'])
    assert.deepEqual([value.v, value.k], [1, [2]])
    assert.match(value.f, /^[0-9a-f]{8}$/)
  })

  test('goes on with the same filters only, whatever their order', async () => {
    const cursor = await cursorOf('status=new&min=1')
    const cases: [query: string, status: number][] = [
      ['status=new&min=1', 200],
      ['min=1&status=new', 200],
      ['min=1&status=new&unknown=1', 422],
      ['status=new&min=1&sort=desc', 200],
      ['status=new&min=1&sort=asc', 400],
      ['status=new', 400],
      ['status=old&min=1', 400],
      ['', 400],
    ]
    for (const [query, status] of cases) {
      const reply = await fixture.call(`/api/v1/things?${query}&cursor=${cursor}`)
      assert.equal(reply.status, status, query)
      if (status === 400)
        assert.deepEqual([reply.json.error.code, reply.json.error.param], ['invalid_parameter', 'cursor'])
    }
  })

  test('of another team is refused', async () => {
    assert.equal((await fixture.call(`/api/v1/things?cursor=${await cursorOf('', 'other')}`)).status, 400)
    assert.equal((await fixture.call(`/api/v1/things?cursor=${await cursorOf('', 'reader')}`)).status, 200)
  })

  test('that was made or changed by hand is refused', async () => {
    const good = await cursorOf('')
    const [first, signature] = good.split('.') as [string, string]
    const other = Buffer.from(JSON.stringify({ v: 1, k: [0], f: '00000000' })).toString('base64url')
    for (const cursor of [
      `${other}.${signature}`,
      `${first}.${'A'.repeat(16)}`,
      `${first}.${signature}x`,
      `${first}=.${signature}`,
      first,
      `.${signature}`,
      '%00',
      'x'.repeat(10_000),
      Buffer.from('{"v":1,"k":[2]}').toString('base64'),
    ]) {
      assert.equal((await fixture.call(`/api/v1/things?cursor=${cursor}`)).status, 400, cursor)
    }
  })

  test('belongs to its house, route, path and owner', () => {
    const vault = new Vault(Buffer.alloc(32, 1))
    const scope = cursorScope('listX', 'team_1', { id: 'a' }, { q: 'x' })
    const cursor = encodeCursor(vault, scope, ['2026', 7])
    assert.deepEqual(decodeCursor(vault, scope, cursor), ['2026', 7])
    const others = [
      cursorScope('listY', 'team_1', { id: 'a' }, { q: 'x' }),
      cursorScope('listX', 'team_2', { id: 'a' }, { q: 'x' }),
      cursorScope('listX', 'team_1', { id: 'b' }, { q: 'x' }),
      cursorScope('listX', 'team_1', { id: 'a' }, { q: 'y' }),
    ]
    for (const other of others) assert.throws(() => decodeCursor(vault, other, cursor), { param: 'cursor' })
    assert.throws(() => decodeCursor(new Vault(Buffer.alloc(32, 2)), scope, cursor), { param: 'cursor' })
  })
})
