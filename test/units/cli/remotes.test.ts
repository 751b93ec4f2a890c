// Commands for outside accounts.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { SqlValue } from '../../../src/db/db.ts'
import { startAppliance } from '../../support/appliance.ts'
import { Commands } from '../../support/cli.ts'
import { ManualClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'

const clock = new ManualClock(Date.now())
const appliance = await startAppliance({ clock })
after(() => appliance.close())
const { app } = appliance
const team = await appliance.team()
await team.domain('in.test')
const env = { DATA_DIR: appliance.dataDir, DNS_SERVERS: appliance.dns.address, MAIL_HOSTS: 'mx.mailstead.test' }
const shown: string[] = []
const cli = new Commands(env, { isTerminal: true, write: (text) => void shown.push(text), clock })
const become = (id: string, columns: Record<string, SqlValue>) =>
  app.db.write((tx) =>
    tx.run(
      `UPDATE remote_accounts SET ${Object.keys(columns)
        .map((name) => `${name} = ?`)
        .join(', ')} WHERE id = ?`,
      [...Object.values(columns), id],
    ),
  )

test('an account is attached, shown, paused, resumed and ended', async () => {
  const email = 'ana@out.example'
  const add = ['remote', 'add', email, '--imap', 'imap.out.test:1993', '--smtp', 'smtp.out.test', '--name', 'Ana']
  await cli.refused(['remote', 'add', email], 'password')
  await cli.given('secret').refused(['remote', 'add', email], 'Give --imap')
  await cli.given('secret').refused(['remote', 'add', email, '--imap', '10.0.0.1'], '--imap', 'private network')
  const made = await cli.given('secret\n').json(...add)
  assert.deepEqual([made.status, made.imap_port, made.mode, made.name], ['pending', 1993, 'mirror', 'Ana'])
  assert.equal(app.outbound.accounts.providers.connections.secretsOf({ id: made.provider_id }).smtpPassword, 'secret')
  await cli.given('secret').refused(add, 'in use by an outside account')
  await become(made.id, { status: 'active', import_state: 'done', import_total: 12, import_done: 12 })
  const listed = await cli.run('remote', 'list', '--status', 'active')
  assert.match(listed.out[1]!, /^racc_\w{24} +ana@out\.example +mirror +active +12\/12 +never +Ana$/)
  assert.equal((await cli.json('remote', 'pause', email)).status, 'paused')
  await cli.refused(['remote', 'sync', made.id], 'paused')
  await cli.refused(['remote', 'confirm-removal', email], 'No removal is held back')
  assert.equal((await cli.json('remote', 'resume', email)).status, 'pending')
  const { out } = await cli.run('remote', 'show', email)
  assert.match(out.join('\n'), /server +imap\.out\.test port 1993 \(ssl\)/)
  assert.deepEqual(await cli.json('remote', 'delete', email), { id: made.id, team_id: team.id, deleted: true })
  await cli.refused(['remote', 'show', email], 'no outside account')
})

test('mail is collected into a hosted mailbox, and the import is followed with a bar', async () => {
  const { email: into } = await team.mailbox('bob@in.test')
  const add = ['remote', 'add', 'bob@old.example', '--imap', 'imap.old.test', '--collect-into', into, '--follow']
  const following = cli.given('secret').json(...add)
  const [account] = await eventually(
    () => app.sync.accounts.byEmail('bob@old.example'),
    ({ length }) => length > 0,
  )
  const { id } = account!
  await become(id, { status: 'importing', import_state: 'running', import_total: 400, import_done: 100 })
  await eventually(
    () => {
      clock.advance(1000)
      return shown
    },
    (texts) => texts.some((text) => text.includes('100 of 400 messages')),
  )
  await become(id, { status: 'active', import_state: 'done', import_done: 400 })
  const done = await following
  assert.deepEqual([done.mode, done.import.messages_done, done.import.state], ['collect', 400, 'done'])
  assert.ok(shown.some((text) => text.includes('Importing bob@old.example')))
})

test('servers are looked for', async () => {
  const { out } = await cli.run('remote', 'discover', 'ana@gmail.com')
  assert.match(out.join('\n'), /known.*\n.*IMAP: imap\.gmail\.com:993 \(ssl\)/)
})

test('messages that were removed at the server are listed and restored', async () => {
  const email = 'eva@out.example'
  const made = await cli.given('secret').json('remote', 'add', email, '--imap', 'imap.out.test')
  assert.match((await cli.run('remote', 'removed', email)).out.join(), /^No message was removed/)
  const account = app.store.accounts.byMailbox(made.mailbox_id)!
  const { secret: key } = await app.directory.keys.issue({
    ...{ teamId: team.id, kind: 'mailbox', mailboxId: made.mailbox_id, name: 'test', createdBy: 'operator' },
  })
  const subjects = Array.from({ length: 102 }, (_, n) => `Number ${n}`)
  for (const subject of subjects) {
    const raw = Buffer.from(`From: a@out.example\r\nSubject: ${subject}\r\n\r\nx\r\n`).toString('base64')
    const { status, body } = await appliance.call('POST', '/mailbox/messages/import', key, { raw })
    assert.equal(status, 201)
    const [n] = app.store.programs.mail.numbers(account, [body.data.id]).values()
    await app.db.write((tx) => {
      app.store.edit.removed.hold(tx, account, [n!], clock.now())
      app.store.edit.messages.deleteIn(tx, account, [body.data.id])
    })
    clock.advance(1000)
  }
  const { out } = await cli.run('remote', 'removed', email)
  assert.match(out[1]!, /^rmsg_\w{24} +\S+ +Inbox +a@out\.example +Number 101$/)
  assert.equal(out.at(-1), 'These are the last 100 of 102.')
  await cli.refused(['remote', 'restore', email, '--since', 'yesterday'], 'RFC 3339')
  const first = out[1]!.slice(0, 29)
  const one = await cli.json('remote', 'restore', email, '--message', first)
  assert.deepEqual(one, { restored: 1, remaining: 0, damaged: 0, is_full: false })
  assert.deepEqual((await cli.run('remote', 'restore', email)).out, ['101 messages are restored.'])
  const inbox = app.store.read.folders.byRole(account.n, 'inbox')
  assert.equal(app.store.programs.views.status(account, inbox.n)!.messages, 102)
})
