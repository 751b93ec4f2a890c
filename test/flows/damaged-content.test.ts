// Damaged content: a flipped bit is an error wherever the message is read, is named to the operator, and costs no other message.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openLog } from '../../src/base/log.ts'
import type { Finding } from '../../src/maintenance/doctor/finding.ts'
import { failure, receive } from '../api/expect.ts'
import { type Json, startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { Commands } from '../support/cli.ts'
import { ManualClock } from '../support/clock.ts'
import { flipBit } from '../support/flipped-bit.ts'
import { type ImapClient, logInImap } from '../support/imap.ts'

const MIB = 1_048_576
const DETAIL = '1 content is damaged or missing. mailstead doctor names its messages.'
const SENTENCE = /^Content in blobs\.db is missing or damaged\. /
/** Three chunks that do not shrink much and differ. */
const LARGE = `Subject: large\r\n\r\n${Array.from({ length: 40_000 }, (_, n) => `line ${n} needle ${n * 7919}`.padEnd(70, '.')).join('\r\n')}\r\n`

let root: string
let dataDir: string
let appliance: TestAppliance
let team: TestTeam
let box: { id: string; email: string; key: string }
let client: ImapClient
const lines: Record<string, unknown>[] = []

interface Message {
  id: string
  subject: string
}

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'mailstead-damaged-'))
  dataDir = join(root, 'data')
  const log = openLog('info', { write: (line: string) => lines.push(JSON.parse(line)) })
  appliance = await startAppliance({ dataDir, clock: new ManualClock(), log })
  team = await appliance.team()
  await team.domain('in.test')
  box = await team.mailbox('ben@in.test')
  for (const subject of ['first', 'second', 'third'])
    await receive(appliance, {
      ...{ to: box.email, subject, text: `a needle of the ${subject}`, id: `${subject}@else.test` },
      more: subject === 'second' ? ['In-Reply-To: <first@else.test>'] : [],
    })
  client = await logInImap(appliance, box)
  assert.equal((await client.run(`APPEND INBOX {${LARGE.length}}`, LARGE)).status, 'OK')
  await client.run('SELECT INBOX')
})
after(async () => {
  await appliance.close()
  await rm(root, { recursive: true })
})

async function messageOf(subject: string): Promise<Message> {
  const { data } = (await appliance.get('/mailbox/messages', box.key)).body
  return (data as Message[]).find((message) => message.subject === subject)!
}

const raw = (id: string, headers: Record<string, string> = {}) =>
  appliance.get(`/mailbox/messages/${id}/raw`, box.key, { accept: 'message/rfc822', ...headers })

function hashOf(id: string): Uint8Array {
  return appliance.app.db.read.get<{ blob: Uint8Array }>('SELECT blob FROM messages WHERE id = ?', [id])!.blob
}

const flip = (id: string, start = 0) => flipBit(appliance, { hash: hashOf(id), start })

const cli = () => new Commands({ DATA_DIR: dataDir, DNS_SERVERS: '127.0.0.1:9', MAIL_HOSTS: 'mx.mailstead.test' })

async function findings(check: string, ...options: string[]): Promise<Finding> {
  const { out } = await cli().run('doctor', ...options, '--json')
  return (JSON.parse(out[0]!) as { findings: Finding[] }).findings.find((finding) => finding.check === check)!
}

