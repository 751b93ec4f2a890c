// Copies of messages in another mailbox: all properties, moves, idempotency, and both credentials.

import assert from 'node:assert/strict'
import { after, before, describe, it, test } from 'node:test'
import { COPY_BYTES_MAX } from '../../src/api/mailbox/messages/message-copy.ts'
import type { NewApiKey } from '../../src/api/schemas/api-key.ts'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { Message, RawMessage } from '../../src/api/schemas/message.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import type { Session } from '../../src/api/schemas/session.ts'
import { newId } from '../../src/base/ids.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, failure, issues, receive, receiveRaw } from './expect.ts'

interface Copied {
  copied: { source_id: string; id: string }[]
  not_found: string[]
  not_copied: { source_id: string; code: string; message: string }[]
}

const clock = new ManualClock(Date.UTC(2026, 0, 1))
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
const other = await appliance.team('Other')
await team.domain('shop.test')
await other.domain('others.test')
const ana = await team.mailbox('ana@shop.test')
const bob = await team.mailbox('bob@shop.test')
const eve = await other.mailbox('eve@others.test')
let folders: Map<string, string>

before(async () => {
  const all = data<FolderJson[]>(await appliance.get('/mailbox/folders', bob.key))
  folders = new Map(all.map(({ role, id }) => [role!, id]))
})

const copy = (body: object, { secret = ana.key, key = bob.key, headers = {} } = {}) =>
  appliance.call(
    'POST',
    '/mailbox/messages/copy',
    key,
    { source_mailbox_id: ana.id, ...body },
    {
      'x-source-authorization': `Bearer ${secret}`,
      ...headers,
    },
  )
const copied = async (body: object, how = {}) => data<Copied>(await copy(body, how))

let count = 0
/** A mail in the mailbox of Ana. @returns its id */
async function arrive(text = 'Hello.', to = ana): Promise<string> {
  clock.advance(60_000)
  await receive(appliance, { to: to.email, subject: `Mail ${++count}`, text })
  return data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?limit=1', to.key))[0]!.id
}

async function detail(id: string, { key }: { key: string } = ana): Promise<Message> {
  const path = `/mailbox/messages/${id}?include=headers,text_body,html_body,attachments,authentication`
  return data<Message>(await appliance.get(path, key))
}

test('a copy has the bytes, bodies, files, keywords, time and authentication results of its source, and is found by its words', async () => {
  const part = 'Content-Type: application/zip\r\nContent-Disposition: attachment; filename=kestrel.zip\r\n\r\nbytes'
  const text = 'Content-Type: text/plain\r\n\r\nThe peregrine.'
  const content = `From: x@far.test\r\nTo: ana@shop.test\r\nSubject: Birds\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${text}\r\n--b\r\n${part}\r\n--b--\r\n`
  await receiveRaw(appliance, { from: 'x@far.test', to: ana.email, content })
  const [summary] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?limit=1', ana.key))
  await appliance.call('PATCH', `/mailbox/messages/${summary!.id}/keywords`, ana.key, { add: ['$seen', 'work'] })
  const source = await detail(summary!.id)
  clock.advance(86_400_000)
  const session = data<Session>(await appliance.get('/mailbox/session', bob.key))
  const [made] = (await copied({ ids: [source.id] })).copied
  assert.equal(made!.source_id, source.id)
  const here = await detail(made!.id, bob)
  const own = ['id', 'thread_id', 'folder_ids', 'blob_id', 'attachments', 'state'] as const
  const rest = (message: Message) =>
    Object.fromEntries(Object.entries(message).filter(([name]) => !own.includes(name as never)))
  assert.deepEqual(rest(here), rest(source))
  assert.deepEqual(here.folder_ids, [folders.get('inbox')])
  for (const name of own) assert.notDeepEqual(here[name], source[name], name)
  const raw = async (id: string, key: string) =>
    data<RawMessage>(await appliance.get(`/mailbox/messages/${id}/raw`, key)).raw
  assert.equal(await raw(made!.id, bob.key), await raw(source.id, ana.key))
  for (const q of ['peregrine', 'filename:kestrel', 'from:x@far.test']) {
    const found = data<MessageSummaryJson[]>(await appliance.get(`/mailbox/messages?q=${q}`, bob.key))
    assert.deepEqual(
      found.map(({ id }) => id),
      [made!.id],
      q,
    )
  }
  const file = await fetch(`${appliance.origin}/api/v1/mailbox/attachments/${here.attachments![0]!.id}/content`, {
    headers: { authorization: `Bearer ${bob.key}` },
  })
  assert.equal(await file.text(), 'bytes')
  const path = `/mailbox/messages/changes?since_state=${session.states.messages}`
  assert.deepEqual(data<{ created: string[] }>(await appliance.get(path, bob.key)).created, [made!.id])
  assert.deepEqual(await detail(source.id), source)
})

