// Messages of programs that wait for a person: every way out, one decision, bound to what was shown.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { heldExpiry, heldNotices } from '../../src/jobs/held-messages.ts'
import { data, failure, receive, receiveRaw } from '../api/expect.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { logInImap } from '../support/imap.ts'
import { startMailServer } from '../support/mail-server.ts'
import { PersonClient, signInMember } from '../support/person.ts'
import { plainMail } from '../support/smtp.ts'
import { signInToSubmit } from '../support/submission.ts'

const HOUR_MS = 3_600_000
const clock = new ManualClock()
const remote = await startMailServer()
const zone = {
  'people.example': { MX: [{ priority: 10, exchange: 'mx.people.example' }], TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
  'mx.people.example': { A: ['127.0.0.1'] },
}
const env = {
  ...{ ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) },
  ...{ SPAM_JUNK_SCORE: '99', SPAM_REFUSE_SCORE: '99' },
}
const appliance = await startAppliance({ clock, zone, env })
after(async () => {
  await appliance.close()
  await remote[Symbol.asyncDispose]()
})
const team = await appliance.team()
await team.domain('shop.test')
const owner = await signInMember(appliance, team.id, 'owner')
let boxes = 0

/** Sessions end while time passes, and decisions need a fresh one. */
async function signInAgain(): Promise<void> {
  const { db, people } = appliance.app
  const scope = { email: owner.email, teamId: null, mailboxId: null, shownBy: null }
  owner.cookie = new PersonClient(appliance, await db.write((tx) => people.signInAs(tx, scope))).cookie
}

type Box = Awaited<ReturnType<typeof team.mailbox>>

/** A mailbox whose programs are under a policy. */
async function boxUnder(policy: Json): Promise<Box> {
  const box = await team.mailbox(`box${++boxes}@shop.test`)
  data(await appliance.call('PUT', `/mailboxes/${box.id}/send-policy`, team.key, policy))
  return box
}

const mailTo = (email: string, more: object = {}) => ({ to: [{ email }], subject: 'Hello', text_body: 'Hi.', ...more })
const send = (box: Box, mail: object) => appliance.call('POST', '/mailbox/messages/send', box.key, mail)
const waiting = async (box: Box): Promise<Json[]> =>
  data<Json[]>(await owner.get('/me/v1/held-messages')).filter(({ mailbox_id }) => mailbox_id === box.id)
const decide = (what: 'approve' | 'reject', { id, hash }: Json, note?: string) =>
  owner.call('POST', `/me/v1/held-messages/${id}/${what}`, { hash, ...(note === undefined ? {} : { note }) })
const submission = async (box: Box, id: string) =>
  data<Json>(await appliance.get(`/mailbox/submissions/${id}`, box.key))
/** A connection that is under way when the clock leaps would be one that did not answer. */
async function leap(ms: number): Promise<void> {
  await appliance.settle()
  clock.leap(ms)
}
const deliveredTo = (address: string) => remote.messages.filter(({ to }) => to.includes(address))

test('a message to an address that no person has written to waits, leaves once approved, and makes the address known', async () => {
  const box = await boxUnder({ send_approval: 'first_contact' })
  const sent = data<Json>(await send(box, mailTo('ana@people.example')), 202)
  assert.equal(sent.status, 'held')
  await appliance.settle()
  assert.equal(deliveredTo('ana@people.example').length, 0)
  const before = await submission(box, sent.submission_id)
  assert.deepEqual([before.status, before.approval.state, before.approval.reason], ['held', 'held', 'first_contact'])
  const [held] = await waiting(box)
  const detail = data<Json>(await owner.get(`/me/v1/held-messages/${held.id}`))
  assert.deepEqual(
    [detail.recipients, detail.subject, detail.content.text.trim(), detail.read_before],
    [['ana@people.example'], 'Hello', 'Hi.', []],
  )
  await leap(HOUR_MS / 10)
  data(await decide('approve', held))
  await appliance.settle()
  const [got] = deliveredTo('ana@people.example')
  assert.match(got!.bytes.toString(), new RegExp(`^Date: ${new Date(clock.now()).toUTCString().slice(0, 22)}`, 'm'))
  const after = await submission(box, sent.submission_id)
  assert.deepEqual([after.status, after.approval.state], ['sent', 'approved'])
  const log = data<Json>(await appliance.get(`/emails/${sent.message_id}`, team.key))
  assert.deepEqual(
    log.recipients[0].timeline.map(({ type }: Json) => type),
    ['accepted', 'held', 'approved', 'routed', 'sent'],
  )
  assert.equal(data<Json>(await send(box, mailTo('ana@people.example')), 202).status, 'queued')
  const events = appliance.app.db.read.all<{ type: string }>(`SELECT type FROM events WHERE body LIKE ? ORDER BY n`, [
    `%${sent.message_id}%`,
  ])
  assert.deepEqual(
    events.map(({ type }) => type),
    ['message.held', 'message.approved', 'message.delivered'],
  )
})

