// The session document is correct: every flag is compared with its endpoint, in the OpenAPI document and by a request.
//
// The tables repeat docs/design/mailbox.md §2 and §15: the source of the session is not used.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { MAILBOX_SCOPES } from '../../src/directory/names/permissions.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { data } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')

const CAPABILITIES: Record<string, Record<string, string>> = {
  messages: {
    list: 'GET /mailbox/messages',
    detail: 'GET /mailbox/messages/{message_id}',
    raw_body: 'GET /mailbox/messages/{message_id}/raw',
    clean_content: 'GET /mailbox/messages/{message_id}/clean-content',
    batch_get: 'POST /mailbox/messages/batch-get',
    count: 'GET /mailbox/messages/count',
    search_snippets: 'GET /mailbox/messages/search-snippets',
    changes: 'GET /mailbox/messages/changes',
    query_changes: 'GET /mailbox/messages/query-changes',
    keywords: 'PATCH /mailbox/messages/{message_id}/keywords',
    batch_update: 'POST /mailbox/messages/batch-update',
    delete: 'DELETE /mailbox/messages/{message_id}',
    permanent_delete: 'DELETE /mailbox/messages/{message_id}?permanent=true',
    update_fields: 'PATCH /mailbox/messages/{message_id}',
  },
  threads: {
    list: 'GET /mailbox/threads',
    detail: 'GET /mailbox/threads/{thread_id}',
    messages: 'GET /mailbox/threads/{thread_id}/messages',
    clean_content: 'GET /mailbox/threads/{thread_id}/clean-content',
    batch_get: 'POST /mailbox/threads/batch-get',
    changes: 'GET /mailbox/threads/changes',
    query_changes: 'GET /mailbox/threads/query-changes',
    update: 'PATCH /mailbox/threads/{thread_id}',
    batch_update: 'POST /mailbox/threads/batch-update',
  },
  drafts: {
    list: 'GET /mailbox/drafts',
    detail: 'GET /mailbox/drafts/{draft_id}',
    create: 'POST /mailbox/drafts',
    update: 'PUT /mailbox/drafts/{draft_id}',
    delete: 'DELETE /mailbox/drafts/{draft_id}',
    send: 'POST /mailbox/drafts/{draft_id}/send',
    reply: 'POST /mailbox/messages/{message_id}/reply',
    forward: 'POST /mailbox/messages/{message_id}/forward',
  },
  folders: {
    list: 'GET /mailbox/folders',
    detail: 'GET /mailbox/folders/{folder_id}',
    create: 'POST /mailbox/folders',
    update: 'PATCH /mailbox/folders/{folder_id}',
    delete: 'DELETE /mailbox/folders/{folder_id}',
    changes: 'GET /mailbox/folders/changes',
    query_changes: 'GET /mailbox/folders/query-changes',
  },
  submissions: {
    list: 'GET /mailbox/submissions',
    detail: 'GET /mailbox/submissions/{submission_id}',
    changes: 'GET /mailbox/submissions/changes',
    send: 'POST /mailbox/messages/send',
  },
  identities: {
    list: 'GET /mailbox/identities',
    changes: 'GET /mailbox/identities/changes',
    create: 'POST /mailbox/identities',
    update: 'PATCH /mailbox/identities/{identity_id}',
    delete: 'DELETE /mailbox/identities/{identity_id}',
  },
  quotas: {
    list: 'GET /mailbox/quotas',
    usage: 'GET /mailbox/usage',
    changes: 'GET /mailbox/quotas/changes',
    update: 'PATCH /mailbox/quotas/{quota_id}',
  },
  attachments: {
    upload: 'POST /mailbox/attachments',
    download: 'GET /mailbox/attachments/{attachment_id}/content',
    range_download: 'GET /mailbox/attachments/{attachment_id}/content',
    metadata: 'GET /mailbox/attachments/{attachment_id}',
    parsing: 'GET /mailbox/attachments/{attachment_id}/parsed',
    send_with_uploaded_blob: 'POST /mailbox/messages/send',
  },
  sync: {
    typed_changes: 'GET /mailbox/sync/changes',
    types: 'GET /mailbox/sync/changes',
    query_changes: 'GET /mailbox/sync/query-changes',
  },
}

