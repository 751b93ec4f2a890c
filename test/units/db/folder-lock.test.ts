// One appliance per data folder, also when the other one is another process that is killed.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { lockFolder } from '../../../src/db/folder-lock.ts'

const HOLDER = `
import { lockFolder } from '${new URL('../../../src/db/folder-lock.ts', import.meta.url).href}'
lockFolder(process.argv[1])
console.log('held')
setInterval(() => {}, 1000)
`

test('a folder is held by one, and free again when that one ends or is killed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-lock-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const free = lockFolder(folder)
  assert.throws(() => lockFolder(folder), { code: 'conflict', message: /Another Mailstead is running on/ })
  free()

  const other = spawn(process.execPath, ['--input-type=module', '--eval', HOLDER, folder], { stdio: 'pipe' })
  await once(other.stdout, 'data')
  assert.throws(() => lockFolder(folder), { code: 'conflict' })
  other.kill('SIGKILL')
  await once(other, 'exit')
  lockFolder(folder)()
})
