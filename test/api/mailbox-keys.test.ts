// The API keys of a mailbox: issued, listed, rotated, revoked.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ApiKeyJson, NewApiKey } from '../../src/api/schemas/api-key.ts'
import { newId } from '../../src/base/ids.ts'
import { MAILBOX_KEYS_MAX } from '../../src/directory/keys/keys.ts'
import { type Reply, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, issues, walk } from './expect.ts'

const clock = new ManualClock(Date.UTC(2030, 0, 2, 3, 4, 5))
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const mailbox = await team.mailbox('ana@shop.test')
const path = `/mailboxes/${mailbox.id}/api-keys`

function issue(body: unknown, headers?: Record<string, string>) {
  return appliance.call('POST', path, team.key, body, headers)
}

test('a key has all scopes by default, and shows its secret once', async () => {
  const made = data<NewApiKey>(await issue({ name: 'All' }), 201)
  assert.deepEqual(made.permissions, ['mailbox.read', 'email.receive', 'mailbox.write', 'email.send'])
  assert.deepEqual([made.kind, made.role, made.mailbox_id], ['mailbox', null, mailbox.id])
  assert.ok(made.key.startsWith(made.prefix) && made.key.endsWith(made.last4))
  assert.match(made.created_by, /^key_/)
  for (const key of await walk<ApiKeyJson>(appliance, path, team.key)) assert.ok(!('key' in key))

  const narrow = data<NewApiKey>(await issue({ name: 'Send only', permissions: ['email.send'] }), 201)
  failure(await appliance.get('/mailbox/me', narrow.key), 403, 'insufficient_permissions')
})

test('a key expires', async () => {
  const expires_at = new Date(clock.now() + 60_000).toISOString()
  const made = data<NewApiKey>(await issue({ name: 'Short', expires_at }), 201)
  assert.equal(made.expires_at, expires_at)
  data(await appliance.get('/mailbox/me', made.key))
  clock.advance(60_000)
  failure(await appliance.get('/mailbox/me', made.key), 401, 'authentication_required')
  const expired = await walk<ApiKeyJson>(appliance, `${path}?status=expired`, team.key)
  assert.deepEqual(
    expired.map((key) => key.id),
    [made.id],
  )
})

test('no key survives its mailbox, not even one created while the mailbox is deleted', async () => {
  for (let round = 0; round < 10; round++) {
    const { id } = await team.mailbox(`short${round}@shop.test`)
    const [ended, ...asked] = await Promise.all([
      appliance.call('DELETE', `/mailboxes/${id}`, team.key),
      ...Array.from({ length: 5 }, () =>
        appliance.call('POST', `/mailboxes/${id}/api-keys`, team.key, { name: 'Late' }),
      ),
    ])
    data(ended)
    for (const reply of asked) {
      if (reply.status === 201)
        failure(await appliance.get('/mailbox/me', data<NewApiKey>(reply, 201).key), 401, 'authentication_required')
      else failure(reply, 409, 'conflict')
    }
  }
})

test('rotation returns a new secret; the old one is valid during its grace period', async () => {
  const made = data<NewApiKey>(await issue({ name: 'Turns' }), 201)
  const rotate = (body?: unknown) => appliance.call('POST', `${path}/${made.id}/rotate`, team.key, body)
  const turned = data<NewApiKey>(await rotate({ grace_seconds: 30 }))
  assert.equal(turned.id, made.id)
  assert.notEqual(turned.key, made.key)
  data(await appliance.get('/mailbox/me', made.key))
  data(await appliance.get('/mailbox/me', turned.key))
  clock.advance(30_000)
  failure(await appliance.get('/mailbox/me', made.key), 401, 'authentication_required')
  data(await rotate())
  failure(await appliance.get('/mailbox/me', turned.key), 401, 'authentication_required')
  issues(await rotate({ grace_seconds: 86_401 }), 422, 'validation_error', ['grace_seconds too_big'])
})