const GATES: Record<string, string> = {
  identity_mutation: 'POST /mailbox/identities',
  quota_mutation: 'PATCH /mailbox/quotas/{quota_id}',
  vacation_response: 'PUT /mailbox/vacation-response',
  filter_script_writes: 'POST /mailbox/sieve-scripts',
  events: 'GET /mailbox/events',
  raw_protocol: 'POST /mailbox/jmap',
  attachment_parsing: 'GET /mailbox/attachments/{attachment_id}/parsed',
  message_copy: 'POST /mailbox/messages/copy',
  message_import: 'POST /mailbox/messages/import',
  message_parse: 'POST /mailbox/messages/parse',
  blob_lookup: 'POST /mailbox/blobs/lookup',
  blob_copy: 'POST /mailbox/blobs/copy',
  app_passwords: 'POST /mailbox/app-passwords',
  forwarding: 'POST /mailbox/forwards',
}
/** Protocols of mail programs: no endpoint of the API; `test/flows/app-passwords.test.ts` signs in. */
const PROTOCOLS = ['imap', 'managesieve', 'submission']

let session: Json
let document: Json
before(async () => {
  session = data<Json>(await appliance.get('/mailbox/session', ana.key))
  document = (await appliance.get('/openapi.json')).body
})

const api = (method: string, path: string, body?: object) => appliance.call(method, path, ana.key, body)

/** The operation of an endpoint in the OpenAPI document; undefined when there is none. */
function operationOf(endpoint: string): Json | undefined {
  const [method, path] = endpoint.split('?')[0]!.split(' ')
  return document.paths[path!]?.[method!.toLowerCase()]
}

/** A thing of each kind that may be changed or erased by what is tried. */
async function idOf(kind: string): Promise<string> {
  const made: Record<string, () => Promise<string>> = {
    message: async () => (await bring()).id,
    thread: async () => (await bring()).thread_id,
    draft: async () => data<Json>(await api('POST', '/mailbox/drafts', {}), 201).id,
    folder: async () => data<Json>(await api('POST', '/mailbox/folders', { name: crypto.randomUUID() }), 201).id,
    attachment: async () => (await upload()).id,
    submission: async () => (await send([])).submission_id,
    identity: async () => data<Json[]>(await api('GET', '/mailbox/identities'))[0].id,
    quota: async () => data<Json[]>(await api('GET', '/mailbox/quotas'))[0].id,
  }
  return made[kind]!()
}

async function bring(): Promise<Json> {
  const raw = Buffer.from(`From: bob@else.test\r\nSubject: ${crypto.randomUUID()}\r\n\r\nHello.\r\n`).toString('base64')
  return data<Json>(await api('POST', '/mailbox/messages/import', { raw }), 201)
}

async function upload(): Promise<Json> {
  const file = { filename: 'a.txt', content: Buffer.from(crypto.randomUUID()).toString('base64') }
  return data<Json>(await api('POST', '/mailbox/attachments', file), 201)
}

async function send(attachments: object[]): Promise<Json> {
  const mail = { to: [{ email: ana.email }], subject: 'x', text_body: 'x', undo_seconds: 120, attachments }
  return data<Json>(await api('POST', '/mailbox/messages/send', mail), 202)
}

/** Accepts permitted credentials and succeeds: with ids of objects, and an empty body where one is needed. */
async function isThere(endpoint: string): Promise<void> {
  const [method, path] = endpoint.split(' ')
  let target = path!
  for (const [part, kind] of path!.matchAll(/\{(\w+)_id\}/g)) target = target.replace(part, await idOf(kind!))
  const response = await fetch(`${appliance.origin}/api/v1${target}`, {
    method,
    headers: {
      authorization: `Bearer ${ana.key}`,
      ...(endpoint === GATES.events ? { accept: 'text/event-stream' } : {}),
      ...(method === 'GET' || method === 'DELETE' ? {} : { 'content-type': 'application/json' }),
    },
    body: method === 'GET' || method === 'DELETE' ? null : '{}',
  })
  const { status } = response
  const isThere = status < 500 && ![401, 403, 404, 405].includes(status)
  // A stream does not end.
  const said = isThere ? void (await response.body?.cancel()) : await response.text()
  assert.ok(isThere, `${endpoint}: ${status} ${said}`)
}

