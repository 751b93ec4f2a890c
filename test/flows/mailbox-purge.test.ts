// The purge of a mailbox: thirty days after its deletion nothing of its content remains, and no other mailbox has lost anything.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FolderJson } from '../../src/api/schemas/folder.ts'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { newId } from '../../src/base/ids.ts'
import { mailboxPurge } from '../../src/jobs/mailbox-purge.ts'
import { keepContents } from '../../src/outbound/log/kept-contents.ts'
import { UNCLAIMED_RETENTION_MS } from '../../src/store/content/blobs.ts'
import { pruneExpunged } from '../../src/store/rows/folders-expunged.ts'
import { data, failure, receive, walk } from '../api/expect.ts'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { FREE_PORTS } from '../support/free-ports.ts'
import { signIn } from '../support/mail-program.ts'
import { sendingContextOf } from '../support/sending-appliance.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { ROOT } from '../support/source.ts'
import { sweepContent } from '../support/stored.ts'
import { trace, tracesOf } from '../support/traces.ts'

const DAY_MS = 86_400_000
/** Rows of a mailbox with their own retention: its address for the logs, the logs, metrics, and webhook deliveries. */
const STAYS = ['mailboxes', 'accounts', 'inbound_log', 'emails', 'deliveries', 'events', 'mail_counts']
/**
 * What mailboxes of these tests never have before they are deleted: an agent behind them, more than 10,000 changes of a type, an outside account
 * whose server was reached (outside-states.test.ts), and what only deleted mailboxes have.
 */
const NEVER = [
  'deleted_aliases',
  'mailbox_erasures',
  'agent_registrations',
  'change_floors',
  'remote_folders',
  'remote_messages',
  'remote_intents',
]

type Box = Awaited<ReturnType<TestTeam['mailbox']>>

const purge = (appliance: TestAppliance) =>
  mailboxPurge.run({ app: appliance.app, log: appliance.app.log, signal: new AbortController().signal })

/** Uses a mailbox for all it can be used for. */
async function use(appliance: TestAppliance, team: TestTeam, box: Box): Promise<void> {
  const call = async (method: string, path: string, body: unknown, status = 201, key = box.key) =>
    data<{ id: string }>(await appliance.call(method, path, key, body), status)
  await call('PUT', '/mailbox/vacation-response', { is_enabled: true, text_body: 'Away.' }, 200)
  await receive(appliance, { to: box.email, subject: 'Order', id: `order-${box.id}@else.test` })
  const [message] = data<MessageSummaryJson[]>(await appliance.get('/mailbox/messages', box.key))
  await call('PATCH', `/mailbox/messages/${message!.id}`, { keywords: ['work', '$seen'] }, 200)
  const { thread_id } = message!
  await call('POST', '/mailbox/threads/batch-update', { ids: [thread_id], flags: { flagged: true } }, 200)
  const parent = await call('POST', '/mailbox/folders', { name: 'Work' })
  await call('POST', '/mailbox/folders', { name: 'Old', parent_id: parent.id })
  const file = { filename: 'list.txt', content: Buffer.from(`List of ${box.email}`).toString('base64') }
  const upload = data<{ blob_id: string }>(await appliance.call('POST', '/mailbox/attachments', box.key, file), 201)
  const mail = {
    to: [{ email: box.email }],
    subject: 'List',
    text_body: 'Here.',
    attachments: [{ ...upload, ...file }],
  }
  const attachments = [{ blob_id: upload.blob_id, filename: 'list.txt' }]
  await call('POST', '/mailbox/drafts', { subject: 'Another list', text_body: `Begun by ${box.email}`, attachments })
  data(await appliance.call('POST', '/mailbox/messages/send', box.key, { ...mail, attachments }), 202)
  await appliance.settle()
  await call('POST', `/mailboxes/${box.id}/aliases`, { email: `more.${box.email}` }, 201, team.key)
  const rules = [{ type: 'deny', pattern: '@spam.test' }]
  await call('POST', '/mailbox/sieve-scripts', { name: 'Keep', content: 'keep;', activate: true })
  await call('PUT', `/mailboxes/${box.id}/filters`, { mode: 'denylist', rules }, 200, team.key)
  await call('POST', '/mailbox/app-passwords', { name: 'Telephone' })
  await call('POST', '/mailbox/forwards', { to: `new.${box.email.replace('shop.test', 'elsewhere.example')}` })
  const outside = { email: `also.${box.email.replace('shop.test', 'elsewhere.example')}`, password: 'p' }
  const server = { imap_host: 'imap.elsewhere.example', imap_port: 993, imap_protocol: 'ssl' }
  const collect = { mode: 'collect', mailbox_id: box.id, ...outside, ...server }
  await call('POST', '/remote-accounts', collect, 201, team.key)
  await signIn(appliance, box.email, box.key)
  await signInThrough(appliance, box)
  await keepForResending(appliance, team, box)
}

