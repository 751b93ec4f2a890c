// A backup is made while mail comes in, is changed, erased and swept; what is restored of it has everything that was answered before.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { startHouse, type TestHouse } from '../support/house.ts'
import { sweepContent } from '../support/kept.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { ROOT } from '../support/source.ts'

const KEPT = 24
/** One of them is longer than a chunk of content. */
const LONG = `${'long '.repeat(200)}\r\n`.repeat(1200)
const BACKUPS = 2

interface Box {
  email: string
  key: string
}

async function offer(house: TestHouse, to: string, subject: string): Promise<void> {
  await using client = await SmtpClient.greet(house.ports.smtp)
  const text = subject === 'Kept 0' ? LONG : `This is ${subject}.`
  const reply = await client.mail({
    from: 'ann@out.test',
    to,
    content: plainMail({ from: 'ann@out.test', to, subject, text }),
  })
  assert.equal(reply.code, 250, reply.text)
}

/** Bytes of every message whose subject begins so, by id, as the API gives them. */
async function rawBySubject(house: TestHouse, key: string, word: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const { body } = await house.get(`/mailbox/messages?limit=100&q=subject:${word}`, key)
  for (const { id } of body.data) found.set(id, (await house.get(`/mailbox/messages/${id}/raw`, key)).body.data.raw)
  return found
}

/** Mail, changes of kept messages, erasures and clean-ups of content, one after the other until told to stop. */
async function load(
  house: TestHouse,
  clock: ManualClock,
  box: Box,
  ids: string[],
  signal: AbortSignal,
): Promise<number> {
  let rounds = 0
  for (; !signal.aborted; rounds++) {
    await Promise.all([offer(house, box.email, `Passing ${rounds}`), offer(house, box.email, `Passing ${rounds}`)])
    const edit = { flags: { seen: rounds % 2 === 0, flagged: rounds % 3 === 0 } }
    const id = ids[rounds % ids.length]
    const edited = await house.call('PATCH', `/mailbox/messages/${id}`, box.key, edit)
    assert.equal(edited.status, 200, JSON.stringify(edited.body))
    const { body } = await house.get('/mailbox/messages?limit=2&q=subject:Passing', box.key)
    for (const { id } of body.data) await house.call('DELETE', `/mailbox/messages/${id}?permanent=true`, box.key)
    await sweepContent(house, clock)
  }
  return rounds
}

/** The command as a process of its own, as an operator runs it. */
async function backup(dataDir: string, file: string): Promise<void> {
  const child = spawn(process.execPath, ['src/cli/cli.ts', 'backup', file], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const told = child.stdout.setEncoding('utf8').toArray()
  assert.deepEqual(await once(child, 'exit'), [0, null])
  assert.match((await told).join(''), / messages, .* of mail; it was read back and verified\./)
}

test('what was answered before a backup began is in what is restored of it, byte for byte', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-backup-'))
  t.after(() => rm(folder, { recursive: true }))
  const [dataDir, again] = [join(folder, 'data'), join(folder, 'again')]
  const clock = new ManualClock(Date.now())
  const files = Array.from({ length: BACKUPS }, (_, i) => join(folder, `backup-${i}.tar.zst`))
  const { box, kept } = await (async () => {
    await using house = await startHouse({ dataDir, clock })
    const team = await house.team()
    await team.domain('in.test')
    const box = await team.mailbox('ben@in.test')
    for (let i = 0; i < KEPT; i++) await offer(house, box.email, `Kept ${i}`)
    const kept = await rawBySubject(house, box.key, 'Kept')
    const stop = new AbortController()
    const work = load(house, clock, box, [...kept.keys()], stop.signal)
    try {
      for (const file of files) await backup(dataDir, file)
    } finally {
      stop.abort()
    }
    assert.ok((await work) > 2, 'the appliance was at work meanwhile')
    await sweepContent(house, clock)
    return { box, kept }
  })()
  assert.equal(kept.size, KEPT)
  assert.deepEqual((await readdir(folder)).sort(), ['backup-0.tar.zst', 'backup-1.tar.zst', 'data'])
  for (const file of files) {
    assert.equal((await stat(file)).mode & 0o077, 0, 'nobody else may read it')
    await new Commands({ DATA_DIR: again }).json('restore', file)
    await using house = await startHouse({ dataDir: again, clock })
    assert.deepEqual(await rawBySubject(house, box.key, 'Kept'), kept)
    await offer(house, box.email, 'After')
    assert.equal((await rawBySubject(house, box.key, 'After')).size, 1)
    // Content of what came in between the two looks of the copy has no row yet.
    await sweepContent(house, clock)
    await house.close()
    await rm(again, { recursive: true })
  }
})