test('folders and keywords are those of the request', async () => {
  const id = await arrive()
  const folder_ids = [folders.get('archive')!, folders.get('sent')!]
  const { copied: made } = await copied({ ids: [id], folder_ids, keywords: ['$Flagged', 'later'] })
  const here = await detail(made[0]!.id, bob)
  assert.deepEqual(here.folder_ids.toSorted(), folder_ids.toSorted())
  assert.deepEqual(here.keywords, ['$flagged', 'later'])
  issues(await copy({ ids: [id], folder_ids: [newId('folder')] }), 422, 'validation_error', ['folder_ids.0 not_found'])
})

test('a conversation stays one thread, whatever the order of its messages in the request', async () => {
  const ids = await arrive('one').then(async (first) => {
    const { internet_message_id } = await detail(first)
    await receive(appliance, { to: ana.email, subject: 'Re: x', more: [`References: <${internet_message_id}>`] })
    return [data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages?limit=1', ana.key))[0]!.id, first]
  })
  const { copied: made } = await copied({ ids })
  const threads = await Promise.all(made.map(async ({ id }) => (await detail(id, bob)).thread_id))
  assert.equal(new Set(threads).size, 1)
})

test('a move deletes the copied messages only', async () => {
  const [first, second] = [await arrive('first'), await arrive('second')]
  await copied({ ids: [second] })
  const nobodys = newId('message')
  const moved = await copied({ ids: [first, second, nobodys], delete_source: true })
  assert.deepEqual(
    moved.copied.map(({ source_id }) => source_id),
    [first],
  )
  assert.deepEqual(moved.not_found, [nobodys])
  assert.deepEqual(moved.not_copied, [
    { source_id: second, code: 'conflict', message: 'The mailbox already holds this message.' },
  ])
  failure(await appliance.get(`/mailbox/messages/${first}`, ana.key), 404, 'not_found')
  await detail(second)
  assert.equal((await detail(moved.copied[0]!.id, bob)).text_body, 'first\n')
})

test('a message that does not fit is not copied; the others are', async () => {
  const small = await team.mailbox('small@shop.test', { quotaBytes: 10_485_760 })
  const large = `${'x'.repeat(78)}\r\n`
  const ids = [await arrive(large.repeat(80_000)), await arrive(large.repeat(80_000)), await arrive()]
  const made = await copied({ ids }, { key: small.key })
  assert.deepEqual(
    made.copied.map(({ source_id }) => source_id),
    [ids[0], ids[2]],
  )
  assert.deepEqual(made.not_copied, [{ source_id: ids[1], code: 'conflict', message: 'The mailbox is full.' }])
})

test('one request reads a limited number of bytes', async () => {
  const ids = [await arrive(), await arrive(), await arrive()]
  const sized = (bytes: number) =>
    appliance.app.db.write((tx) => tx.run('UPDATE messages SET size_bytes = ? WHERE id = ?', [bytes, ids[1]]))
  const { size_bytes } = await detail(ids[1]!)
  await sized(COPY_BYTES_MAX)
  const made = await copied({ ids })
  assert.deepEqual(
    made.copied.map(({ source_id }) => source_id),
    [ids[0], ids[2]],
  )
  assert.equal(made.not_copied[0]!.source_id, ids[1])
  await sized(size_bytes)
})

test('an Idempotency-Key returns the first response again', async () => {
  const body = { ids: [await arrive()], delete_source: true }
  const headers = { 'idempotency-key': 'move-1' }
  const first = await copied(body, { headers })
  assert.equal(first.copied.length, 1)
  assert.deepEqual(await copied(body, { headers }), first)
})

test('a sent message keeps its Bcc recipients', async () => {
  const mail = { to: [{ email: bob.email }], bcc: [{ email: 'zoe@shop.test' }], subject: 'Quiet', text_body: 'x' }
  const sent = await appliance.call('POST', '/mailbox/messages/send', ana.key, mail)
  const { stored_message_id: id } = data<{ stored_message_id: string }>(sent, 202)
  const [made] = (await copied({ ids: [id] })).copied
  assert.deepEqual((await detail(made!.id, bob)).bcc, [{ email: 'zoe@shop.test', name: '' }])
  await appliance.settle()
})

test('both mailboxes are of one team, and each needs its own credential', async () => {
  const id = await arrive()
  const body = { ids: [id] }
  const none = await appliance.call('POST', '/mailbox/messages/copy', bob.key, { source_mailbox_id: ana.id, ...body })
  assert.equal(failure(none, 400, 'missing_parameter').param, 'X-Source-Authorization')
  for (const secret of [bob.key, eve.key, team.key, 'smk_wrong'])
    failure(await copy(body, { secret }), 404, 'not_found')
  failure(await copy(body, { key: eve.key }), 404, 'not_found')
  failure(await copy({ ...body, source_mailbox_id: eve.id }, { secret: eve.key }), 404, 'not_found')
  issues(await copy(body, { key: ana.key }), 422, 'validation_error', ['source_mailbox_id forbidden_value'])
  const keyWith = async (mailbox: string, permissions: string[]) => {
    const made = await appliance.call('POST', `/mailboxes/${mailbox}/api-keys`, team.key, { name: 'x', permissions })
    return data<NewApiKey>(made, 201).key
  }
  const reading = await keyWith(ana.id, ['mailbox.read'])
  failure(await copy({ ...body, delete_source: true }, { secret: reading }), 403, 'insufficient_permissions')
  failure(
    await copy(body, { key: await keyWith(bob.id, ['mailbox.read', 'email.receive']) }),
    403,
    'insufficient_permissions',
  )
  assert.equal((await copied(body, { secret: reading })).copied.length, 1)
  await detail(id)
})

test('from a suspended source messages can be copied, not moved; a suspended target accepts nothing', async () => {
  const late = await team.mailbox('late@shop.test')
  const ids = [await arrive('late', late)]
  const body = { source_mailbox_id: late.id, ids }
  await appliance.app.directory.mailboxes.suspend(team.id, late.id)
  failure(await copy({ ...body, delete_source: true }, { secret: late.key }), 409, 'conflict')
  assert.equal((await copied(body, { secret: late.key })).copied.length, 1)
  failure(await copy({ ids: [await arrive()] }, { key: late.key }), 409, 'conflict')
})

describe('changes while messages are read for their copies', () => {
  /** Copies a mail into a new mailbox; `meanwhile` runs once, when the mail was read. */
  async function copyWhile(
    meanwhile: (target: { id: string; key: string }, id: string) => Promise<unknown>,
    move = true,
  ) {
    const target = await team.mailbox(`target${++count}@shop.test`, { quotaBytes: 20_971_520 })
    const id = await arrive(`For ${target.email}`)
    const read = appliance.app.inspector.read.bind(appliance.app.inspector)
    appliance.app.inspector.read = async (...given) => {
      appliance.app.inspector.read = read
      const reading = await read(...given)
      await meanwhile(target, id)
      return reading
    }
    return { id, target, reply: await copy({ ids: [id], delete_source: move }, { key: target.key }) }
  }

  it('loses no mail to a mailbox that is deleted', async () => {
    const { id, reply } = await copyWhile((target) => appliance.app.administration.mailboxes.delete(team.id, target.id))
    failure(reply, 409, 'conflict')
    await detail(id)
  })

  it('nothing is copied into a mailbox that is suspended', async () => {
    const { id, target, reply } = await copyWhile(({ id }) => appliance.app.directory.mailboxes.suspend(team.id, id))
    failure(reply, 409, 'conflict')
    await detail(id)
    assert.deepEqual(data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages', target.key)), [])
  })

  it('nothing is moved out of a mailbox that is suspended', async () => {
    const { reply, id } = await copyWhile(() => appliance.app.directory.mailboxes.suspend(team.id, ana.id))
    await appliance.app.directory.mailboxes.reactivate(team.id, ana.id)
    failure(reply, 409, 'conflict')
    await detail(id)
  })

  it('no edit of the source is lost', async () => {
    const { reply, target } = await copyWhile(async (_, id) =>
      data(await appliance.call('PATCH', `/mailbox/messages/${id}/keywords`, ana.key, { add: ['$flagged', 'late'] })),
    )
    const [made] = data<Copied>(reply).copied
    assert.deepEqual((await detail(made!.id, target)).keywords, ['$flagged', 'late'])
  })

  it('a lowered quota is not exceeded', async () => {
    const { reply, id } = await copyWhile(async (target) => {
      const filler = await arrive(`${'x'.repeat(78)}\r\n`.repeat(132_000))
      await copied({ ids: [filler] }, { key: target.key })
      const lowered = { quota_bytes: appliance.app.store.accounts.byMailbox(target.id)!.usedBytes }
      data(await appliance.call('PATCH', `/mailboxes/${target.id}`, team.key, lowered))
    })
    assert.equal(data<Copied>(reply).not_copied[0]?.message, 'The mailbox is full.')
    await detail(id)
  })
})