/** Labels that models of mailboxes and of their team have learned, then others that wait to be learned. */
async function teach({ app, call, get }: TestAppliance, team: TestTeam, boxes: readonly Box[]): Promise<void> {
  const learn = () =>
    app.store.spam.learning.run((id) => app.directory.mailboxes.byId(id)?.teamId, new AbortController().signal)
  for (const as of ['spam', 'ham']) {
    for (const { key } of boxes) {
      const [message] = data<MessageSummaryJson[]>(await get('/mailbox/messages', key))
      data(await call('POST', `/mailbox/messages/${message!.id}/classify`, key, { as }))
    }
    if (as === 'spam') await learn()
  }
  const owners = [team.id, ...boxes.map(({ id }) => id)]
  assert.deepEqual(
    owners.map((owner) => app.store.spam.models.row(owner)?.spam),
    [2, 1, 1],
  )
}

/** A message that waits for a person, after a program has read one of a stranger, and a contact. @returns the id of its submission */
async function holdMessage(appliance: TestAppliance, team: TestTeam, box: Box): Promise<string> {
  const { app } = appliance
  data(await appliance.call('PUT', `/mailboxes/${box.id}/send-policy`, team.key, { send_approval: 'always' }))
  data(await appliance.get('/mailbox/messages', box.key))
  const mail = { to: [{ email: box.email }], subject: 'Waits', text_body: 'Here.' }
  const sent = data<{ status: string; submission_id: string }>(
    await appliance.call('POST', '/mailbox/messages/send', box.key, mail),
    202,
  )
  assert.equal(sent.status, 'held')
  await app.db.write((tx) => app.outbound.held.contacts.note(tx, box.id, ['friend@else.test']))
  return sent.submission_id
}

/** A message whose content is kept so that it can be sent again. */
async function keepForResending({ app }: TestAppliance, team: TestTeam, box: Box): Promise<void> {
  const { accepted, deliveries, transitions } = sendingContextOf(app, team.id)
  const email = await accepted(['gone@else.test'], box)
  const [delivery] = await deliveries(email)
  await app.db.write((tx) => {
    keepContents(tx, [email.n], app.clock.now() + DAY_MS)
    transitions.apply(tx, delivery!.n, { kind: 'cancelled' }, null)
  })
}

