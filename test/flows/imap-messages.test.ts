// IMAP and messages: append, fetch, store, search, copy, move, expunge; labels shared among folders; the same ids and flags as the API.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ProductError } from '../../src/base/errors.ts'
import { FETCH_READS } from '../../src/imap/grammar/limits.ts'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { type ImapClient, type ImapReply, logInImap } from '../support/imap.ts'

let appliance: TestAppliance
let team: TestTeam
let boxes = 0

before(async () => {
  appliance = await startAppliance()
  team = await appliance.team()
  await team.domain('acme.test')
})
after(() => appliance.close())

/** A logged-in client of a new mailbox with INBOX selected. */
async function open(...messages: string[]): Promise<ImapClient & { mailbox: { email: string; key: string } }> {
  const mailbox = await team.mailbox(`m${++boxes}@acme.test`)
  const client = Object.assign(await logInImap(appliance, mailbox), { mailbox })
  for (const text of messages) assert.equal((await client.run(`APPEND INBOX {${text.length}}`, text)).status, 'OK')
  assert.equal((await client.run('SELECT INBOX')).status, 'OK')
  return client
}

const MIXED = [
  'From: =?utf-8?q?J=C3=B6rg?= <j@x.test>',
  'To: ada@acme.test, Team: b@c.test;',
  'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= hello',
  'Date: Mon, 01 Jan 2024 23:30:00 -0500',
  'Message-ID: <1@x.test>',
  'X-Rare: something',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'body =C3=A9l=C3=A9phant',
  '--b',
  'Content-Type: application/octet-stream; name=a.bin',
  'Content-Transfer-Encoding: base64',
  '',
  'AAECAwQ=',
  '--b--',
  '',
].join('\r\n')
const PLAIN = 'From: bob@y.test\r\nSubject: second\r\n\r\nnothing here\r\n'

