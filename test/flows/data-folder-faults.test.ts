// Mistakes in a data folder: the start is refused with a clear error, nothing is changed, nothing is swept.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openScheduler } from '../../src/jobs/scheduler.ts'
import { receive, walk } from '../api/expect.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'

const DAY_MS = 86_400_000
const OLD_FORM = join(import.meta.dirname, '../data-folders/form-4.tar.zst')

let root: string
/** The folder as it should be, and as it was a message before; another appliance; and one of an earlier version. */
let whole: string
let older: string
let other: string
let untied: string
let key: string

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'mailstead-faults-'))
  const place = (name: string) => join(root, name)
  whole = place('whole')
  older = place('older')
  other = place('other')
  untied = place('untied')
  key = await make(whole, async () => cp(whole, older, { recursive: true }))
  await make(other, async () => {})
  await new Commands({ DATA_DIR: untied }).json('restore', OLD_FORM)
})
after(() => rm(root, { recursive: true }))

/** An appliance that was stopped and started between two messages. */
async function make(dataDir: string, between: () => Promise<void>): Promise<string> {
  const clock = new ManualClock()
  let made: { email: string; key: string } | undefined
  for (const subject of ['First', 'Second']) {
    await using appliance = await startAppliance({ dataDir, clock })
    if (made === undefined) {
      const team = await appliance.team()
      await team.domain('in.test')
      made = await team.mailbox('ben@in.test')
    }
    await receive(appliance, { to: made.email, subject })
    await appliance.close()
    if (subject === 'First') await between()
    // Started and stopped in between, as time goes by.
    await using again = await startAppliance({ dataDir, clock })
    await again.close()
  }
  return made!.key
}

/** The content of the folder, by file, without the lock, SQLite's shared memory and the trial certificate. */
async function digest(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const name of (await readdir(folder, { recursive: true, withFileTypes: true })).filter((file) =>
    file.isFile(),
  )) {
    if (/^lock\.db|-shm$|^smtp\.pem$/.test(name.name)) continue
    const bytes = await readFile(join(name.parentPath, name.name))
    found.set(join(name.parentPath, name.name), createHash('sha256').update(bytes).digest('hex'))
  }
  return found
}

interface Fault {
  name: string
  /** The folder it happens to. */
  of(): string
  /** Does it to a copy. */
  happen(folder: string): Promise<void>
  says: RegExp
  env?: Record<string, string>
  /** False where refusing brings a file to today's form first. */
  touches?: true
}

const replace = (name: string, from: () => string) => async (folder: string) => {
  for (const end of ['-wal', '-shm']) await rm(join(folder, name + end), { force: true })
  await cp(join(from(), name), join(folder, name))
}
const empty = (name: string) => async (folder: string) => {
  for (const end of ['-wal', '-shm']) await rm(join(folder, name + end), { force: true })
  await truncate(join(folder, name))
}
/** A database that has just been made, by an appliance of its own. */
const fresh = (name: string) => async (folder: string) => {
  const made = `${folder}-fresh`
  await new Commands({ DATA_DIR: made }).json('setup', '--team-name', 'New')
  await replace(name, () => made)(folder)
}

const FAULTS: Fault[] = [
  { name: 'mail.db of 0 bytes', of: () => whole, happen: empty('mail.db'), says: /mail\.db is empty \(0 bytes\)/ },
  { name: 'blobs.db of 0 bytes', of: () => whole, happen: empty('blobs.db'), says: /blobs\.db is empty \(0 bytes\)/ },
  { name: 'a new mail.db', of: () => whole, happen: fresh('mail.db'), says: /belong to different appliances/ },
  { name: 'a new blobs.db', of: () => whole, happen: fresh('blobs.db'), says: /belong to different appliances/ },
  {
    name: 'an old mail.db',
    of: () => whole,
    happen: replace('mail.db', () => older),
    says: /mail\.db .* is an older copy than .*blobs\.db/,
  },
  {
    name: 'an old blobs.db',
    of: () => whole,
    happen: replace('blobs.db', () => older),
    says: /blobs\.db .* is an older copy than .*mail\.db/,
  },
  {
    name: 'the blobs.db of another',
    of: () => whole,
    happen: replace('blobs.db', () => other),
    says: /belong to different appliances/,
  },
  {
    name: 'the mail.db and the secret of another',
    of: () => whole,
    says: /belong to different appliances/,
    async happen(folder) {
      await replace('mail.db', () => other)(folder)
      await cp(join(other, 'keys'), join(folder, 'keys'), { recursive: true })
    },
  },
  {
    name: 'the secret of another',
    of: () => whole,
    says: /keys\/app-secret is not the secret .*mail\.db was made with/,
    happen: (folder) => cp(join(other, 'keys/app-secret'), join(folder, 'keys/app-secret')),
  },
  {
    name: 'a secret cut short',
    of: () => whole,
    says: /app-secret contains less than 32 bytes/,
    happen: (folder) => writeFile(join(folder, 'keys/app-secret'), 'short'),
  },
  {
    name: 'another APP_SECRET',
    of: () => whole,
    says: /The setting APP_SECRET is not the secret/,
    happen: async () => {},
    env: { APP_SECRET: 'x'.repeat(40) },
  },
  {
    name: 'no secret',
    of: () => whole,
    says: /app-secret is missing/,
    happen: (folder) => rm(join(folder, 'keys/app-secret')),
  },
  { name: 'no mail.db', of: () => whole, says: /mail\.db is missing/, happen: (folder) => rm(join(folder, 'mail.db')) },
  {
    name: 'no blobs.db',
    of: () => whole,
    says: /blobs\.db is missing/,
    happen: (folder) => rm(join(folder, 'blobs.db')),
  },
  {
    name: 'mail.db of an earlier version beside today’s blobs.db',
    of: () => whole,
    happen: replace('mail.db', () => untied),
    says: /mail\.db is new or an older copy/,
    touches: true,
  },
  {
    name: 'blobs.db of an earlier version beside today’s mail.db',
    of: () => whole,
    happen: replace('blobs.db', () => untied),
    says: /blobs\.db is new or an older copy/,
    touches: true,
  },
  {
    name: 'the secret of another, of an earlier version',
    of: () => untied,
    happen: (folder) => cp(join(other, 'keys/app-secret'), join(folder, 'keys/app-secret')),
    says: /keys\/app-secret is not the secret/,
    touches: true,
  },
  {
    name: 'mail.db of 0 bytes, of an earlier version',
    of: () => untied,
    happen: empty('mail.db'),
    says: /mail\.db is empty \(0 bytes\)/,
  },
  {
    name: 'blobs.db of 0 bytes, of an earlier version',
    of: () => untied,
    happen: empty('blobs.db'),
    says: /blobs\.db is empty \(0 bytes\)/,
  },
]