/** What only mail programs leave: UIDs that left a folder, some of them long ago, a subscription to a name without a folder, and annotations. */
/** What mail programs and scripts leave: UIDs that left a folder, some of them long ago, a name without a folder, a redirected message. */
async function useByMailPrograms(appliance: TestAppliance, boxes: readonly Box[]): Promise<void> {
  const { store, db, clock } = appliance.app
  for (const subject of ['Gone long ago', 'Gone']) {
    if (subject === 'Gone') await db.write((tx) => pruneExpunged(tx, clock.now() + 1, 100))
    for (const { id, email, key } of boxes) {
      const account = store.accounts.byMailbox(id)!
      const inbox = store.programs.views.statuses(account).find(({ role }) => role === 'inbox')!.n
      const raw = Buffer.from(plainMail({ from: 'bob@else.test', to: email, subject })).toString('base64')
      data(await appliance.call('POST', '/mailbox/messages/import', key, { raw }), 201)
      const uids = [store.programs.views.status(account, inbox)!.uidNext - 1]
      await store.programs.flags.change(account, { folder: inbox, uids }, { deleted: true })
      assert.deepEqual((await store.programs.moves.expunge(account, inbox, null)).uids, uids)
    }
  }
  await db.write((tx) => {
    for (const account of boxes.map(({ id }) => store.accounts.byMailbox(id)!)) {
      store.programs.names.add(tx, account, 'Lists/Gone')
      const inbox = store.programs.views.statuses(account, tx).find(({ role }) => role === 'inbox')!.n
      const note = new Map([['/private/comment', Buffer.from('Note')]])
      for (const folder of [null, inbox]) store.programs.annotations.change(tx, account, folder, note)
      const content = new Uint8Array(32)
      const notified = [account.n, 'else.test', 'a@else.test', 'Subject', clock.now()]
      tx.run('INSERT INTO script_notifications VALUES (NULL, ?, ?, NULL, ?, ?, ?)', notified)
      store.delivery.scriptIds.record(tx, account, [{ id: '00ff', seconds: 10_000_000 }], clock.now())
      store.delivery.forwarded.record(tx, account, {
        messageId: 'a@else.test',
        content,
        addresses: ['c@else.test'],
        at: clock.now(),
      })
      const { n } = tx.get<{ n: number }>('SELECT n FROM messages WHERE account = ? LIMIT 1', [account.n])!
      store.edit.removed.hold(tx, account, [n], clock.now())
      tx.run("INSERT INTO snoozes SELECT thread, account, 'fld_x', 'fld_x', ?, ? FROM messages WHERE n = ?", [
        ...[clock.now() + 60 * DAY_MS, clock.now(), n],
      ])
      tx.run('INSERT INTO outline_progress (account, before) VALUES (?, 0)', [account.n])
      tx.run('INSERT INTO vacation_senders VALUES (?, ?, ?)', [account.n, 'a@else.test', clock.now()])
      // Senders of these tests are not authenticated: they are not answered.
      tx.run("INSERT INTO vacation_due VALUES (NULL, ?, 'idn_x', 'a@else.test', '', NULL, '[]', ?, NULL)", [
        account.n,
        clock.now(),
      ])
      tx.run("INSERT INTO unfinished_copies (copy, account, folder, first, last, erases) VALUES ('c', ?, ?, 1, 1, 0)", [
        ...[account.n, inbox],
      ])
      tx.run("INSERT INTO remote_ended VALUES (?, ?, 'collect', 'old@else.test', NULL, NULL, '{}', 0)", [
        ...[account.n, account.mailboxId],
      ])
    }
  })
}

/** As if links that sign in had been mailed to it: two to a person, one of them used, and one that invites them. */
async function signInThrough({ app }: TestAppliance, { id: mailboxId, email }: Box): Promise<void> {
  const { people, agents } = app
  const scope = { email, teamId: null, mailboxId, shownBy: null }
  const agent = { id: newId('agentRegistration'), email: agents.registrations.addressOf(null), clientName: null }
  const { registration } = await agents.registrations.register({ ...agent, source: email, key: email, proof: null })
  await agents.registrations.provisionDue()
  const invite = await agents.invites.send(registration.id, email)
  await app.db.write((tx) => {
    people.links.make(tx, people.links.newToken(), scope, 60 * DAY_MS)
    people.signInAs(tx, scope)
    people.grants.put(tx, { mailboxId, memberId: newId('member'), access: 'reader', createdBy: 'operator' })
    tx.run('UPDATE owner_invites SET mailbox_id = ? WHERE id = ?', [mailboxId, invite.id])
  })
}

function contentsOf(appliance: TestAppliance, account: number): Uint8Array[] {
  const rows = appliance.app.db.read.all<{ blob: Uint8Array }>('SELECT blob FROM messages WHERE account = ?', [account])
  return rows.map(({ blob }) => blob)
}

