// Every route, walked with what belongs to somebody else: it answers as if it had never been.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TSchema } from 'typebox'
import { type IdKind, newId } from '../../src/base/ids.ts'
import type { Route } from '../../src/surfaces/http/route.ts'
import { routes as all } from '../../src/surfaces/rest/routes.ts'
import type { MessageSummary } from '../../src/surfaces/rest/schemas/message-summary.ts'
import { ManualClock } from '../support/clock.ts'
import { type Reply, startHouse } from '../support/house.ts'
import { data, failure, receive } from './expect.ts'
import { sample } from './samples.ts'

/** The operator's listener is for whoever runs the appliance, not for teams. */
const routes = all.filter(({ surface }) => surface !== 'operator')
// The calls of a stranger are few in a minute: the clock moves with each of them.
const clock = new ManualClock()
const house = await startHouse({ clock, env: { SES_ACCESS_KEY_ID: 'AKIAEXAMPLE', SES_SECRET_ACCESS_KEY: 'secret' } })
after(() => house.close())
const owner = await house.team('Owner')
const stranger = await house.team('Stranger')
await stranger.domain('stranger.test')
const domain = await owner.domain('owner.test')
const ana = await owner.mailbox('ana@owner.test')
const colleague = await owner.mailbox('carl@owner.test')
const outsider = await stranger.mailbox('eve@stranger.test')

/** One object of each kind that belongs to the owner. */
const owned = new Map<IdKind, string>([
  ['domain', domain],
  ['mailbox', ana.id],
])

before(async () => {
  await receive(house, { to: ana.email })
  const [message] = data<MessageSummary[]>(await house.get('/mailbox/messages', ana.key))
  const [row] = data<{ id: string }[]>(await house.get('/inbound/logs', owner.key))
  const [key] = data<{ id: string }[]>(await house.get(`/mailboxes/${ana.id}/api-keys`, owner.key))
  owned.set('message', message!.id).set('thread', message!.thread_id).set('folder', message!.folder_ids[0]!)
  owned.set('inboundLog', row!.id).set('key', key!.id)
  const suppression = await house.call('POST', '/suppressions', owner.key, { email: 'gone@customer.test' })
  owned.set('suppression', data<{ id: string }>(suppression, 201).id)
  const later = { to: [{ email: ana.email }], subject: 'x', text_body: 'x', undo_seconds: 120 }
  const sent = data<{ submission_id: string }>(await house.call('POST', '/mailbox/messages/send', ana.key, later), 202)
  owned.set('submission', sent.submission_id)
  const invited = await house.call('POST', '/team/members', owner.key, { email: 'ana@people.test', role: 'owner' })
  owned.set('member', data<{ id: string }>(invited, 202).id)
  owned.set('alias', await make(`/mailboxes/${ana.id}/aliases`, { email: 'orders@owner.test' }))
  await furnishSending()
  await furnishWebhook()
  owned.set('attachment', await upload())
  const script = await house.call('POST', '/mailbox/sieve-scripts', ana.key, { name: 'One', content: 'keep;' })
  owned.set('sieveScript', data<{ id: string }>(script, 201).id)
  for (const kind of ['identity', 'quota'] as const) owned.set(kind, await firstOf(kind))
  const credit = { type: 'purchase', amount: 1, description: 'x' } as const
  owned.set('transaction', (await house.app.outbound.ledger.credit(owner.id, credit)).id)
})

/** What every mailbox has from its first day. */
async function firstOf(kind: 'identity' | 'quota'): Promise<string> {
  const path = kind === 'identity' ? '/mailbox/identities' : '/mailbox/quotas'
  return data<{ id: string }[]>(await house.get(path, ana.key))[0]!.id
}

async function upload(): Promise<string> {
  const body = { filename: 'a.txt', content: 'YQ==' }
  return data<{ id: string }>(await house.call('POST', '/mailbox/attachments', ana.key, body), 201).id
}

async function make(path: string, body: object): Promise<string> {
  return data<{ id: string }>(await house.call('POST', path, owner.key, body), 201).id
}

async function furnishSending(): Promise<void> {
  const account = { name: 'One', smtp_host: 'smtp.owner.test', smtp_port: 587, smtp_protocol: 'starttls' }
  const provider = await make('/providers', { ...account, smtp_username: 'u', smtp_password: 'p' })
  owned.set('provider', provider)
  const members = [{ provider_id: provider }]
  owned.set('deliveryGroup', await make('/delivery-groups', { name: 'Group', members }))
  await house.app.outbound.sharedLimit.setDaily(owner.id, true, 100)
  const { request } = await house.app.outbound.sharedLimit.create(owner.id, { reason: null, requestedDailyLimit: null })
  owned.set('limitRequest', request.id)
  const mail = { to: { email: ana.email }, from: { email: ana.email }, subject: 'Hello', text_body: 'Hello.' }
  data(await house.call('POST', `${house.sendOrigin}/api/v1/emails/send/batch`, owner.key, { messages: [mail] }))
  const [row] = data<{ id: string }[]>(await house.get('/emails/logs', owner.key))
  owned.set('deliveryLog', row!.id)
}

