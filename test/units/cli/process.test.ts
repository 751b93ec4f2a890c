// The commands as processes: exit codes, streams, and an appliance that serves until it is told to stop.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { FREE_PORTS } from '../../support/free-ports.ts'
import { PROGRAM_ENV } from '../../support/program-env.ts'

const CLI = fileURLToPath(new URL('../../../src/cli/cli.ts', import.meta.url))

let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-process-'))
})
after(() => rm(folder, { recursive: true }))

function start(argv: string[], env: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, [CLI, ...argv], {
    cwd: folder,
    env: {
      ...PROGRAM_ENV,
      DATA_DIR: join(folder, 'data'),
      HTTP_BIND: '127.0.0.1',
      SMTP_BIND: '127.0.0.1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = start(argv)
  const [out, err, [code]] = await Promise.all([
    child.stdout!.setEncoding('utf8').toArray(),
    child.stderr!.setEncoding('utf8').toArray(),
    once(child, 'close'),
  ])
  return { code, out: out.join(''), err: err.join('') }
}

interface Appliance extends AsyncDisposable {
  child: ChildProcess
  /** TCP port of its API. */
  port: number
  /** What it told of its new folder. */
  first: { created: boolean; api_key: { key: string } }
}

/** An appliance that is open; it is ended with the test, whatever became of that. */
async function serving(env: Record<string, string>): Promise<Appliance> {
  const child = start(['serve', '--json'], env)
  child.stderr!.pipe(process.stderr)
  // The new folder, the address of the first run, and the first line of the log.
  const lines: object[] = []
  for await (const line of createInterface({ input: child.stdout! })) {
    lines.push(JSON.parse(line))
    if ('msg' in lines.at(-1)!) break
  }
  const first = lines[0] as Appliance['first']
  const opened = lines.at(-1) as { msg: string; ports: { app: number } }
  assert.equal(opened.msg, 'Mailstead is open')
  const end = async () => {
    if (child.exitCode !== null || !child.kill('SIGKILL')) return
    await once(child, 'exit')
  }
  return { child, port: opened.ports.app, first, [Symbol.asyncDispose]: end }
}

function onFreePorts(name: string) {
  return {
    DATA_DIR: join(folder, name),
    ...FREE_PORTS,
    APP_ORIGIN: 'http://app.localhost',
    SEND_ORIGIN: 'http://send.localhost',
  }
}

describe('as a process', () => {
  it('prints one line of JSON and ends with 0, or one line on the other stream and ends with 1', async () => {
    const good = await run('setup', '--json')
    assert.equal(good.code, 0, good.err)
    assert.equal(good.err, '')
    assert.match(JSON.parse(good.out).api_key.key, /^srk_/)
    const bad = await run('mailbox', 'key', 'nobody@demo.test')
    const message = 'There is no mailbox nobody@demo.test.'
    assert.deepEqual(bad, { code: 1, out: '', err: `mailstead: ${message}\n` })
    const error = JSON.stringify({ ok: false, error: { code: 'not_found', message } })
    assert.deepEqual(await run('mailbox', 'key', 'nobody@demo.test', '--json'), { code: 1, out: '', err: `${error}\n` })
  })

  it('ends with a sentence when one of its databases is damaged', async (t) => {
    const env = onFreePorts('damaged')
    const setup = start(['setup'], env)
    const complaint = setup.stderr!.setEncoding('utf8').toArray()
    assert.deepEqual(await once(setup, 'exit'), [0, null], (await complaint).join(''))
    await writeFile(join(env.DATA_DIR, 'blobs.db'), 'no database, but long enough to be looked at'.repeat(100))
    const child = start(['serve'], env)
    t.after(() => child.kill('SIGKILL'))
    const told = child.stderr!.setEncoding('utf8').toArray()
    assert.deepEqual(await once(child, 'exit', { signal: AbortSignal.timeout(60_000) }), [1, null])
    assert.match((await told).join(''), /^mailstead: The database .*blobs\.db cannot be opened: [^\n]*\n$/)
  })

  it('ends with a sentence when one of its databases is gone, and begins no new one beside the other', async () => {
    const env = { DATA_DIR: join(folder, 'halved') }
    for (const [gone, other] of [
      ['mail.db', 'blobs.db'],
      ['blobs.db', 'mail.db'],
    ] as const) {
      assert.deepEqual(await once(start(['setup'], env), 'exit'), [0, null])
      const [file, left] = [join(env.DATA_DIR, gone), join(env.DATA_DIR, other)]
      await rm(file)
      // The second time nothing must have been made by the first.
      for (const _ of [1, 2]) {
        const child = start(['setup'], env)
        const told = child.stderr!.setEncoding('utf8').toArray()
        assert.deepEqual(await once(child, 'exit'), [1, null])
        assert.equal(
          (await told).join(''),
          `mailstead: ${file} is missing although ${left} is there; put it back from a backup, or begin with an empty folder.\n`,
        )
      }
      await rm(env.DATA_DIR, { recursive: true })
    }
  })

  it('says in a sentence that a port is taken, before it sets anything up', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    for (const [setting, value] of [
      ['SMTP_PORT', String(port)],
      ['OPERATOR_BIND', `127.0.0.1:${port}`],
    ] as const) {
      const env = { ...onFreePorts('taken'), [setting]: value }
      const child = start(['serve'], env)
      const [out, err] = [child.stdout!, child.stderr!].map((stream) => stream.setEncoding('utf8').toArray())
      assert.deepEqual(await once(child, 'exit'), [1, null])
      assert.deepEqual(await out, [])
      assert.equal(
        (await err!).join(''),
        `mailstead: 127.0.0.1 port ${port} is in use by another program or another Mailstead. Stop it, or set ${setting} to another one.\n`,
      )
      await assert.rejects(stat(env.DATA_DIR), { code: 'ENOENT' })
    }
    taken.close()
  })

  it('says how to get a root key as long as none was used, because the first start may have been killed', async () => {
    const env = onFreePorts('unseen')
    assert.deepEqual(await once(start(['setup'], env), 'exit'), [0, null])
    {
      await using appliance = await serving(env)
      assert.deepEqual(appliance.first, { created: false, data_dir: env.DATA_DIR, root_key_used: false })
      appliance.child.kill('SIGTERM')
      assert.deepEqual(await once(appliance.child, 'exit'), [0, null])
    }
    const child = start(['serve'], env)
    const lines = createInterface({ input: child.stdout! })
    const [line] = await once(lines, 'line')
    child.kill('SIGKILL')
    assert.match(line as string, /^No root key .* create one: mailstead key create$/)
  })

  it('serves a folder it sets up first, takes commands beside it, and ends with 0', async () => {
    const env = onFreePorts('served')
    await using appliance = await serving(env)
    assert.equal(appliance.first.created, true)
    for (const name of ['', 'mail.db', 'blobs.db', 'spool']) {
      assert.equal((await stat(join(env.DATA_DIR, name))).mode & 0o077, 0, `${name} can be read by others`)
    }
    const api = `http://127.0.0.1:${appliance.port}/api/v1`
    const domains = async () => {
      const reply = await fetch(`${api}/domains`, {
        headers: { authorization: `Bearer ${appliance.first.api_key.key}` },
      })
      assert.equal(reply.status, 200)
      const { data } = (await reply.json()) as { data: { domain: string }[] }
      return data.map(({ domain }) => domain)
    }
    assert.deepEqual(await domains(), [])
    assert.deepEqual(await once(start(['domain', 'add', 'demo.test'], env).on('error', assert.ifError), 'exit'), [
      0,
      null,
    ])
    assert.deepEqual(await domains(), ['demo.test'])
    const rest = appliance.child.stdout!.setEncoding('utf8').toArray()
    appliance.child.kill('SIGTERM')
    assert.deepEqual(await once(appliance.child, 'exit'), [0, null])
    const lines = (await rest).join('').trim().split('\n')
    const entries = lines.map((line) => JSON.parse(line) as { level: number; msg: string })
    assert.deepEqual(
      entries.filter(({ level }) => level > 30),
      [],
      'an end that was asked for is no error',
    )
    assert.equal(entries.at(-1)!.msg, 'Mailstead stopped')
  })
})