test('every way out of a mailbox under `always` waits', async () => {
  const box = await boxUnder({ send_approval: 'none' })
  const mail = mailTo('bob@people.example')
  const password = data<Json>(await appliance.call('POST', '/mailbox/app-passwords', box.key, { name: 'Program' }), 201)
  data(await appliance.call('PUT', `/mailboxes/${box.id}/send-policy`, team.key, { send_approval: 'always' }))
  await receive(appliance, { from: 'bob@people.example', to: box.email, subject: 'Question' })
  const [received] = data<Json[]>(await appliance.get('/mailbox/messages?in_trash_or_junk=true', box.key))
  const draft = data<Json>(await appliance.call('POST', '/mailbox/drafts', box.key, mail), 201)
  const one = { ...mail, to: { email: 'bob@people.example' } }
  const statuses = [
    data<Json>(await send(box, mail), 202).status,
    data<Json>(await send(box, { ...mail, in_reply_to_message_id: received.id }), 202).status,
    data<Json>(await appliance.call('POST', `/mailbox/drafts/${draft.id}/send`, box.key), 202).status,
    data<Json>(await appliance.call('POST', '/emails/send', box.key, mail), 202).status,
    data<Json>(await appliance.call('POST', '/emails/send/batch', box.key, { messages: [one] })).results[0].status,
  ]
  assert.deepEqual(statuses, Array(5).fill('held'))
  const client = await signInToSubmit(appliance, { email: box.email, key: password.password })
  const content = plainMail({
    from: box.email,
    to: 'bob@people.example',
    subject: 'By SMTP',
    id: 'program@client.test',
  })
  assert.equal((await client.mail({ from: box.email, to: 'bob@people.example', content })).code, 250)
  client.drop()
  await appliance.settle()
  assert.equal(deliveredTo('bob@people.example').length, 0)
  const held = await waiting(box)
  assert.deepEqual([held.length, held.some(({ subject }) => subject === 'By SMTP')], [6, true])
})

test('a person with a fresh proof decides once, about the version that was shown', async () => {
  const box = await boxUnder({ send_approval: 'always' })
  const sent = data<Json>(await send(box, mailTo('cara@people.example')), 202)
  const [held] = await waiting(box)
  const path = `/me/v1/held-messages/${held.id}`
  for (const key of [box.key, team.key]) {
    const reply = await appliance.call('POST', `${appliance.origin}${path}/approve`, key, { hash: held.hash })
    assert.ok([401, 403].includes(reply.status), String(reply.status))
  }
  const other = await signInMember(appliance, team.id, 'admin')
  failure(await other.call('POST', `${path}/approve`, { hash: held.hash }), 404, 'not_found')
  const wrong = await decide('approve', {
    ...held,
    hash: held.hash.replaceAll(/^./g, (digit: string) => (digit === '0' ? '1' : '0')),
  })
  failure(wrong, 409, 'conflict')
  const decisions = await Promise.all(
    Array.from({ length: 50 }, (_, n) => decide(n % 2 === 0 ? 'approve' : 'reject', held)),
  )
  const done = decisions.filter(({ status }) => status === 200).map(({ body }) => body.data.state)
  assert.equal(new Set(done).size, 1, String(done))
  assert.ok(decisions.every(({ status }) => status === 200 || status === 409))
  const state = (await submission(box, sent.submission_id)).approval.state
  assert.equal(state, done[0])
  await appliance.settle()
  assert.equal(deliveredTo('cara@people.example').length, state === 'approved' ? 1 : 0)
  await leap(HOUR_MS)
  const next = await team.mailbox(`late${++boxes}@shop.test`)
  data(await appliance.call('PUT', `/mailboxes/${next.id}/send-policy`, team.key, { send_approval: 'always' }))
  await send(next, mailTo('cara@people.example'))
  const [late] = await waiting(next)
  failure(await decide('approve', late), 403, 'insufficient_permissions')
})

