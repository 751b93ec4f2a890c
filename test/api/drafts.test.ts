// Drafts over the API: written, edited, attached, sent, deleted, and seen as messages.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DraftJson, DraftSummary } from '../../src/api/schemas/draft.ts'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { Message } from '../../src/api/schemas/message.ts'
import { newId } from '../../src/base/ids.ts'
import { DRAFTS_MAX } from '../../src/store/mailbox/drafts.ts'
import { type Json, type Reply, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { data, etagOf, failure, issues, receive, success, walk } from './expect.ts'

const clock = new ManualClock()
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const eve = await team.mailbox('eve@shop.test')
const get = (path: string, key = ana.key) => appliance.get(`/mailbox/${path}`, key)
const call = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  appliance.call(method, `/mailbox/${path}`, ana.key, body, headers)
const folders = new Map(data<FolderJson[]>(await get('folders')).map(({ role, id }) => [role, id]))
const idOf = (role: FolderJson['role']) => folders.get(role)!

const create = async (body: object) => data<DraftSummary>(await call('POST', 'drafts', body), 201)
const read = async (id: string) => data<DraftJson>(await get(`drafts/${id}`))
const tagOf = async (id: string) => etagOf(await get(`drafts/${id}`))
const edit = async (id: string, body: object, tag?: string) =>
  call('PUT', `drafts/${id}`, body, { 'if-match': tag ?? (await tagOf(id)) })
const message = async (id: string) =>
  data<Message>(await get(`messages/${id}?include=headers,text_body,html_body,attachments`))
const inDrafts = () => walk<Json>(appliance, `/mailbox/messages?folder_id=${idOf('drafts')}`, ana.key)
const upload = async (content: string, filename = 'note.txt', key = ana.key) =>
  data<Json>(
    await appliance.call('POST', '/mailbox/attachments', key, {
      filename,
      content: Buffer.from(content).toString('base64'),
    }),
    201,
  )
const FULL = {
  to: [{ email: 'bob@customer.test', name: 'Bob' }],
  cc: [{ email: 'carl@customer.test' }],
  bcc: [{ email: 'dora@customer.test', name: 'Dora' }],
  reply_to: [{ email: 'help@shop.test' }],
  subject: 'Our meeting',
  text_body: 'Hello Bob\n',
  html_body: '<p>Hello <b>Bob</b></p>',
}

/** The draft says what its message says. */
async function agrees(id: string): Promise<void> {
  const draft = await read(id)
  const shown = await message(draft.message_id)
  const addresses = (list: { email: string; name: string }[] | null) =>
    (list ?? []).map(({ email, name }) => [email, name])
  assert.deepEqual([shown.subject, shown.thread_id], [draft.subject, draft.thread_id])
  for (const member of ['to', 'cc', 'bcc'] as const)
    assert.deepEqual(addresses(shown[member]), addresses(draft[member]), member)
  assert.deepEqual(
    shown.keywords.filter((keyword) => keyword === '$draft'),
    ['$draft'],
  )
  assert.deepEqual(
    shown.attachments!.map(({ blob_id }) => blob_id).sort(),
    draft.attachments.map(({ blob_id }) => blob_id).sort(),
  )
  if (draft.text_body !== null) assert.ok(shown.text_body!.includes(draft.text_body.trim()))
}

test('a draft is what was written, and a message in Drafts that other programs see', async () => {
  const file = await upload('a file')
  const body = { ...FULL, attachments: [{ blob_id: file.blob_id, filename: 'note.txt' }], undo_seconds: 10 }
  const reply = await call('POST', 'drafts', body)
  const made = data<DraftSummary>(reply, 201)
  assert.equal(reply.headers.get('location'), `/api/v1/mailbox/drafts/${made.id}`)
  assert.deepEqual(made.problems, [])
  const { text_body, html_body, ...rest } = await read(made.id)
  assert.deepEqual([text_body, html_body], [FULL.text_body, FULL.html_body])
  assert.deepEqual(rest, made)
  assert.equal(made.attachments[0]!.size_bytes, 6)
  await agrees(made.id)
  const shown = await message(made.message_id)
  assert.deepEqual(shown.folder_ids, [idOf('drafts')])
  assert.ok(shown.headers!.some(({ name, value }) => name === 'Bcc' && value.includes('dora@customer.test')))
  assert.deepEqual(data<DraftSummary[]>(await get('drafts'))[0], made)
})

test('an empty draft is stored, and says what it lacks', async () => {
  const made = await create({})
  assert.deepEqual(made.problems.map(({ field, code }) => `${field} ${code}`).slice(0, 3), [
    'to required',
    'subject required',
    'text_body required',
  ])
  await agrees(made.id)
  const refused = failure(await call('POST', `drafts/${made.id}/send`), 422, 'validation_error')
  assert.deepEqual(
    refused.errors!.map(({ field }) => field),
    ['to', 'subject', 'text_body'],
  )
})

test('an edit replaces all members and the message, in its folders and with its keywords', async () => {
  const made = await create(FULL)
  data(await call('PATCH', `messages/${made.message_id}`, { flags: { flagged: true }, keywords: ['$draft', 'mine'] }))
  data(await call('POST', 'messages/batch-update', { ids: [made.message_id], add_folder_ids: [idOf('archive')] }))
  const state = success(await get('messages')).meta.state
  const reply = await edit(made.id, { subject: 'Another' })
  const edited = data<DraftSummary>(reply)
  assert.equal(etagOf(reply), await tagOf(made.id))
  assert.deepEqual([edited.revision, edited.subject, edited.to, edited.bcc], [2, 'Another', [], null])
  assert.equal(edited.thread_id, made.thread_id)
  assert.notEqual(edited.message_id, made.message_id)
  await agrees(made.id)
  const shown = await message(edited.message_id)
  assert.deepEqual(shown.folder_ids.toSorted(), [idOf('drafts'), idOf('archive')].toSorted())
  assert.deepEqual(shown.keywords, ['$draft', '$flagged', 'mine'])
  assert.equal((await get(`messages/${made.message_id}`)).status, 404)
  const changes = data<Json>(await get(`messages/changes?since_state=${state}`))
  assert.deepEqual([changes.created, changes.destroyed], [[edited.message_id], [made.message_id]])
})

test('the answer to a new draft has its ETag, also when it is replayed or opened again', async () => {
  const once = { 'idempotency-key': 'draft-tag' }
  const made = await call('POST', 'drafts', FULL, once)
  const { id, message_id } = data<DraftSummary>(made, 201)
  assert.equal(etagOf(made), await tagOf(id))
  const replayed = await call('POST', 'drafts', FULL, once)
  assert.equal(etagOf(replayed), etagOf(made))
  const opened = await call('POST', 'drafts', { message_id })
  assert.deepEqual([opened.status, etagOf(opened)], [200, etagOf(made)])
  data(await edit(id, { subject: 'Edited' }, etagOf(made)))
  const { message_id: current } = await read(id)
  for (const path of [`messages/${current}/reply`, `messages/${current}/forward`]) {
    const reply = await call('POST', path, {})
    assert.equal(etagOf(reply), await tagOf(data<DraftSummary>(reply, 201).id), path)
  }
})

test('of two editors the second is refused, also at the same time', async () => {
  const made = await create(FULL)
  const tag = await tagOf(made.id)
  failure(await call('PUT', `drafts/${made.id}`, FULL), 400, 'missing_parameter')
  const both = await Promise.all(Array.from({ length: 8 }, (_, at) => edit(made.id, { subject: `Window ${at}` }, tag)))
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, ...Array(7).fill(409)])
  const { subject, revision } = await read(made.id)
  const won = both.findIndex(({ status }) => status === 200)
  assert.deepEqual([subject, revision], [`Window ${won}`, 2])
  assert.equal((await inDrafts()).filter(({ subject }) => /^Window/.test(subject)).length, 1)
  failure(await call('DELETE', `drafts/${made.id}`, undefined, { 'if-match': tag }), 409, 'conflict')
  failure(await call('POST', `drafts/${made.id}/send`, undefined, { 'if-match': tag }), 409, 'conflict')
})

