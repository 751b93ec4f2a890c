// Data folders written by earlier versions: the present version opens them with all their data.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Db } from '../../src/db/db.ts'
import { mailMigrations } from '../../src/db/migrations/migrations.ts'
import { jobs } from '../../src/jobs/jobs.ts'
import { ENTRY_FLAGS } from '../../src/store/entries/keywords.ts'
import { servedBytes } from '../../src/store/messages/file-message.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'

/** A mailbox as the API of the earlier version returned it, newest message first. */
interface OldMailbox {
  email: string
  key: string
  messages: { id: string; subject: string; thread_id: string; sha256: string }[]
  threads: object[]
  folders: { id: string; total_messages: number }[]
  /** Ids found, by the question. */
  searches: Record<string, string[]>
}

interface OldFolder {
  /** What the clock said last, ms. */
  made_at: number
  team: { id: string; key: string }
  mailboxes: OldMailbox[]
  /** A provider with a password, a subscription, and a mail that waits to leave: since form 4. */
  provider?: string
  webhook?: { id: string }
  sent?: { message_id: string }
}

/** Each is a backup of a small appliance of that version, and beside it the responses of its API. */
const FOLDERS = join(import.meta.dirname, '../data-folders')
const zone = {
  'out.test': { MX: [{ priority: 10, exchange: 'mx.out.test' }] },
  'mx.out.test': { A: ['127.0.0.1'] },
  // Where DNS says that there is no such key nothing would be signed.
  's1._domainkey.old.test': { error: 'servfail' as const },
}
const HOUR_MS = 3_600_000

/** The folder `name` as it was, with the responses of its version; deleted after the test. */
async function folderOf(t: TestContext, name: string): Promise<{ dataDir: string; old: OldFolder }> {
  const root = await mkdtemp(join(tmpdir(), 'mailstead-upgrade-'))
  t.after(() => rm(root, { recursive: true }))
  const dataDir = join(root, 'data')
  await new Commands({ DATA_DIR: dataDir }).json('restore', join(FOLDERS, `${name}.tar.zst`))
  return { dataDir, old: JSON.parse(readFileSync(join(FOLDERS, `${name}.json`), 'utf8')) as OldFolder }
}

function open(dataDir: string, old: OldFolder, remote: MailServer): Promise<TestAppliance> {
  const env = { ALLOW_PRIVATE_SMTP_HOSTS: 'true', DIRECT_PORT: String(remote.port) }
  return startAppliance({ dataDir, zone, env, clock: new ManualClock(old.made_at + HOUR_MS) })
}

/** The present responses of the API for the recorded ones. */
async function compare(
  appliance: TestAppliance,
  { key, messages, threads, folders, searches }: OldMailbox,
): Promise<void> {
  const list = async (path: string) => {
    const reply = await appliance.get(path, key)
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body.data
  }
  const found = await list('/mailbox/messages?limit=100')
  assert.equal(found.length, messages.length)
  assert.partialDeepStrictEqual(
    found,
    messages.map(({ sha256: _, ...message }) => message),
  )
  for (const { id, sha256 } of messages) {
    const { raw } = await list(`/mailbox/messages/${id}/raw`)
    assert.equal(createHash('sha256').update(Buffer.from(raw, 'base64')).digest('hex'), sha256, id)
    const { blob_id } = await list(`/mailbox/messages/${id}`)
    const looked = await appliance.call('POST', '/mailbox/blobs/lookup', key, { blob_ids: [blob_id] })
    assert.deepEqual(looked.body.data[0].matched.messages, [id], 'content is found by its name')
  }
  assert.partialDeepStrictEqual(await list('/mailbox/threads?limit=100'), threads)
  const byId = new Map((await list('/mailbox/folders')).map((folder: { id: string }) => [folder.id, folder]))
  for (const folder of folders) assert.partialDeepStrictEqual(byId.get(folder.id), folder)
  for (const [question, ids] of Object.entries(searches)) {
    const hits = await list(`/mailbox/messages?limit=100&q=${encodeURIComponent(question)}`)
    assert.deepEqual(
      hits.map(({ id }: { id: string }) => id),
      ids,
      question,
    )
  }
}

/** Everything the clock would do within a day, to its end. */
async function runJobs(appliance: TestAppliance): Promise<void> {
  const { app } = appliance
  const { signal } = new AbortController()
  for (const { run } of jobs) await run({ app, log: app.log, signal })
  for (const table of ['messages', 'attachments']) {
    const unnamed = await app.db.scan.all(`SELECT count(*) AS n FROM ${table} WHERE blob_name IS NULL`)
    assert.deepEqual(unnamed, [{ n: 0 }], `all content of ${table} has its name`)
  }
  const unlisted = 'SELECT count(*) AS n FROM messages WHERE n NOT IN (SELECT message FROM message_headers)'
  assert.deepEqual(app.db.read.get(unlisted), { n: 0 }, 'all messages have their header fields')
  assert.equal(app.store.upkeep.outlining.left(), 0)
  compareEntries(appliance)
}