test('a deleted key ends immediately; deleting it again gives the same response', async () => {
  const made = data<NewApiKey>(await issue({ name: 'Gone' }), 201)
  const remove = () => appliance.call('DELETE', `${path}/${made.id}`, team.key)
  assert.deepEqual(data(await remove()), { deleted: true, id: made.id })
  failure(await appliance.get('/mailbox/me', made.key), 401, 'authentication_required')
  assert.deepEqual(data(await remove()), { deleted: true, id: made.id })
  failure(await appliance.call('POST', `${path}/${made.id}/rotate`, team.key), 409, 'conflict')
})

test('a key of one mailbox is not found under another', async () => {
  const made = data<NewApiKey>(await issue({ name: 'Here' }), 201)
  const neighbour = await team.mailbox('bob@shop.test')
  for (const id of [made.id, newId('key')]) {
    const other = `/mailboxes/${neighbour.id}/api-keys/${id}`
    failure(await appliance.call('DELETE', other, team.key), 404, 'not_found')
    failure(await appliance.call('POST', `${other}/rotate`, team.key), 404, 'not_found')
  }
  data(await appliance.get('/mailbox/me', made.key))
})

test('an invalid key is reported by its member', async () => {
  const past = new Date(clock.now()).toISOString()
  const far = new Date(clock.now() + 6 * 366 * 86_400_000).toISOString()
  const cases: [unknown, string][] = [
    [{ name: '' }, 'name too_small'],
    [{ name: 'x'.repeat(101) }, 'name too_big'],
    [{ name: 'x', permissions: [] }, 'permissions too_small'],
    [{ name: 'x', permissions: ['domain.read'] }, 'permissions.0 invalid_enum'],
    [{ name: 'x', permissions: ['email.send', 'email.send'] }, 'permissions duplicate'],
    [{ name: 'x', expires_at: 'tomorrow' }, 'expires_at invalid_format'],
    [{ name: 'x', expires_at: past }, 'expires_at too_small'],
    [{ name: 'x', expires_at: far }, 'expires_at too_big'],
  ]
  for (const [body, expected] of cases) issues(await issue(body), 422, 'validation_error', [expected])
})

test('a permission that keys of this kind do not have is reported with what was probably meant', async () => {
  const root = (permissions: string[]) => appliance.call('POST', '/api-keys', team.key, { name: 'x', permissions })
  const messageOf = async (reply: Promise<Reply>) => failure(await reply, 422, 'validation_error').message
  const meant = await messageOf(issue({ name: 'x', permissions: ['email.receive', 'Mailbox.reed'] }))
  assert.match(meant, /^permissions\.1 must be one of mailbox\.read, .* \(did you mean `mailbox\.read`\?\)\.$/)
  const other = await messageOf(issue({ name: 'x', permissions: ['domain.read'] }))
  assert.match(other, /^permissions\.0 must be one of [a-z., ]+\.$/)
  assert.match(await messageOf(root(['mailbox.read'])), /Keys of a mailbox can have it \(POST .*\)\. Did you mean/)
  assert.match(await messageOf(root(['domain.reed'])), /Did you mean `domain\.read`\?$/)
})

test('a mailbox has a limited number of active keys, and a deleted one accepts none', async () => {
  const full = await team.mailbox('full@shop.test')
  const at = `/mailboxes/${full.id}/api-keys`
  const replies: Reply[] = []
  for (let count = 1; count <= MAILBOX_KEYS_MAX; count++) {
    replies.push(await appliance.call('POST', at, team.key, { name: `Key ${count}` }))
  }
  // The seed of the test made the first one.
  failure(replies.pop()!, 409, 'conflict')
  for (const reply of replies) data(reply, 201)
  await appliance.app.administration.mailboxes.delete(team.id, full.id)
  failure(await appliance.call('POST', at, team.key, { name: 'Late' }), 409, 'conflict')
  failure(await appliance.get('/mailbox/me', full.key), 401, 'authentication_required')
})
