// Invalid input generated from the schemas of the routes: every member and parameter, with every violation of its schema.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { TSchema } from 'typebox'
import { routes } from '../../src/api/routes.ts'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import type { Route } from '../../src/http/route.ts'
import { AgentClient, EASY_WORK } from '../support/agents.ts'
import { inTurn } from '../support/amount.ts'
import { type Reply, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { baseOf, type Ids, pathOf, requiredQuery } from '../support/requests.ts'
import { data, failure, receive } from './expect.ts'
import { sample, wrongObjects, wrongValues } from './samples.ts'

// Some routes may be asked only so often: the clock moves with every call.
const clock = new ManualClock()
const env = {
  ...EASY_WORK,
  ...{ SES_ACCESS_KEY_ID: 'AKIAEXAMPLE', SES_SECRET_ACCESS_KEY: 'secret' },
  ...{ GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret' },
}
const appliance = await startAppliance({ clock, env })
after(() => appliance.close())
const team = await appliance.team()
const domain = await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
// What is done to mailboxes is done to this one: the other has to go on working.
const carl = await team.mailbox('carl@shop.test')
const ids = new Map([
  ['domain', domain],
  ['mailbox', carl.id],
])

before(async () => {
  await receive(appliance, { to: ana.email })
  const [message] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages', ana.key))
  const [row] = data<{ id: string }[]>(await appliance.get('/inbound/logs', team.key))
  // A key of its own: some of the calls below rotate it.
  const key = data<{ id: string }>(
    await appliance.call('POST', `/mailboxes/${carl.id}/api-keys`, team.key, { name: 'x' }),
    201,
  )
  const own = await appliance.call('POST', '/mailbox/folders', ana.key, { name: 'Own' })
  ids.set('message', message!.id).set('thread', message!.thread_id).set('folder', data<FolderJson>(own, 201).id)
  const later = { to: [{ email: ana.email }], subject: 'x', text_body: 'x', undo_seconds: 120 }
  const sent = data<{ submission_id: string; message_id: string }>(
    await appliance.call('POST', '/mailbox/messages/send', ana.key, later),
    202,
  )
  ids.set('submission', sent.submission_id).set('email', sent.message_id)
  const [delivery] = data<{ id: string }[]>(await appliance.get('/emails/logs', team.key))
  ids.set('deliveryLog', delivery!.id)
  ids.set('inboundLog', row!.id).set('key', key.id).set('team', team.id)
  const member = data<{ id: string }>(
    await appliance.call('POST', '/team/members', team.key, { email: 'ana@people.test', role: 'owner' }),
    202,
  )
  ids.set('member', member.id)
  const account = { name: 'One', smtp_host: 'smtp.shop.test', smtp_port: 587, smtp_protocol: 'starttls' }
  const provider = await make('/providers', { ...account, smtp_username: 'u', smtp_password: 'p' })
  ids.set('provider', provider)
  ids.set('deliveryGroup', await make('/delivery-groups', { name: 'One', members: [{ provider_id: provider }] }))
  ids.set('appPassword', await make(`/mailboxes/${carl.id}/app-passwords`, { name: 'x' }))
  ids.set('forward', await make(`/mailboxes/${carl.id}/forwards`, { to: 'carl@elsewhere.example' }))
  ids.set('alias', await make(`/mailboxes/${carl.id}/aliases`, { email: 'orders@shop.test' }))
  const throwAway = await make(`/mailboxes/${carl.id}/throw-away-addresses`, { made_for: 'shop.example' })
  ids.set('throwAwayAddress', throwAway)
  const hook = { url: 'https://93.184.215.14/hook', event_types: ['*'], enabled: false }
  ids.set('webhook', await make('/webhooks', hook))
  await appliance.app.outbound.accounts.sharedLimit.setDaily(team.id, true, 100)
  const file = await appliance.call('POST', '/mailbox/attachments', ana.key, { filename: 'a.txt', content: 'YQ==' })
  const draft = await appliance.call('POST', '/mailbox/drafts', ana.key, { subject: 'x' })
  ids.set('draft', data<{ id: string }>(draft, 201).id)
  const script = await appliance.call('POST', '/mailbox/sieve-scripts', ana.key, { name: 'One', content: 'keep;' })
  ids.set('sieveScript', data<{ id: string }>(script, 201).id)
  ids.set('attachment', data<{ id: string }>(file, 201).id)
  const alias = { email: 'ana+x@shop.test' }
  ids.set('identity', data<{ id: string }>(await appliance.call('POST', '/mailbox/identities', ana.key, alias), 201).id)
  ids.set('quota', data<{ id: string }[]>(await appliance.get('/mailbox/quotas', ana.key))[0]!.id)
  const outside = { email: 'ana@elsewhere.example', password: 'p', imap_host: 'imap.elsewhere.example', imap_port: 993 }
  ids.set('remoteAccount', await make('/remote-accounts', { ...outside, imap_protocol: 'ssl' }))
  ids.set('agentRegistration', (await new AgentClient(appliance).register()).registration_id)
  ids.set('limitRequest', await make('/providers/shared-amazon-ses-limit-request', {}))
})

/** Wrong values of a route, and wrong members of its body and its query, others in each turn; all of them where everything runs. */
const TRIES = 2
const OBJECTS = 8
const PARAMETERS = 3

const own: Ids = (kind) => ids.get(kind)!

/** States lists of this mailbox have had. */
const queryStates = new Map<string, string>()
before(async () => {
  for (const type of ['messages', 'threads', 'folders']) {
    queryStates.set(type, (await appliance.get(`/mailbox/${type}`, ana.key)).body.meta.query_state)
  }
})

async function make(path: string, body: object): Promise<string> {
  const made = data<{ id?: string; request?: { id: string } }>(await appliance.call('POST', path, team.key, body), 201)
  return made.id ?? made.request!.id
}

const { secret: operatorKey } = await appliance.app.directory.operatorKeys.issue('test')
// Errors of a form are OAuth errors or pages, which have tests of their own.
const withBody = routes.filter((route) => route.body !== undefined && route.form !== true)
// A picture is named by its number in a message, which must be there first: it has tests of its own.
const withQuery = routes.filter((route) => route.query !== undefined && route.operation !== 'getMessagePicture')

function keyOf(route: Route): string | null {
  if (route.as === 'none') return null
  if (route.as === 'operator') return operatorKey
  return route.as === 'mailbox' ? ana.key : team.key
}

function call(route: Route, query: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  clock.leap(10_000)
  const source: Record<string, string> =
    route.fromMailbox === true ? { 'x-source-authorization': `Bearer ${ana.key}` } : {}
  const once: Record<string, string> = route.idempotent === 'required' ? { 'idempotency-key': randomUUID() } : {}
  return appliance.call(route.method, baseOf(appliance, route) + pathOf(route, own) + query, keyOf(route), body, {
    ...source,
    ...once,
    ...headers,
  })
}

/** What a query cannot do without, beside the parameter that is tried. */
function needed(route: Route, tried = ''): string {
  // One of two forms is needed: the schema cannot say so.
  if (route.operation === 'listSyncChanges' && tried === '') return '&type=messages&since_state=m0'
  const kind = /Thread|Folder|Submission|Identit|Quota/.exec(route.operation)?.[0] ?? 'Message'
  const state = `${kind[0]!.toLowerCase()}0`
  const type = { Folder: 'folders', Thread: 'threads' }[kind] ?? 'messages'
  const known = new Map([
    ['since_state', state],
    ['since_query_state', queryStates.get(type)!],
    ['timeout', '0'],
  ])
  return requiredQuery(route, known, tried)
}

/** Headers a route reads, each wrong, and what is answered; nothing is done. */
function* wrongHeaders(route: Route): Generator<[headers: Record<string, string>, status: number, code: string]> {
  if (route.as !== 'none') {
    for (const authorization of ['Basic eDp5', 'Bearer', 'Bearer a b', `Bearer ${'x'.repeat(5000)}`]) {
      yield [{ authorization }, 401, 'authentication_required']
    }
  }
  if (!route.produces?.includes('*/*')) yield [{ accept: 'image/png' }, 406, 'not_acceptable']
  if (route.body !== undefined && route.raw === undefined) {
    yield [{ 'content-type': 'text/plain' }, 415, 'unsupported_media_type']
  }
  if (route.idempotent) {
    for (const key of ['', 'x'.repeat(256), 'a b', 'ä']) yield [{ 'idempotency-key': key }, 400, 'invalid_parameter']
  }
  if (route.fromMailbox) {
    for (const key of ['', 'Basic x', ana.key, 'Bearer nobody'])
      yield [{ 'x-source-authorization': key }, 404, 'not_found']
  }
  // No webhook delivery exists here, and the script is that of another mailbox: objects below are missing, whatever the ETag.
  const isThere = !/\{delivery_id\}|\{mailbox_id\}.*\{script_id\}/.test(route.path)
  if (route.etag === true && route.method !== 'GET' && isThere) {
    for (const tag of ['nonsense', '"other"', 'W/"a", W/"b"', '']) yield [{ 'if-match': tag }, 409, 'conflict']
  }
  // Where there is no tag, no condition is ignored.
  if (route.etag !== true && route.method !== 'GET') {
    for (const tag of ['nonsense', '"other"', 'W/"a", W/"b"', '']) yield [{ 'if-match': tag }, 400, 'invalid_parameter']
  }
}

for (const [turn, route] of routes.filter(({ form, hidden }) => !form && !hidden).entries()) {
  test(`${route.operation}: an invalid header is reported`, async () => {
    const query = route.query === undefined ? '' : `?${needed(route)}`
    const body = route.body && sample(route.body)
    for (const [headers, status, code] of inTurn([...wrongHeaders(route)], TRIES, turn)) {
      const reply = await call(route, query, body, headers)
      assert.equal(reply.status, status, `${JSON.stringify(headers)}: ${JSON.stringify(reply.body)}`)
      failure(reply, status, code)
    }
  })
}

for (const [turn, route] of withBody.entries()) {
  test(`${route.operation}: an invalid member of the body is reported by its path`, async () => {
    for (const { what, value, code, below } of inTurn(wrongObjects(route.body!), OBJECTS, turn)) {
      // An error in one message of a batch is in the result of that message (docs/design/http.md §4).
      if (route.operation === 'sendBatch' && below?.startsWith('messages.')) continue
      const reply = await call(route, '', value)
      // Not an object at all is a matter of syntax (docs/design/http.md §4).
      if (below === undefined) {
        failure(reply, 400, 'invalid_parameter')
        continue
      }
      const isMissing = code === 'required'
      const error = isMissing
        ? failureOneOf(reply, [400, 'missing_parameter'], [422, 'validation_error'])
        : failure(reply, 422, 'validation_error')
      const found = error.errors?.map((issue) => `${issue.field} ${issue.code}`) ?? []
      assert.ok(found.includes(`${below} ${code}`), `${what}: ${below} ${code}, got ${found.join(', ')}`)
      assert.equal(error.param, error.errors![0]!.field)
    }
  })

  test(`${route.operation}: a body that is not a JSON object is reported`, async () => {
    const texts = [
      '',
      '{',
      '[]',
      'null',
      '"text"',
      '7',
      '\ufeff{}',
      `${'['.repeat(100)}${']'.repeat(100)}`,
      '{"a":\u0000}',
    ]
    for (const text of inTurn(texts, TRIES, turn)) {
      const reply = await call(route, '', text)
      const isEmpty = text === ''
      // Done, or refused for the state the resource is in; this appliance obtains no certificates, so that there is none of them.
      const done = route.operation === 'renewCertificate' ? [404] : [200, 201, 409]
      if (isEmpty && route.bodyOptional) assert.ok(done.includes(reply.status), JSON.stringify(reply.body))
      // Nothing in particular is missing from a change that names nothing.
      else if (isEmpty && 'minProperties' in route.body!) failure(reply, 422, 'validation_error')
      else if (isEmpty) failure(reply, 400, 'missing_parameter')
      else failure(reply, 400, 'invalid_parameter')
    }
  })
}

const parametersOf = (route: Route, turn: number) =>
  inTurn(Object.entries(route.query!.properties as Record<string, TSchema>), PARAMETERS, turn)

for (const [turn, route] of withQuery.entries()) {
  test(`${route.operation}: an invalid parameter is reported by its name`, async () => {
    for (const [name, field] of parametersOf(route, turn)) {
      for (const { what, value, code, below } of wrongValues(field)) {
        // In a query everything is text: other types cannot be given.
        if (typeof value !== 'string' && typeof value !== 'number') continue
        if (code === 'invalid_type' && (field as { type?: string }).type === 'string') continue
        if (below === undefined && (field as { type?: string }).type === 'array') continue
        const reply = await call(route, `?${name}=${encodeURIComponent(value)}${needed(route, name)}`)
        const error = failure(reply, 400, 'invalid_parameter')
        if (name === 'cursor') continue
        const wanted = [name, below].filter(Boolean).join('.')
        const found = error.errors?.map((issue) => issue.field) ?? []
        assert.ok(found.includes(wanted), `${what}: ${wanted}, got ${found.join(', ')}`)
        assert.equal(error.param, found[0])
      }
    }
  })

  test(`${route.operation}: repeated parameters, malformed escapes and unknown parameters`, async () => {
    for (const [name, field] of parametersOf(route, turn)) {
      if ((field as { type?: string }).type === 'array') continue
      failure(await call(route, `?${name}=%FF${needed(route, name)}`), 400, 'invalid_parameter')
      failure(await call(route, `?${name}=1&${name}=1${needed(route, name)}`), 400, 'invalid_parameter')
    }
    const body = route.body && sample(route.body)
    // A stream that is let in does not end.
    const asked = route.stream === true ? { ...route, method: 'HEAD' as never } : route
    const reply = await call(asked, `?&&${needed(route)}`, body)
    assert.equal(reply.status, route.status ?? 200, JSON.stringify(reply.body))
    for (const name of inTurn(['no_such_parameter', '__proto__', 'constructor', ''], TRIES, turn)) {
      const { error } = (await call(route, `?${needed(route)}&${name}=1`, body)).body as { error: { param: string } }
      assert.equal(error?.param, name, route.operation)
    }
  })
}

test('text hostile to databases, headers and terminals is treated as text', async () => {
  const texts = [
    "' OR 1=1 --",
    '%_\\',
    '"*" NEAR(',
    'a\u0000b',
    '\r\nX: y',
    '\u202e',
    '💥'.repeat(10),
    '../../etc',
    '{{7*7}}',
  ]
  let turn = 0
  for (const route of withQuery) {
    for (const [name, field] of Object.entries(route.query!.properties as Record<string, TSchema>)) {
      if ((field as { type?: string }).type !== 'string') continue
      for (const text of inTurn(texts, TRIES, turn++)) {
        const reply = await call(route, `?${name}=${encodeURIComponent(text)}`)
        assert.ok(
          reply.status < 500,
          `${route.operation} ${name}=${JSON.stringify(text)}: ${JSON.stringify(reply.body)}`,
        )
      }
    }
  }
  for (const route of withBody) {
    const base = sample(route.body!) as Record<string, unknown>
    for (const [name, field] of Object.entries(route.body!.properties as Record<string, TSchema>)) {
      if ((field as { type?: string }).type !== 'string') continue
      for (const text of inTurn([...texts, '\ud800', '\u0007'], TRIES, turn++)) {
        const reply = await call(route, '', { ...base, [name]: text })
        assert.ok(
          reply.status < 500,
          `${route.operation} ${name}=${JSON.stringify(text)}: ${JSON.stringify(reply.body)}`,
        )
      }
    }
  }
})

test('a malformed id in a path is not found', async () => {
  const texts = ['x', '%00', '%FF', 'mbx_%27', 'a'.repeat(5000), '%2e%2e%2f']
  for (const [turn, route] of routes.filter(({ params }) => params !== undefined).entries()) {
    for (const text of inTurn(texts, TRIES, turn)) {
      const path = route.path.replace(/\{\w+\}/g, text)
      const body = route.body && sample(route.body)
      const reply = await appliance.call(route.method, baseOf(appliance, route) + path, keyOf(route), body)
      assert.equal(reply.status, 404, `${route.operation}: ${JSON.stringify(reply.body)}`)
      failure(reply, 404, 'not_found')
    }
  }
})

function failureOneOf(reply: Reply, ...allowed: [number, string][]) {
  const [status, code] = allowed.find(([one]) => one === reply.status) ?? allowed[0]!
  return failure(reply, status, code)
}
