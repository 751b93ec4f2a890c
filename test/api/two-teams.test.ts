// Every route, called with ids of another team: the response is that for an unknown id.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TSchema } from 'typebox'
import { routes as all } from '../../src/api/routes.ts'
import type { IdKind } from '../../src/base/ids.ts'
import type { Route } from '../../src/http/route.ts'
import { type Reply, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { baseOf, type Ids, pathOf, requiredQuery, unknownIds } from '../support/requests.ts'
import { resourcesOf } from '../support/resources.ts'
import { data, failure } from './expect.ts'
import { sample } from './samples.ts'

/** The operator's listener is for the operator, not for teams; the pictures of a message have tests of their own, as they are fetched elsewhere. */
const routes = all.filter(({ surface, operation }) => surface !== 'operator' && operation !== 'getMessagePicture')
// Unauthenticated calls are limited per minute: the clock advances with each of them.
const clock = new ManualClock()
const appliance = await startAppliance({
  clock,
  env: { SES_ACCESS_KEY_ID: 'AKIAEXAMPLE', SES_SECRET_ACCESS_KEY: 'secret' },
})
after(() => appliance.close())
const owner = await appliance.team('Owner')
const stranger = await appliance.team('Stranger')
await stranger.domain('stranger.test')
const domain = await owner.domain('owner.test')
const ana = await owner.mailbox('ana@owner.test')
const colleague = await owner.mailbox('carl@owner.test')
const outsider = await stranger.mailbox('eve@stranger.test')

/** One object of each kind that belongs to the owner. */
const owned = new Map<IdKind, string>()

before(async () => {
  for (const [kind, id] of await resourcesOf(appliance, owner, { domain, mailbox: ana })) owned.set(kind, id)
})

const named = (schema: { properties: object } | undefined) =>
  Object.entries((schema?.properties ?? {}) as Record<string, TSchema & { 'x-id'?: IdKind }>).flatMap(
    ([name, field]) => (field['x-id'] === undefined ? [] : [{ name, kind: field['x-id'] }]),
  )

const theirs: Ids = (kind) => owned.get(kind)!

/** A list can be followed only from a state it had. */
async function following(route: Route, key: string, query: { name: string; id: string }): Promise<string> {
  if (!('since_query_state' in (route.query?.properties ?? {}))) return requiredQuery(route)
  const own = /^\/mailbox\/(\w+)\/query-changes$/.exec(route.path)?.[1]
  const type = own === 'sync' || own === undefined ? (query.name === 'parent_id' ? 'folders' : 'messages') : own
  const list = await appliance.get(`/mailbox/${type}?${query.name}=${query.id}`, key)
  const since = `&since_query_state=${list.body.meta.query_state ?? 'm0.00000000'}`
  return 'type' in (route.query?.properties ?? {}) ? `&type=${type}${since}` : since
}

/** What a query must have, with its example. */
function requiredOf({ query }: Route): string {
  const members = (query?.required ?? []).flatMap((name): [string, string][] => {
    const { examples, default: fallback } = query!.properties[name] as { examples?: unknown[]; default?: unknown }
    return fallback === undefined ? [[name, String(examples?.[0])]] : []
  })
  return new URLSearchParams(members).toString()
}

async function call(route: Route, key: string, path: Ids, query?: { name: string; id: string }): Promise<Reply> {
  const body = route.body && sample(route.body)
  const asked = query ? `${query.name}=${query.id}${await following(route, key, query)}` : requiredOf(route)
  const url = baseOf(appliance, route) + pathOf(route, path)
  return appliance.call(route.method, asked === '' ? url : `${url}?${asked}`, key, body)
}

/** The same answer in everything but its request id. */
function same(one: Reply, other: Reply): void {
  const [first, second] = [failure(one, 404, 'not_found'), failure(other, 404, 'not_found')]
  assert.deepEqual(first, second)
}

/** The credential that must not see the data of the owner, by the audience of the route. */
function keysOf(route: Route): string[] {
  return route.as === 'mailbox' ? [outsider.key, colleague.key] : [stranger.key]
}

const withPath = routes.filter(({ params }) => named(params).length > 0)
const withQuery = routes.flatMap((route) => named(route.query).map((field) => ({ route, ...field })))

test('the walk covers every id the API takes', () => {
  const kinds = new Set([...withPath.flatMap(({ params }) => named(params)), ...withQuery].map(({ kind }) => kind))
  assert.deepEqual([...kinds].sort(), [...owned.keys()].sort())
  assert.ok(routes.every((route) => !route.path.includes('{') || withPath.includes(route)))
})

for (const route of withPath) {
  test(`${route.operation}: an id of another team gives the same response as an unknown one`, async () => {
    for (const key of keysOf(route)) same(await call(route, key, theirs), await call(route, key, unknownIds))
  })
}

for (const { route, name, kind } of withQuery) {
  test(`${route.operation}: ${name} of another team gives the same response as an unknown one`, async () => {
    for (const key of keysOf(route)) {
      const [foreign, unknown] = [theirs(kind), unknownIds(kind)].map((id) => call(route, key, theirs, { name, id }))
      same(await foreign!, await unknown!)
    }
  })
}

test('the owner finds each of them', async () => {
  for (const route of withPath.filter(({ method }) => method === 'GET')) {
    const reply = await call(route, route.as === 'mailbox' ? ana.key : owner.key, theirs)
    // What gives bytes has no envelope.
    if (route.produces?.includes('*/*')) assert.equal(reply.status, 200)
    else data(reply)
  }
  for (const { route, name, kind } of withQuery) {
    data(await call(route, route.as === 'mailbox' ? ana.key : owner.key, theirs, { name, id: theirs(kind) }))
  }
})

test('the requests of the other team have changed nothing', async () => {
  data(await appliance.get('/mailbox/me', ana.key))
  assert.deepEqual(data(await appliance.get(`/domains/${domain}/filters`, owner.key)), { mode: 'off', rules: [] })
  assert.deepEqual(data(await appliance.get(`/mailboxes/${ana.id}/filters`, owner.key)), { mode: 'off', rules: [] })
})

test('lists show only objects of the team', async () => {
  for (const path of ['/domains', '/mailboxes', '/inbound/logs', '/suppressions']) {
    const text = JSON.stringify(data(await appliance.get(path, stranger.key)))
    for (const id of owned.values()) assert.ok(!text.includes(id), path)
  }
  for (const path of ['/mailbox/messages', '/mailbox/threads']) {
    for (const key of [outsider.key, colleague.key]) assert.deepEqual(data(await appliance.get(path, key)), [])
  }
})

test('without a credential every path but the public ones returns 401, known or not', async () => {
  const open = new Set(routes.filter((route) => route.as === 'none').map(({ path }) => path))
  for (const route of routes.filter(({ path }) => !open.has(path))) {
    clock.advance(1000)
    const reply = await call(route, '', unknownIds)
    failure(reply, 401, 'authentication_required')
    assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer resource_metadata="/)
  }
  failure(await appliance.get('/no/such/path'), 401, 'authentication_required')
})
