// Readiness fails with a full disk and with damaged pages, writes are rejected with a reason, and the doctor finds the damage.

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { Finding } from '../../src/maintenance/doctor/finding.ts'
import { failure, receive } from '../api/expect.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { FREE_PORTS } from '../support/free-ports.ts'
import { PROGRAM } from '../support/program.ts'
import { PROGRAM_ENV } from '../support/program-env.ts'
import { ROOT } from '../support/source.ts'

/** A limit for the size of files: a portable way to simulate a full disk. */
const BLOCKS = 2000
const TRIES = 2000

async function folder(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'mailstead-ready-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  return root
}

async function serveOnSmallDisk(dataDir: string): Promise<{ child: ChildProcess; origin: string; key: string }> {
  const child = spawn('bash', ['-c', `ulimit -S -f ${BLOCKS}; exec "$0" ${PROGRAM} serve`, process.execPath], {
    cwd: ROOT,
    env: {
      ...{
        ...PROGRAM_ENV,
        DATA_DIR: dataDir,
        ...FREE_PORTS,
      },
      ...{ APP_ORIGIN: 'http://a.test', RATE_LIMIT_PER_MINUTE: '100000' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  for await (const text of child.stdout!.iterator({ destroyOnReturn: false })) {
    out += text
    if (out.includes('Mailstead is open')) break
  }
  child.stdout!.resume()
  return { child, origin: `http://127.0.0.1:${/"app":(\d+)/.exec(out)![1]}`, key: /srk_\w+/.exec(out)![0] }
}

test('a full disk: 503 with a reason for writes and readiness, reads work, and it recovers', async (t) => {
  const { child, origin, key } = await serveOnSmallDisk(await folder(t))
  t.after(() => child.kill('SIGKILL'))
  const write = (name: string) =>
    fetch(`${origin}/api/v1/domains`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ domain: name }),
    })
  assert.equal((await fetch(`${origin}/readyz`)).status, 200)
  const statuses = new Set<number>()
  let refused: Response | undefined
  for (let i = 0; i < TRIES && refused === undefined; i++) {
    const reply = await write(`d${i}.test`)
    statuses.add(reply.status)
    if (reply.status !== 201) refused = reply
    else await reply.body?.cancel()
  }
  assert.deepEqual([...statuses], [201, 503])
  const { error } = (await refused!.json()) as { error: { code: string; message: string; retryable: boolean } }
  assert.deepEqual([error.code, error.retryable], ['service_unavailable', true])
  assert.match(error.message, /^The disk of the appliance /)
  const ready = await fetch(`${origin}/readyz`)
  assert.equal(ready.status, 503)
  assert.match(await ready.text(), /The disk of the appliance /)
  const read = await fetch(`${origin}/api/v1/domains`, { headers: { authorization: `Bearer ${key}` } })
  assert.equal(read.status, 200)
  execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited'])
  assert.equal((await fetch(`${origin}/readyz`)).status, 200)
  assert.equal((await write('after.test')).status, 201)
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
})

async function seed(appliance: TestAppliance): Promise<{ email: string; key: string }> {
  const team = await appliance.team()
  await team.domain('in.test')
  const box = await team.mailbox('ben@in.test')
  for (const subject of ['First', 'Second']) await receive(appliance, { to: box.email, subject })
  return box
}

/** Overwrites the first page of a table. */
async function damage(file: string, page: number): Promise<void> {
  const size = (await readFile(file)).readUInt16BE(16)
  const handle = await open(file, 'r+')
  await handle.write(Buffer.alloc(size, 0xa5), 0, size, (page - 1) * size)
  await handle.close()
}

for (const [file, table] of [
  ['mail.db', 'messages'],
  ['mail.db', 'inbound_log'],
  ['mail.db', 'queue'],
  ['mail.db', 'folders_name'],
  ['mail.db', 'deliveries_waiting'],
  ['blobs.db', 'chunks'],
  ['blobs.db', 'blobs'],
] as const) {
  test(`damaged pages of ${table}: readiness is 503, and the doctor says what to do`, async (t) => {
    const dataDir = join(await folder(t), 'data')
    const clock = new ManualClock()
    let page = 0
    {
      await using appliance = await startAppliance({ dataDir, clock })
      await seed(appliance)
      const db = file === 'mail.db' ? appliance.app.db : appliance.app.blobsDb
      const sql = 'SELECT rootpage FROM sqlite_schema WHERE name = ?'
      page = db.read.get<{ rootpage: number }>(sql, [table])!.rootpage
    }
    await damage(join(dataDir, file), page)
    const appliance = await startAppliance({ dataDir, clock })
    const reply = await appliance.get(`${appliance.origin}/readyz`)
    failure(reply, 503, 'service_unavailable')
    assert.match(reply.body.error.message, /^A database of the appliance is damaged\. /)
    const findings = await deep(dataDir)
    assert.deepEqual(levels(findings, 'database').toSorted(), ['fail', 'ok'])
    const found = findings.find(({ check, level }) => check === 'database' && level === 'fail')!
    assert.match(found.do!, /mailstead restore/)
    assert.match(found.says, new RegExp(`^${file} is damaged: .*[Pp]age ${page}\\b`))
    // What a appliance of the tests looks for when it closes cannot be read here.
    await appliance.close().catch(() => {})
  })
}

for (const [name, offset, bytes] of [
  ['its first bytes', 0, 'XXXX'],
  ['the schema', 100, '\xff'.repeat(300)],
] as const) {
  for (const file of ['mail.db', 'blobs.db']) {
    test(`${file} that cannot be opened, ${name}: the deep doctor names it and says what to do`, async (t) => {
      const dataDir = join(await folder(t), 'data')
      await (await startAppliance({ dataDir, clock: new ManualClock() })).close()
      const handle = await open(join(dataDir, file), 'r+')
      await handle.write(Buffer.from(bytes, 'latin1'), 0, bytes.length, offset)
      await handle.close()
      const findings = await deep(dataDir)
      assert.deepEqual(levels(findings, 'open'), ['fail'])
      assert.deepEqual(levels(findings, 'database').toSorted(), ['fail', 'ok'])
      const found = findings.find(({ check, level }) => check === 'database' && level === 'fail')!
      assert.match(found.says, new RegExp(`^${file} is damaged: [^\\n]+\\.$`))
      assert.match(found.do!, /mailstead restore/)
    })
  }
}

async function deep(dataDir: string): Promise<Finding[]> {
  const cli = new Commands({ DATA_DIR: dataDir, DNS_SERVERS: '127.0.0.1:9', MAIL_HOSTS: 'mx.mailstead.test' })
  const { out } = await cli.run('doctor', '--deep', '--json')
  return (JSON.parse(out[0]!) as { findings: Finding[] }).findings
}

const levels = (findings: Finding[], wanted: string) =>
  findings.filter(({ check }) => check === wanted).map(({ level }) => level)

test('doctor --deep finds missing content and wrong counts while the appliance runs, and nothing when all is well', async (t) => {
  const dataDir = join(await folder(t), 'data')
  await using appliance = await startAppliance({ dataDir, clock: new ManualClock() })
  const { key } = await seed(appliance)
  const [message] = (await appliance.get('/mailbox/messages', key)).body.data
  await appliance.call('PATCH', `/mailbox/messages/${message.id}`, key, { flags: { seen: true } })
  const well = await deep(dataDir)
  assert.deepEqual(
    ['database', 'contents', 'counts'].map((check) => levels(well, check)),
    [['ok', 'ok'], ['ok'], ['ok']],
  )
  const { db, blobsDb } = appliance.app
  const counts = await db.write((tx) => {
    const before = tx.all('SELECT n, total_messages FROM folders')
    tx.run("UPDATE folders SET total_messages = total_messages + 1 WHERE role = 'inbox'")
    tx.run('UPDATE threads SET unread_count = unread_count + 1 WHERE n = (SELECT min(n) FROM threads)')
    tx.run('UPDATE accounts SET used_bytes = used_bytes + 1')
    return before
  })
  const chunk = blobsDb.read.get<{ n: number; hash: Uint8Array }>('SELECT n, hash FROM chunks LIMIT 1')!
  await blobsDb.write((tx) => tx.run('UPDATE chunks SET size_bytes = size_bytes - 1 WHERE n = ?', [chunk.n]))
  const ill = await deep(dataDir)
  const saying = (check: string) => ill.find((finding) => finding.check === check)!
  assert.equal(saying('contents').level, 'fail')
  assert.ok(saying('contents').says.includes(Buffer.from(chunk.hash).toString('hex')))
  assert.equal(saying('counts').level, 'warn')
  assert.match(saying('counts').says, /1 folders \(fld_\w+\), 1 threads \(thr_\w+\), 1 quotas \(mbx_\w+\)/)
  assert.ok(counts.length > 0)
  await blobsDb.write((tx) => tx.run('UPDATE chunks SET size_bytes = size_bytes + 1 WHERE n = ?', [chunk.n]))
})

test('damaged content: the deep doctor names it, and reading it is 503 with a sentence', async (t) => {
  const dataDir = join(await folder(t), 'data')
  await using appliance = await startAppliance({ dataDir, clock: new ManualClock() })
  const { key, email } = await seed(appliance)
  // Long enough to be compressed.
  await receive(appliance, { to: email, subject: 'Third', text: 'lorem ipsum '.repeat(1000) })
  const [message] = (await appliance.get('/mailbox/messages', key)).body.data
  const { blobsDb } = appliance.app
  const chunks = blobsDb.read.all<{ n: number; hash: Uint8Array; data: Uint8Array; zstd: number }>(
    'SELECT n, hash, data, zstd FROM chunks',
  )
  const names = chunks.map(({ hash }) => Buffer.from(hash).toString('hex'))
  for (const change of [
    'data = randomblob(length(data))',
    "data = x'41', zstd = 0",
    "data = x''",
    'start = start + 1',
  ]) {
    await blobsDb.write((tx) => tx.run(`UPDATE chunks SET ${change}`))
    const found = (await deep(dataDir)).find(({ check }) => check === 'contents')!
    assert.equal(found.level, 'fail', change)
    for (const name of names) assert.ok(found.says.includes(name), change)
    if (!change.startsWith('start')) {
      const reply = await appliance.get(`/mailbox/messages/${message.id}`, key)
      failure(reply, 503, 'service_unavailable')
      assert.match(reply.body.error.message, /^Content in blobs\.db is missing or damaged\. /, change)
    }
    for (const { n, data, zstd } of chunks)
      await blobsDb.write((tx) =>
        tx.run('UPDATE chunks SET start = 0, data = ?, zstd = ? WHERE n = ?', [data, zstd, n]),
      )
  }
  assert.deepEqual(levels(await deep(dataDir), 'contents'), ['ok'])
})

test('doctor --deep finds messages whose thread is missing', async (t) => {
  const dataDir = join(await folder(t), 'data')
  {
    await using appliance = await startAppliance({ dataDir, clock: new ManualClock() })
    await seed(appliance)
  }
  const file = new DatabaseSync(join(dataDir, 'mail.db'))
  file.exec('PRAGMA foreign_keys = OFF; DELETE FROM threads WHERE n = (SELECT min(n) FROM threads)')
  file.close()
  const found = (await deep(dataDir)).find(({ check }) => check === 'counts')!
  assert.equal(found.level, 'warn')
  assert.match(found.says, / 1 threads \(number \d+\)/)
})