test('a draft lives and dies with its message', async () => {
  const made = await create(FULL)
  data(await call('PATCH', `messages/${made.message_id}`, { folder_ids: [idOf('archive')] }))
  for (const reply of [await get(`drafts/${made.id}`), await call('DELETE', `drafts/${made.id}`)])
    failure(reply, 404, 'not_found')
  failure(await call('PUT', `drafts/${made.id}`, FULL, { 'if-match': '*' }), 404, 'not_found')
  failure(await call('POST', `drafts/${made.id}/send`), 404, 'not_found')
  assert.ok(!data<DraftSummary[]>(await get('drafts')).some(({ id }) => id === made.id))
  data(await call('DELETE', `messages/${made.message_id}`))
  failure(await get(`drafts/${made.id}`), 404, 'not_found')
  data(await call('PATCH', `messages/${made.message_id}`, { folder_ids: [idOf('drafts')] }))
  assert.equal((await read(made.id)).subject, FULL.subject)
  data(await call('DELETE', `messages/${made.message_id}?permanent=true`))
  failure(await get(`drafts/${made.id}`), 404, 'not_found')
  const other = await create(FULL)
  assert.deepEqual(data(await call('DELETE', `drafts/${other.id}`)), { deleted: true, id: other.id })
  failure(await get(`messages/${other.message_id}`), 404, 'not_found')
})

