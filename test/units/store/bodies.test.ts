// Bodies and header of a message: read by byte range from the blob, decoded, and truncated at characters.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sha256 } from '../../../src/base/secrets.ts'
import { parseMessage } from '../../../src/mime/parse.ts'
import { BODY_BYTES_MAX, FIELDS_MAX } from '../../../src/mime/view.ts'
import { openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'

let appliance: TestStore
let box: TestMailbox

before(async () => {
  appliance = await openTestStore()
  box = await TestMailbox.open(appliance)
})
after(() => appliance[Symbol.asyncDispose]())

let count = 0
async function put(text: string | Buffer): Promise<string> {
  const bytes = Buffer.from(text)
  const hash = sha256(bytes)
  const half = Math.ceil(bytes.length / 2)
  // Two chunks: a range can cross their boundary.
  const chunks = [bytes.subarray(0, half), bytes.subarray(half)].map((data, index) => ({
    start: index * half,
    sizeBytes: data.length,
    zstd: false,
    data,
  }))
  await appliance.store.blobs.put(
    hash,
    bytes.length,
    chunks.filter(({ sizeBytes }) => sizeBytes > 0),
  )
  return box.put({
    mail: parseMessage(bytes),
    receivedAt: count,
    thread: `t${count++}`,
    folders: ['inbox'],
    sizeBytes: bytes.length,
    blob: hash,
  })
}

const mail = (...lines: string[]) => lines.join('\r\n')
const bodies = async (id: string, chars = 1000) => (await appliance.store.read.messages.bodies(box.account, id, chars))!

const BOTH = [
  'From: ana@shop.example',
  'MIME-Version: 1.0',
  'Content-Type: multipart/alternative; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from('Grüße\r\nan alle \u{1f4e7}').toString('base64'),
  '--b',
  'Content-Type: text/html; charset=iso-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  '<p>Gr=FC=DFe <b>an alle</b></p>',
  '--b--',
  '',
]

describe('bodies', () => {
  it('are both decoded', async () => {
    const id = await put(mail(...BOTH))
    assert.deepEqual(await bodies(id), {
      text: 'Grüße\nan alle \u{1f4e7}',
      html: '<p>Grüße <b>an alle</b></p>',
      textSource: 'text',
      truncated: { text: false, html: false },
    })
  })

  it('are truncated at code points, each separately', async () => {
    const id = await put(mail(...BOTH))
    assert.deepEqual(await bodies(id, 14), {
      text: 'Grüße\nan alle ',
      html: '<p>Grüße <b>an',
      textSource: 'text',
      truncated: { text: true, html: true },
    })
    const whole = await bodies(id, 15)
    assert.deepEqual([whole.text, whole.truncated.text], ['Grüße\nan alle \u{1f4e7}', false])
    assert.deepEqual(await bodies(id, 0), {
      text: '',
      html: '',
      textSource: 'text',
      truncated: { text: true, html: true },
    })
  })

  it('include a text derived from HTML if there is no text part', async () => {
    const id = await put(
      mail('From: a@b.example', 'Content-Type: text/html', '', '<style>p{}</style><p>Hello <b>you</b></p>', ''),
    )
    const { text, textSource, html } = await bodies(id)
    assert.deepEqual([text, textSource], ['Hello you', 'html'])
    assert.match(html!, /^<style>/)
    assert.deepEqual((await bodies(id, 5)).truncated, { text: true, html: true })
  })

  it('are null if the message has none', async () => {
    const attached = await put(
      mail(
        'From: a@b.example',
        'Content-Type: application/pdf',
        'Content-Disposition: attachment; filename=a.pdf',
        '',
        'x',
        '',
      ),
    )
    assert.deepEqual(await bodies(attached), {
      text: null,
      html: null,
      textSource: 'none',
      truncated: { text: false, html: false },
    })
  })

  it('read no more bytes than they return', async () => {
    const id = await put(
      mail('From: a@b.example', 'Content-Type: text/plain; charset=utf-8', '', 'é'.repeat(3_000_000)),
    )
    const read: number[] = []
    const { blobs } = appliance.store
    const bytes = blobs.bytes.bind(blobs)
    blobs.bytes = (hash, start, end) => {
      read.push(end - start)
      return bytes(hash, start, end)
    }
    try {
      const few = await bodies(id, 100)
      assert.deepEqual([few.text, few.truncated.text], ['é'.repeat(100), true])
      const all = await bodies(id, 500_000)
      assert.deepEqual([all.text, all.truncated.text], ['é'.repeat(500_000), true])
      await bodies(id, 10_000_000)
    } finally {
      blobs.bytes = bytes
    }
    assert.deepEqual(read, [400, 2_000_000, BODY_BYTES_MAX])
  })
})

describe('the header', () => {
  it('keeps its order and the names as written, with decoded values', async () => {
    const id = await put(
      mail(
        'Received: from a',
        '\tby b',
        'SUBJECT: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
        'X-A: 1',
        'x-a: 2',
        '__proto__: 3',
        '',
        'body',
      ),
    )
    assert.deepEqual(await appliance.store.read.messages.headers(box.account, id), [
      { name: 'Received', value: 'from a by b' },
      { name: 'SUBJECT', value: 'Grüße' },
      { name: 'X-A', value: '1' },
      { name: 'x-a', value: '2' },
      { name: '__proto__', value: '3' },
    ])
  })

  it('returns a limited number of fields', async () => {
    const id = await put(mail(...Array.from({ length: FIELDS_MAX + 50 }, (_, i) => `X-${i}: ${i}`), '', 'body'))
    const fields = (await appliance.store.read.messages.headers(box.account, id))!
    assert.equal(fields.length, FIELDS_MAX)
    assert.deepEqual(fields.at(-1), { name: `X-${FIELDS_MAX - 1}`, value: `${FIELDS_MAX - 1}` })
  })

  it('of bytes that are not a message is empty or parsed as far as possible', async () => {
    const id = await put('\u0001\u0002 no mail at all')
    assert.deepEqual(await appliance.store.read.messages.headers(box.account, id), [])
  })
})