/** Disabled: nothing is told to anybody; the attempt is written as if it had been made. */
async function furnishWebhook(): Promise<void> {
  const hook = { url: 'https://93.184.215.14/hook', event_types: ['*'], enabled: false }
  const id = await make('/webhooks', hook)
  const { telling, outbox, db, clock } = house.app
  const { n } = (await telling.webhooks.get(owner.id, id))!
  const about = { teamId: owner.id, type: 'service.test' as const, mailboxId: null, domainId: null, at: clock.now() }
  const attempt = await db.write(async (tx) => {
    const event = await outbox.recordTold(tx, { ...about, data: {} })
    const answer = { responseStatus: 200, responseMs: 1, responseBody: null, errorMessage: null, nextRetryAt: null }
    const counts = { attempt: 1, maxAttempts: 1, requestHeaders: {}, result: 'success' as const }
    const times = { payloadExpiresAt: clock.now() + 1000, createdAt: clock.now() }
    return (await telling.attempts.insertAll(tx, [{ webhook: n, event, ...answer, ...counts, ...times }]))[0]!
  })
  owned.set('webhook', id).set('webhookAttempt', attempt)
}

const named = (schema: { properties: object } | undefined) =>
  Object.entries((schema?.properties ?? {}) as Record<string, TSchema & { 'x-id'?: IdKind }>).flatMap(
    ([name, field]) => (field['x-id'] === undefined ? [] : [{ name, kind: field['x-id'] }]),
  )

/** What the query cannot do without, whatever it asks for. */
function needed({ query }: Route): string {
  const { required = [], properties = {} } = (query ?? {}) as { required?: string[]; properties?: object }
  const asked = Object.entries(properties as Record<string, { default?: unknown; enum?: string[] }>).filter(
    ([name, field]) => required.includes(name) && field.default === undefined,
  )
  return asked.map(([name, field]) => `&${name}=${field.enum?.[0] ?? 'x'}`).join('')
}

type Ids = (kind: IdKind) => string
const theirs: Ids = (kind) => owned.get(kind)!
const nobodys: Ids = (kind) => newId(kind)

/** A list can be followed only from a state it had. */
async function following(route: Route, key: string, query: { name: string; id: string }): Promise<string> {
  if (!('since_query_state' in (route.query?.properties ?? {}))) return needed(route)
  const type = query.name === 'parent_id' ? 'folders' : 'messages'
  const list = await house.get(`/mailbox/${type}?${query.name}=${query.id}`, key)
  return `&type=${type}&since_query_state=${list.body.meta.query_state ?? 'm0.00000000'}`
}

async function call(route: Route, key: string, path: Ids, query?: { name: string; id: string }): Promise<Reply> {
  const kinds = new Map(named(route.params).map(({ name, kind }) => [name, kind]))
  const target = route.path.replace(/\{(\w+)\}/g, (_, name: string) => path(kinds.get(name)!))
  const body = route.body && sample(route.body)
  const asked = query ? `?${query.name}=${query.id}${await following(route, key, query)}` : ''
  return house.call(route.method, target + asked, key, body)
}

/** The same answer in everything but its request id. */
function same(one: Reply, other: Reply): void {
  const [first, second] = [failure(one, 404, 'not_found'), failure(other, 404, 'not_found')]
  assert.deepEqual(first, second)
}

/** Whoever may not see what the owner has, by whose credential the route takes. */
function keysOf(route: Route): string[] {
  return route.as === 'mailbox' ? [outsider.key, colleague.key] : [stranger.key]
}

const withPath = routes.filter(({ params }) => named(params).length > 0)
const withQuery = routes.flatMap((route) => named(route.query).map((field) => ({ route, ...field })))

test('the walk covers every id the surface takes', () => {
  const kinds = new Set([...withPath.flatMap(({ params }) => named(params)), ...withQuery].map(({ kind }) => kind))
  assert.deepEqual([...kinds].sort(), [...owned.keys()].sort())
  assert.ok(routes.every((route) => !route.path.includes('{') || withPath.includes(route)))
})

for (const route of withPath) {
  test(`${route.operation}: what somebody else has is as missing as what nobody has`, async () => {
    for (const key of keysOf(route)) same(await call(route, key, theirs), await call(route, key, nobodys))
  })
}

for (const { route, name, kind } of withQuery) {
  test(`${route.operation}: ${name} of somebody else is as missing as one of nobody`, async () => {
    for (const key of keysOf(route)) {
      const [foreign, unknown] = [theirs(kind), nobodys(kind)].map((id) => call(route, key, theirs, { name, id }))
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

test('nothing the stranger tried has changed anything', async () => {
  data(await house.get('/mailbox/me', ana.key))
  assert.deepEqual(data(await house.get(`/domains/${domain}/filters`, owner.key)), { mode: 'off', rules: [] })
  assert.deepEqual(data(await house.get(`/mailboxes/${ana.id}/filters`, owner.key)), { mode: 'off', rules: [] })
})

test('lists show only what is one’s own', async () => {
  for (const path of ['/domains', '/mailboxes', '/inbound/logs', '/suppressions']) {
    const text = JSON.stringify(data(await house.get(path, stranger.key)))
    for (const id of owned.values()) assert.ok(!text.includes(id), path)
  }
  for (const path of ['/mailbox/messages', '/mailbox/threads']) {
    for (const key of [outsider.key, colleague.key]) assert.deepEqual(data(await house.get(path, key)), [])
  }
})

test('without a credential every path but the open ones says so, known or not', async () => {
  const open = new Set(routes.filter((route) => route.as === 'none').map(({ path }) => path))
  for (const route of routes.filter(({ path }) => !open.has(path))) {
    clock.advance(1000)
    const reply = await call(route, '', nobodys)
    failure(reply, 401, 'authentication_required')
    assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer resource_metadata="/)
  }
  failure(await house.get('/no/such/path'), 401, 'authentication_required')
})
