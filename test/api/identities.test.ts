// Sending identities: their addresses and defaults, and messages sent as one.

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { IDENTITIES_MAX } from '../../src/store/mailbox/identities.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, issues, receive } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
let made = 0
let ana: { id: string; email: string; key: string }
let other: { id: string; email: string; key: string }

beforeEach(async () => {
  made++
  ana = await team.mailbox(`ana${made}@shop.test`)
  other = await team.mailbox(`bob${made}@shop.test`)
})

const call = (method: string, path: string, body?: object, key = ana.key) =>
  appliance.call(method, `/mailbox/identities${path}`, key, body)
const list = async (key = ana.key) => data<Json[]>(await call('GET', '', undefined, key))
const make = async (body: object) => data<Json>(await call('POST', '', body), 201)
const state = async () => data<Json>(await appliance.get('/mailbox/session', ana.key)).states.identities
const tagged = (tag: string) => ana.email.replace('@', `+${tag}@`)
const send = (more: object = {}) =>
  appliance.call('POST', '/mailbox/messages/send', ana.key, {
    ...{ to: [{ email: other.email }], subject: 'Hello', text_body: 'Hello', ...more },
  })
async function submissionOf(sent: Json) {
  return data<Json>(await appliance.get(`/mailbox/submissions/${data<Json>(sent, 202).submission_id}`, ana.key))
}
async function copyOf(sent: Json): Promise<Json> {
  const id = data<Json>(sent, 202).stored_message_id
  return data<Json>(await appliance.get(`/mailbox/messages/${id}`, ana.key))
}

test('a new mailbox has its primary identity', async () => {
  const [primary, ...others] = await list()
  assert.equal(others.length, 0)
  assert.deepEqual(
    [primary.email, primary.name, primary.is_primary, primary.may_delete, primary.reply_to, primary.bcc],
    [ana.email, '', true, false, null, null],
  )
})

test('an identity is the address of the mailbox or a tag of it', async () => {
  const sales = await make({ email: tagged('Sales').toUpperCase(), name: 'Sales', text_signature: '-- \nAna' })
  assert.deepEqual(
    [sales.email, sales.name, sales.is_primary, sales.may_delete],
    [tagged('sales'), 'Sales', false, true],
  )
  await make({ email: ana.email, name: 'Ana again' })
  for (const email of [other.email, 'ana@elsewhere.test', `x${ana.email}`]) {
    issues(await call('POST', '', { email }), 422, 'validation_error', ['email forbidden_value'])
  }
  issues(await call('POST', '', { email: 'nobody' }), 422, 'validation_error', ['email invalid_format'])
  const cut = { email: tagged('x'), reply_to: [{ email: 'a@b.test\r\nBcc: c@d.test' }] }
  issues(await call('POST', '', cut), 422, 'validation_error', ['reply_to.0.email invalid_format'])
  issues(await call('POST', '', { email: tagged('x'), html_signature: 'x'.repeat(65_537) }), 422, 'validation_error', [
    'html_signature too_big',
  ])
})

test('of as many concurrent ones as a mailbox may have all but one are created: it has the primary one', async () => {
  const asked = Array.from({ length: IDENTITIES_MAX }, (_, n) => call('POST', '', { email: tagged(`n${n}`) }))
  const replies = await Promise.all(asked)
  assert.equal(replies.filter(({ status }) => status === 201).length, IDENTITIES_MAX - 1)
  assert.equal((await list()).length, IDENTITIES_MAX)
  failure(replies.find(({ status }) => status !== 201)!, 409, 'conflict')
})

