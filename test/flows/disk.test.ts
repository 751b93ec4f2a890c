// A failing disk ends the appliance with an error: its supervisor sees the exit code, and nothing is acknowledged falsely.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { FREE_PORTS } from '../support/free-ports.ts'
import { PROGRAM } from '../support/program.ts'
import { PROGRAM_ENV } from '../support/program-env.ts'

const ROOT = join(import.meta.dirname, '../..')
const TRIES = 100

test('a failed flush is reported to its callers, and the process exits with 1', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-disk-'))
  const child = spawn(process.execPath, ['--import', join(ROOT, 'test/support/failing-disk.mjs'), PROGRAM, 'serve'], {
    cwd: ROOT,
    env: {
      ...PROGRAM_ENV,
      DATA_DIR: folder,
      ...FREE_PORTS,
      APP_ORIGIN: 'http://a.test',
    },
  })
  let [out, err] = ['', '']
  const opened = new Promise<void>((resolve) => {
    child.stdout.on('data', (text) => {
      out += text
      if (out.includes('Mailstead is open')) resolve()
    })
  })
  child.stderr.on('data', (text) => {
    err += text
  })
  const ended = once(child, 'close')
  await Promise.race([opened, ended])
  const port = /"app":(\d+)/.exec(out)![1]
  const key = /srk_\w+/.exec(out)![0]
  const statuses: number[] = []
  for (let i = 0; i < TRIES && statuses.at(-1) !== 500; i++) {
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1/domains`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ domain: `d${i}.test` }),
    }).catch(() => null)
    // It may be gone before its answer was read.
    if (reply === null) break
    statuses.push(reply.status)
  }
  assert.ok(statuses.includes(201) && statuses.length < TRIES, statuses.join(' '))
  const [code] = await ended
  assert.equal(code, 1)
  assert.match(err, /Writes to .* failed/)
  await rm(folder, { recursive: true, force: true })
})
