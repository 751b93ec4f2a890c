// mbsync and the appliance killed in turn while messages go both ways: in the end each message is on both sides, once.
// MESSAGES on each side and KILLS are larger for a night of testing.

import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FSWatcher, watch } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { amount } from '../support/amount.ts'
import { freePorts, startAppliance } from '../support/appliance.ts'
import { logInImap } from '../support/imap.ts'
import { writeMbsyncConfig } from '../support/mbsync.ts'
import { numberedMessage, readMaildir } from '../support/program-accounts.ts'
import { missingProgram } from '../support/programs.ts'
import { Random } from '../support/random.ts'
import { serve, servedEnv } from '../support/served.ts'
import { issueCertificate, TLS_HOST } from '../support/tls-authority.ts'

const MESSAGES = Number(process.env.MESSAGES ?? amount(100, 200))
const KILLS = Number(process.env.KILLS ?? amount(2, 4))
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)
const LIMIT_MS = 60_000

interface Seeded {
  email: string
  key: string
  password: string
}

/** A data folder with a mailbox and its messages. */
async function seed(dataDir: string): Promise<Seeded> {
  await using appliance = await startAppliance({ dataDir })
  const team = await appliance.team()
  await team.domain('acme.test')
  const box = await team.mailbox('ann@acme.test')
  const made = await appliance.call('POST', `/mailboxes/${box.id}/app-passwords`, team.key, { name: 'mbsync' })
  await using client = await logInImap(appliance, box)
  const all = Array.from({ length: MESSAGES }, (_, n) => numberedMessage(n))
  for (let from = 0; from < MESSAGES; from += 50) {
    const literals = all.slice(from, from + 50).map((text) => `{${text.length}+}\r\n${text}`)
    assert.equal((await client.run(`APPEND INBOX ${literals.join(' ')}`)).status, 'OK')
  }
  return { email: box.email, key: box.key, password: made.body.data.password }
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Resolves with so many new files in the folders of a Maildir, or when the program has ended. */
async function files(folder: string, more: number, ended: Promise<unknown>): Promise<void> {
  let seen = 0
  const watchers: FSWatcher[] = []
  const reached = new Promise<void>((resolve) => {
    for (const part of ['cur', 'new']) {
      const watcher = watch(join(folder, part), () => ++seen >= more && resolve())
      watchers.push(watcher)
    }
  })
  await Promise.race([reached, ended])
  for (const watcher of watchers) watcher.close()
}

const skip = missingProgram('mbsync') || missingProgram('openssl', ['version'])
test(`no message is lost or doubled (seed ${SEED})`, { skip }, async () => {
  const random = new Random(SEED)
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-mbsync-'))
  const dataDir = join(folder, 'data')
  await mkdir(dataDir)
  const { email, key, password } = await seed(dataDir)
  const { authority, cert, key: certificateKey } = await issueCertificate(folder)
  const [imaps] = await freePorts()
  const env = servedEnv(dataDir, {
    ...{ TLS_CERT_FILE: cert, TLS_KEY_FILE: certificateKey, CLIENT_HOST: TLS_HOST, IMAPS_PORT: String(imaps) },
    LOG_LEVEL: 'info',
  })
  const config = await writeMbsyncConfig({ email, password, host: TLS_HOST, imaps, authority, home: folder })
  const inbox = join(folder, 'mail/INBOX')
  for (const part of ['cur', 'new', 'tmp']) await mkdir(join(inbox, part), { recursive: true })
  for (let n = 0; n < MESSAGES; n++)
    await writeFile(join(inbox, 'cur', `${n}.1.host:2,`), numberedMessage(n + MESSAGES).replaceAll('\r\n', '\n'))
  let server = await serve(env)
  let interrupted = 0
  try {
    for (let count = 0; count < KILLS; count++) {
      const child = spawn('mbsync', ['-c', config, 'all'], { stdio: 'ignore' })
      const ended = once(child, 'exit')
      await files(inbox, 1 + random.below(MESSAGES / 2), ended)
      if (child.exitCode === null) interrupted++
      if (count % 2 === 0) {
        child.kill('SIGKILL')
        await ended
      } else {
        await kill(server)
        await ended
        server = await serve(env)
      }
    }
    await promisify(execFile)('mbsync', ['-c', config, 'all'], { timeout: LIMIT_MS })
    assert.ok(interrupted > 0, 'every synchronisation was complete before it was killed')
    const expected = Array.from({ length: 2 * MESSAGES }, (_, n) => `far ${n}`).toSorted()
    const near = [...(await readMaildir(inbox)).values()]
    assert.deepEqual(near.map((text) => /^Subject: (.*)\r$/m.exec(text)![1]).toSorted(), expected)
    await using client = await logInImap({ ports: { imaps } as never }, { email, key })
    await client.run('SELECT INBOX')
    const { untagged } = await client.run('FETCH 1:* (ENVELOPE)')
    const far = untagged.filter((line) => line.includes('ENVELOPE'))
    assert.deepEqual(far.map((line) => /"(far \d+)"/.exec(line)![1]).toSorted(), expected)
    const journals = (await readdir(inbox)).filter((name) => name.startsWith('.mbsyncstate.'))
    assert.deepEqual(
      journals.filter((name) => name.endsWith('.journal')),
      [],
    )
  } finally {
    await kill(server)
    await rm(folder, { recursive: true, force: true })
  }
})