describe('a data folder with', () => {
  for (const { name, of, happen, says, env, touches } of FAULTS) {
    it(`${name} is refused with a clear error`, async () => {
      const folder = join(root, `fault-${FAULTS.findIndex((fault) => fault.name === name)}`)
      await cp(of(), folder, { recursive: true })
      await happen(folder)
      const before = await digest(folder)
      const cli = new Commands({ DATA_DIR: folder, DNS_SERVERS: '127.0.0.1:9', ...env })
      // Neither the appliance nor a command works on it, however often they are tried.
      for (const _ of [1, 2]) {
        await assert.rejects(
          startAppliance({ dataDir: folder, clock: new ManualClock(), env: env ?? {} }),
          (error: Error) => says.test(error.message) && /\.$/.test(error.message),
        )
        await cli.refused(['team', 'list'], says)
      }
      if (touches !== true) assert.deepEqual(await digest(folder), before, 'nothing is changed')
      await rm(folder, { recursive: true })
    })
  }
})

async function subjects(appliance: TestAppliance): Promise<string[]> {
  const messages = await walk<{ id: string; subject: string }>(appliance, '/mailbox/messages', key)
  for (const { id } of messages) assert.equal((await appliance.get(`/mailbox/messages/${id}/raw`, key)).status, 200)
  return messages.map(({ subject }) => subject).sort()
}

it('a repaired folder opens with all its data, also days later', async () => {
  const folder = join(root, 'mended')
  await cp(whole, folder, { recursive: true })
  await fresh('mail.db')(folder)
  await assert.rejects(startAppliance({ dataDir: folder, clock: new ManualClock() }))
  await replace('mail.db', () => whole)(folder)
  const clock = new ManualClock()
  await using appliance = await startAppliance({ dataDir: folder, clock })
  clock.leap(2 * DAY_MS)
  await openScheduler(appliance.app).settle()
  assert.deepEqual(await subjects(appliance), ['First', 'Second'])
})

it('a copy of a folder at work, and one whose start was cut short between the two databases, open', async () => {
  const clock = new ManualClock()
  const folder = join(root, 'cut')
  await using appliance = await startAppliance({ dataDir: folder, clock })
  await appliance.team()
  await appliance.app.blobsDb.write((tx) =>
    tx.run("UPDATE content_owner SET generation = generation + 1, previous_token = token, token = 'cut'"),
  )
  const copy = join(root, 'cut-copy')
  await cp(folder, copy, { recursive: true })
  await using again = await startAppliance({ dataDir: copy, clock })
  assert.equal(again.app.appliance.id, appliance.app.appliance.id)
  const first = join(root, 'first')
  await new Commands({ DATA_DIR: first }).json('setup')
  await using begun = await startAppliance({ dataDir: first, clock: new ManualClock(Date.now()) })
  await begun.app.db.write((tx) => tx.run('UPDATE appliance SET generation = 0'))
  await begun.app.blobsDb.write((tx) => tx.run('DELETE FROM content_owner'))
  const taken = join(root, 'taken')
  await cp(first, taken, { recursive: true })
  await using third = await startAppliance({ dataDir: taken, clock: new ManualClock(Date.now()) })
  assert.equal(third.app.appliance.id, begun.app.appliance.id)
})