/** Tables of which rows of every mailbox end within the 30 days of the test. */
const EXPIRE = [
  ...[
    'kept_contents',
    'events',
    'mail_counts',
    'vacation_senders',
    'script_notifications',
    'sessions',
    'sign_ins',
    'removed_messages',
    'undo_records',
  ],
]

test('nothing of a mailbox remains in any table, and its neighbour is unchanged', async (t) => {
  const clock = new ManualClock()
  await using appliance = await startAppliance({ clock })
  const team = await appliance.team()
  const domain = await team.domain('shop.test')
  const [ana, ben] = [await team.mailbox('ana@shop.test'), await team.mailbox('ben@shop.test')]
  await receive(appliance, { to: [ana.email, ben.email], subject: 'To both' })
  // What is to be answered waits to be written.
  t.mock.method(appliance.app.outbound.vacationReplies, 'run', async () => 0)
  await use(appliance, team, ana)
  await use(appliance, team, ben)
  await useByMailPrograms(appliance, [ana, ben])
  await teach(appliance, team, [ana, ben])
  const patterns = [ana, ben].map(({ id, email }) => ({ pattern: `${email.slice(0, 3)}-*`, mailbox_id: id }))
  data(await appliance.call('PUT', `/domains/${domain}/addressing`, team.key, { separators: ['+'], patterns }))
  await holdMessage(appliance, team, ana)
  // It would expire within the month, which changes the folders of the neighbour.
  const waiting = await holdMessage(appliance, team, ben)
  data(await appliance.call('POST', `/mailbox/submissions/${waiting}/cancel`, ben.key))

  const [hers, his] = [trace(appliance, ana.id), trace(appliance, ben.id)]
  for (const [table, rows] of tracesOf(appliance, hers)) {
    if (!NEVER.includes(table)) assert.ok(rows > 0, `this test must use what ${table} is for`)
  }
  const before = tracesOf(appliance, his)
  const shown = async () => [
    await walk<MessageSummaryJson>(appliance, '/mailbox/messages?q=list', ben.key),
    await walk<FolderJson>(appliance, '/mailbox/folders', ben.key),
  ]
  const seen = await shown()
  const contents = contentsOf(appliance, hers.account)

  const path = `/mailboxes/${ana.id}`
  data(await appliance.call('DELETE', path, team.key))
  clock.leap(30 * DAY_MS - 1)
  await purge(appliance)
  assert.equal(contentsOf(appliance, hers.account).length, contents.length, 'not before its time')
  data(await appliance.call('DELETE', path, team.key))
  clock.leap(1)
  await purge(appliance)

  const left = [...tracesOf(appliance, hers)].filter(([table, rows]) => rows > 0 && !STAYS.includes(table))
  assert.deepEqual(left, [])
  const after = tracesOf(appliance, his)
  for (const [table, rows] of before) {
    // Webhook deliveries expire after some days, hourly metrics become daily ones, and after a week a sender may get
    // a vacation response again. No session lasts that long, sign-ins of mail programs and removed messages are kept for a month, what
    // was not delivered a week, and what undoes a change for a day.
    if (!EXPIRE.includes(table)) {
      assert.equal(after.get(table), rows, `${table} of the neighbour`)
    }
  }
  assert.deepEqual(await shown(), seen)
  assert.equal(appliance.app.store.spam.models.row(team.id), undefined, 'the model of the team had learned from both')

  failure(await appliance.get(path, team.key), 404, 'not_found')
  failure(await appliance.call('DELETE', path, team.key), 404, 'not_found')
  for (const kept of ['api-keys', 'filters'])
    failure(await appliance.get(`${path}/${kept}`, team.key), 404, 'not_found')
  assert.deepEqual(data(await appliance.get('/mailboxes?status=deleted', team.key)), [])
  assert.equal(data<object[]>(await appliance.get(`/inbound/logs?mailbox_id=${ana.id}`, team.key)).length, 3)

  await sweepContent(appliance, clock)
  const sizes = await Promise.all(contents.map((hash) => appliance.app.store.blobs.size(hash)))
  assert.equal(sizes.filter((size) => size !== undefined).length, 1, 'only what both were sent is still kept')
  assert.equal(await purge(appliance), 0, 'nothing is left to do')
})

