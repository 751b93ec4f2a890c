// A backup is made while messages are received, changed, erased and swept; a restore has everything acknowledged before.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { PROGRAM } from '../support/program.ts'
import { PROGRAM_ENV } from '../support/program-env.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { ROOT } from '../support/source.ts'
import { sweepContent } from '../support/stored.ts'

const KEPT = 24
/** One of them is longer than a chunk of content. */
const LONG = `${'long '.repeat(200)}\r\n`.repeat(1200)
const BACKUPS = 2

interface Box {
  email: string
  key: string
}

async function offer(appliance: TestAppliance, to: string, subject: string): Promise<void> {
  await using client = await SmtpClient.greet(appliance.ports.smtp)
  const text = subject === 'Kept 0' ? LONG : `This is ${subject}.`
  const reply = await client.mail({
    from: 'ann@out.test',
    to,
    content: plainMail({ from: 'ann@out.test', to, subject, text }),
  })
  assert.equal(reply.code, 250, reply.text)
}

/** Bytes of every message whose subject begins so, by id, as the API gives them. */
async function rawBySubject(appliance: TestAppliance, key: string, word: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const { body } = await appliance.get(`/mailbox/messages?limit=100&q=subject:${word}`, key)
  for (const { id } of body.data) found.set(id, (await appliance.get(`/mailbox/messages/${id}/raw`, key)).body.data.raw)
  return found
}

/** Receives, changes and erases messages and sweeps content, in a loop until stopped. */
async function load(
  appliance: TestAppliance,
  clock: ManualClock,
  box: Box,
  ids: string[],
  signal: AbortSignal,
): Promise<number> {
  let rounds = 0
  for (; !signal.aborted; rounds++) {
    await Promise.all([
      offer(appliance, box.email, `Passing ${rounds}`),
      offer(appliance, box.email, `Passing ${rounds}`),
    ])
    const edit = { flags: { seen: rounds % 2 === 0, flagged: rounds % 3 === 0 } }
    const id = ids[rounds % ids.length]
    const edited = await appliance.call('PATCH', `/mailbox/messages/${id}`, box.key, edit)
    assert.equal(edited.status, 200, JSON.stringify(edited.body))
    const { body } = await appliance.get('/mailbox/messages?limit=2&q=subject:Passing', box.key)
    for (const { id } of body.data) await appliance.call('DELETE', `/mailbox/messages/${id}?permanent=true`, box.key)
    await sweepContent(appliance, clock)
  }
  return rounds
}

/** The command as a process of its own, as an operator runs it. */
async function backup(dataDir: string, file: string): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, 'backup', file], {
    cwd: ROOT,
    env: { ...PROGRAM_ENV, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const reported = child.stdout.setEncoding('utf8').toArray()
  assert.deepEqual(await once(child, 'exit'), [0, null])
  assert.match((await reported).join(''), / messages, .* of mail; it was read back and verified\./)
}

test('a backup contains every message acknowledged before it began, byte for byte', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-backup-'))
  t.after(() => rm(folder, { recursive: true }))
  const [dataDir, again] = [join(folder, 'data'), join(folder, 'again')]
  const clock = new ManualClock(Date.now())
  const files = Array.from({ length: BACKUPS }, (_, i) => join(folder, `backup-${i}.tar.zst`))
  const { box, kept } = await (async () => {
    await using appliance = await startAppliance({ dataDir, clock })
    const team = await appliance.team()
    await team.domain('in.test')
    const box = await team.mailbox('ben@in.test')
    for (let i = 0; i < KEPT; i++) await offer(appliance, box.email, `Kept ${i}`)
    const kept = await rawBySubject(appliance, box.key, 'Kept')
    const stop = new AbortController()
    const work = load(appliance, clock, box, [...kept.keys()], stop.signal)
    try {
      for (const file of files) await backup(dataDir, file)
    } finally {
      stop.abort()
    }
    assert.ok((await work) > 2, 'the appliance was at work meanwhile')
    await sweepContent(appliance, clock)
    return { box, kept }
  })()
  assert.equal(kept.size, KEPT)
  assert.deepEqual((await readdir(folder)).sort(), ['backup-0.tar.zst', 'backup-1.tar.zst', 'data'])
  for (const file of files) {
    assert.equal((await stat(file)).mode & 0o077, 0, 'only its owner may read it')
    await new Commands({ DATA_DIR: again }).json('restore', file)
    await using appliance = await startAppliance({ dataDir: again, clock })
    assert.deepEqual(await rawBySubject(appliance, box.key, 'Kept'), kept)
    await offer(appliance, box.email, 'After')
    assert.equal((await rawBySubject(appliance, box.key, 'After')).size, 1)
    // Content of what came in between the two looks of the copy has no row yet.
    await sweepContent(appliance, clock)
    await appliance.close()
    await rm(again, { recursive: true })
  }
})
