// The sample verifiers of docs/webhooks.md, in their languages, against real signatures.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { newSigningSecret, signature } from '../../src/events/webhooks/sign.ts'
import { blocksOf, readText } from '../support/docs.ts'
import { missingProgram } from '../support/programs.ts'

const run = promisify(execFile)
const BODY = '{"id":"evt_1","subject":"Grüße ⚓"}'

interface Sample {
  language: string
  skip: string | false
  file: string
  /** Files beside it, and the command; the driver prints "true" or "false". */
  driver: { name: string; text: string }
  command: (folder: string) => [string, string[]]
}

const SAMPLES: Sample[] = [
  {
    language: 'js',
    skip: false,
    file: 'verify.mjs',
    driver: {
      name: 'main.mjs',
      text: "import { verify } from './verify.mjs'\nconst [body, header, secret] = process.argv.slice(2)\nconsole.log(verify(Buffer.from(body), header, secret))\n",
    },
    command: (folder) => [process.execPath, [join(folder, 'main.mjs')]],
  },
  {
    language: 'python',
    skip: missingProgram('python3'),
    file: 'verify.py',
    driver: {
      name: 'main.py',
      text: 'import sys\nfrom verify import verify\nbody, header, secret = sys.argv[1:]\nprint(str(verify(body.encode(), header, secret)).lower())\n',
    },
    command: (folder) => ['python3', [join(folder, 'main.py')]],
  },
  {
    language: 'go',
    skip: missingProgram('go', ['version']),
    file: 'verify.go',
    driver: {
      name: 'main.go',
      text: 'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc main() { fmt.Println(Verify([]byte(os.Args[1]), os.Args[2], os.Args[3])) }\n',
    },
    command: (folder) => ['go', ['run', join(folder, 'main.go'), join(folder, 'verify.go')]],
  },
  {
    language: 'php',
    skip: missingProgram('php'),
    file: 'verify.php',
    driver: {
      name: 'main.php',
      text: "<?php\nrequire __DIR__ . '/verify.php';\necho verify($argv[1], $argv[2], $argv[3]) ? 'true' : 'false';\n",
    },
    command: (folder) => ['php', [join(folder, 'main.php')]],
  },
]

const blocks = blocksOf(readText('docs/webhooks.md'))

test('there is one sample verifier for each language', () => {
  const languages = blocks.map(({ language }) => language).filter((one) => SAMPLES.some((it) => it.language === one))
  assert.deepEqual(languages, ['js', 'python', 'go', 'php'])
})

for (const { language, skip, file, driver, command } of SAMPLES) {
  test(`the verifier in ${language} accepts requests signed by the appliance, and no others`, { skip }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mailstead-sample-'))
    try {
      await writeFile(join(folder, file), blocks.find((block) => block.language === language)!.text)
      await writeFile(join(folder, driver.name), driver.text)
      const secret = newSigningSecret()
      const good = signature(secret, BODY)
      const verify = async (...args: string[]) => {
        const [program, before] = command(folder)
        const env = { ...process.env, GOFLAGS: '-mod=mod', GO111MODULE: 'off', GOCACHE: join(folder, 'cache') }
        return (await run(program, [...before, ...args], { env })).stdout.trim()
      }
      assert.equal(await verify(BODY, good, secret), 'true')
      assert.equal(await verify(`${BODY} `, good, secret), 'false')
      assert.equal(await verify(BODY, good, newSigningSecret()), 'false')
      assert.equal(await verify(BODY, '', secret), 'false')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
}