describe('a flipped bit in a small message', () => {
  let id: string
  let repair: () => Promise<unknown>
  before(async () => {
    id = (await messageOf('second')).id
    repair = await flip(id)
  })
  after(() => repair())

  it('is 503 with a sentence and a line in the log that names the message; the others are read', async () => {
    for (const path of [`/mailbox/messages/${id}/raw`, `/mailbox/messages/${id}`]) {
      const reply = await appliance.get(path, box.key)
      failure(reply, 503, 'service_unavailable')
      assert.match(reply.body.error.message, SENTENCE)
    }
    assert.equal((await raw((await messageOf('first')).id)).status, 200)
    assert.equal((await appliance.get('/mailbox/messages', box.key)).body.data.length, 4)
    const logged = lines.filter(({ event }) => event === 'content.damaged')
    assert.equal(logged.length, 1)
    assert.deepEqual(logged[0]!.holders, [`message ${id} of ben@in.test`])
  })

  it('is left out of FETCH with CORRUPTION, and the others are sent', async () => {
    const { untagged, tagged } = await client.run('UID FETCH 1:* (UID BODY.PEEK[])')
    assert.match(tagged, /^NO \[CORRUPTION\] .* UID 2\./)
    assert.deepEqual(
      untagged.map((text) => /UID (\d+)/.exec(text)![1]),
      ['1', '3', '4'],
    )
    assert.equal((await client.run('FETCH 2 (FLAGS ENVELOPE RFC822.SIZE BODYSTRUCTURE)')).status, 'OK')
    assert.match((await client.run('COPY 2 INBOX')).tagged, /^NO \[CORRUPTION\]/)
  })

  it('is a warning of SEARCH BODY, which finds the others', async () => {
    const { untagged, tagged } = await client.run('UID SEARCH BODY needle')
    assert.equal(tagged, 'OK UID SEARCH completed.')
    assert.match(untagged[0]!, /^\* NO \[CORRUPTION\] .* UID 2\./)
    assert.equal(untagged[1], '* SEARCH 1 3 4')
  })

  it('has no excerpt in a search of the API, which finds it and the others', async () => {
    const { body } = await appliance.get('/mailbox/messages/search-snippets?q=needle', box.key)
    const snippets = body.data as { message_id: string; preview: string | null }[]
    assert.equal(snippets.length, 4)
    assert.deepEqual(
      snippets.filter(({ preview }) => preview === null).map((snippet) => snippet.message_id),
      [id],
    )
  })

  it('is marked in lists of messages with bodies, which show the others', async () => {
    const ids = [id, (await messageOf('first')).id]
    const batch = { ids, include: ['text_body', 'headers'] }
    const { list } = (await appliance.call('POST', '/mailbox/messages/batch-get', box.key, batch)).body.data
    assert.deepEqual(
      list.map(({ damaged, text_body: text }: Json) => [damaged, text]),
      [
        [true, undefined],
        [undefined, 'a needle of the first\n'],
      ],
    )
    const { thread_id: thread } = list[0]
    const path = `/mailbox/threads/${thread}`
    const texts = { 'clean-content': 'content', messages: 'text_body' }
    for (const [route, text] of Object.entries(texts)) {
      const { data } = (await appliance.get(`${path}/${route}`, box.key)).body
      const messages: Json[] = data.messages ?? data
      const shown = messages.map((message) => [
        message.message_id ?? message.id,
        message.damaged,
        message[text]?.trim(),
      ])
      assert.deepEqual(shown, [
        [ids[1], undefined, 'a needle of the first'],
        [id, true, route === 'messages' ? undefined : ''],
      ])
    }
  })

  it('is named where several contents are parsed or copied, and the others are', async () => {
    const { blob_id: whole } = (await appliance.get(`/mailbox/messages/${(await messageOf('first')).id}`, box.key)).body
      .data
    const { list } = (await appliance.call('POST', '/mailbox/messages/batch-get', box.key, { ids: [id] })).body.data
    const blobs = [list[0].blob_id, whole]
    const { data } = (await appliance.call('POST', '/mailbox/messages/parse', box.key, { blob_ids: blobs })).body
    assert.deepEqual([Object.keys(data.parsed), data.damaged], [[whole], [blobs[0]]])
    const { key } = await team.mailbox('cleo@in.test')
    const copy = { source_mailbox_id: box.id, blob_ids: blobs }
    const source = { 'x-source-authorization': `Bearer ${box.key}` }
    const copied = (await appliance.call('POST', '/mailbox/blobs/copy', key, copy, source)).body.data
    assert.deepEqual([Object.keys(copied.copied), copied.damaged], [[whole], [blobs[0]]])
  })

  it('is named by /readyz, the doctor, a backup and its restore, which exit with 1 and hold the rest', async () => {
    const ready = await appliance.get(`${appliance.origin}/readyz`)
    assert.deepEqual([ready.status, ready.body], [200, { status: 'ok', details: [DETAIL] }])
    for (const finding of [await findings('content_read'), await findings('contents', '--deep')]) {
      assert.equal(finding.level, 'fail')
      assert.ok(finding.says.includes(`message ${id} of ben@in.test`), finding.says)
    }
    const file = join(root, 'damaged.tar.zst')
    const made = await cli().run('backup', file)
    assert.equal(made.code, 1)
    assert.match(made.err.join('\n'), /1 content is damaged or missing/)
    assert.match(made.out.join('\n'), new RegExp(`Damaged: \\w{64}: message ${id} of ben@in\\.test`))
    const again = join(root, 'again')
    const restored = await cli().run('restore', file, '--data', again)
    assert.equal(restored.code, 1)
    assert.match(restored.out.join('\n'), new RegExp(`Damaged: \\w{64}: message ${id} of ben@in\\.test`))
    await using copy = await startAppliance({ dataDir: again, clock: new ManualClock() })
    const { id: first } = await messageOf('first')
    assert.equal((await copy.get(`/mailbox/messages/${first}/raw`, box.key)).status, 200)
    assert.equal((await copy.get(`/mailbox/messages/${id}/raw`, box.key)).status, 503)
  })

  it('is replaced by the same content when that is stored again', async () => {
    const { store } = appliance.app
    await repair()
    const bytes = Buffer.from((await raw(id)).body)
    await flip(id)
    await store.blobs.put(hashOf(id), bytes.length, [{ start: 0, sizeBytes: bytes.length, zstd: false, data: bytes }])
    assert.deepEqual(Buffer.from((await raw(id)).body), bytes)
    assert.equal((await findings('content_read')).level, 'ok')
  })
})