/** What the flag says holds of its endpoint. */
async function isTrue(flag: string, open: boolean, endpoint: string): Promise<void> {
  const operation = operationOf(endpoint)
  assert.equal(operation !== undefined, open, `${flag} says ${open} of ${endpoint}`)
  if (open) await isThere(endpoint)
}

for (const [group, flags] of Object.entries(CAPABILITIES)) {
  test(`capabilities.${group}: each is true exactly when its endpoint is`, async () => {
    const reported = session.capabilities[group]
    assert.deepEqual(Object.keys(reported).sort(), Object.keys(flags).sort())
    for (const [flag, endpoint] of Object.entries(flags)) {
      const open = Array.isArray(reported[flag]) ? reported[flag].length > 0 : reported[flag]
      await isTrue(`${group}.${flag}`, open, endpoint)
    }
  })
}

test('gated: each is false exactly when its endpoint is permitted', async () => {
  assert.deepEqual(Object.keys(session.gated).sort(), [...Object.keys(GATES), ...PROTOCOLS].sort())
  for (const [gate, endpoint] of Object.entries(GATES)) await isTrue(gate, !session.gated[gate], endpoint)
})

test('endpoints: each is documented and permitted for this credential, and every true flag has one', () => {
  const reported: string[] = Object.values<string[]>(session.endpoints).flat()
  assert.equal(new Set(reported).size, reported.length)
  for (const endpoint of reported) {
    const operation = operationOf(endpoint)
    assert.ok(operation !== undefined, endpoint)
    const permissions = String(operation['x-required-permission'] ?? '').split(/[^a-z.]+/)
    assert.ok(
      permissions.some((one) => one === '' || MAILBOX_SCOPES.includes(one as never)),
      endpoint,
    )
  }
  const open = [
    ...Object.entries(CAPABILITIES).flatMap(([group, flags]) =>
      Object.entries(flags).flatMap(([flag, endpoint]) =>
        session.capabilities[group][flag] === true ? [endpoint] : [],
      ),
    ),
    ...Object.entries(GATES).flatMap(([gate, endpoint]) => (session.gated[gate] ? [] : [endpoint])),
  ]
  for (const endpoint of open) assert.ok(reported.includes(endpoint.split('?')[0]!), endpoint)
})

test('the lists among the flags name supported values', async () => {
  const { messages, sync } = session.capabilities
  const ref = operationOf('PATCH /mailbox/messages/{message_id}').requestBody.content['application/json'].schema
  const schema = ref.$ref === undefined ? ref : document.components.schemas[ref.$ref.split('/').at(-1)]
  assert.deepEqual(messages.update_fields.toSorted(), Object.keys(schema.properties).sort())
  for (const type of sync.types) {
    assert.ok(operationOf(`GET /mailbox/${type}/changes`), type)
    data(await api('GET', `/mailbox/sync/changes?type=${type}&since_state=${session.states[type]}`))
  }
  for (const type of ['messages', 'folders', 'threads']) {
    const isThere = operationOf(`GET /mailbox/${type}/query-changes`) !== undefined
    assert.equal(
      sync.query_changes.includes(type),
      isThere && operationOf('GET /mailbox/sync/query-changes') !== undefined,
    )
  }
})

test('flags for a part of an endpoint', async () => {
  const { id, blob_id, filename } = await upload()
  const range = await appliance.get(`/mailbox/attachments/${id}/content`, ana.key, { range: 'bytes=0-1' })
  assert.equal(range.status, 206)
  await send([{ blob_id, filename }])
  const message = await idOf('message')
  const erased = data<Json>(await api('DELETE', `/mailbox/messages/${message}?permanent=true`))
  assert.equal(erased.permanent, true)
  assert.equal((await api('GET', `/mailbox/messages/${message}`)).status, 404)
})