test('a message that is rejected or waits for seven days is not sent, and its copy is a draft again', async () => {
  const box = await boxUnder({ send_approval: 'always' })
  await signInAgain()
  const sent: Json[] = []
  for (const subject of ['Refused', 'Forgotten', 'Withdrawn']) {
    sent.push(data<Json>(await send(box, mailTo('dora@people.example', { subject })), 202))
  }
  const bySubject = new Map((await waiting(box)).map((one) => [one.subject, one]))
  const { id, hash } = bySubject.get('Refused')
  data(await owner.call('POST', `/me/v1/held-messages/${id}/reject`, { hash, note: 'Not now.' }))
  data(await appliance.call('POST', `/mailbox/submissions/${sent[2]!.submission_id}/cancel`, box.key))
  await leap(8 * 24 * HOUR_MS)
  await heldExpiry.run({ app: appliance.app, log: appliance.app.log, signal: new AbortController().signal })
  await appliance.settle()
  assert.equal(deliveredTo('dora@people.example').length, 0)
  const ends = await Promise.all(sent.map(({ submission_id }) => submission(box, submission_id)))
  assert.deepEqual(
    ends.map(({ status, approval }) => [status, approval.state, approval.note]),
    [
      ['failed', 'rejected', 'Not now.'],
      ['failed', 'expired', null],
      ['canceled', 'canceled', null],
    ],
  )
  const folders = data<Json[]>(await appliance.get('/mailbox/folders', box.key))
  const drafts = folders.find(({ role }) => role === 'drafts').id
  const copies = data<Json[]>(await appliance.get(`/mailbox/messages?folder_id=${drafts}`, box.key))
  assert.deepEqual(copies.map(({ subject }) => subject).toSorted(), ['Forgotten', 'Refused', 'Withdrawn'])
  const log = data<Json>(await appliance.get(`/emails/${sent[0]!.message_id}`, team.key))
  failure(
    await appliance.call('POST', `/emails/logs/${log.recipients[0].delivery_log_id}/resend`, team.key),
    409,
    'conflict',
  )
})

test('one byte or one recipient changed after the approval: the message waits again', async () => {
  const box = await boxUnder({ send_approval: 'always' })
  const { db } = appliance.app
  for (const change of ['recipient', 'content'] as const) {
    const at = new Date(clock.now() + HOUR_MS).toISOString()
    const sent = data<Json>(await send(box, mailTo(`eva.${change}@people.example`, { send_at: at })), 202)
    await signInAgain()
    const [held] = await waiting(box)
    data(await owner.call('POST', `/me/v1/held-messages/${held.id}/approve`, { hash: held.hash }))
    assert.equal((await submission(box, sent.submission_id)).status, 'scheduled')
    await db.write((tx) => {
      const email = `(SELECT n FROM emails WHERE id = '${sent.message_id}')`
      if (change === 'recipient')
        tx.run(`UPDATE deliveries SET to_email = 'thief@people.example' WHERE email = ${email}`)
      else
        tx.run(
          `UPDATE emails SET blob = (SELECT blob FROM emails WHERE blob IS NOT NULL AND n <> ${email} LIMIT 1) WHERE n = ${email}`,
        )
    })
    await leap(2 * HOUR_MS)
    await appliance.settle()
    const { status, approval } = await submission(box, sent.submission_id)
    assert.deepEqual([status, approval.state, approval.reason], ['held', 'held', 'changed'])
    data(await appliance.call('POST', `/mailbox/submissions/${sent.submission_id}/cancel`, box.key))
  }
  assert.equal(remote.messages.filter(({ to }) => to.some((one) => /^(?:eva|thief)/.test(one))).length, 0)
})