describe('a flipped bit in the last chunk of a large message', () => {
  let id: string
  let repair: () => Promise<unknown>
  before(async () => {
    id = (await messageOf('large')).id
    repair = await flip(id, 2 * MIB)
  })
  after(() => repair())

  it('is refused before a byte is announced; ranges of other chunks are read', async () => {
    failure(await raw(id), 503, 'service_unavailable')
    failure(await appliance.get(`/mailbox/messages/${id}/raw`, box.key), 503, 'service_unavailable')
    const range = await raw(id, { range: 'bytes=100-199' })
    assert.deepEqual([range.status, range.body], [206, LARGE.slice(100, 200)])
    failure(await raw(id, { range: `bytes=${MIB}-${2 * MIB + 5}` }), 503, 'service_unavailable')
    const whole = await client.run('UID FETCH 4 (UID BODY.PEEK[])')
    assert.deepEqual(whole.untagged, [])
    assert.match(whole.tagged, /^NO \[CORRUPTION\]/)
    const piece = await client.run('FETCH 4 BODY.PEEK[]<1048570.20>')
    assert.equal(piece.untagged[0], `* 4 FETCH (BODY[]<1048570> {20}\r\n${LARGE.slice(1_048_570, 1_048_590)})`)
    assert.equal((await client.run('FETCH 4 (BODY.PEEK[]<0.70000> BODY.PEEK[]<2000000.200000>)')).status, 'NO')
    assert.equal((await client.run('NOOP')).status, 'OK')
  })

  it('is found without digests of chunks as well, as content of earlier versions has none', async () => {
    await appliance.app.blobsDb.write((tx) => tx.run('UPDATE blobs SET chunk_digests = NULL'))
    failure(await raw(id, { range: `bytes=${2 * MIB}-${2 * MIB + 5}` }), 503, 'service_unavailable')
    await repair()
    const range = await raw(id, { range: 'bytes=100-199' })
    assert.deepEqual([range.status, range.body], [206, LARGE.slice(100, 200)])
    assert.equal(
      (await client.run('FETCH 4 BODY.PEEK[]')).untagged[0],
      `* 4 FETCH (BODY[] {${LARGE.length}}\r\n${LARGE})`,
    )
    await flip(id, MIB)
    failure(await raw(id, { range: `bytes=${MIB}-${MIB + 5}` }), 503, 'service_unavailable')
  })
})
