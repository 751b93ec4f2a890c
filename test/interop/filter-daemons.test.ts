// rspamd and ClamAV from Debian: what they say of received messages counts, what people say is learned, and without them nothing is lost.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { VirusScan } from '../../src/base/virus-scan.ts'
import { Rspamd } from '../../src/net/rspamd.ts'
import { freePorts, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { missingProgram } from '../support/programs.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { storedMessages } from '../support/stored.ts'

const skip = missingProgram('rspamd') || missingProgram('clamd')
/** The test messages that both programs know without any data: GTUBE, and the test file of antivirus programs by its hash. */
const GTUBE = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'
const EICAR = 'X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'
const NOBODY = 65534

let folder: string
const programs: ChildProcess[] = []
let [rspamdPort, clamdPort] = [0, 0]
/** Accepts connections and never says anything. */
let silent: Server | undefined
let silentPort = 0
const silentSockets = new Set<Socket>()

before(async () => {
  if (skip) return
  folder = mkdtempSync(join(tmpdir(), 'mailstead-filters-'))
  chmodSync(folder, 0o755)
  const ports = await freePorts()
  ;[rspamdPort, clamdPort] = [ports[0]!, ports[1]!]
  startRspamd()
  startClamd()
  const rspamd = new Rspamd({ url: `http://127.0.0.1:${rspamdPort}`, password: '', clock: systemClock })
  const clamd = new VirusScan(`127.0.0.1:${clamdPort}`)
  const hello = Buffer.from('From: a@b.test\r\nSubject: Hello\r\n\r\nHello\r\n')
  const answers = async () => {
    await rspamd.check({ bytes: hello }, { ...NO_ENVELOPE, rcptTo: [] }, 30_000)
    return (await clamd.find([hello], 30_000)) === null
  }
  await eventually(() => answers().catch(() => false))
  const server = createServer((socket) => {
    silentSockets.add(socket)
    socket.on('error', () => {})
  })
  silent = server
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  silentPort = (server.address() as { port: number }).port
})
after(async () => {
  if (skip) return
  // Also where the programs did not start, so that none of them stays.
  for (const program of programs) {
    program.kill()
    if (program.exitCode === null && program.signalCode === null) await once(program, 'exit')
  }
  for (const socket of silentSockets) socket.destroy()
  silent?.close()
  rmSync(folder, { recursive: true })
})

const NO_ENVELOPE = { address: '127.0.0.1', helo: 'x.test', hostName: null, mailFrom: 'a@b.test', queueId: '1' }

function start(program: string, args: string[]): void {
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
  programs.push(spawn(program, args, { env, stdio: process.env.TEST_LOG ? 'inherit' : 'ignore' }))
}

/** A small configuration of its own: that of Debian takes a minute to start on a busy machine. */
function startRspamd(): void {
  const home = join(folder, 'rspamd')
  mkdirSync(home)
  const statfile = (name: string, isSpam: boolean) =>
    `statfile { symbol = "BAYES_${name}"; path = "${home}/${name}.sqlite"; spam = ${isSpam}; }`
  const config = `
options { filters = ""; explicit_modules = []; url_tld = "${home}/tld.dat"; disable_hyperscan = true;
  pidfile = "${home}/pid"; dns { nameserver = ["127.0.0.1:9"]; timeout = 0.1s; retransmits = 1; } }
logging { type = "console"; level = "error"; }
actions { reject = 15; "add header" = 6; }
worker "controller" { bind_socket = "127.0.0.1:${rspamdPort}"; secure_ip = "127.0.0.1"; count = 1; }
classifier "bayes" { tokenizer { name = "osb"; } backend = "sqlite3"; min_tokens = 3; min_learns = 1;
  ${statfile('HAM', false)} ${statfile('SPAM', true)} }
`
  writeFileSync(join(home, 'rspamd.conf'), config)
  writeFileSync(join(home, 'tld.dat'), 'com\ntest\n')
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(home, NOBODY, NOBODY)
  const user = isRoot ? ['-u', 'nobody', '-g', 'nogroup'] : []
  const variables = ['DBDIR', 'RUNDIR', 'LOGDIR'].map((name) => `--var=${name}=${home}`)
  start('rspamd', ['-f', ...user, '-c', join(home, 'rspamd.conf'), ...variables])
}

/** With one signature: the data of the project cannot be fetched by a test. */
function startClamd(): void {
  const home = join(folder, 'clamd')
  mkdirSync(home)
  writeFileSync(join(home, 'test.ndb'), `Eicar-Test:0:*:${Buffer.from(EICAR).toString('hex')}\n`)
  const lines = [`DatabaseDirectory ${home}`, `TCPSocket ${clamdPort}`, 'TCPAddr 127.0.0.1', 'Foreground yes']
  writeFileSync(join(home, 'clamd.conf'), `${lines.join('\n')}\n`)
  start('clamd', ['-c', join(home, 'clamd.conf')])
}

/** Moved by the test alone: on a busy machine a program may take longer than the deadline. */
const clock = new ManualClock()

interface Receiving extends AsyncDisposable {
  appliance: TestAppliance
  team: TestTeam
  receive(text: string, from?: string): ReturnType<typeof newest>
}

async function receiving(env: Record<string, string>): Promise<Receiving> {
  const appliance = await startAppliance({ clock, env, zone: { 'out.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] } } })
  const team = await appliance.team()
  await team.domain('in.test')
  const box = await team.mailbox('ana@in.test')
  return {
    appliance,
    team,
    receive: async (text, from = 'ann@out.test') => {
      await using client = await SmtpClient.greet(appliance.ports.smtp)
      const content = plainMail({ from, to: box.email, subject: 'Hello', text })
      assert.match((await client.mail({ from, to: [box.email], content })).text, /^250 /)
      return newest(appliance, box)
    },
    [Symbol.asyncDispose]: () => appliance.close(),
  }
}

async function newest(appliance: TestAppliance, box: { id: string; key: string }) {
  const stored = (await storedMessages(appliance, box.id)).at(-1)!
  const { body } = await appliance.get(`/mailbox/messages/${stored.id}`, box.key)
  return { ...stored, box, evidence: body.data.spam.evidence as { reason: string; points: number; detail: string }[] }
}

test('rspamd and ClamAV are asked about received messages', { skip }, async () => {
  const env = { RSPAMD_URL: `http://127.0.0.1:${rspamdPort}`, CLAMAV_HOST: `127.0.0.1:${clamdPort}` }
  await using server = await receiving(env)
  const clean = await server.receive('How are you? We meet at three.')
  assert.equal(clean.role, 'inbox', JSON.stringify(clean.evidence))
  assert.ok(!clean.evidence.some(({ reason }) => /silent|unchecked|virus/.test(reason)), JSON.stringify(clean.evidence))
  const spam = await server.receive(GTUBE)
  assert.equal(spam.role, 'junk')
  const [opinion] = spam.evidence.filter(({ reason }) => reason === 'rspamd')
  assert.match(`${opinion?.points} ${opinion?.detail}`, /^7 15: GTUBE/)
  const virus = await server.receive(EICAR)
  assert.equal(virus.role, 'junk')
  const [found] = virus.evidence.filter(({ reason }) => reason === 'virus_found')
  assert.equal(found?.detail, 'Eicar-Test.UNOFFICIAL')
})

test('rspamd learns what people say, once, and the opposite when it is taken back', { skip }, async () => {
  await using server = await receiving({ RSPAMD_URL: `http://127.0.0.1:${rspamdPort}` })
  const { app, call } = server.appliance
  const learned = async () => {
    const stat = await fetch(`http://127.0.0.1:${rspamdPort}/stat`).then((answer) => answer.json())
    return (stat as { learned: number }).learned
  }
  const teach = () =>
    app.store.spam.learning.teach(
      (bytes, isSpam) => app.rspamd!.learn({ bytes }, isSpam, 30_000),
      new AbortController().signal,
    )
  const message = await server.receive(
    'Crystal lamps for your garden, delivered at no cost by Lumora, order now and save much money today',
  )
  const before = await learned()
  for (const as of ['spam', 'ham']) {
    await call('POST', `/mailbox/messages/${message.id}/classify`, message.box.key, { as })
    assert.equal(await teach(), 1)
    assert.equal(await teach(), 0, 'once')
  }
  assert.ok((await learned()) > before)
})

test('without an answer of either, messages arrive after 4 seconds at most and say so', { skip }, async () => {
  for (const port of [silentPort, 9]) {
    const env = { RSPAMD_URL: `http://127.0.0.1:${port}`, CLAMAV_HOST: `127.0.0.1:${port}` }
    await using server = await receiving(env)
    const arriving = server.receive('How are you?')
    if (port === silentPort) {
      await eventually(() => silentSockets.size === 2)
      clock.advance(4000)
    }
    const message = await arriving
    assert.equal(message.role, 'inbox')
    const reasons = message.evidence.map(({ reason }) => reason)
    assert.ok(reasons.includes('rspamd_silent') && reasons.includes('virus_unchecked'), reasons.join())
  }
})