test('what is stored is valid: addresses, names, subjects and files', async () => {
  const cases: [object, string][] = [
    [{ to: [{ email: 'bob' }] }, 'to.0.email invalid_format'],
    [{ cc: [{ email: 'a@b.test, z@z.test' }] }, 'cc.0.email invalid_format'],
    [{ to: [{ email: 'b@b.test', name: 'B\r\nBcc: z@z.test' }] }, 'to.0.name invalid_format'],
    [{ bcc: [{ email: 'b@b.test>\r\nRCPT TO:<z@z.test' }] }, 'bcc.0.email invalid_format'],
    [{ subject: 'One\r\nBcc: z@z.test' }, 'subject invalid_format'],
    [{ reply_to: [{ email: '@' }] }, 'reply_to.0.email invalid_format'],
    [{ identity_id: newId('identity') }, 'from.email forbidden_value'],
    [{ in_reply_to_message_id: newId('message') }, 'in_reply_to_message_id not_found'],
    [{ quote: { message_id: newId('message'), mode: 'none' } }, 'quote.message_id not_found'],
    [{ forward: { message_id: newId('message'), mode: 'inline' } }, 'forward.message_id not_found'],
    [{ message_id: newId('message') }, 'message_id not_found'],
    [{ message_id: newId('message'), subject: 'x' }, 'subject forbidden_value'],
    [{ attachments: [{ blob_id: `blob_${'a'.repeat(24)}`, filename: 'a.txt' }] }, 'attachments.0.blob_id not_found'],
  ]
  for (const [body, issue] of cases) issues(await call('POST', 'drafts', body), 422, 'validation_error', [issue])
  const { blob_id } = await upload('x')
  const name = { attachments: [{ blob_id, filename: 'a\r\nContent-Type: text/html.txt' }] }
  issues(await call('POST', 'drafts', name), 422, 'validation_error', ['attachments.0.filename invalid_format'])
  // A file that may not be sent can be kept, and is reported.
  const program = await create({ ...FULL, attachments: [{ blob_id, filename: 'setup.exe' }] })
  assert.ok(program.problems.some(({ field }) => field === 'attachments.0.filename'))
  failure(await call('POST', `drafts/${program.id}/send`), 422, 'validation_error')
})

test('content and messages of other mailboxes cannot be attached, quoted or answered', async () => {
  const { blob_id } = await upload('theirs', 'theirs.txt', eve.key)
  await receive(appliance, { to: eve.email, subject: 'Theirs' })
  const [theirs] = data<Json[]>(await get('messages', eve.key))
  issues(await call('POST', 'drafts', { attachments: [{ blob_id, filename: 'a.txt' }] }), 422, 'validation_error', [
    'attachments.0.blob_id not_found',
  ])
  issues(await call('POST', 'drafts', { quote: { message_id: theirs!.id, mode: 'all' } }), 422, 'validation_error', [
    'quote.message_id not_found',
  ])
  for (const action of ['reply', 'forward'])
    failure(await call('POST', `messages/${theirs!.id}/${action}`), 404, 'not_found')
  const mine = await create(FULL)
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/send'],
  ] as const) {
    const reply = await appliance.call(
      method,
      `/mailbox/drafts/${mine.id}${path}`,
      eve.key,
      method === 'PUT' ? {} : undefined,
    )
    failure(reply, 404, 'not_found')
  }
})

