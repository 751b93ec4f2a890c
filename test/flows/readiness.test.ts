// Readiness ends on a disk that takes no more and on damaged pages, writes are refused with a sentence, and the doctor finds what is wrong.

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { failure, receive } from '../api/expect.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { startHouse, type TestHouse } from '../support/house.ts'
import { ROOT } from '../support/source.ts'

/** Files of at most so many blocks: the way every system has to let a disk be full. */
const BLOCKS = 2000
const TRIES = 2000

async function folder(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'mailstead-ready-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  return root
}

async function serveOnSmallDisk(dataDir: string): Promise<{ child: ChildProcess; origin: string; key: string }> {
  const child = spawn('bash', ['-c', `ulimit -S -f ${BLOCKS}; exec "$0" src/cli/cli.ts serve`, process.execPath], {
    cwd: ROOT,
    env: {
      ...{ PATH: process.env.PATH, DATA_DIR: dataDir, HTTP_PORT: '0', SEND_PORT: '0', SMTP_PORT: '0' },
      ...{ OPERATOR_BIND: '127.0.0.1:0', APP_ORIGIN: 'http://a.test', RATE_LIMIT_PER_MINUTE: '100000' },
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

test('a full disk: 503 with a sentence for writes and readiness, reads go on, and it recovers by itself', async (t) => {
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

async function seed(house: TestHouse): Promise<{ email: string; key: string }> {
  const team = await house.team()
  await team.domain('in.test')
  const box = await team.mailbox('ben@in.test')
  for (const subject of ['First', 'Second']) await receive(house, { to: box.email, subject })
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
  ['blobs.db', 'chunks'],
] as const) {
  test(`damaged pages of ${table}: readiness is 503, and the doctor says what to do`, async (t) => {
    const dataDir = join(await folder(t), 'data')
    const clock = new ManualClock()
    let page = 0
    {
      await using house = await startHouse({ dataDir, clock })
      await seed(house)
      const db = file === 'mail.db' ? house.app.db : house.app.blobsDb
      const sql = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?"
      page = (await db.read.get<{ rootpage: number }>(sql, [table]))!.rootpage
    }
    await damage(join(dataDir, file), page)
    const house = await startHouse({ dataDir, clock })
    const reply = await house.get(`${house.origin}/readyz`)
    failure(reply, 503, 'service_unavailable')
    assert.match(reply.body.error.message, /^A database of the appliance is damaged\. /)
    const findings = await deep(dataDir)
    assert.deepEqual(levels(findings, 'database').toSorted(), ['fail', 'ok'])
    assert.match(
      findings.find(({ check, level }) => check === 'database' && level === 'fail')!.do!,
      /mailstead restore/,
    )
    // What a house of the tests looks for when it closes cannot be read here.
    await house.close().catch(() => {})
  })
}

async function deep(dataDir: string): Promise<Finding[]> {
  const cli = new Commands({ DATA_DIR: dataDir, DNS_SERVERS: '127.0.0.1:9', MAIL_HOSTS: 'mx.mailstead.test' })
  const { out } = await cli.run('doctor', '--deep', '--json')
  return (JSON.parse(out[0]!) as { findings: Finding[] }).findings
}

const levels = (findings: Finding[], wanted: string) =>
  findings.filter(({ check }) => check === wanted).map(({ level }) => level)

test('doctor --deep finds missing content and wrong counts beside the appliance, and nothing where all is well', async (t) => {
  const dataDir = join(await folder(t), 'data')
  await using house = await startHouse({ dataDir, clock: new ManualClock() })
  const { key } = await seed(house)
  const [message] = (await house.get('/mailbox/messages', key)).body.data
  await house.call('PATCH', `/mailbox/messages/${message.id}`, key, { flags: { seen: true } })
  const well = await deep(dataDir)
  assert.deepEqual(
    ['database', 'contents', 'counts'].map((check) => levels(well, check)),
    [['ok', 'ok'], ['ok'], ['ok']],
  )
  const { db, blobsDb } = house.app
  const counts = await db.write(async (tx) => {
    const before = await tx.all('SELECT n, total_messages FROM folders')
    await tx.run("UPDATE folders SET total_messages = total_messages + 1 WHERE role = 'inbox'")
    await tx.run('UPDATE threads SET unread_count = unread_count + 1 WHERE n = (SELECT min(n) FROM threads)')
    await tx.run('UPDATE accounts SET used_bytes = used_bytes + 1')
    return before
  })
  const chunk = (await blobsDb.read.get<{ n: number; hash: Uint8Array }>('SELECT n, hash FROM chunks LIMIT 1'))!
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