describe('FETCH', () => {
  it('answers an item once that is named several times', async () => {
    const client = await open(PLAIN)
    const many = (item: string) => Array(20).fill(item).join(' ')
    const names = ['ENVELOPE', 'FLAGS', 'BODY.PEEK[]', 'BODY.PEEK[1]<0.3>', 'BODY.PEEK[1]<0.4>', 'BINARY.SIZE[1]']
    const once = await client.run(`FETCH 1 (${names.join(' ')})`)
    const repeated = `FETCH 1 (${many('ENVELOPE')} ${many('BODY.PEEK[]')} ${names.slice(1).join(' ')} ENVELOPE)`
    assert.deepEqual(
      (await client.run(repeated)).untagged.map((line) => line.length),
      once.untagged.map((line) => line.length),
    )
    // One of the two reads the text.
    const both = await client.run('FETCH 1 (BODY.PEEK[TEXT] BODY[TEXT])')
    assert.match(both.untagged[0]!, /^\* 1 FETCH \(BODY\[TEXT\] \{14\}\r\nnothing here\r\n FLAGS \(\\Seen/)
  })

  it('reads a message four times at most, or 1 MiB of it, and answers the others', async () => {
    const base64 = `${Buffer.alloc(57, 'x').toString('base64')}\r\n`.repeat(4000)
    const large = `Subject: large\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64}`
    const client = await open(PLAIN, large, PLAIN)
    const some = (item: string, count: number) =>
      Array.from({ length: count }, (_, n) => `${item}<${200_000 - n}.1>`).join(' ')
    const four = await client.run(`FETCH 1:* (BODY.PEEK[] BODY.PEEK[1] ${some('BINARY.PEEK[1]', 2)})`)
    assert.deepEqual([four.status, four.untagged.length], ['OK', 3])
    for (const items of [
      some('BINARY.PEEK[1]', FETCH_READS + 1),
      `BODY.PEEK[1] ${some('BINARY.PEEK[1]', 2)} BODY.PEEK[TEXT] BODY.PEEK[]`,
      `${some('BINARY[1]', 60)} BODY[]`,
    ]) {
      const { tagged, untagged } = await client.run(`UID FETCH 1:* (${items})`)
      const announced = untagged.some((line) => /^\* 2 FETCH \(FLAGS \(\\Seen/.test(line))
      assert.equal(announced, items.endsWith(' BODY[]'))
      assert.match(tagged, /^NO \[LIMIT\] The items name more than 4 times the content of messages: UID 2\. /)
      assert.deepEqual(
        untagged.filter((line) => line.includes('[1]')).map((line) => /UID (\d+)/.exec(line)![1]),
        ['1', '3'],
      )
    }
    assert.match((await client.run('FETCH 2 FLAGS')).untagged[0]!, /\\Seen/)
    // Sixty parts of a part that is not decoded are read once each.
    const parts = await client.run(`FETCH 2 (${some('BODY.PEEK[1]', 60)})`)
    assert.deepEqual([parts.status, parts.untagged.length], ['OK', 1])
  })
})

describe('APPEND', () => {
  it('keeps bytes, flags and date; several messages are one unit of work', async () => {
    const client = await open()
    const appended = await client.run(`APPEND INBOX (\\Seen Foo) "01-Jan-2020 10:00:00 +0200" {${PLAIN.length}}`, PLAIN)
    assert.match(appended.tagged, /^OK \[APPENDUID \d+ 1\]/)
    const { untagged } = await client.run('FETCH 1 (FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[])')
    const fetched = untagged.at(-1)!
    assert.match(fetched, /FLAGS \(\\Seen \\Recent foo\) INTERNALDATE "01-Jan-2020 08:00:00 \+0000"/)
    assert.ok(fetched.endsWith(`RFC822.SIZE ${PLAIN.length} BODY[] {${PLAIN.length}}\r\n${PLAIN})`))
    const two = await client.run(`APPEND INBOX {3+}\r\nx:y (\\Deleted) {3+}\r\nz:w`)
    assert.match(two.tagged, /^OK \[APPENDUID \d+ 2:3\]/)
    assert.deepEqual(two.untagged, ['* 3 EXISTS', '* 3 RECENT'])
    assert.match((await client.run('FETCH 3 FLAGS')).untagged[0]!, /\\Deleted/)
  })

  it('takes 100 keywords a message, and announces 500 in a session', async () => {
    const client = await open()
    const keywords = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => `k${String(from + n).padStart(4, '0')}`).join(' ')
    assert.match((await client.run(`APPEND INBOX (${keywords(0, 101)}) {5+}\r\nx:y\r\n`)).tagged, /^NO \[LIMIT\]/)
    await client.run('UNSELECT')
    for (let n = 0; n < 7; n++) await client.run(`APPEND INBOX (${keywords(n * 100, 100)}) {5+}\r\nx:y\r\n`)
    await client.run('SELECT INBOX')
    const { untagged } = await client.run('FETCH 1:* FLAGS')
    assert.equal(untagged.filter((one) => one.startsWith('* FLAGS')).length, 4)
    assert.match(untagged.at(-1)!, /^\* 7 FETCH \(FLAGS \(.*k0699\)\)$/)
  })

  it('refuses what does not fit before it is sent, and reads it otherwise', async () => {
    const client = await open()
    assert.match((await client.run('APPEND Nowhere {5}')).tagged, /^NO \[TRYCREATE\]/)
    assert.match((await client.run('APPEND Nowhere {5+}\r\nhello')).tagged, /^NO \[TRYCREATE\]/)
    assert.match((await client.run('APPEND INBOX {52428801}')).tagged, /^NO \[TOOBIG\]/)
    assert.match((await client.run('APPEND INBOX {0}')).tagged, /^NO/)
    assert.match((await client.run('APPEND INBOX (\\Foo) {5+}\r\nhello')).tagged, /^BAD/)
    assert.equal((await client.run('NOOP')).status, 'OK')
    assert.match((await client.run('APPEND INBOX {52428801+}')).untagged[0]!, /^\* BYE \[TOOBIG\]/)
  })

  it('a message that cannot be spooled is refused, and the command is read to its end', async () => {
    const client = await open()
    const spool = join(appliance.app.folder.path, 'spool-imap')
    await rm(spool, { recursive: true })
    const large = `Subject: x\r\n\r\n${'y'.repeat(1_100_000)}`
    const { tagged, untagged } = await client.run(`APPEND INBOX {${large.length}+}\r\n${large} {4+}\r\nx:yz`)
    await mkdir(spool)
    assert.match(tagged, /^NO \[SERVERBUG\]/)
    assert.deepEqual(untagged, [])
    assert.deepEqual((await client.run('NOOP')).untagged, [])
    assert.equal((await client.run('APPEND INBOX {3+}\r\nx:y')).status, 'OK')
  })

  it('above the quota is NO [OVERQUOTA]', async () => {
    const mailbox = await team.mailbox('full@acme.test', { quotaBytes: 10_485_760 })
    const client = await logInImap(appliance, mailbox)
    const large = `Subject: x\r\n\r\n${'y'.repeat(11_000_000)}`
    assert.match((await client.run(`APPEND INBOX {${large.length}}`, large)).tagged, /^NO \[OVERQUOTA\]/)
    assert.match((await client.run('APPEND INBOX {52428801}')).tagged, /^NO \[TOOBIG\]/)
  })

  it('of a command that is refused nothing stays in the blob store, whatever came first', async () => {
    const mailbox = await team.mailbox('refused@acme.test', { quotaBytes: 10_485_760 })
    const client = await logInImap(appliance, mailbox)
    const stored = () => appliance.app.blobsDb.read.get<{ count: number }>('SELECT count(*) AS count FROM blobs')!.count
    const before = stored()
    const message = (fill: string, bytes = 6_000_000) => `Subject: refused\r\n\r\n${fill.repeat(bytes)}`
    const [one, two, large] = [message('1'), message('2'), message('3', 11_000_000)]
    const refused = [
      [`INBOX {${one.length}+}\r\n${one} {${two.length}+}\r\n${two}`, /^NO \[OVERQUOTA\]/],
      [`Sent {${one.length}+}\r\n${one} {${two.length}+}\r\n${two}`, /^NO \[OVERQUOTA\]/],
      [`Sent {${large.length}+}\r\n${large}`, /^NO \[OVERQUOTA\]/],
      [`INBOX {${one.length}+}\r\n${one} {0+}\r\n`, /^NO \[CANNOT\]/],
      [`INBOX {${one.length}+}\r\n${one} {52428801}`, /^NO \[TOOBIG\]/],
      [`INBOX {${one.length}+}\r\n${one} x`, /^BAD/],
    ] as const
    for (const [command, answer] of refused) {
      assert.match((await client.run(`APPEND ${command}`)).tagged, answer)
      assert.equal(stored(), before, answer.source)
    }
    assert.deepEqual(await readdir(join(appliance.app.folder.path, 'spool-imap')), [])
    assert.equal((await client.run(`APPEND INBOX {${one.length}+}\r\n${one} {5+}\r\nr:two`)).status, 'OK')
    assert.equal(stored(), before + 2)
  })
})

describe('FETCH', () => {
  it('gives ids as the API does, envelope, structure and parts', async () => {
    const client = await open(MIXED)
    const list = await appliance.get('/mailbox/messages', client.mailbox.key)
    const { untagged, tagged } = await client.run('FETCH 1 (UID EMAILID THREADID PREVIEW ENVELOPE)')
    assert.match(tagged, /^OK/)
    const [{ id, thread_id: thread, preview }] = list.body.data
    assert.ok(untagged[0]!.includes(`EMAILID (${id}) THREADID (${thread})`))
    assert.ok(untagged[0]!.includes(Buffer.from(preview).toString('latin1')))
    assert.match(untagged[0]!, /\(\("=\?utf-8\?q\?J=C3=B6rg\?=" NIL "j" "x\.test"\)\)/)
    assert.match(untagged[0]!, /\(NIL NIL "Team" NIL\)\(NIL NIL "b" "c\.test"\)\(NIL NIL NIL NIL\)/)
    const parts = await client.run(
      'FETCH 1 (BODY.PEEK[1] BODY.PEEK[2.MIME] BINARY.PEEK[1] BINARY.SIZE[2] BODY.PEEK[9] BODY.PEEK[HEADER.FIELDS (SUBJECT)]<0.7>)',
    )
    const text = Buffer.from(parts.untagged[0]!, 'latin1').toString()
    assert.match(text, /BODY\[1\] \{23\}\r\nbody =C3=A9l=C3=A9phant/)
    assert.match(text, /BINARY\[1\] \{\d+\}\r\nbody \u00e9l\u00e9phant/)
    assert.match(text, /BINARY\.SIZE\[2\] 5 BODY\[9\] NIL BODY\[HEADER\.FIELDS \(SUBJECT\)\]<0> \{7\}\r\nSubject/)
  })

  it('header fields beyond what is kept beside the message are read from the message', async () => {
    const to = Array.from({ length: 700 }, (_, index) => `reader-${index}@long.example.test`)
    const field = `To: ${to.join(',\r\n ')}\r\n`
    const client = await open(`From: a@x.test\r\n${field}Subject: many\r\n\r\nx`)
    const [envelope] = (await client.run('FETCH 1 (ENVELOPE)')).untagged
    assert.match(envelope!, /"many" .*\(NIL NIL "reader-0" "long\.example\.test"\)\(NIL NIL "reader-1" /)
    const [fields] = (await client.run('FETCH 1 (BODY.PEEK[HEADER.FIELDS (TO)])')).untagged
    assert.ok(fields!.endsWith(`}\r\n${field}\r\n)`))
    assert.deepEqual((await client.run('SEARCH TO reader-699')).untagged, ['* SEARCH 1'])
    const small = 'To: a@x.test\r\n\r\nx'
    await client.run(`APPEND INBOX {${small.length}}`, small)
    assert.deepEqual((await client.run('SORT (REVERSE TO) UTF-8 ALL')).untagged, ['* SORT 1 2'])
  })

  it('sets \\Seen with the text, not with PEEK, and not where the folder is read-only', async () => {
    const client = await open(PLAIN)
    await client.run('FETCH 1 BODY.PEEK[TEXT]')
    assert.doesNotMatch((await client.run('FETCH 1 FLAGS')).untagged[0]!, /Seen/)
    await client.run('EXAMINE INBOX')
    await client.run('FETCH 1 BODY[TEXT]')
    assert.doesNotMatch((await client.run('FETCH 1 FLAGS')).untagged[0]!, /Seen/)
    await client.run('SELECT INBOX')
    assert.match((await client.run('FETCH 1 BODY[TEXT]')).untagged[0]!, /FLAGS \(\\Seen/)
    const list = await appliance.get('/mailbox/messages', client.mailbox.key)
    assert.equal(list.body.data[0].flags.seen, true)
  })

  it('what cannot be read behind a part that was sent ends the connection; before it, the answer is NO', async (t) => {
    const large = `--b\r\n\r\n${'x'.repeat(100_000)}\r\n--b\r\n\r\nsmall\r\n--b--\r\n`
    const client = await open(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${large}`)
    const { mail } = appliance.app.store.programs
    const read = mail.bytes.bind(mail)
    t.mock.method(mail, 'bytes', (...[content, start, end]: Parameters<typeof read>) => {
      if (end - start < 100) throw new ProductError('service_unavailable', 'The content is damaged.')
      return read(content, start, end)
    })
    assert.match((await client.run('FETCH 1 (BODY.PEEK[2] BODY.PEEK[1])')).tagged, /^NO \[UNAVAILABLE\]/)
    assert.equal((await client.run('FETCH 1 (BODY.PEEK[1] BODY.PEEK[2])')).status, 'closed')
  })

  it('a large message comes as it was, whole and in pieces', async () => {
    const large = `Subject: large\r\n\r\n${'0123456789abcde\r\n'.repeat(200_000)}`
    const client = await open(large)
    const whole = await client.run('FETCH 1 BODY.PEEK[]')
    assert.equal(whole.untagged[0], `* 1 FETCH (BODY[] {${large.length}}\r\n${large})`)
    const piece = await client.run('FETCH 1 BODY.PEEK[]<3000000.20>')
    assert.equal(piece.untagged[0], `* 1 FETCH (BODY[]<3000000> {20}\r\n${large.slice(3_000_000, 3_000_020)})`)
  })
})

describe('FETCH of one message each, in commands that wait', () => {
  const texts = Array.from({ length: 12 }, (_, n) => `Subject: ${n + 1}\r\n\r\n${'x'.repeat(n)}\r\n`)
  const fetchEach = (items: string) => texts.map((_, n) => `UID FETCH ${n + 1} ${items}`)

  /** Sends commands in one write. @returns their answers, in order */
  async function together(client: ImapClient, commands: readonly string[]): Promise<ImapReply[]> {
    client.write(commands.map((text, n) => `p${n} ${text}\r\n`).join(''))
    const replies: ImapReply[] = []
    for (const [n] of commands.entries()) replies.push(await client.until(`p${n}`))
    return replies
  }

  it('each answer is as alone; messages are read together', async (t) => {
    const client = await open(...texts)
    const { store } = appliance.app
    const reads = [t.mock.method(store.programs.views, 'entries'), t.mock.method(store.programs.mail, 'small')]
    const replies = await together(client, fetchEach('(FLAGS BODY.PEEK[])'))
    for (const [n, text] of texts.entries()) {
      const body = `BODY[] {${text.length}}\r\n${text}`
      assert.deepEqual(replies[n]!.untagged, [`* ${n + 1} FETCH (UID ${n + 1} FLAGS (\\Recent) ${body})`])
    }
    assert.ok(replies.every(({ tagged }) => tagged === 'OK UID FETCH completed.'))
    for (const { mock } of reads) assert.ok(mock.callCount() < texts.length / 2, `${mock.callCount()} reads`)
  })

  it('what a command between them changes or removes is seen', async () => {
    const client = await open(...texts)
    const fetches = fetchEach('FLAGS')
    const changes = ['STORE 9 +FLAGS.SILENT (\\Flagged)', 'STORE 10 +FLAGS.SILENT (\\Deleted)', 'EXPUNGE']
    const replies = await together(client, [...fetches.slice(0, 6), ...changes, ...fetches.slice(6)])
    const flags = replies.flatMap(({ untagged }) => untagged).filter((one) => one.includes('FETCH'))
    assert.deepEqual(
      flags.map((one) => /UID (\d+) FLAGS \((.*)\)\)$/.exec(one)!.slice(1).join(' ')),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12].map((uid) => `${uid} ${uid === 9 ? '\\Flagged ' : ''}\\Recent`),
    )
  })

  it('one that is damaged is NO; the others are sent', async () => {
    const client = await open(...texts.map((text) => `X-Only: here\r\n${text}`))
    const size = texts[5]!.length + 'X-Only: here\r\n'.length
    const damage = 'UPDATE chunks SET zstd = 1 WHERE zstd = 0 AND size_bytes = ?'
    await appliance.app.blobsDb.write((tx) => tx.run(damage, [size]))
    const replies = await together(client, fetchEach('BODY.PEEK[]'))
    for (const [n, { status }] of replies.entries()) assert.equal(status, n === 5 ? 'NO' : 'OK')
    assert.match(replies[5]!.tagged, /^NO \[CORRUPTION\] .*UID 6\b/)
  })
})

describe('STORE', () => {
  it('changes what the API shows; FLAGS replaces, +FLAGS adds, .SILENT is silent', async () => {
    const client = await open(PLAIN)
    const flags = async () => (await appliance.get('/mailbox/messages', client.mailbox.key)).body.data[0].keywords
    const added = await client.run('STORE 1 +FLAGS (\\Flagged $MDNSent)')
    assert.match(added.untagged.at(-1)!, /FLAGS \(\\Flagged \\Recent \$MDNSent\)/)
    assert.deepEqual(await flags(), ['$flagged', '$mdnsent'])
    assert.deepEqual((await client.run('STORE 1 -FLAGS.SILENT (\\Flagged)')).untagged, [])
    assert.deepEqual(await flags(), ['$mdnsent'])
    await client.run('STORE 1 FLAGS (\\Answered)')
    assert.deepEqual(await flags(), ['$answered'])
  })

  it('UNCHANGEDSINCE leaves changed messages alone and names them', async () => {
    const client = await open(PLAIN, PLAIN)
    const { untagged } = await client.run('STORE 2 FLAGS.SILENT (\\Seen)')
    assert.deepEqual(untagged, [])
    const modSeq = Number(/MODSEQ \((\d+)\)/.exec((await client.run('FETCH 1 (MODSEQ)')).untagged.at(-1)!)![1])
    const answer = await client.run(`STORE 1:2 (UNCHANGEDSINCE ${modSeq}) +FLAGS (\\Flagged)`)
    assert.match(answer.tagged, /^OK \[MODIFIED 2\]/)
    assert.match((await client.run('FETCH 1:2 FLAGS')).untagged.join(), /1 FETCH .*Flagged.*2 FETCH \(FLAGS \(\\Seen/)
  })
})

describe('labels', () => {
  it('COPY puts the same message into a further folder; flags are shared, \\Deleted is each folder’s own', async () => {
    const client = await open(PLAIN)
    const copied = await client.run('COPY 1 Archive')
    assert.match(copied.tagged, /^OK \[COPYUID \d+ 1 1\]/)
    const list = await appliance.get('/mailbox/messages', client.mailbox.key)
    assert.equal(list.body.data.length, 1)
    assert.equal(list.body.data[0].folder_ids.length, 2)
    await client.run('STORE 1 +FLAGS (\\Deleted \\Flagged)')
    const other = await logInImap(appliance, client.mailbox)
    await other.run('SELECT Archive')
    assert.match((await other.run('FETCH 1 FLAGS')).untagged[0]!, /FLAGS \(\\Flagged(?: \\Recent)?\)/)
    assert.deepEqual((await client.run('EXPUNGE')).untagged, ['* 1 EXPUNGE'])
    assert.equal((await appliance.get('/mailbox/messages', client.mailbox.key)).body.data[0].folder_ids.length, 1)
    await other.run('STORE 1 +FLAGS (\\Deleted)')
    await other.run('CLOSE')
    assert.equal((await appliance.get('/mailbox/messages', client.mailbox.key)).body.data.length, 0)
    other.close()
  })

  it('a second COPY into a folder that has the message makes another one', async () => {
    const client = await open(PLAIN)
    await client.run('COPY 1 Archive')
    assert.match((await client.run('COPY 1 Archive')).tagged, /^OK \[COPYUID \d+ 1 2\]/)
    assert.equal((await appliance.get('/mailbox/messages', client.mailbox.key)).body.data.length, 2)
  })

  it('a COPY that fails leaves nothing behind', async () => {
    const mailbox = await team.mailbox('small@acme.test', { quotaBytes: 10_485_760 })
    const client = await logInImap(appliance, mailbox)
    const large = `Subject: large\r\n\r\n${'y'.repeat(6_000_000)}`
    for (const text of [PLAIN, large])
      assert.equal((await client.run(`APPEND INBOX {${text.length}}`, text)).status, 'OK')
    await client.run('SELECT INBOX')
    assert.equal((await client.run('COPY 2 Archive')).status, 'OK')
    assert.match((await client.run('COPY 1:2 Archive')).tagged, /^NO \[OVERQUOTA\]/)
    assert.deepEqual((await client.run('STATUS Archive (MESSAGES)')).untagged, ['* STATUS Archive (MESSAGES 1)'])
  })

  it('COPY into the folder itself doubles its messages; what authentication said of them stays', async () => {
    const client = await open(PLAIN, MIXED)
    await client.run('STORE 1 +FLAGS (\\Flagged label \\Deleted)')
    const doubled = await client.run('COPY 1:2 INBOX')
    assert.match(doubled.tagged, /^OK \[COPYUID \d+ 1:2 3:4\]/)
    assert.deepEqual(doubled.untagged, ['* 4 EXISTS', '* 4 RECENT'])
    const [first, second] = (await client.run('FETCH 1:4 (FLAGS RFC822.SIZE INTERNALDATE BODY.PEEK[TEXT])')).untagged
      .map((line) => line.replace(/^\* \d+ /, ''))
      .reduce<string[][]>((halves, line, at) => (halves[at < 2 ? 0 : 1]!.push(line), halves), [[], []])
    const flagsOf = (line: string) =>
      /FLAGS \(([^)]*)\)/
        .exec(line)![1]!
        .split(' ')
        .filter((flag) => flag !== '\\Recent')
    assert.deepEqual(flagsOf(second![0]!).sort(), ['\\Flagged', 'label'])
    assert.deepEqual(
      second!.map((line) => line.replace(/FLAGS \([^)]*\)/, '')),
      first!.map((line) => line.replace(/FLAGS \([^)]*\)/, '')),
    )
    const { data } = (await appliance.get('/mailbox/messages', client.mailbox.key)).body
    const threads = new Set(data.map((one: { thread_id: string }) => one.thread_id))
    assert.deepEqual([data.length, threads.size], [4, 2])
    assert.deepEqual((await client.run('SEARCH BODY x')).untagged.length, 1)
  })

  it('a COPY ends with its connection, and nothing of it stays', async (t) => {
    const client = await open(...Array.from({ length: 60 }, (_, n) => `Subject: ${n}\r\n\r\n${n}`))
    const { inspector, store } = appliance.app
    const [copy, readAll] = [store.programs.copies.copy.bind(store.programs.copies), inspector.readAll.bind(inspector)]
    const ended = Promise.withResolvers<unknown>()
    let signal: AbortSignal | undefined
    t.mock.method(store.programs.copies, 'copy', (...given: Parameters<typeof copy>) => {
      signal = given[2].signal
      const copying = copy(...given)
      copying.then(ended.resolve, ended.resolve)
      return copying
    })
    let pieces = 0
    // The client goes while the second piece is read.
    t.mock.method(inspector, 'readAll', async (...given: Parameters<typeof readAll>) => {
      if (++pieces === 2) {
        const aborted = once(signal!, 'abort')
        client.close()
        await aborted
      }
      return readAll(...given)
    })
    client.write('gone COPY 1:* INBOX\r\n')
    assert.ok((await ended.promise) instanceof Error)
    assert.equal(pieces, 2)
    const other = await logInImap(appliance, client.mailbox)
    assert.deepEqual((await other.run('STATUS INBOX (MESSAGES)')).untagged, ['* STATUS INBOX (MESSAGES 60)'])
  })

  it('MOVE keeps the message; into Junk it is junk', async () => {
    const client = await open(PLAIN, MIXED)
    const before = (await appliance.get('/mailbox/messages?sort=received_at', client.mailbox.key)).body.data.map(
      (one: { id: string }) => one.id,
    )
    const moved = await client.run('MOVE 1:2 Junk')
    assert.match(moved.untagged[0]!, /^\* OK \[COPYUID \d+ 1:2 1:2\]/)
    assert.deepEqual(moved.untagged.slice(1), ['* 2 EXPUNGE', '* 1 EXPUNGE'])
    const after = (await appliance.get('/mailbox/messages?in_trash_or_junk=true&sort=received_at', client.mailbox.key))
      .body.data
    assert.deepEqual(new Set(after.map((one: { id: string }) => one.id)), new Set(before))
    assert.ok(after.every((one: { keywords: string[] }) => one.keywords.includes('$junk')))
    assert.match((await client.run('COPY 1 Archive')).tagged, /^BAD/)
    assert.match((await client.run('UID MOVE 1 Nowhere')).tagged, /^NO \[TRYCREATE\]/)
  })

  it('MOVE keeps \\Deleted with the other flags, also within a folder and onto a copy', async () => {
    const client = await open(PLAIN, MIXED)
    await client.run('COPY 1 Archive')
    await client.run('STORE 1:2 +FLAGS (\\Deleted \\Flagged)')
    await client.run('UID MOVE 1:2 INBOX')
    const here = (await client.run('FETCH 1:2 (UID FLAGS)')).untagged
    assert.deepEqual(
      here.map((line) => /UID (\d+)/.exec(line)![1]),
      ['3', '4'],
    )
    for (const line of here) assert.match(line, /\\Deleted/)
    const highest = async () =>
      Number(/HIGHESTMODSEQ (\d+)/.exec((await client.run('STATUS Archive (HIGHESTMODSEQ)')).untagged[0]!)![1])
    const before = await highest()
    await client.run('MOVE 1 Archive')
    await client.run('STORE 1 -FLAGS (\\Deleted)')
    await client.run('MOVE 1 Archive')
    assert.ok((await highest()) > before)
    await client.run('SELECT Archive')
    const [first, second] = (await client.run('FETCH 1:2 (FLAGS)')).untagged
    assert.match(first!, /\\Deleted/)
    assert.match(first!, /\\Flagged/)
    assert.doesNotMatch(second!, /\\Deleted/)
  })

  it('REPLACE is an APPEND and an EXPUNGE at once', async () => {
    const client = await open(PLAIN)
    const text = 'Subject: new\r\n\r\ntext'
    const replaced = await client.run(`REPLACE 1 INBOX (\\Draft) {${text.length}}`, text)
    assert.equal(replaced.status, 'OK')
    assert.match(replaced.untagged[0]!, /^\* OK \[APPENDUID \d+ 2\]/)
    assert.deepEqual(replaced.untagged.slice(1, 3), ['* 1 EXPUNGE', '* 1 EXISTS'])
    assert.match((await client.run('REPLACE 5 INBOX {3}')).tagged, /^BAD/)
    assert.match((await client.run('UID REPLACE 5 INBOX {3}')).tagged, /^NO \[NONEXISTENT\]/)
  })
})

describe('SEARCH', () => {
  it('finds by flags, sets, sizes, dates, header fields and text', async () => {
    const client = await open(MIXED, PLAIN)
    await client.run('STORE 2 FLAGS (\\Seen kw)')
    const found = async (keys: string) =>
      (await client.run(`SEARCH ${keys}`)).untagged.at(-1)!.replace(/^\* SEARCH ?/, '')
    const cases: [keys: string, numbers: string][] = [
      ['ALL', '1 2'],
      ['UNSEEN', '1'],
      ['KEYWORD kw', '2'],
      ['NOT KEYWORD kw', '1'],
      ['OR 1 UID 2', '1 2'],
      ['LARGER 300', '1'],
      ['FROM j@x', '1'],
      ['FROM {5+}\r\nJ\u00c3\u00b6rg', '1'],
      ['SUBJECT hello', '1'],
      ['TO b@c', '1'],
      ['HEADER X-Rare some', '1'],
      ['HEADER X-Rare ""', '1'],
      ['HEADER Message-ID 1@x', '1'],
      ['SENTON 1-Jan-2024', '1'],
      ['SENTON 2-Jan-2024', ''],
      ['SINCE 1-Jan-2020', '1 2'],
      ['BODY nothing', '2'],
      ['BODY second', ''],
      ['TEXT second', '2'],
      ['YOUNGER 3600', '1 2'],
      ['OLDER 3600', ''],
      ['MODSEQ 1', '1 2'],
      ['(UNSEEN FROM j) NOT DELETED', '1'],
      ['1000', ''],
    ]
    for (const [keys, numbers] of cases)
      assert.equal((await found(keys)).replace(/ \(MODSEQ \d+\)$/, ''), numbers, keys)
    const { tagged } = await client.run('SEARCH CHARSET koi8-r TEXT x')
    assert.match(tagged, /^NO \[BADCHARSET/)
  })

  it('RETURN names what is asked for; SAVE keeps it as $', async () => {
    const client = await open(PLAIN, MIXED, PLAIN)
    const extended = await client.run('SEARCH RETURN (MIN MAX COUNT ALL) SUBJECT second')
    assert.match(extended.untagged[0]!, /^\* ESEARCH \(TAG "t\d+"\) MIN 1 MAX 3 ALL 1,3 COUNT 2$/)
    assert.deepEqual((await client.run('SEARCH RETURN (SAVE) SUBJECT second')).untagged, [])
    assert.match((await client.run('UID SEARCH RETURN (COUNT) $')).untagged[0]!, /UID COUNT 2$/)
    await client.run('STORE $ +FLAGS (\\Deleted)')
    await client.run('EXPUNGE')
    assert.match((await client.run('SEARCH RETURN (COUNT) $')).untagged[0]!, /COUNT 0$/)
  })
})