test('files stay with the draft after their uploads expired, also when their bytes are stored in another form', async () => {
  const text = await upload('line\nline\n')
  const mail = await upload('Subject: Inner\n\nBare line feeds\n', 'inner.eml')
  const attachments = [
    { blob_id: text.blob_id, filename: 'lines.txt' },
    { blob_id: mail.blob_id, filename: 'inner.eml', type: 'message/rfc822' },
  ]
  const made = await create({ ...FULL, attachments })
  clock.advance(3 * 86_400_000)
  await appliance.app.store.edit.uploads.expire(new AbortController().signal)
  const { attachments: kept } = await read(made.id)
  assert.ok(kept.every(({ size_bytes }) => size_bytes !== null))
  const again = kept.map(({ blob_id, filename, type }) => ({ blob_id, filename, type }))
  const edited = data<DraftSummary>(await edit(made.id, { ...FULL, attachments: again }))
  assert.deepEqual(
    edited.attachments.map(({ filename }) => filename),
    ['lines.txt', 'inner.eml'],
  )
  await agrees(made.id)
})

test('a message of another program in Drafts is opened as a draft, once', async () => {
  const raw = [
    'From: Ana <ana@shop.test>',
    'To: Bob <bob@customer.test>, broken@',
    'Bcc: dora@customer.test',
    'Subject: Written elsewhere',
    '',
    'Begun.',
  ].join('\r\n')
  const body = { raw: Buffer.from(raw).toString('base64'), folder_ids: [idOf('drafts')], keywords: ['$draft'] }
  const { id } = data<Json>(await call('POST', 'messages/import', body), 201)
  const opened = await create({ message_id: id })
  assert.deepEqual(
    [opened.message_id, opened.subject, opened.to.length, opened.bcc!.length],
    [id, 'Written elsewhere', 1, 1],
  )
  assert.equal((await read(opened.id)).text_body, 'Begun.')
  const again = data<DraftSummary>(await call('POST', 'drafts', { message_id: id }))
  assert.equal(again.id, opened.id)
  data(await edit(opened.id, { ...FULL, text_body: 'Continued.' }))
  await agrees(opened.id)
  await receive(appliance, { to: ana.email })
  const [received] = data<Json[]>(await get(`messages?folder_id=${idOf('inbox')}`))
  issues(await call('POST', 'drafts', { message_id: received!.id }), 422, 'validation_error', ['message_id not_found'])
})

test('bodies of 10 MB are stored as they are, and what a replaced version took is free again', async () => {
  const long = 'x'.repeat(78).concat('\r\n').repeat(131_000)
  const reply = await call('POST', 'drafts', { subject: 'Long', text_body: long, html_body: '<p>Short</p>' })
  const made = data<DraftSummary>(reply, 201)
  const { text_body, html_body } = await read(made.id)
  assert.deepEqual([text_body === long, html_body], [true, '<p>Short</p>'])
  const { hash } = await storedMessage(made.message_id)
  data(await edit(made.id, { subject: 'Short' }))
  assert.equal(appliance.app.store.blobs.size(hash), undefined)
  issues(await call('POST', 'drafts', { text_body: 'x'.repeat(10_485_761) }), 422, 'validation_error', [
    'text_body too_big',
  ])
  data(await call('DELETE', `drafts/${made.id}`))
})

async function storedMessage(id: string): Promise<{ hash: Uint8Array }> {
  const account = appliance.app.store.accounts.byMailbox(ana.id)!
  return { hash: appliance.app.store.read.messages.get(account, id)!.blobHash }
}

