// The shell blocks of README.md and of the first page of the documentation, run one by one against a real appliance.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { type Block, blocksOf, readText } from '../support/docs.ts'
import { missingProgram } from '../support/programs.ts'
import { ROOT } from '../support/source.ts'

const RUN_LIMIT_MS = 60_000
const scripts = JSON.parse(readText('package.json')).scripts as Record<string, string>
const swaksMissing = missingProgram('swaks')

interface Ended {
  code: number | null
  output: string
}

function bash(script: string, env: Record<string, string>): Promise<Ended> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    timeout: RUN_LIMIT_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output }))
  })
}

/** The lines of a block that are typed: those that start the product or its tests must name a script of package.json. */
function typedLines({ text, line }: Block): string {
  const kept = text.split('\n').filter((one) => {
    const [, name] = /^npm (?:run )?(\w+)/.exec(one) ?? []
    if (name === undefined) return true
    assert.ok(name in scripts, `line ${line}: npm has no script ${name}`)
    return false
  })
  return kept.join('\n')
}

/** A reader's machine: the ports, the folder and the commands of the test's appliance replace the default ones. */
function onThisMachine(appliance: TestAppliance, text: string, known: Record<string, string>): string {
  const { app, send, smtp, imaps } = appliance.ports
  return text
    .replaceAll('localhost:8080', `127.0.0.1:${app}`)
    .replaceAll('localhost:8081', `127.0.0.1:${send}`)
    .replaceAll('localhost:2525', `127.0.0.1:${smtp}`)
    .replaceAll('localhost:2993', `127.0.0.1:${imaps}`)
    .replaceAll('npx mailstead', `"${process.execPath}" "${join(ROOT, 'scripts/mailstead.js')}"`)
    .replace(/^export (\w+)=(?:s[rm]k_)?….*$/gm, (_, name: string) => `export ${name}=${known[name]}`)
}

for (const path of ['README.md', 'docs/getting-started.md']) {
  test(`every shell block of ${path} works as written`, async (t) => {
    await using appliance = await startAppliance()
    const team = await appliance.team('First team')
    const known: Record<string, string> = { ROOT: team.key }
    const env = {
      DATA_DIR: appliance.dataDir,
      HTTP_PORT: String(appliance.ports.app),
      SEND_PORT: String(appliance.ports.send),
      SMTP_PORT: String(appliance.ports.smtp),
      IMAPS_PORT: String(appliance.ports.imaps),
      SUBMISSIONS_PORT: String(appliance.ports.submissions),
      SUBMISSION_PORT: String(appliance.ports.submission),
      MANAGESIEVE_PORT: String(appliance.ports.managesieve),
      APP_ORIGIN: appliance.origin,
      SEND_ORIGIN: appliance.sendOrigin,
      DNS_SERVERS: appliance.dns.address,
    }
    const exported: string[] = []
    const blocks = blocksOf(readText(path)).filter(({ language }) => language === 'sh')
    assert.ok(blocks.length > 3)
    for (const block of blocks) {
      let script = onThisMachine(appliance, typedLines(block), known)
      if (swaksMissing !== false && script.includes('swaks')) {
        t.diagnostic(`line ${block.line}: ${swaksMissing}; the message is not sent`)
        script = script.replace(/^swaks .*$/gm, '')
      }
      const { code, output } = await bash([...exported, script].join('\n'), env)
      assert.equal(code, 0, `line ${block.line} of ${path}:\n${script}\n${output}`)
      assert.doesNotMatch(output, /"ok":false/, `line ${block.line} of ${path}: ${output}`)
      exported.push(...script.split('\n').filter((one) => one.startsWith('export ')))
      const [key] = /smk_\w{46}/.exec(output) ?? []
      if (key !== undefined) known.KEY = key
      const [, password] = /^ {2}((?:\w{5}-){3}\w{5})$/m.exec(output) ?? []
      if (password !== undefined) known.PASSWORD = password
      if (script.includes('INBOX;')) assert.match(output, /^Subject: Hello\r?$/m)
      await appliance.settle()
    }
    const { body } = await appliance.get('/mailbox/messages', known.KEY)
    const subjects = body.data.map(({ subject }: { subject: string }) => subject)
    assert.deepEqual(subjects, swaksMissing === false ? ['Hello', 'Hello'] : ['Hello'])
  })
}