test('the default identity changes, the address does not, and the primary one cannot be deleted', async () => {
  const [first] = await list()
  const sales = await make({ email: tagged('sales') })
  failure(await call('DELETE', `/${first.id}`), 409, 'conflict')
  issues(await call('PATCH', `/${sales.id}`, { email: ana.email }), 422, 'validation_error', ['email unknown_field'])
  issues(await call('PATCH', `/${first.id}`, { is_primary: false }), 422, 'validation_error', [
    'is_primary invalid_enum',
  ])
  const moved = data<Json>(await call('PATCH', `/${sales.id}`, { is_primary: true, name: 'Sales' }))
  assert.deepEqual(
    [moved.is_primary, moved.may_delete, moved.name, moved.email],
    [true, false, 'Sales', tagged('sales')],
  )
  assert.deepEqual(
    (await list()).map(({ id, is_primary }) => [id, is_primary]),
    [
      [sales.id, true],
      [first.id, false],
    ],
  )
  data(await call('PATCH', `/${sales.id}`, { reply_to: [], name: '' }))
  assert.deepEqual([(await list())[0].reply_to, (await list())[0].name], [null, ''])
  failure(await call('DELETE', `/${sales.id}`), 409, 'conflict')
  assert.deepEqual(data(await call('DELETE', `/${first.id}`)), { deleted: true, id: first.id })
})

test('identities of another mailbox are not found', async () => {
  const [theirs] = await list(other.key)
  failure(await call('PATCH', `/${theirs.id}`, { name: 'x' }), 404, 'not_found')
  failure(await call('DELETE', `/${theirs.id}`), 404, 'not_found')
})

test('created, updated and destroyed identities are reported, and nothing else changes the state', async () => {
  const before = await state()
  await receive(appliance, { to: ana.email })
  assert.equal(await state(), before)
  const [primary] = await list()
  const short = await make({ email: tagged('short') })
  const long = await make({ email: tagged('long') })
  data(await call('DELETE', `/${short.id}`))
  data(await call('PATCH', `/${long.id}`, { is_primary: true }))
  const after = await state()
  const reported = data<Json>(await call('GET', `/changes?since_state=${before}`))
  assert.deepEqual(
    [reported.created, reported.updated, reported.destroyed, reported.new_state],
    [[long.id], [primary.id], [], after],
  )
  data(await call('DELETE', `/${primary.id}`))
  assert.deepEqual(data<Json>(await call('GET', `/changes?since_state=${after}`)).destroyed, [primary.id])
  // A reused number would report the end of one identity as a change of another.
  await make({ email: tagged('new') })
  assert.deepEqual(data<Json>(await call('GET', `/changes?since_state=${after}`)).destroyed, [primary.id])
})

test('a suspended mailbox shows its identities and changes none', async () => {
  await appliance.app.directory.mailboxes.suspend(team.id, ana.id)
  const [primary] = await list()
  failure(await call('POST', '', { email: tagged('x') }), 409, 'conflict')
  failure(await call('PATCH', `/${primary.id}`, { name: 'x' }), 409, 'conflict')
})

test('a message is sent as an identity, with its default name, reply_to and bcc', async () => {
  const [primary] = await list()
  const boss = { email: `boss${made}@shop.test`, name: 'Boss' }
  await team.mailbox(boss.email)
  const replyTo = { email: 'desk@shop.test', name: 'Desk' }
  const sales = await make({ email: tagged('sales'), name: 'Sales', reply_to: [replyTo], bcc: [boss] })
  const plain = await send()
  assert.equal((await submissionOf(plain)).identity_id, primary.id)
  const from = { email: tagged('SALES') }
  const sent = await send({ from })
  const submission = await submissionOf(sent)
  assert.equal(submission.identity_id, sales.id)
  assert.deepEqual(submission.envelope.rcpt_to, [other.email, boss.email])
  const copy = await copyOf(sent)
  assert.deepEqual([copy.from, copy.reply_to, copy.bcc], [{ email: tagged('sales'), name: 'Sales' }, [replyTo], [boss]])
  const own = await copyOf(await send({ from: { ...from, name: 'Me' }, reply_to: [{ email: other.email }], bcc: [] }))
  assert.deepEqual([own.from.name, own.reply_to.length, own.reply_to[0].email, own.bcc], ['Me', 1, other.email, []])
  assert.deepEqual((await copyOf(await send({ from, reply_to: [] }))).reply_to, [])
  const header = await copyOf(await send({ from, custom_headers: { 'Reply-To': 'me@shop.test' } }))
  assert.deepEqual(header.reply_to, [{ email: 'me@shop.test', name: '' }])
})

