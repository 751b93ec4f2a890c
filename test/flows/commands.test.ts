// The first commands of a new user: the demo completes; a start with an empty folder sets the appliance up, once.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { FREE_PORTS } from '../support/free-ports.ts'
import { missingProgram } from '../support/programs.ts'
import { ROOT } from '../support/source.ts'

/** Gives a program a terminal. */
const SCRIPT = missingProgram('script')

/** Runs a file through the starter. */
function start(args: string[], env: Record<string, string> = {}): ChildProcess {
  return spawned(process.execPath, ['scripts/run.js', ...args], env)
}

function spawned(program: string, args: string[], env: Record<string, string>): ChildProcess {
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8')
  return child
}

async function outputUntil(child: ChildProcess, sign: RegExp): Promise<string> {
  let output = ''
  for await (const text of child.stdout!) {
    output += text
    if (sign.test(output)) return output
  }
  return assert.fail(`it ended without ${sign}:\n${output}`)
}

async function whole(child: ChildProcess): Promise<{ code: number; output: string; errors: string }> {
  const [output, errors, [code]] = await Promise.all([
    child.stdout!.toArray().then((parts) => parts.join('')),
    child.stderr!.toArray().then((parts) => parts.join('')),
    once(child, 'exit'),
  ])
  return { code, output, errors }
}

test('npm run demo -- --once shows five messages and exits with 0', async () => {
  const { code, output, errors } = await whole(start(['scripts/demo.ts', '--once']))
  assert.equal(errors, '')
  assert.equal(code, 0)
  const answers = output.split('\n').filter((line) => /^ {5}\d{3} /.test(line))
  assert.deepEqual(
    answers.map((line) => line.trim().slice(0, 9)),
    ['250 2.0.0', '250 2.0.0', '250 2.0.0', '250 2.0.0', '550 5.7.1'],
  )
  assert.match(output, /Lunch on Thursday\? {2}2 messages, 2 unread\n/)
  assert.match(output, /Invoice 2030-117 {2}1 message, 1 unread, attachments\n/)
  assert.match(output, /\* STATUS INBOX \(MESSAGES 4 UNSEEN 4\)\n[\s\S]*\n {5}Hello you two,\n/)
  // The appliance is gone: nothing is left to be pasted.
  assert.doesNotMatch(output, /curl|swaks|smk_/)
  assert.match(output, /The demo is complete\..*\n$/)
})

test('npm start prints a root key for an empty folder only, and exits with 0 on a signal', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-start-'))
  const env = {
    DATA_DIR: folder,
    ...FREE_PORTS,
    APP_ORIGIN: 'http://app.demo.test',
    SEND_ORIGIN: 'http://send.demo.test',
    LOG_LEVEL: 'info',
  }
  try {
    for (const isFirst of [true, false]) {
      const child = isFirst ? start(['src/cli/cli.ts', 'serve'], env) : spawned('npm', ['start'], env)
      const output = await outputUntil(child, /Mailstead is open.*\n/)
      assert.equal(/srk_\w{46}/.test(output), isFirst)
      const app = Number(/"app":(\d+)/.exec(output)![1])
      assert.deepEqual(await (await fetch(`http://127.0.0.1:${app}/readyz`)).json(), { status: 'ok' })
      child.kill('SIGTERM')
      const [code] = await once(child, 'exit')
      if (isFirst) assert.equal(code, 0)
      // What npm started has ended before npm does.
      await assert.rejects(fetch(`http://127.0.0.1:${app}/readyz`))
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('at a terminal every start prints URLs to open, and a readable log', { skip: SCRIPT }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-terminal-'))
  const env = {
    DATA_DIR: folder,
    ...FREE_PORTS,
    ...{ APP_ORIGIN: 'http://app.demo.test', SEND_ORIGIN: 'http://send.demo.test', LOG_LEVEL: 'info' },
  }
  const program = `'${process.execPath}' scripts/run.js src/cli/cli.ts serve`
  try {
    for (const isFirst of [true, false]) {
      const child = spawn('script', ['-q', '-e', '-f', '-c', program, '/dev/null'], {
        cwd: ROOT,
        env: { ...process.env, NO_COLOR: '1', ...env },
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      child.stdout.setEncoding('utf8')
      const ended = once(child, 'exit')
      let output = ''
      let isReported = false
      for await (const text of child.stdout) {
        output += text
        if (isReported || !/Ctrl-C ends it/.test(output) || !/Mailstead is open/.test(output)) continue
        isReported = true
        // What Ctrl-C sends.
        child.stdin.write('\u0003')
      }
      await ended
      assert.equal(/srk_\w{46}/.test(output), isFirst)
      assert.match(output, /^ {2}documentation +http:\/\/app\.demo\.test\/docs\r$/m)
      assert.match(output, /^ {2}console +http:\/\/app\.demo\.test\/console .*login-link/m)
      assert.match(output, /^ {2}mail programs +ports imaps \d+, submissions \d+, submission \d+, managesieve \d+\r$/m)
      assert.match(output, /^\d\d:\d\d:\d\d info {2}Mailstead is open {2}event=appliance\.started ports\.smtp=\d+/m)
      assert.match(output, /^\d\d:\d\d:\d\d info {2}Mailstead stopped {2}event=appliance\.stopped\r$/m)
      assert.doesNotMatch(output, /^\{/m)
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})
