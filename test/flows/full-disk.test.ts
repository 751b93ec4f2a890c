// A full disk: every protocol says so and asks to try again, a person can delete, and what was deleted makes room.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import fsPromises, { stat } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Db } from '../../src/db/db.ts'
import { machineChecks } from '../../src/maintenance/doctor/checks.ts'
import { failure, receive } from '../api/expect.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { logInImap } from '../support/imap.ts'
import { SieveClient } from '../support/managesieve.ts'
import { SmtpClient } from '../support/smtp.ts'
import { signInToSubmit } from '../support/submission.ts'

const SQLITE_FULL = 13
const FULL = /The disk of the appliance is full/
/** Too large for the free bytes of pages, however it is compressed. */
const MESSAGE = `Subject: large\r\n\r\n${Array.from({ length: 4000 }, () => randomBytes(30).toString('hex')).join('\r\n')}\r\n`

/** SQLite answers SQLITE_FULL to what needs another page, as on a full disk. */
function fill({ app }: TestAppliance, t: TestContext): () => void {
  const databases = [app.db, app.blobsDb]
  const limit = (db: Db, pages: number) => db.readWarm.all(`PRAGMA max_page_count = ${pages}`)
  for (const db of databases) limit(db, 1)
  const lift = () => {
    for (const db of databases) limit(db, 2 ** 30)
  }
  failOnce(t, app.store.programs.moves, 'expungeIn')
  return lift
}

/** The first call finds a full disk: a small deletion might find room in the pages there are. */
function failOnce<O extends object>(t: TestContext, object: O, method: keyof O & string): void {
  const full = () => {
    throw Object.assign(new Error('database or disk is full'), { errcode: SQLITE_FULL })
  }
  t.mock.method(object, method as never, full as never, { times: 1 })
}

test('a full disk is said in every protocol, deleting works, and nothing new is stored before there is room', async (t) => {
  await using appliance = await startAppliance()
  const team = await appliance.team()
  await team.domain('in.test')
  const box = await team.mailbox('ben@in.test')
  for (const subject of ['first', 'second', 'third']) await receive(appliance, { to: box.email, subject })
  const client = await logInImap(appliance, box)
  await client.run('SELECT INBOX')
  await appliance.app.reserve.keep()
  const file = join(appliance.dataDir, 'reserve')
  assert.ok((await stat(file)).size > 0)
  const lift = fill(appliance, t)
  assert.match((await client.run(`APPEND INBOX {${MESSAGE.length}}`, MESSAGE)).tagged, /^NO \[UNAVAILABLE\] The disk/)
  {
    await using sender = await SmtpClient.greet(appliance.ports.smtp)
    const reply = await sender.mail({ from: 'bob@else.test', to: box.email, content: MESSAGE.replaceAll('a', 'x') })
    assert.deepEqual([reply.code, /4\.3\.1/.test(reply.text)], [452, true], reply.text)
  }
  const submission = await signInToSubmit(appliance, box)
  const content = `From: ben@in.test\r\nTo: bob@else.test\r\n${MESSAGE}`
  const submitted = await submission.mail({ from: box.email, to: 'bob@else.test', content })
  assert.deepEqual([submitted.code, /4\.3\.1/.test(submitted.text)], [452, true], submitted.text)
  await using sieve = await SieveClient.signedIn(appliance, box.email, box.key)
  const script = `keep;\r\n# ${randomBytes(30_000).toString('hex')}\r\n`
  assert.match(
    (await sieve.askWith('PUTSCRIPT "one"', script)).end,
    /^NO \(TRYLATER\) "The disk of the appliance is full/,
  )
  assert.ok((await stat(file)).size > 0, 'new mail does not use the reserve')
  assert.equal((await client.run('STORE 1:2 +FLAGS.SILENT (\\Deleted)')).status, 'OK')
  assert.equal((await client.run('EXPUNGE')).status, 'OK')
  const [message] = (await appliance.get('/mailbox/messages', box.key)).body.data
  assert.equal((await appliance.call('DELETE', `/mailbox/messages/${message.id}?permanent=true`, box.key)).status, 200)
  assert.equal((await stat(file)).size, 0)
  assert.match((await client.run(`APPEND INBOX {${MESSAGE.length}}`, MESSAGE)).tagged, /^NO \[UNAVAILABLE\] The disk/)
  const upload = await appliance.call('POST', '/mailbox/attachments', box.key, {
    filename: 'a.txt',
    content: 'aGVsbG8=',
  })
  failure(upload, 503, 'service_unavailable')
  assert.match(upload.body.error.message, FULL)
  lift()
  await appliance.app.reserve.keep()
  assert.ok((await stat(file)).size > 0)
  assert.equal((await client.run(`APPEND INBOX {${MESSAGE.length}}`, MESSAGE)).status, 'OK')
})