test('a scheduled message of an erased mailbox is never sent, and its content is erased too', async () => {
  const clock = new ManualClock()
  await using appliance = await startAppliance({ clock, env: { DELETED_MAILBOX_RETENTION_DAYS: '1' } })
  const team = await appliance.team()
  await team.domain('shop.test')
  const [ana, ben] = [await team.mailbox('ana@shop.test'), await team.mailbox('ben@shop.test')]
  const send_at = new Date(clock.now() + 20 * DAY_MS).toISOString()
  const mail = { to: [{ email: ben.email }], subject: 'Later', text_body: 'Later.', send_at }
  data(await appliance.call('POST', '/mailbox/messages/send', ana.key, mail), 202)
  // As an agent's inbox ends, without anybody waiting for it.
  await appliance.app.administration.mailboxes.delete(team.id, ana.id)
  clock.leap(DAY_MS)
  await purge(appliance)
  const [row] = data<{ status: string; status_reason: string }[]>(await appliance.get('/emails/logs', team.key))
  assert.deepEqual([row!.status, row!.status_reason], ['failed', 'cancelled'])
  await sweepContent(appliance, clock)
  assert.deepEqual(await appliance.app.store.blobs.hashes(), [])
})

test('when killed after the first batch, the purge continues after the next start', { timeout: 300_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-purge-'))
  t.after(() => rm(dataDir, { recursive: true }))
  const { teamKey, ana } = await furnishLongAgo(dataDir)
  const child = fork(join(ROOT, 'test/support/crash-while-purging.ts'), {
    env: {
      ...{ ...process.env, DATA_DIR: dataDir, LOG_LEVEL: 'silent', MAIL_HOSTS: 'mx.mailstead.test' },
      ...FREE_PORTS,
      ...{ HTTP_BIND: '127.0.0.1', SMTP_BIND: '127.0.0.1', DNS_SERVERS: '127.0.0.1:9' },
      ...{ APP_ORIGIN: 'http://app.purge.test', SEND_ORIGIN: 'http://send.purge.test' },
    },
  })
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL'])

  // As long ago as before: only the test triggers what is due at the start of this appliance.
  const clock = new ManualClock(LONG_AGO)
  await using appliance = await startAppliance({ dataDir, clock })
  const left = trace(appliance, ana.id)
  assert.equal(left.messages.length, MANY - 100)
  assert.equal(left.threads.length, MANY)
  clock.leap(40 * DAY_MS)
  await appliance.app.appliance.acceptClock()
  await Promise.all([purge(appliance), purge(appliance)])
  const rows = [...tracesOf(appliance, left)].filter(([table, count]) => count > 0 && !STAYS.includes(table))
  assert.deepEqual(rows, [])
  failure(await appliance.get(`/mailboxes/${ana.id}`, teamKey), 404, 'not_found')
  // The kill leaves content without a row, which a newer mail.db could reference: it is kept as long as one may be put back.
  await sweepContent(appliance, clock)
  clock.leap(UNCLAIMED_RETENTION_MS)
  await sweepContent(appliance, clock)
  assert.deepEqual(await appliance.app.store.blobs.hashes(), [])
})

const LONG_AGO = Date.now() - 40 * DAY_MS
const MANY = 120

async function furnishLongAgo(dataDir: string) {
  await using appliance = await startAppliance({ dataDir, clock: new ManualClock(LONG_AGO) })
  const team = await appliance.team()
  await team.domain('shop.test')
  const ana = await team.mailbox('ana@shop.test')
  await using client = await SmtpClient.greet(appliance.ports.smtp)
  for (let i = 0; i < MANY; i++) {
    const content = plainMail({ from: 'bob@else.test', to: ana.email, subject: `Mail ${i}`, id: `${i}@else.test` })
    assert.equal((await client.mail({ from: 'bob@else.test', to: ana.email, content })).code, 250)
  }
  data(await appliance.call('DELETE', `/mailboxes/${ana.id}`, team.key))
  return { teamKey: team.key, ana }
}
