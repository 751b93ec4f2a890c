// Submission by other clients: swaks over STARTTLS, and smtp-source of Postfix; the API returns the messages.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import type { Zone } from '../support/dns.ts'
import { missingProgram } from '../support/programs.ts'

const run = promisify(execFile)
const RUN_LIMIT_MS = 60_000

const SWAKS = missingProgram('swaks')
const SWAKS_TLS = SWAKS || missingProgram('perl', ['-MNet::SSLeay', '-e', '1'], 'Net::SSLeay (libnet-ssleay-perl)')
const SMTP_SOURCE = missingProgram('smtp-source')

const zone: Zone = { 'harbour.test': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] } }

let appliance: TestAppliance
let key: string

before(async () => {
  appliance = await startAppliance({ zone })
  const team = await appliance.team()
  await team.domain('demo.test')
  key = (await team.mailbox('alice@demo.test')).key
})
after(() => appliance.close())

/** Hands in a mail with swaks. @returns the dialogue */
async function swaks(...args: string[]): Promise<string> {
  const envelope = [
    '--server',
    `127.0.0.1:${appliance.ports.smtp}`,
    '--from',
    'grace@harbour.test',
    '--to',
    'alice@demo.test',
  ]
  const { stdout } = await run('swaks', [...envelope, '--helo', 'mx.harbour.test', ...args], { timeout: RUN_LIMIT_MS })
  return stdout
}

/** What the tests look at of GET /mailbox/messages/{id}. */
interface Message {
  id: string
  from: { email: string }
  authentication: { spf: string }
  attachments: { filename: string; size_bytes: number }[]
}

async function read<T>(path: string): Promise<T> {
  const { status, body } = await appliance.get(path, key)
  assert.equal(status, 200)
  return (body as unknown as { data: T }).data
}

/** The one message with this subject. */
async function messageWith(subject: string): Promise<Message> {
  const found = await read<Message[]>(`/mailbox/messages?subject=${encodeURIComponent(subject)}`)
  assert.equal(found.length, 1, `one message with the subject ${subject}`)
  return read<Message>(`/mailbox/messages/${found[0]!.id}`)
}

async function rawOf({ id }: Message): Promise<string> {
  const { status, body } = await appliance.get(`/mailbox/messages/${id}/raw`, key, { accept: 'message/rfc822' })
  assert.equal(status, 200)
  return String(body)
}

test('swaks submits a plain message', { skip: SWAKS }, async () => {
  const dialogue = await swaks('--header', 'Subject: plain from swaks', '--body', 'A line.\n.\n..and dots\n')
  assert.match(dialogue, /<- {2}250 2\.0\.0/)
  const message = await messageWith('plain from swaks')
  assert.equal(message.from.email, 'grace@harbour.test')
  assert.equal(message.authentication.spf, 'pass')
  assert.match(await rawOf(message), /\r\n\r\nA line\.\r\n\.\r\n\.\.and dots\r\n/)
})

test('swaks submits attachments over STARTTLS', { skip: SWAKS_TLS }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-swaks-'))
  try {
    const content = randomBytes(200_000)
    await writeFile(join(folder, 'drawing.bin'), content)
    await writeFile(join(folder, 'note.txt'), 'see the drawing\n')
    const attach = ['drawing.bin', 'note.txt'].flatMap((name) => ['--attach', `@${join(folder, name)}`])
    const dialogue = await swaks('--tls', '--header', 'Subject: drawing from swaks', ...attach)
    assert.match(dialogue, /TLS started with cipher/)
    const message = await messageWith('drawing from swaks')
    assert.deepEqual(
      message.attachments.map(({ filename }) => filename),
      ['drawing.bin', 'note.txt'],
    )
    assert.equal(message.attachments[0]!.size_bytes, content.length)
    const raw = await rawOf(message)
    assert.match(raw, /^Received: .*\bESMTPS\b/ms)
    assert.equal(digestOfAttachment(raw, 'drawing.bin'), createHash('sha256').update(content).digest('hex'))
  } finally {
    await rm(folder, { recursive: true })
  }
})

/** SHA-256 of a base64 part, found by its file name. */
function digestOfAttachment(raw: string, name: string): string {
  const part = raw.split(/\r\n--/).find((text) => text.includes(`filename="${name}"`))!
  const base64 = part.slice(part.indexOf('\r\n\r\n') + 4)
  return createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex')
}

test('swaks gets the reason why a recipient is rejected', { skip: SWAKS }, async () => {
  const failed = await swaks('--to', 'nobody@demo.test').catch((error: { code: number; stdout: string }) => error)
  assert.ok(typeof failed === 'object', 'swaks ends with an error')
  assert.match(failed.stdout, /<\*\* 550 5\.1\.1/)
})

test('smtp-source of Postfix submits a load over new and open connections', { skip: SMTP_SOURCE }, async () => {
  const inbox = async () => {
    const folders = await read<{ total_messages: number }[]>('/mailbox/folders')
    return folders.reduce((sum, folder) => sum + folder.total_messages, 0)
  }
  const messages = 60
  for (const staysOpen of [true, false]) {
    const earlier = await inbox()
    const load = ['-s', '5', '-m', String(messages), '-l', '4096', ...(staysOpen ? ['-d'] : [])]
    const envelope = ['-M', 'mx.harbour.test', '-f', 'grace@harbour.test', '-t', 'alice@demo.test']
    await run('smtp-source', [...load, ...envelope, `127.0.0.1:${appliance.ports.smtp}`], { timeout: RUN_LIMIT_MS })
    assert.equal((await inbox()) - earlier, messages)
  }
})
