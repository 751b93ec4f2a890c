// Killed while a message is submitted: it is sent once after the program has submitted it again, and never lost after its 250.

import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { MessageSummaryJson } from '../../src/api/schemas/message-summary.ts'
import { walk } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { servedEnv } from '../support/served.ts'
import { plainMail } from '../support/smtp.ts'
import { ROOT } from '../support/source.ts'
import { sweepContent } from '../support/stored.ts'
import { signInToSubmit } from '../support/submission.ts'

type Mailbox = { id: string; email: string; key: string }

let folder: string
let ada: Mailbox
let ben: Mailbox
const content = plainMail({ from: 'ada@shop.test', to: 'ben@shop.test', subject: 'Once', id: 'once@client.test' })

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-submitted-'))
  await using appliance = await startAppliance({ dataDir: join(folder, 'base') })
  const team = await appliance.team()
  await team.domain('shop.test')
  ada = await team.mailbox('ada@shop.test')
  ben = await team.mailbox('ben@shop.test')
})
after(() => rm(folder, { recursive: true }))

/** Submits the message. @returns the reply; '' when the connection ended before */
async function submit(ports: { submissions: number }): Promise<string> {
  const client = await signInToSubmit({ ports: ports as never }, ada)
  try {
    return (await client.mail({ from: ada.email, to: ben.email, content })).text
  } catch {
    return ''
  } finally {
    client.drop()
  }
}

async function startCrashing(dataDir: string, crash: string): Promise<{ child: ChildProcess; submissions: number }> {
  const env = servedEnv(dataDir, { LOG_LEVEL: 'silent', DNS_SERVERS: '127.0.0.1:9', CRASH: crash })
  const child = fork(join(ROOT, 'test/support/crash-while-submitting.ts'), { env: { ...process.env, ...env } })
  const [{ submissions }] = (await once(child, 'message')) as [{ submissions: number }]
  return { child, submissions }
}

for (const crash of ['before', 'after', 'reply']) {
  test(`killed ${crash === 'reply' ? 'after the reply' : `${crash} the commit`}`, { timeout: 300_000 }, async () => {
    const dataDir = join(folder, crash)
    await cp(join(folder, 'base'), dataDir, { recursive: true })
    const { child, submissions } = await startCrashing(dataDir, crash)
    const ended = once(child, 'exit')
    const said = await submit({ submissions })
    if (crash === 'reply') {
      assert.match(said, /^250 /)
      child.kill('SIGKILL')
    } else assert.equal(said, '')
    assert.deepEqual(await ended, [null, 'SIGKILL'])

    const clock = new ManualClock(Date.now())
    await using appliance = await startAppliance({ dataDir, clock })
    if (crash !== 'reply') assert.match(await submit(appliance.ports), /^250 2\.0\.0 Ok: queued as eml_/)
    await appliance.settle()
    const arrived = await walk<MessageSummaryJson>(appliance, '/mailbox/messages', ben.key)
    assert.deepEqual(
      arrived.map(({ subject }) => subject),
      ['Once'],
    )
    const { body } = await appliance.get('/mailbox/submissions', ada.key)
    assert.equal(body.data.length, 1)
    // Content comes before the row that names it: what a kill left in between goes with the next clean-up.
    await sweepContent(appliance, clock)
  })
}