test('a message from a tag without an identity has the name and defaults of the address without it', async () => {
  const [primary] = await list()
  const sales = await make({ email: tagged('sales'), name: 'Sales' })
  data(await call('PATCH', `/${primary.id}`, { name: 'Ana', reply_to: [{ email: 'desk@shop.test' }] }))
  data(await call('DELETE', `/${sales.id}`))
  for (const email of [tagged('never'), sales.email]) {
    const sent = await send({ from: { email } })
    assert.equal((await submissionOf(sent)).identity_id, primary.id)
    const { from, reply_to: replyTo } = await copyOf(sent)
    assert.deepEqual([from, replyTo.length], [{ email, name: 'Ana' }, 1])
  }
})

test('a message cannot be sent from the address of a colleague: the error names those of the mailbox', async () => {
  const refused = await send({ from: { email: other.email } })
  issues(refused, 422, 'validation_error', ['from.email forbidden_value'])
  assert.match(JSON.stringify(refused.body), new RegExp(`write as: ${ana.email}, and that with a \\+tag`))
})

test('an alias brings its identity, and takes it and those of its tags along when it is removed', async () => {
  const before = await state()
  const desk = `desk${made}@shop.test`
  const aliases = `/mailboxes/${ana.id}/aliases`
  const alias = data<Json>(await appliance.call('POST', aliases, team.key, { email: desk }), 201)
  const [primary, ofAlias] = await list()
  assert.deepEqual([ofAlias.email, ofAlias.is_primary, ofAlias.may_delete], [desk, false, true])
  const ofTag = await make({ email: desk.replace('@', '+x@') })
  const created = data<Json>(await call('GET', `/changes?since_state=${before}`))
  assert.deepEqual(created.created.sort(), [ofAlias.id, ofTag.id].sort())
  data(await call('PATCH', `/${ofAlias.id}`, { is_primary: true }))
  data(await appliance.call('DELETE', `${aliases}/${alias.id}`, team.key))
  assert.deepEqual(
    (await list()).map(({ id, is_primary }) => [id, is_primary]),
    [[primary.id, true]],
  )
  const gone = data<Json>(await call('GET', `/changes?since_state=${created.new_state}`))
  assert.deepEqual([gone.updated, gone.destroyed.sort()], [[primary.id], [ofAlias.id, ofTag.id].sort()])
  issues(await send({ from: { email: desk } }), 422, 'validation_error', ['from.email forbidden_value'])
})

test('an alias removed while a message from a tag of it is composed sends nothing', async (t) => {
  const desk = `leaving${made}@shop.test`
  const aliases = `/mailboxes/${ana.id}/aliases`
  const alias = data<Json>(await appliance.call('POST', aliases, team.key, { email: desk }), 201)
  const ofAlias = (await list()).find(({ email }) => email === desk)!
  // Without its identity the message has the defaults of the primary one, which stays.
  data(await call('DELETE', `/${ofAlias.id}`))
  const { blobs } = appliance.app.store
  const putAll = blobs.putAll.bind(blobs)
  t.mock.method(blobs, 'putAll', async (...args: Parameters<typeof putAll>) => {
    data(await appliance.call('DELETE', `${aliases}/${alias.id}`, team.key))
    return putAll(...args)
  })
  issues(await send({ from: { email: desk } }), 422, 'validation_error', ['from.email forbidden_value'])
  assert.deepEqual(data<Json[]>(await appliance.get('/mailbox/submissions', ana.key)), [])
})

test('an identity deleted while its message is composed sends nothing', async (t) => {
  const gone = await make({ email: tagged('gone') })
  const { blobs } = appliance.app.store
  const putAll = blobs.putAll.bind(blobs)
  t.mock.method(blobs, 'putAll', async (...given: Parameters<typeof putAll>) => {
    data(await call('DELETE', `/${gone.id}`))
    return putAll(...given)
  })
  issues(await send({ from: { email: gone.email } }), 422, 'validation_error', ['from.email forbidden_value'])
  assert.deepEqual(data<Json[]>(await appliance.get('/mailbox/submissions', ana.key)), [])
})
