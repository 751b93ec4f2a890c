// ManageSieve with programs of others: sieve-connect (Perl) and sievelib (Python).

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { data } from '../api/expect.ts'
import { type Json, startAppliance } from '../support/appliance.ts'
import { missingProgram } from '../support/programs.ts'
import { PYTHON } from '../support/python.ts'

const SIEVE_CONNECT = missingProgram('sieve-connect', ['--version'])
const SIEVELIB = missingProgram(PYTHON, ['-c', 'import sievelib.managesieve'], 'python3-sievelib')
const LIMIT_MS = 60_000

const appliance = await startAppliance()
const folder = await mkdtemp(join(tmpdir(), 'mailstead-sieve-'))
after(async () => {
  await appliance.close()
  await rm(folder, { recursive: true })
})
const team = await appliance.team()
await team.domain('shop.test')

/** Runs a program; both outputs together, whatever its status. */
function run(program: string, args: string[], input: string): Promise<{ status: number; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { timeout: LIMIT_MS, cwd: folder }, (error, stdout, stderr) => {
      resolve({ status: typeof error?.code === 'number' ? error.code : error ? -1 : 0, output: stdout + stderr })
    })
    child.stdin!.end(input)
  })
}

test('sieve-connect uploads, lists, activates, downloads, checks, renames and deletes', {
  skip: SIEVE_CONNECT,
}, async () => {
  const box = await team.mailbox('ann@shop.test')
  const script = 'require "fileinto";\r\nif header :contains "list-id" "news" {\r\n  fileinto "News";\r\n}\r\n'
  await writeFile(join(folder, 'lists.sieve'), script)
  await writeFile(join(folder, 'bad.sieve'), 'keep;\r\nfileinto "x";\r\n')
  const sieve = (mech: string, ...args: string[]) => {
    const at = ['--server', '127.0.0.1', '--port', String(appliance.ports.managesieve), '--user', box.email]
    return run(
      'sieve-connect',
      [...at, '--notlsverify', '--passwordfd', '0', '--authmech', mech, ...args],
      `${box.key}\n`,
    )
  }
  const stored = async () =>
    data<Json[]>(await appliance.get('/mailbox/sieve-scripts', box.key)).map((one) => [one.name, one.is_active])
  const uploaded = await sieve('PLAIN', '--upload', '--localsieve', 'lists.sieve', '--remotesieve', 'lists')
  assert.equal(uploaded.status, 0, uploaded.output)
  assert.match((await sieve('LOGIN', '--list')).output, /"lists"/)
  await sieve('PLAIN', '--activate', '--remotesieve', 'lists')
  assert.deepEqual(await stored(), [['lists', true]])
  assert.match((await sieve('PLAIN', '--list')).output, /"lists" ACTIVE/)
  await sieve('PLAIN', '--download', '--remotesieve', 'lists', '--localsieve', 'copy.sieve')
  assert.equal(await readFile(join(folder, 'copy.sieve'), 'utf8'), script)
  const wrong = await sieve('PLAIN', '--upload', '--localsieve', 'bad.sieve', '--remotesieve', 'bad')
  assert.notEqual(wrong.status, 0)
  assert.match(wrong.output, /line 2, column 1: .*fileinto.* needs require/)
  await sieve('PLAIN', '--deactivate')
  await sieve('PLAIN', '--delete', '--remotesieve', 'lists')
  assert.deepEqual(await stored(), [])
})

const PYTHON_CLIENT = `
import sys, json
from sievelib.managesieve import Client
port, user, password = int(sys.argv[1]), sys.argv[2], sys.argv[3]
c = Client("127.0.0.1", port)
out = [c.connect(user, password, starttls=True, authmech="PLAIN")]
out += [c.get_implementation(), "fileinto" in c.get_sieve_capabilities()]
out += [c.havespace("one", 100), c.putscript("one", "keep;\\r\\n"), c.putscript("zw\\u00f6lf", "stop;")]
out += [c.checkscript("discard;"), c.setactive("one"), list(c.listscripts())]
out += [c.getscript("one"), c.renamescript("zw\\u00f6lf", "two"), c.deletescript("two"), c.setactive(""), c.deletescript("one")]
out += [list(c.listscripts()), c.putscript("bad", "fnord;")]
c.logout()
print(json.dumps(out))
`

test('sievelib signs in and uses every command', { skip: SIEVELIB }, async () => {
  const box = await team.mailbox('ben@shop.test')
  const { output } = await run(
    PYTHON,
    ['-W', 'ignore', '-c', PYTHON_CLIENT, String(appliance.ports.managesieve), box.email, box.key],
    '',
  )
  const [connected, implementation, ...rest] = JSON.parse(output)
  assert.deepEqual([connected, implementation], [true, 'Mailstead'], output)
  assert.deepEqual(rest, [
    ...[true, true, true, true, true, true, ['one', ['zwölf']]],
    ...['keep;', true, true, true, true, [null, []], false],
  ])
})