test('who may read may list; who may write or send may draft; only who may send sends; only who may read quotes', async () => {
  const key = async (permissions: string[]) =>
    data<Json>(await appliance.call('POST', `/mailboxes/${ana.id}/api-keys`, team.key, { name: 'x', permissions }), 201)
      .key
  const [reader, writer, sender, receiver] = [
    await key(['mailbox.read']),
    await key(['mailbox.write']),
    await key(['email.send']),
    await key(['email.receive']),
  ]
  const as = (by: string, method: string, path: string, body?: object): Promise<Reply> =>
    appliance.call(method, `/mailbox/${path}`, by, body)
  const { id } = data<DraftSummary>(await as(writer, 'POST', 'drafts', FULL), 201)
  data(await as(reader, 'GET', `drafts/${id}`))
  data(await as(sender, 'POST', 'drafts', FULL), 201)
  await receive(appliance, { to: ana.email, subject: 'Private' })
  const [newest] = data<Json[]>(await get('messages'))
  const refused: [string, string, string, object?][] = [
    [reader, 'POST', 'drafts', FULL],
    [receiver, 'POST', 'drafts', FULL],
    [reader, 'DELETE', `drafts/${id}`],
    [receiver, 'DELETE', `drafts/${id}`],
    [writer, 'POST', `drafts/${id}/send`],
    [receiver, 'POST', `drafts/${id}/send`],
    [sender, 'GET', 'drafts'],
    [sender, 'POST', `messages/${newest!.id}/forward`, { to: FULL.to }],
    [writer, 'POST', `messages/${newest!.id}/reply`],
    [sender, 'POST', 'drafts', { quote: { message_id: newest!.id, mode: 'all' } }],
    [sender, 'POST', 'drafts', { forward: { message_id: newest!.id, mode: 'inline' } }],
    [sender, 'POST', 'drafts', { message_id: newest!.id }],
  ]
  for (const [by, method, path, body] of refused) {
    failure(await as(by, method, path, body), 403, 'insufficient_permissions')
  }
  data(await call('DELETE', `drafts/${id}`))
})

test('the search finds the present text of a draft, and no earlier one', async () => {
  const made = await create({ ...FULL, subject: 'Zephyr', text_body: 'quixotic' })
  const hits = async (word: string) => data<Json[]>(await get(`messages?q=${word}`)).map(({ id }) => id)
  assert.deepEqual(await hits('quixotic'), [made.message_id])
  const edited = data<DraftSummary>(await edit(made.id, { ...FULL, subject: 'Mistral', text_body: 'sober' }))
  assert.deepEqual([await hits('quixotic'), await hits('zephyr'), await hits('sober')], [[], [], [edited.message_id]])
  data(await call('DELETE', `drafts/${made.id}`))
  assert.deepEqual(await hits('sober'), [])
})

test('a full mailbox takes no larger draft, but a draft in it can be edited to be smaller, sent and deleted', async () => {
  const made = await create({ ...FULL, text_body: 'x'.repeat(50_000) })
  const { usedBytes } = appliance.app.store.accounts.byMailbox(ana.id)!
  // Below what the API allows, so that the test stays small.
  const quota = (bytes: number) =>
    appliance.app.db.write((tx) => void tx.run('UPDATE mailboxes SET quota_bytes = ? WHERE id = ?', [bytes, ana.id]))
  const { quota_bytes } = data<Json>(await appliance.get(`/mailboxes/${ana.id}`, team.key))
  await quota(usedBytes + 100)
  failure(await call('POST', 'drafts', FULL), 409, 'conflict')
  failure(await edit(made.id, { ...FULL, text_body: 'x'.repeat(60_000) }), 409, 'conflict')
  assert.equal((await read(made.id)).text_body!.length, 50_000)
  data(await edit(made.id, { ...FULL, text_body: 'x'.repeat(49_000) }))
  await quota(appliance.app.store.accounts.byMailbox(ana.id)!.usedBytes + 1000)
  data(await call('POST', `drafts/${made.id}/send`), 202)
  await quota(quota_bytes)
})

test('a mailbox has a bounded number of drafts; those in Trash do not count', async () => {
  const make = () => appliance.call('POST', '/mailbox/drafts', eve.key, {})
  const made = await Promise.all(Array.from({ length: DRAFTS_MAX + 3 }, make))
  const refused = made.filter(({ status }) => status !== 201)
  assert.equal(refused.length, 3)
  for (const reply of refused) failure(reply, 409, 'conflict')
  assert.equal((await walk(appliance, '/mailbox/drafts?limit=100', eve.key)).length, DRAFTS_MAX)
  const [one] = made.filter(({ status }) => status === 201)
  data(await appliance.call('DELETE', `/mailbox/messages/${one!.body.data.message_id}`, eve.key))
  data(await make(), 201)
})
