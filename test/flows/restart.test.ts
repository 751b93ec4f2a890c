// Killed under load and restarted: every message acknowledged with 250 is stored, once.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { UNCLAIMED_RETENTION_MS } from '../../src/store/content/blobs.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startDns } from '../support/dns.ts'
import { FREE_PORTS } from '../support/free-ports.ts'
import { PROGRAM } from '../support/program.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { ROOT } from '../support/source.ts'
import { logOf, storedMessages, sweepContent } from '../support/stored.ts'

const MAILS = 240
const CLIENTS = 8
/** The process is killed after this many messages have been acknowledged. */
const KILL_AT = [60, 140]
/** One in so many is long enough for the spool. */
const LONG_EVERY = 25

const subjects = Array.from({ length: MAILS }, (_, i) => `Mail ${i}`)

/** The same bytes whenever it is sent. */
function mailOf(subject: string, to: string): string {
  const isLong = Number(subject.slice(5)) % LONG_EVERY === 0
  const text = isLong ? `${subject} ${'x'.repeat(900)}\r\n`.repeat(1300) : subject
  return plainMail({ from: 'ann@out.test', to, subject, text, id: `${subject.replace(' ', '-')}@out.test` })
}

/** The appliance as a process of its own. */
async function serve(dataDir: string, dns: string): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    cwd: ROOT,
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      ...FREE_PORTS,
      SMTP_BIND: '127.0.0.1',
      HTTP_BIND: '127.0.0.1',
      APP_ORIGIN: 'http://app.restart.test',
      SEND_ORIGIN: 'http://send.restart.test',
      MAIL_HOSTS: 'mx.mailstead.test',
      DNS_SERVERS: dns,
      LOG_LEVEL: 'info',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout!.setEncoding('utf8')
  for await (const text of child.stdout!.iterator({ destroyOnReturn: false })) {
    output += text
    const port = /"smtp":(\d+)/.exec(output)?.[1]
    if (port !== undefined) {
      child.stdout!.resume()
      return { child, port: Number(port) }
    }
  }
  return assert.fail(`the appliance did not start:\n${output}`)
}

/** Sends what is left over and over until all is answered or the connection breaks. */
async function send(
  port: number,
  to: string,
  left: string[],
  answered: Set<string>,
  announce: () => void,
): Promise<void> {
  const client = await SmtpClient.greet(port)
  try {
    for (let subject = left.shift(); subject !== undefined; subject = left.shift()) {
      const { code, text } = await client.mail({ from: 'ann@out.test', to, content: mailOf(subject, to) })
      assert.equal(code, 250, text)
      answered.add(subject)
      announce()
    }
  } finally {
    client.drop()
  }
}

test('every message acknowledged with 250 is stored once, however often the process is killed', {
  timeout: 120_000,
}, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-restart-'))
  await using dns = await startDns({})
  try {
    const { teamId, mailbox } = await furnish(dataDir)
    const answered = new Set<string>()
    for (const limit of [...KILL_AT, Number.POSITIVE_INFINITY]) {
      const { child, port } = await serve(dataDir, dns.address)
      assert.deepEqual(await readdir(join(dataDir, 'spool')), [], 'nothing half received is left')
      const ended = once(child, 'exit')
      const left = subjects.filter((subject) => !answered.has(subject))
      const announce = () => {
        if (answered.size === limit) child.kill('SIGKILL')
      }
      const work = Array.from({ length: CLIENTS }, () => send(port, mailbox.email, left, answered, announce))
      const ends = await Promise.allSettled(work)
      const isLast = limit === Number.POSITIVE_INFINITY
      assert.equal(
        ends.every(({ status }) => status === 'fulfilled'),
        isLast,
      )
      if (isLast) child.kill('SIGTERM')
      assert.deepEqual(await ended, isLast ? [0, null] : [null, 'SIGKILL'])
    }
    assert.equal(answered.size, MAILS)
    await check(dataDir, teamId, mailbox.id)
  } finally {
    await rm(dataDir, { recursive: true })
  }
})

async function furnish(dataDir: string) {
  await using appliance = await startAppliance({ dataDir })
  const team = await appliance.team()
  await team.domain('in.test')
  return { teamId: team.id, mailbox: await team.mailbox('ben@in.test') }
}

async function check(dataDir: string, teamId: string, mailboxId: string): Promise<void> {
  const clock = new ManualClock(Date.now())
  await using appliance = await startAppliance({ dataDir, clock })
  const kept = await storedMessages(appliance, mailboxId)
  assert.deepEqual(kept.map(({ subject }) => subject).sort(), subjects.toSorted())
  const stored = (await logOf(appliance, teamId)).filter(({ status }) => status === 'stored')
  assert.deepEqual(stored.map(({ message_id }) => message_id).sort(), kept.map(({ id }) => id).sort())
  const now = Math.ceil(clock.now() / 3_600_000)
  const [counted] = await appliance.app.store.reports.sums(teamId, [{ from: now - 24, to: now + 1 }], {})
  assert.equal(counted!.received, MAILS, 'each was counted once')
  const page = await appliance.app.db.scan.all('PRAGMA integrity_check')
  assert.deepEqual(page, [{ integrity_check: 'ok' }])
  // Content whose row a kill prevented could belong to a newer mail.db: it is kept as long as one may be put back.
  await sweepContent(appliance, clock)
  clock.leap(UNCLAIMED_RETENTION_MS)
  await sweepContent(appliance, clock)
}