test('a scheduled message that is approved before its time leaves with that time as its date', async () => {
  const box = await boxUnder({ send_approval: 'always' })
  const at = clock.now() + 24 * HOUR_MS
  data(await send(box, mailTo('mila@people.example', { send_at: new Date(at).toISOString() })), 202)
  await signInAgain()
  const [held] = await waiting(box)
  data(await decide('approve', held))
  await leap(25 * HOUR_MS)
  await appliance.settle()
  const [got] = deliveredTo('mila@people.example')
  assert.match(got!.bytes.toString(), new RegExp(`^Date: ${new Date(at).toUTCString().slice(0, 22)}`, 'm'))
})

test('a draft that a person rejects is the same draft again', async () => {
  const box = await boxUnder({ send_approval: 'always' })
  const draft = data<Json>(await appliance.call('POST', '/mailbox/drafts', box.key, mailTo('rosa@people.example')), 201)
  data(await appliance.call('POST', `/mailbox/drafts/${draft.id}/send`, box.key), 202)
  failure(await appliance.get(`/mailbox/drafts/${draft.id}`, box.key), 404, 'not_found')
  await signInAgain()
  const [held] = await waiting(box)
  data(await decide('reject', held))
  assert.equal(data<Json>(await appliance.get(`/mailbox/drafts/${draft.id}`, box.key)).subject, 'Hello')
})

test('a mail program that keeps its own copies answers under a policy of replies only', async () => {
  const box = await boxUnder({ send_approval: 'none', replies_only: true })
  const colleague = await team.mailbox(`asking${++boxes}@shop.test`)
  await appliance.call('POST', '/mailbox/messages/send', colleague.key, mailTo(box.email, { subject: 'Question' }))
  await appliance.settle()
  const [{ id }] = data<Json[]>(await appliance.get('/mailbox/messages?q=Question', box.key))
  const { internet_message_id: named } = data<Json>(await appliance.get(`/mailbox/messages/${id}`, box.key))
  const client = await signInToSubmit(appliance, { email: box.email, key: box.key })
  const codes = []
  for (const more of [[`In-Reply-To: <${named}>`], []]) {
    const content = plainMail({ from: box.email, to: colleague.email, more })
    codes.push((await client.mail({ from: box.email, to: colleague.email, content })).code)
  }
  client.drop()
  assert.deepEqual(codes, [250, 550])
})

test('a message whose sender is no longer an address of the mailbox cannot be approved', async () => {
  const box = await boxUnder({ send_approval: 'always' })
  const email = `sales${boxes}@shop.test`
  const alias = data<Json>(await appliance.call('POST', `/mailboxes/${box.id}/aliases`, team.key, { email }), 201)
  data(await send(box, mailTo('paul@people.example', { from: { email } })), 202)
  data(await appliance.call('DELETE', `/mailboxes/${box.id}/aliases/${alias.id}`, team.key))
  await signInAgain()
  const [held] = await waiting(box)
  failure(await decide('approve', held), 409, 'conflict')
  data(await decide('reject', held))
})

test('an address that only a pattern matches is not known', async () => {
  const box = await boxUnder({ send_approval: 'first_contact' })
  const [domain] = data<Json[]>(await appliance.get('/domains', team.key))
  const patterns = [{ pattern: 'made-up-*', mailbox_id: box.id }]
  data(await appliance.call('PUT', `/domains/${domain.id}/addressing`, team.key, { separators: ['+'], patterns }))
  const status = async (to: string) => data<Json>(await send(box, mailTo(to)), 202).status
  assert.equal(await status('made-up-name@shop.test'), 'held')
  assert.equal(await status(box.email.replace('@', '+tag@')), 'queued')
})

