// Search snippets: they highlight the same words as the search matches, as safe HTML.

import assert from 'node:assert/strict'
import { after, before, describe, it, test } from 'node:test'
import { markedAround, PREVIEW_BYTES } from '../../../src/api/schemas/search-snippet.ts'
import { sha256 } from '../../../src/base/secrets.ts'
import type { Reader } from '../../../src/db/db.ts'
import { parseMessage, SEARCH_TEXT_MAX } from '../../../src/mime/parse.ts'
import { BODY_BYTES_PER_REQUEST, snippetsOf } from '../../../src/store/messages/snippets.ts'
import type { Account } from '../../../src/store/rows/records.ts'
import { firstExcerpt, searchTermsIn } from '../../../src/store/search/excerpts.ts'
import { readQuery } from '../../../src/store/search/parse-query.ts'
import { openTestStore, TestMailbox, type TestStore } from '../../support/mailbox.ts'
import { Random } from '../../support/random.ts'

let appliance: TestStore
let box: TestMailbox
let count = 0

before(async () => {
  appliance = await openTestStore()
})
after(() => appliance[Symbol.asyncDispose]())

async function put(text: string, subject = 'x'): Promise<string> {
  box = await TestMailbox.open(appliance)
  const head = `Subject: =?utf-8?b?${Buffer.from(subject).toString('base64')}?=\r\nMIME-Version: 1.0\r\n`
  const type = 'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n'
  const bytes = Buffer.from(head + type + Buffer.from(text).toString('base64'))
  const hash = sha256(bytes)
  await appliance.store.blobs.put(hash, bytes.length, [{ start: 0, sizeBytes: bytes.length, zstd: false, data: bytes }])
  return box.put({
    mail: parseMessage(bytes),
    receivedAt: appliance.clock.now() + count,
    thread: `t${count++}`,
    folders: ['inbox'],
    sizeBytes: bytes.length,
    blob: hash,
  })
}

const CUT = { sort: 'received_at', direction: 'asc', limit: 100, after: null, collapseThreads: false } as const
const isFound = async (q: string) =>
  (await appliance.store.read.messages.list(box.account, { q }, CUT)).items.length > 0
const snippet = async (id: string, q: string) =>
  (await appliance.store.read.messages.snippets(box.account, { q }, [id]))[0]!
const words = ({ text, hits }: { text: string; hits: { start: number; end: number }[] }) =>
  hits.map(({ start, end }) => text.slice(start, end))

describe('a highlight', () => {
  const text =
    'The naïve CAFÉ in Zürich: ΣΟΦΙΑΣ read straße, ſun and İzmir; prices rose 12.5 % (see invoice-2026, or invoices).\n' +
    'It’s “well known” e\u0301te\u0301 — 東京都で会議 안녕하세요 สวัสดี Привет, ёлка. foo_bar a.b@c.example 💥bang💥'
  const queries = [
    ...['naive', 'NAÏVE', 'cafe', 'zurich', 'σοφιας', 'σοφιασ', 'strasse', 'straße', 'sun', 'izmir', '12.5', '12', '5'],
    ...['invoice', 'invoices', 'invoic*', 'inv*', '"invoice 2026"', '"2026 invoice"', '"prices rose"', '"prices 12"'],
    ...[
      'ete',
      'it',
      '"it s"',
      '東京',
      '京都',
      '東京都で会議',
      '안녕',
      '안녕하세요',
      'สวัสดี',
      'привет',
      'ёлка',
      'елка',
      'foo_bar',
    ],
    ...['foo', 'a.b@c.example', 'bang', '"well known"', 'zzz', '"a b c example"', 'рив*'],
  ]
  it('covers exactly the words the search matches', async () => {
    const id = await put(text, text)
    for (const q of queries) {
      for (const [part, other] of [
        ['body', 'subject'],
        ['subject', 'body'],
      ] as const) {
        const shown = await snippet(id, `${part}:${q}`)
        assert.equal(shown[part] !== null, await isFound(`${part}:${q}`), `${part}:${q}`)
        assert.equal(shown[other], null)
      }
    }
  })

  const marks: [string, string[] | null][] = [
    ['cafe zurich', ['CAFÉ', 'Zürich']],
    ['"prices rose"', ['prices rose']],
    ['invoice*', ['invoice', 'invoices']],
    ['sun -zurich', ['ſun']],
    ['NOT zurich', null],
    ['nothing OR naive', ['naïve']],
    ['from:cafe', null],
    ['is:unread', null],
    ['"invoice 2026" invoice', ['invoice-2026']],
    ['会議', ['会議']],
    ['京都', ['京都']],
    ['안녕 ёлк*', ['안녕', 'ёлка']],
    ['สวัส', ['สวัส']],
  ]
  for (const [q, expected] of marks) {
    it(q, async () => {
      const { body } = await snippet(await put(text), q)
      assert.deepEqual(body && words(body), expected)
    })
  }

  it('is found wherever text is indexed: after much text, in other parts, in HTML', async () => {
    const far = await snippet(await put(`${'word '.repeat(40_000)}needle ${'word '.repeat(1000)}`), 'needle')
    assert.deepEqual(words(far.body!), ['needle'])
    assert.ok(far.body!.text.length <= 1300)
  })
})