/** What mail programs read is what the messages are, and their content has the size that is announced. */
function compareEntries({ app: { db, store } }: TestAppliance): void {
  const accounts = db.read.all<{ mailbox_id: string }>('SELECT mailbox_id FROM accounts')
  for (const account of accounts.map((row) => store.accounts.byMailbox(row.mailbox_id)!)) {
    for (const folder of store.programs.views.statuses(account)) {
      const entries = store.programs.views.entries(folder.n, [{ first: 1, last: folder.uidNext }], 1000)
      assert.equal(entries.length, folder.messages)
      assert.equal(entries.filter(({ flags }) => !(flags & ENTRY_FLAGS.seen)).length, folder.unread)
      const contents = store.programs.mail.contents(entries.map(({ message }) => message))
      for (const { message, modSeq, sizeBytes, receivedAt } of entries) {
        const { id } = store.programs.mail.rows([message]).get(message)!
        assert.equal(receivedAt, store.read.messages.get(account, id)!.receivedAt)
        assert.equal(sizeBytes, servedBytes(contents.get(message)!.sizeBytes, contents.get(message)!.root))
        assert.ok(modSeq >= 1 && modSeq <= folder.modSeq)
        assert.notEqual(contents.get(message)!.root?.hasNul, undefined)
      }
    }
  }
}

for (const name of ['form-2', 'form-4']) {
  test(`a data folder of ${name} has all its messages, and works`, async (t) => {
    const { dataDir, old } = await folderOf(t, name)
    await using remote = await startMailServer()
    const deliveredId = await (async () => {
      await using appliance = await open(dataDir, old, remote)
      // The second mailbox is met by the jobs first: asking names content as well.
      await compare(appliance, old.mailboxes[0]!)
      await runJobs(appliance)
      for (const mailbox of old.mailboxes) await compare(appliance, mailbox)
      return await continueMail(appliance, old)
    })()
    // What was brought to today's form stays in it.
    await using again = await open(dataDir, old, remote)
    assert.equal((await again.get(`/mailbox/messages/${deliveredId}`, old.mailboxes[0]!.key)).status, 200)
    assert.deepEqual(await again.app.db.scan.all('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
  })
}

/** An answer to an old mail joins its thread. @returns its id */
async function continueMail(appliance: TestAppliance, { mailboxes: [box] }: OldFolder): Promise<string> {
  const { email, key, messages } = box!
  const first = messages.find(({ subject }) => subject === 'Lunch on Thursday')!
  await using client = await SmtpClient.greet(appliance.ports.smtp)
  const more = ['In-Reply-To: <two@out.test>', 'References: <one@out.test> <two@out.test>']
  const subject = 'Re: Lunch on Thursday'
  const content = plainMail({ from: 'ann@out.test', to: email, subject, text: 'One it is.', more })
  assert.equal((await client.mail({ from: 'ann@out.test', to: email, content })).code, 250)
  const [newest] = (await appliance.get('/mailbox/messages?limit=1', key)).body.data
  assert.deepEqual([newest.subject, newest.thread_id], [subject, first.thread_id])
  return newest.id
}

test('queued messages are sent, sealed values open, keys and subscriptions are unchanged', async (t) => {
  const { dataDir, old } = await folderOf(t, 'form-4')
  const seen: string[] = []
  await using remote = await startMailServer({
    onAuth({ username, password }, _session, done) {
      seen.push(`${username} ${password}`)
      done(null, { user: username })
    },
  })
  await using appliance = await open(dataDir, old, remote)
  await appliance.settle()
  assert.deepEqual(
    remote.messages.map(({ to }) => to),
    [['cleo@out.test']],
  )
  assert.match(remote.messages[0]!.bytes.toString('latin1'), /^DKIM-Signature: .*?\bd=old\.test;/s)
  const { key } = old.team
  const { body } = await appliance.get('/emails/logs', key)
  assert.deepEqual([body.data[0].message_id, body.data[0].status], [old.sent!.message_id, 'sent'])
  assert.equal((await appliance.get(`/webhooks/${old.webhook!.id}`, key)).body.data.status, 'enabled')
  assert.deepEqual(
    (await appliance.get('/suppressions', key)).body.data.map(({ email }: { email: string }) => email),
    ['never@out.test'],
  )
  const moved = await appliance.call('PATCH', `/providers/${old.provider}`, key, { smtp_port: remote.port })
  assert.equal(moved.status, 200, JSON.stringify(moved.body))
  await appliance.settle()
  assert.ok(seen.includes('me the old password'), String(seen))
})

test('a folder of a newer version is refused with a clear error, and unchanged', async (t) => {
  const { dataDir, old } = await folderOf(t, 'form-2')
  const newest = mailMigrations.at(-1)!.number
  const db = new Db({ file: join(dataDir, 'mail.db') })
  await db.write((tx) => tx.insert('migrations', { number: newest + 1, name: 'later' }))
  await db.close()
  await using remote = await startMailServer()
  await assert.rejects(open(dataDir, old, remote), {
    code: 'conflict',
    message: new RegExp(`was written by a newer version of Mailstead \\(schema ${newest + 1}, supported ${newest}\\)`),
  })
  const left = new Db({ file: join(dataDir, 'mail.db') })
  t.after(() => left.close())
  assert.deepEqual(left.read.all('SELECT count(*) AS n FROM messages'), [{ n: 7 }])
})