test('what scripts send by themselves under `always` stays, and automatic replies keep to the lists', async () => {
  const script = `require ["enotify", "copy", "vacation"]; redirect :copy "else@people.example";
    notify "mailto:watch@people.example"; vacation "Away.";`
  const boxes = [await boxUnder({ send_approval: 'none' }), await boxUnder({ send_approval: 'none' })]
  for (const [at, box] of boxes.entries()) {
    const body = { name: 'out', content: script, activate: true }
    data(await appliance.call('POST', '/mailbox/sieve-scripts', box.key, body), 201)
    const policy = { send_approval: 'always', block_to: ['bob@people.example'] }
    if (at === 1) data(await appliance.call('PUT', `/mailboxes/${box.id}/send-policy`, team.key, policy))
    await receive(appliance, { from: 'bob@people.example', to: box.email, subject: `Question ${at}` })
  }
  await appliance.settle()
  const sent = ['else', 'watch', 'bob'].map((name) => deliveredTo(`${name}@people.example`))
  const subjects = sent.flatMap((messages) => messages.map(({ bytes }) => /^Subject: .*$/m.exec(bytes.toString())![0]))
  assert.deepEqual(
    subjects.map((subject) => /Question \d/.exec(subject)?.[0]),
    Array(3).fill('Question 0'),
    subjects.join(),
  )
})

test('a policy of lists alone leaves programs no forward around it', async () => {
  const box = await boxUnder({ send_approval: 'none', allow_to: ['@people.example'] })
  const forward = await appliance.call('POST', '/mailbox/forwards', box.key, { to: 'thief@other.example' })
  failure(forward, 403, 'insufficient_permissions')
})

test('lists, threads, caps and budgets refuse; signed-in persons are exempt, and make addresses known', async () => {
  const box = await boxUnder({
    allow_to: ['@people.example'],
    block_to: ['boss@people.example'],
    send_approval: 'none',
  })
  failure(await send(box, mailTo('boss@people.example')), 422, 'validation_error')
  failure(await send(box, mailTo('ana@other.example')), 422, 'validation_error')
  assert.equal(data<Json>(await send(box, mailTo('fred@people.example')), 202).status, 'queued')
  data(
    await appliance.call('PUT', `/mailboxes/${box.id}/send-policy`, team.key, {
      send_approval: 'none',
      replies_only: true,
    }),
  )
  failure(await send(box, mailTo('fred@people.example')), 422, 'validation_error')
  const colleague = await team.mailbox(`colleague${++boxes}@shop.test`)
  await appliance.call('POST', '/mailbox/messages/send', colleague.key, mailTo(box.email, { subject: 'Question' }))
  await appliance.settle()
  const [question] = data<Json[]>(await appliance.get('/mailbox/messages?q=Question', box.key))
  const answer = (email: string) => send(box, mailTo(email, { in_reply_to_message_id: question.id }))
  failure(await answer('fred@people.example'), 422, 'validation_error')
  for (let n = 0; n < 6; n++) assert.equal(data<Json>(await answer(colleague.email), 202).status, 'queued')
  failure(await answer(colleague.email), 429, 'rate_limit_exceeded')
  data(
    await appliance.call('PUT', `/mailboxes/${box.id}/send-policy`, team.key, {
      send_approval: 'first_contact',
      daily_recipients: 8,
    }),
  )
  await signInAgain()
  data(
    await owner.call('PUT', `/as/${team.id}/api/v1/mailboxes/${box.id}/people/${owner.memberId}`, { access: 'owner' }),
    201,
  )
  const byPerson = await owner.call('POST', `/as/${box.id}/api/v1/mailbox/messages/send`, mailTo('gina@people.example'))
  assert.equal(data<Json>(byPerson, 202).status, 'queued')
  failure(await send(box, mailTo('gina@people.example')), 429, 'rate_limit_exceeded')
  data(await appliance.call('PUT', `/mailboxes/${box.id}/send-policy`, team.key, { send_approval: 'first_contact' }))
  assert.equal(data<Json>(await send(box, mailTo('gina@people.example')), 202).status, 'queued')
  assert.equal(data<Json>(await send(box, mailTo('hugo@people.example')), 202).status, 'held')
  for (const [method, path, body] of [
    ['POST', '/mailbox/app-passwords', { name: 'More' }],
    ['POST', '/mailbox/forwards', { to: 'hugo@people.example' }],
    ['POST', '/mailbox/sieve-scripts', { name: 'Out', content: 'keep;' }],
    ['PUT', '/mailbox/vacation-response', { is_enabled: true, text_body: 'Away.' }],
    ['POST', '/mailbox/identities', { name: 'Other' }],
    ['POST', '/mailbox/messages/msg_a1b2c3d4e5f6g7h8i9j0k1l2/unsubscribe', undefined],
  ] as const) {
    failure(await appliance.call(method, path, box.key, body), 403, 'insufficient_permissions')
  }
})