test('one request reads a limited number of bytes of bodies', async () => {
  const part = { ...{ id: '1', type: 'text/plain', charset: 'utf-8', encoding: '8bit', disposition: null }, parts: [] }
  const size = SEARCH_TEXT_MAX * 4
  const root = {
    ...part,
    ...{ filename: null, contentId: null, headerStart: 0, bodyStart: 0, bodyEnd: size, lines: 1 },
  }
  const rows = Array.from({ length: 30 }, (_, at) => {
    return { id: `${at}`, subject: 'needle', blob: new Uint8Array(32), structure: JSON.stringify({ root }) }
  })
  let read = 0
  const bytes = async (_: Uint8Array, start: number, end: number) => {
    read += end - start
    return Buffer.alloc(end - start, 'needle ')
  }
  const parts = { reader: { all: () => rows } as unknown as Reader, blobs: { bytes } }
  const ids = rows.map(({ id }) => id)
  const found = await snippetsOf(parts, { n: 1 } as Account, ids, readQuery('needle', 0))
  assert.deepEqual(
    [found.length, found.filter(({ body }) => body !== null).length],
    [30, BODY_BYTES_PER_REQUEST / size],
  )
  assert.ok(found.every(({ subject }) => subject !== null))
  assert.equal(read, BODY_BYTES_PER_REQUEST)
})

test('a long text does not block other work', async () => {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const excerpt = await firstExcerpt('x '.repeat(SEARCH_TEXT_MAX / 2), searchTermsIn(readQuery('needle', 0), 'body'))
  isOver = true
  assert.equal(excerpt, null)
  assert.ok(turns >= 10, `${turns} turns`)
})

describe('a preview', () => {
  const preview = async (text: string, q: string) => {
    const excerpt = await firstExcerpt(text, searchTermsIn(readQuery(q, 0), 'body'))
    return excerpt && markedAround(excerpt, PREVIEW_BYTES)
  }

  it('escapes the message and marks only hits', async () => {
    assert.equal(
      await preview('a <mark> & "c" <script>needle</script>', 'needle'),
      'a &lt;mark&gt; &amp; &quot;c&quot; &lt;script&gt;<mark>needle</mark>&lt;/script&gt;',
    )
    assert.equal(await preview('<mark>', 'mark'), '&lt;<mark>mark</mark>&gt;')
  })

  it('is one line without control characters, bidirectional marks and split surrogates', async () => {
    assert.equal(
      await preview('a\u0000b\u0007\r\n\t needle\u001b[31m \u202ered\u2066 \ud800x\udc00\u200b!', 'needle'),
      'a b <mark>needle</mark> [31m red \ufffdx\ufffd!',
    )
    assert.equal(await preview('one\n\n  two', '"one two"'), '<mark>one two</mark>')
  })

  it('begins with a few whole words before the hit', async () => {
    const found = (await preview(`${'lorem ipsum '.repeat(50)}needle`, 'needle'))!
    assert.match(found, /^(?:lorem|ipsum) [a-z ]{20,}<mark>needle<\/mark>$/)
  })

  it('has at most 255 bytes of complete characters, entities and marks, for any message', async () => {
    const random = new Random(7)
    const pieces = ['needle', 'word', '&', '<', '"', '💥', 'é', '語', ' ', '\n', '<mark>', '&amp;', 'e\u0301', '\u200d']
    for (let round = 0; round < 3000; round++) {
      const text = Array.from({ length: random.below(120) }, () => random.pick(pieces)).join(random.pick(['', ' ']))
      const found = await preview(text, 'needle OR word OR é*')
      if (found === null) continue
      assert.ok(Buffer.byteLength(found) <= PREVIEW_BYTES, found)
      assert.ok(found.isWellFormed())
      assert.match(
        found,
        /^(?:[^<>&"']|&(?:amp|lt|gt|quot|#39);|<mark>(?:[^<>&"']|&(?:amp|lt|gt|quot|#39);)+<\/mark>)*$/,
      )
      assert.ok(found.includes('<mark>'), found)
    }
  })

  it('marks as much of a very long word as fits', async () => {
    assert.equal(await preview('n'.repeat(1000), 'nn*'), `<mark>${'n'.repeat(242)}</mark>`)
    assert.equal((await preview('語'.repeat(1000), '語語*'))?.startsWith('<mark>語'), true)
  })
})
