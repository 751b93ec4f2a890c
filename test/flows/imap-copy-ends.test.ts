// A long COPY of messages into the folder they are in, ended by a kill or by the stop of the process: nothing of it stays (RFC 3501 §6.4.7).

import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { freePorts, startAppliance } from '../support/appliance.ts'
import { type ImapClient, logInImap } from '../support/imap.ts'
import { fillInbox } from '../support/large-folder.ts'
import { serve, servedEnv } from '../support/served.ts'

/** Some seconds of copying: it is ended after its first hundreds. */
const MESSAGES = 6000
/** Of a test: copies that are never taken back would be waited for without end. */
const TIMEOUT = { timeout: 240_000 }
const NEW_MAIL = 'Subject: new\r\n\r\nArrived during the copy\r\n'

let dataDir: string
let box: { email: string; key: string }
let env: Record<string, string>
let ports: { imaps: number }

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mailstead-copy-ends-'))
  await using appliance = await startAppliance({ dataDir })
  const team = await appliance.team()
  await team.domain('in.test')
  const mailbox = await team.mailbox('ben@in.test')
  box = mailbox
  await fillInbox(appliance.app, mailbox.id, MESSAGES)
  const [imaps, app] = await freePorts()
  ports = { imaps }
  // The next process listens on the same ports as the one before it.
  env = servedEnv(dataDir, { IMAPS_PORT: String(imaps), HTTP_PORT: String(app) })
})
after(() => rm(dataDir, { recursive: true }))

const open = () => logInImap({ ports } as never, box)

async function count(client: ImapClient): Promise<number> {
  const { untagged } = await client.run('STATUS INBOX (MESSAGES)')
  return Number(/MESSAGES (\d+)/.exec(untagged.join(' '))![1])
}

async function uids(client: ImapClient): Promise<string> {
  await client.run('EXAMINE INBOX')
  return (await client.run('UID SEARCH RETURN (ALL) ALL')).untagged[0]!.replace(/^.* ALL /, '')
}

/** Starts a COPY, and returns when it has stored some of its messages. @returns the answer, empty when the connection ends before it */
async function beginCopy(): Promise<{ answer: Promise<string>; observer: ImapClient }> {
  const [client, observer] = [await open(), await open()]
  await client.run('SELECT INBOX')
  const before = await count(observer)
  const answer = client.run('COPY 1:* INBOX').then(
    ({ tagged }) => tagged,
    () => '',
  )
  while ((await count(observer)) < before + 100);
  return { answer, observer }
}

/** Ends the process in the middle of a COPY, and starts the next one. */
async function endDuring(child: ChildProcess, signal: NodeJS.Signals): Promise<ChildProcess> {
  const { answer, observer } = await beginCopy()
  assert.equal((await observer.run(`APPEND INBOX {${NEW_MAIL.length}}`, NEW_MAIL)).status, 'OK')
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
  assert.doesNotMatch(await answer, /^OK/, 'the copy had not ended')
  return serve(env)
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(`after ${signal} during a COPY the next process listens, and the copies are gone`, TIMEOUT, async (t) => {
    const first = await serve(env)
    t.after(() => first.kill('SIGKILL'))
    const client = await open()
    const [messages, before] = [await count(client), await uids(client)]
    client.close()
    const second = await endDuring(first, signal)
    t.after(() => second.kill('SIGKILL'))
    const again = await open()
    while ((await count(again)) !== messages + 1);
    // New mail that arrived between the copies stays.
    assert.match((await uids(again)).slice(before.length), /^,\d+$/)
    assert.ok((await uids(again)).startsWith(before))
  })
}