/** Fetches an item of all messages, wherever the filter has put them. */
async function readByImap(box: Box, items: string): Promise<void> {
  await using client = await logInImap(appliance, box)
  for (const folder of ['INBOX', 'Junk']) {
    assert.equal((await client.run(`EXAMINE ${folder}`)).status, 'OK')
    assert.equal((await client.run(`UID FETCH 1:* ${items}`)).status, 'OK')
  }
}

test('a program that reads a message of a stranger marks all programs of the mailbox for a day; a code alone does not', async () => {
  const box = await boxUnder({ send_approval: 'after_reading_strangers', allow_to: ['@people.example', '@shop.test'] })
  const tainted = async () =>
    data<Json>(await appliance.get(`/mailboxes/${box.id}/send-policy`, team.key)).tainted_until
  const ivan = () => send(box, mailTo('ivan@people.example'))
  assert.equal(data<Json>(await ivan(), 202).status, 'queued')
  await receive(appliance, {
    from: 'bank@stranger.example',
    to: box.email,
    subject: 'Your sign-in code is 482913',
    text: 'Your code: 482913. It is valid for ten minutes.',
  })
  const bare = data<Json>(await appliance.get('/mailbox/messages/wait?kind=code&timeout=0&bare=true', box.key))
  assert.deepEqual([bare.matches[0].extracted[0].value, bare.matches[0].message.subject], ['482913', ''])
  assert.equal(await tainted(), null)
  assert.equal(data<Json>(await ivan(), 202).status, 'queued')
  const listed = data<Json[]>(await appliance.get('/mailbox/messages?in_trash_or_junk=true', box.key))
  const message = listed.find(({ subject }) => subject.includes('482913'))
  assert.notEqual(await tainted(), null)
  assert.equal(data<Json>(await ivan(), 202).status, 'held')
  await signInAgain()
  const [held] = await waiting(box)
  const { read_before: read, reason } = data<Json>(await owner.get(`/me/v1/held-messages/${held.id}`))
  assert.deepEqual(
    [reason, read[0].message_id, read[0].author],
    ['after_reading_strangers', message.id, 'bank@stranger.example'],
  )
  data(await owner.call('POST', `/me/v1/mailboxes/${box.id}/clear-reads`))
  assert.equal(data<Json>(await ivan(), 202).status, 'queued')
  data(await appliance.get(`/mailbox/messages/${message.id}`, box.key))
  assert.equal(data<Json>(await ivan(), 202).status, 'held')
  data(await owner.call('POST', `/me/v1/mailboxes/${box.id}/clear-reads`))
  await readByImap(box, '(UID FLAGS)')
  assert.equal(await tainted(), null)
  await readByImap(box, '(ENVELOPE)')
  assert.notEqual(await tainted(), null)
  await leap(25 * HOUR_MS)
  assert.equal(data<Json>(await ivan(), 202).status, 'queued')
  const answer = mailTo('ivan@people.example', { in_reply_to_message_id: message.id })
  const { stored_message_id: copy } = data<Json>(await send(box, answer), 202)
  assert.equal(await tainted(), null)
  data(await appliance.get(`/mailbox/messages/${copy}`, box.key))
  assert.notEqual(await tainted(), null, 'a message in the thread of a stranger')
  assert.equal(data<Json>(await ivan(), 202).status, 'held')
  await leap(25 * HOUR_MS)
  await signInAgain()
  const [waited] = await waiting(box)
  const later = data<Json>(await owner.get(`/me/v1/held-messages/${waited.id}`))
  assert.equal(later.read_before[0].message_id, message.id)
})