test('on a full disk folders, drafts and mailboxes can be deleted, and messages copied to Trash', async (t) => {
  await using appliance = await startAppliance()
  const { app } = appliance
  const team = await appliance.team()
  await team.domain('in.test')
  const box = await team.mailbox('ben@in.test')
  for (const subject of ['first', 'second']) await receive(appliance, { to: box.email, subject })
  const client = await logInImap(appliance, box)
  for (const name of ['Old', 'Older']) {
    await client.run(`CREATE ${name}`)
    await client.run('SELECT INBOX')
    await client.run(`COPY 1:2 ${name}`)
  }
  const folders: { id: string; name: string }[] = (await appliance.get('/mailbox/folders', box.key)).body.data
  const older = folders.find(({ name }) => name === 'Older')!
  const draft = (await appliance.call('POST', '/mailbox/drafts', box.key, { subject: 'draft' })).body.data
  await app.reserve.keep()
  const {
    edit: { messages: edits, drafts },
    programs: { names: subscribedNames, moves },
  } = app.store
  failOnce(t, edits, 'removeFromFolder')
  failOnce(t, subscribedNames, 'add')
  assert.equal((await client.run('DELETE Old')).status, 'OK')
  failOnce(t, edits, 'removeFromFolder')
  const path = `/mailbox/folders/${older.id}?on_messages=delete`
  assert.equal((await appliance.call('DELETE', path, box.key)).status, 200)
  failOnce(t, drafts, 'remove')
  assert.equal((await appliance.call('DELETE', `/mailbox/drafts/${draft.id}`, box.key)).status, 200)
  failOnce(t, moves, 'copyIn')
  assert.equal((await client.run('COPY 1 Trash')).status, 'OK')
  failOnce(t, moves, 'copyIn')
  assert.match((await client.run('COPY 1 Archive')).tagged, /^NO \[UNAVAILABLE\] The disk/)
  failOnce(t, app.administration.mailboxes, 'deleteIn')
  assert.equal((await appliance.call('DELETE', `/mailboxes/${box.id}`, team.key)).status, 200)
})

test('a disk without free inodes is not ready, and readiness and the doctor name the number when few are free', async (t) => {
  await using appliance = await startAppliance()
  let ffree = 0
  const mocked = t.mock.method(fsPromises, 'statfs', async () => ({ files: 65_536, ffree, bavail: 1e6, bsize: 4096 }))
  syncBuiltinESMExports()
  t.after(() => {
    mocked.mock.restore()
    syncBuiltinESMExports()
  })
  const ready = () => appliance.get(`${appliance.origin}/readyz`)
  const finding = async () => (await machineChecks(appliance.app.config)).find(({ check }) => check === 'inodes')!
  const refused = await ready()
  failure(refused, 503, 'service_unavailable')
  assert.match(refused.body.error.message, /no free inodes/)
  assert.deepEqual(await finding(), {
    check: 'inodes',
    level: 'fail',
    says: '0 inodes are free for the data folder.',
    do: 'Delete files that are not needed: without a free inode large messages are refused.',
    command: null,
  })
  ffree = 12
  assert.deepEqual((await ready()).body, {
    status: 'ok',
    details: ['Only 12 inodes are free on the disk of the appliance.'],
  })
  assert.equal((await finding()).level, 'warn')
  ffree = 30_000
  assert.deepEqual((await ready()).body, { status: 'ok' })
  assert.equal((await finding()).level, 'ok')
})
