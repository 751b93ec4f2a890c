// The starter explains why the Node that it installed does not start.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, test } from 'node:test'
import { ROOT } from '../../support/source.ts'

let project: string
before(async () => {
  project = await mkdtemp(join(tmpdir(), 'mailstead-install-'))
  for (const name of ['run.js', 'install.js', 'bundle.js', 'web-freshness.js'])
    await cp(join(ROOT, 'scripts', name), join(project, 'scripts', name))
  await write('package.json', '{ "type": "module" }')
  await write('package-lock.json', '{ "packages": {} }')
  await write('src/cli/cli.ts', 'console.log("started" as string)')
  await write('node_modules/node/package.json', '{ "type": "commonjs" }')
})
after(() => rm(project, { recursive: true }))

async function write(path: string, text: string, isProgram = false): Promise<void> {
  await mkdir(join(project, path, '..'), { recursive: true })
  await writeFile(join(project, path), text)
  if (isProgram) await chmod(join(project, path), 0o755)
}

/** Starts with a Node that is too old, or with this one. */
function start({ isOld }: { isOld: boolean }): { status: number | null; stdout: string; stderr: string } {
  const old = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.19.2"}})'
  const args = [...(isOld ? ['--import', old] : []), join(project, 'scripts/run.js'), 'src/cli/cli.ts']
  return spawnSync(process.execPath, args, { encoding: 'utf8' })
}

const installed = (stderr: string) =>
  write('node_modules/node/bin/node', `#!/bin/sh\necho "${stderr}" >&2\nexit 127\n`, true)

test('a library that the system lacks is named with the package that has it, and installing Node again is not tried', async () => {
  await write('node_modules/node/installArchSpecificPackage.js', 'throw new Error("installed again")')
  const line =
    'node: error while loading shared libraries: libatomic.so.1: cannot open shared object file: No such file or directory'
  await installed(line)
  const { status, stderr } = start({ isOld: true })
  assert.equal(status, 1)
  assert.equal(stderr.split('\n').length, 2, stderr)
  assert.ok(stderr.includes(`does not start: ${line}. Install the package libatomic1 on Debian and Ubuntu`), stderr)
  assert.match(stderr, /\(apt-get install libatomic1\), libatomic on Alpine and Fedora, and start again\.$/m)
})

test('another library is named as it is printed', async () => {
  await installed('Error loading shared library libfoo.so.3: No such file or directory (needed by node)')
  assert.match(start({ isOld: true }).stderr, /Install the package of your system that has libfoo\.so, and start again/)
})

test('a Node that does not start for another reason is installed again; why that failed is shown', async () => {
  await write('node_modules/node/bin/node', '#!/no/such/interpreter\n', true)
  await write('node_modules/node/installArchSpecificPackage.js', 'console.error("no network"); process.exit(1)')
  assert.match(start({ isOld: true }).stderr, /does not start: no network\. Install Node 24 or newer/)
  const own = `require('node:fs').copyFileSync(process.execPath, require('node:path').join(__dirname, 'bin/node'))`
  await write('node_modules/node/installArchSpecificPackage.js', own)
  const { status, stdout, stderr } = start({ isOld: true })
  assert.deepEqual([status, stdout, stderr], [0, 'started\n', ''])
})

test('the running Node is used where it is new enough, whatever is installed', async () => {
  await installed('libatomic.so.1: cannot open shared object file')
  const { status, stdout } = start({ isOld: false })
  assert.deepEqual([status, stdout], [0, 'started\n'])
})