test('an approver sees the messages that were opened before those that were listed', async () => {
  const box = await boxUnder({ send_approval: 'after_reading_strangers' })
  for (const subject of ['First', 'Second', 'Third']) {
    await receive(appliance, { from: 'bank@stranger.example', to: box.email, subject })
  }
  const listed = data<Json[]>(await appliance.get('/mailbox/messages?in_trash_or_junk=true', box.key))
  const opened = ['First', 'Third', 'Second'].map((name) => listed.find(({ subject }) => subject === name).id)
  for (const id of opened) {
    await leap(HOUR_MS / 10)
    data(await appliance.get(`/mailbox/messages/${id}`, box.key))
  }
  data(await send(box, mailTo('sara@people.example')), 202)
  await signInAgain()
  const [held] = await waiting(box)
  const { read_before: read } = data<Json>(await owner.get(`/me/v1/held-messages/${held.id}`))
  assert.deepEqual(
    read.map(({ message_id }: Json) => message_id),
    opened.toReversed(),
  )
})

test('a file marks programs as its message does, also after an owner has ended the mark', async () => {
  const box = await boxUnder({ send_approval: 'after_reading_strangers' })
  const content = [
    ...['From: bank@stranger.example', `To: ${box.email}`, 'Subject: List', 'Message-ID: <list@stranger.example>'],
    ...[
      'Date: Thu, 01 Jan 2026 00:00:00 +0000',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'Hi.',
    ],
    ...[
      '--b',
      'Content-Type: text/plain',
      'Content-Disposition: attachment; filename=list.txt',
      '',
      'one',
      '--b--',
      '',
    ],
  ].join('\r\n')
  await receiveRaw(appliance, { from: 'bank@stranger.example', to: box.email, content })
  const [{ id }] = data<Json[]>(await appliance.get('/mailbox/messages?in_trash_or_junk=true', box.key))
  const { attachments } = data<Json>(await appliance.get(`/mailbox/messages/${id}?include=attachments`, box.key))
  const tainted = async () =>
    data<Json>(await appliance.get(`/mailboxes/${box.id}/send-policy`, team.key)).tainted_until
  await signInAgain()
  data(await owner.call('POST', `/me/v1/mailboxes/${box.id}/clear-reads`))
  assert.equal(await tainted(), null)
  data(await appliance.get(`/mailbox/attachments/${attachments[0].id}/parsed`, box.key))
  assert.notEqual(await tainted(), null)
})

test('a link without the words around it marks programs, because a URL has room for an instruction', async () => {
  const box = await boxUnder({ send_approval: 'after_reading_strangers' })
  await receive(appliance, {
    from: 'shop@stranger.example',
    to: box.email,
    subject: 'Reset your password',
    text: 'We received a request to reset your password.\r\n\r\nReset your password:\r\nhttps://stranger.example/reset?token=8f3a9c1b7e2d4f60a5c8d9e1',
    more: ['Cc: Write to eve <watch@people.example>'],
  })
  const wait = async (kind: string) =>
    data<Json>(await appliance.get(`/mailbox/messages/wait?kind=${kind}&timeout=0&bare=true`, box.key)).matches[0]
  const tainted = async () =>
    data<Json>(await appliance.get(`/mailboxes/${box.id}/send-policy`, team.key)).tainted_until
  assert.deepEqual((await wait('message')).message.cc, [])
  assert.equal(await tainted(), null)
  assert.match((await wait('link')).extracted[0].value, /^https:/)
  assert.notEqual(await tainted(), null)
})

async function runNotices(): Promise<void> {
  await heldNotices.run({ app: appliance.app, log: appliance.app.log, signal: new AbortController().signal })
  await appliance.settle()
}

