// The mailbox and the session document of a mailbox credential.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { routes } from '../../src/api/routes.ts'
import type { NewApiKey } from '../../src/api/schemas/api-key.ts'
import type { MailboxAdmin, MailboxJson } from '../../src/api/schemas/mailbox.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { CAPABILITY_ENDPOINTS, GATED_ENDPOINTS, type Session } from '../../src/api/schemas/session.ts'
import { ID_PREFIX, type IdKind } from '../../src/base/ids.ts'
import { startAppliance } from '../support/appliance.ts'
import { data, etagOf, failure, receive } from './expect.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')

async function keyWith(permissions: string[]): Promise<string> {
  const reply = await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, { name: 'x', permissions })
  return data<NewApiKey>(reply, 201).key
}

test('a mailbox shows itself, without the members for its team', async () => {
  const me = data<MailboxJson>(await appliance.get('/mailbox/me', ana.key))
  assert.deepEqual(Object.keys(me).sort(), [
    'created_at',
    'email',
    'id',
    'quota_bytes',
    'quota_used_bytes',
    'send_scope',
    'status',
  ])
  assert.equal(me.id, ana.id)
})

test('a root key is rejected on every route of the Mailbox API', async () => {
  for (const path of ['/mailbox/me', '/mailbox/session', '/mailbox/threads', '/mailbox/messages', '/mailbox/folders']) {
    failure(await appliance.get(path, team.key), 403, 'insufficient_permissions')
  }
  failure(await appliance.get('/mailboxes', ana.key), 403, 'insufficient_permissions')
})

test('both ETags change when a message is received, and only then', async () => {
  for (const path of ['/mailbox/me', '/mailbox/session']) {
    const first = await appliance.get(path, ana.key)
    const etag = etagOf(first)
    const again = await appliance.get(path, ana.key, { 'if-none-match': etag })
    assert.equal(again.status, 304)
    assert.equal(again.headers.get('etag'), etag)
    await receive(appliance, { to: ana.email })
    assert.equal((await appliance.get(path, ana.key, { 'if-none-match': etag })).status, 200)
  }
})

/** Every flag with its endpoint; gates are inverted. */
function flagsOf(session: Session): [endpoint: string, open: boolean][] {
  const groups = Object.entries(CAPABILITY_ENDPOINTS).flatMap(([group, endpoints]) =>
    Object.entries(endpoints).map(([flag, endpoint]): [string, boolean] => {
      const flags = session.capabilities[group as keyof typeof CAPABILITY_ENDPOINTS] as unknown as Record<
        string,
        boolean
      >
      return [endpoint, flags[flag]!]
    }),
  )
  const gates = Object.entries(GATED_ENDPOINTS).map(([gate, endpoint]): [string, boolean] => {
    return [endpoint, !session.gated[gate as keyof typeof GATED_ENDPOINTS]]
  })
  return [...groups, ...gates]
}

/** Whether an endpoint lets a credential in: whatever it then says of ids that name nothing and of empty bodies. */
async function isOpen(endpoint: string, key: string): Promise<boolean> {
  const [method, path] = endpoint.split(' ')
  const target = path!.replaceAll(/\{(\w+)_id\}/g, (_, kind: string) => `${ID_PREFIX[kind as IdKind]}${'a'.repeat(24)}`)
  const reply = await appliance.call(method!, target, key, method === 'GET' || method === 'DELETE' ? undefined : {})
  const isRoute = routes.some((route) => `${route.method} ${route.path}` === endpoint.split('?')[0])
  return isRoute && reply.status !== 403 && reply.status !== 405
}

test('every capability and every gate matches the behaviour of its endpoint, for every credential', async () => {
  const scopes = ['mailbox.read', 'email.receive', 'mailbox.write', 'email.send']
  const keys = [scopes, ...scopes.slice(1).map((scope) => ['mailbox.read', scope]), ['mailbox.read']]
  for (const permissions of keys) {
    const key = await keyWith(permissions)
    const session = data<Session>(await appliance.get('/mailbox/session', key))
    for (const [endpoint, open] of flagsOf(session)) {
      // A stream does not end.
      if (endpoint === 'GET /mailbox/events') continue
      assert.equal(await isOpen(endpoint, key), open, `${endpoint} for ${permissions.join(' ')}`)
    }
    for (const endpoint of Object.values(session.endpoints).flat()) {
      if (endpoint !== 'GET /mailbox/events')
        assert.ok(await isOpen(endpoint, key), `${endpoint} for ${permissions.join(' ')}`)
    }
  }
})

test('a key without permission to send sees it in its capabilities', async () => {
  const session = data<Session>(await appliance.get('/mailbox/session', await keyWith(['mailbox.read'])))
  assert.equal(session.capabilities.submissions.send, false)
  assert.ok(!Object.values(session.endpoints).flat().includes('POST /mailbox/messages/send'))
})

test('a credential without mailbox.read is rejected', async () => {
  const key = await keyWith(['email.send', 'email.receive', 'mailbox.write'])
  for (const path of ['/mailbox/me', '/mailbox/session', '/mailbox/messages']) {
    assert.match(failure(await appliance.get(path, key), 403, 'insufficient_permissions').message, /mailbox\.read/)
  }
  data(await appliance.get('/mailbox/session', await keyWith(['mailbox.read'])))
})

test('a suspended mailbox can still be read and shows its status', async () => {
  const box = await team.mailbox('late@shop.test')
  await receive(appliance, { to: box.email, subject: 'Before' })
  await appliance.app.directory.mailboxes.suspend(team.id, box.id)
  assert.equal(data<MailboxJson>(await appliance.get('/mailbox/me', box.key)).status, 'suspended')
  const [message] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages', box.key))
  assert.equal(data<Message>(await appliance.get(`/mailbox/messages/${message!.id}`, box.key)).subject, 'Before')
  await assert.rejects(receive(appliance, { to: box.email }), /550 5\.2\.1/)
})

test('usage is left out while the store cannot be read', async (t) => {
  const { accounts } = appliance.app.store
  t.mock.method(accounts, 'byMailboxes', () => {
    throw new Error('the disk is gone')
  })
  const me = data<MailboxJson>(await appliance.get('/mailbox/me', ana.key))
  assert.ok(!('quota_used_bytes' in me))
  const admin = data<MailboxAdmin>(await appliance.get(`/mailboxes/${ana.id}`, team.key))
  assert.ok(!('quota_used_bytes' in admin) && !('message_count' in admin))
  assert.equal(admin.email, ana.email)
})

test('a mailbox without its account yet returns a retryable error', async (t) => {
  t.mock.method(appliance.app.store.accounts, 'byMailbox', () => undefined)
  for (const path of ['/mailbox/session', '/mailbox/threads', '/mailbox/messages', '/mailbox/folders']) {
    const reply = await appliance.get(path, ana.key)
    failure(reply, 503, 'service_unavailable')
    assert.equal(reply.headers.get('retry-after'), '10')
  }
})