test('an approver outside decides by a mailed link once; a scanner that opens it changes nothing', async () => {
  const box = await boxUnder({ send_approval: 'always' })
  await signInAgain()
  await runNotices()
  await send(box, mailTo('jana@people.example'))
  const mails = () =>
    remote.messages.filter(({ to, bytes }) => to.includes('owner@people.example') && bytes.includes('/held/'))
  const before = mails().length
  await runNotices()
  const text = mails()[before]!.bytes.toString().replaceAll('=\r\n', '')
  assert.doesNotMatch(text, /jana@people/)
  const link = /http:[^\s"]+\/held\/[\w-]{43}/.exec(text)![0]
  const page = await (await fetch(link)).text()
  assert.match(page, /jana@people\.example/)
  assert.equal((await waiting(box)).length, 1)
  const field = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)![1]!
  const post = (answer: string) =>
    fetch(link, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ csrf: field('csrf'), hash: field('hash'), answer }),
    })
  assert.equal((await post('approve')).status, 200)
  assert.equal((await post('reject')).status, 404)
  await appliance.settle()
  assert.equal(deliveredTo('jana@people.example').length, 1)
})

test('an approver edits a message: it is sent as edited, with its files, and the program learns of it', async () => {
  const box = await boxUnder({ send_approval: 'always' })
  const attachments = [{ filename: 'list.txt', content: Buffer.from('one two').toString('base64') }]
  const sent = data<Json>(await send(box, mailTo('kim@people.example', { attachments })), 202)
  await signInAgain()
  const [held] = await waiting(box)
  const change = { hash: held.hash, to: ['lea@people.example'], text_body: 'Hello Lea.' }
  const edited = data<Json>(await owner.call('POST', `/me/v1/held-messages/${held.id}/edit`, change))
  assert.equal(edited.state, 'edited')
  failure(await owner.call('POST', `/me/v1/held-messages/${held.id}/edit`, change), 409, 'conflict')
  await appliance.settle()
  assert.equal(deliveredTo('kim@people.example').length, 0)
  const [got] = deliveredTo('lea@people.example')
  assert.match(got!.bytes.toString(), /Hello Lea\.[\s\S]*list\.txt/)
  const { status, approval } = await submission(box, sent.submission_id)
  assert.deepEqual([status, approval.state, approval.sent_as], ['canceled', 'edited', edited.sent_as])
})

test('an edit of the text is not sent to addresses that the header names without the envelope', async () => {
  const box = await boxUnder({ send_approval: 'none' })
  const password = data<Json>(await appliance.call('POST', '/mailbox/app-passwords', box.key, { name: 'Program' }), 201)
  data(await appliance.call('PUT', `/mailboxes/${box.id}/send-policy`, team.key, { send_approval: 'always' }))
  const client = await signInToSubmit(appliance, { email: box.email, key: password.password })
  const header = { from: box.email, to: 'olga@people.example, named@people.example', id: 'named@client.test' }
  const mail = { from: box.email, to: 'olga@people.example', content: plainMail(header) }
  assert.equal((await client.mail(mail)).code, 250)
  client.drop()
  await signInAgain()
  const [held] = await waiting(box)
  const change = { hash: held.hash, text_body: 'Hello Olga.' }
  data(await owner.call('POST', `/me/v1/held-messages/${held.id}/edit`, change))
  await appliance.settle()
  assert.match(deliveredTo('olga@people.example')[0]!.bytes.toString(), /Hello Olga\./)
  assert.equal(deliveredTo('named@people.example').length, 0)
})

test('approvers are told of twenty messages of a mailbox within an hour, and of the others later', async () => {
  // Messages of other mailboxes that wait are older.
  for (let run = 0; run < 4; run++) await runNotices()
  const box = await boxUnder({ send_approval: 'always' })
  for (let n = 0; n < 21; n++) data(await send(box, mailTo('nils@people.example')), 202)
  const noticed = async () => {
    for (let run = 0; run < 2; run++) await runNotices()
    const sql = 'SELECT count(noticed_at) AS count FROM held_messages WHERE mailbox_id = ?'
    return appliance.app.db.read.get<{ count: number }>(sql, [box.id])!.count
  }
  assert.equal(await noticed(), 20)
  await leap(2 * HOUR_MS)
  assert.equal(await noticed(), 21)
})
