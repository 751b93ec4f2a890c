// Searches of more messages than the first thread looks at itself run in the search thread: they find the same.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, it } from 'node:test'
import { HERE_MESSAGES } from '../../src/imap/untagged/run.ts'
import { amount } from '../support/amount.ts'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { type ImapClient, logInImap } from '../support/imap.ts'
import { fillInbox } from '../support/large-folder.ts'
import { Random } from '../support/random.ts'

const COUNT = 2 * HERE_MESSAGES + 100

let appliance: TestAppliance
let client: ImapClient
let mailbox: { id: string; email: string; key: string }

before(async () => {
  appliance = await startAppliance()
  const team = await appliance.team()
  await team.domain('bench.test')
  mailbox = await team.mailbox('box@bench.test')
  await fillInbox(appliance.app, mailbox.id, COUNT)
  client = await logInImap(appliance, mailbox)
  await client.run('SELECT INBOX')
})
after(() => appliance.close())

/** The numbers of an untagged answer. */
async function numbers(command: string): Promise<number[]> {
  const { untagged, tagged } = await client.run(command)
  assert.match(tagged, /^OK/, command)
  const found = untagged.find((one) => /^\* (SEARCH|SORT)/.test(one))!
  return found.split(' ').slice(2).filter(Boolean).map(Number)
}

/** Sets of few enough messages for the first thread. */
const PARTS = Array.from({ length: Math.ceil(COUNT / HERE_MESSAGES) }, (_, part) => {
  return `${part * HERE_MESSAGES + 1}:${Math.min((part + 1) * HERE_MESSAGES, COUNT)}`
})

const SEARCHES = [
  ...['ALL', 'UNSEEN', 'SUBJECT "s1"', 'FROM "Person 1"', 'SENTSINCE 10-Jan-2024', 'NOT SUBJECT copper', 'RECENT'],
  ...['OR SUBJECT s17 SINCE 20-Jan-2024', 'HEADER Message-ID "<1"', 'BODY lantern', 'BODY absent', 'HEADER X-Rare ""'],
  ...['OR BODY lantern SUBJECT copper', 'KEYWORD x', 'UID 1:100,500:600', 'LARGER 10 NOT 7:9'],
  // These need the entries alone.
  ...['UNDELETED UNSEEN', 'NOT (SEEN OR SMALLER 10 FLAGGED)', 'OR 5 SEEN', '1:50 UID 20:* LARGER 1', 'SMALLER 1'],
  ...['ON 10-Jan-2024', 'BEFORE 10-Jan-2024 NOT BEFORE 5-Jan-2024', 'SAVEDSINCE 1-Jan-2024', 'OLDER 60', 'YOUNGER 60'],
]

it('every kind of key finds what it finds part by part on the first thread', async () => {
  for (const key of SEARCHES) {
    const parts: number[] = []
    for (const part of PARTS) parts.push(...(await numbers(`SEARCH ${part} ${key}`)))
    assert.deepEqual(await numbers(`SEARCH ${key}`), parts, key)
  }
})

it('FUZZY takes the words of the index', async () => {
  const found = await numbers('SEARCH FUZZY BODY w41')
  assert.deepEqual(
    found,
    [42, ...Array.from({ length: 10 }, (_, i) => 411 + i)].filter((n) => n <= COUNT),
  )
})

it('SORT orders all messages, by sequence numbers and by UIDs', async () => {
  const all = await numbers('SORT (ARRIVAL) UTF-8 ALL')
  assert.deepEqual(
    all,
    Array.from({ length: COUNT }, (_, i) => i + 1),
  )
  const uids = await numbers('UID SEARCH ALL')
  assert.deepEqual(await numbers('UID SORT (REVERSE DATE) UTF-8 ALL'), uids.toReversed())
  const { untagged } = await client.run('SORT RETURN (MIN MAX COUNT ALL) (REVERSE DATE) UTF-8 ALL')
  assert.match(untagged[0]!, new RegExp(`MIN ${COUNT} MAX 1 ALL ${COUNT},${COUNT - 1},.*,2,1 COUNT ${COUNT}$`))
})

/** Headers that are unusual in what SORT, THREAD and SEARCH read of them. */
const UNUSUAL = [
  ['Subject: one', 'Subject: two copper', 'From: "a b"@x.test', 'Message-ID: <1@bench.test>'],
  ['Subject: =?utf-8?q?=C3=84pfel?= copper', 'From: group: z@x.test;', 'Date: nonsense', 'In-Reply-To: <7@bench.test>'],
  [
    `Subject: Re: ${'copper '.repeat(3000)}`,
    'To: q@x.test',
    'References: <7@bench.test> <8@bench.test> <7@bench.test>',
  ],
  [`References: ${'<9@bench.test> '.repeat(2000)}`, 'Subject: COPPER', 'Cc: a@x.test, b@x.test'],
  ['X-Other: no subject at all'],
]
const KEYED = [
  ...['REFERENCES', 'ORDEREDSUBJECT'].flatMap((algorithm) => [
    `UID THREAD ${algorithm} UTF-8 ALL`,
    `THREAD ${algorithm} UTF-8 NOT SUBJECT lantern`,
  ]),
  ...[
    'SUBJECT copper',
    'NOT SUBJECT copper',
    'HEADER SUBJECT "RE:"',
    'SUBJECT "two copper"',
    'OR SUBJECT pfel UNSEEN',
  ].map((key) => `UID SEARCH ${key}`),
  ...['SUBJECT ""', 'HEADER SUBJECT ""', 'FUZZY SUBJECT copp', '1:300 SUBJECT copper'].map((key) => `SEARCH ${key}`),
]

it('the keys that are kept of headers answer what the headers do', async () => {
  const other = await logInImap(appliance, mailbox)
  const answer = async (command: string) => {
    const { untagged, status } = await other.run(command)
    assert.equal(status, 'OK', command)
    return untagged.find((line) => /^\* (SORT|SEARCH|THREAD)/.test(line))!.replace(/ \(MODSEQ \d+\)$/, '')
  }
  await other.run('CREATE Keys')
  await other.run('SELECT INBOX')
  await other.run('COPY 1:* Keys')
  for (const lines of UNUSUAL) {
    const text = `${lines.join('\r\n')}\r\n\r\nx`
    await other.run(`APPEND Keys {${text.length}}`, text)
  }
  await other.run('SELECT Keys')
  const sortsAgree = async (direction: string) => {
    for (const key of ['SUBJECT', 'FROM', 'TO', 'CC', 'DATE', 'SIZE']) {
      // MODSEQ needs the numbers of all messages: their headers are read.
      const byHeaders = await answer(`UID SORT (${direction}${key}) UTF-8 MODSEQ 1`)
      assert.equal(await answer(`UID SORT (${direction}${key}) UTF-8 ALL`), byHeaders, `${direction}${key}`)
    }
  }
  await sortsAgree('')
  const byKeys = new Map<string, string>()
  for (const command of KEYED) byKeys.set(command, await answer(command))
  // The threads of these messages are kept in place of the others.
  for (const algorithm of ['REFERENCES', 'ORDEREDSUBJECT']) await answer(`UID THREAD ${algorithm} UTF-8 1:2`)
  // As messages of earlier versions are whose fields are not all kept.
  const withoutKeys = (condition: string) =>
    appliance.app.db.write((tx) =>
      tx.run(`UPDATE message_headers SET subject_key = NULL, subject_text = NULL WHERE ${condition}`),
    )
  assert.ok((await withoutKeys('message % 3 = 0')).changes > COUNT / 4)
  for (const [command, line] of byKeys) assert.equal(await answer(command), line, command)
  await sortsAgree('REVERSE ')
  other.close()
})

it('ESEARCH writes the ranges of all pieces, SAVE keeps them', async () => {
  const { untagged } = await client.run('SEARCH RETURN (ALL SAVE) NOT 5')
  assert.match(untagged[0]!, new RegExp(`ALL 1:4,6:${COUNT}$`))
  assert.equal((await numbers('SEARCH $')).length, COUNT - 1)
})

it('THREAD names every message once, in sequence numbers and in UIDs', async () => {
  for (const [command, expected] of [
    ['THREAD', await numbers('SEARCH ALL')],
    ['UID THREAD', await numbers('UID SEARCH ALL')],
  ] as const) {
    for (const algorithm of ['REFERENCES', 'ORDEREDSUBJECT']) {
      const { untagged } = await client.run(`${command} ${algorithm} UTF-8 ALL`)
      const named = untagged[0]!.match(/\d+/g)!.map(Number)
      assert.deepEqual(
        named.toSorted((a, b) => a - b),
        expected,
      )
    }
  }
})

it('what another session expunged or received meanwhile is not found', async () => {
  const other = await logInImap(appliance, mailbox)
  await other.run('SELECT INBOX')
  await other.run('STORE 3 +FLAGS (\\Deleted)')
  assert.match((await other.run('EXPUNGE')).tagged, /^OK/)
  const text = 'Subject: new\r\n\r\nx'
  await other.run(`APPEND INBOX {${text.length}}`, text)
  const found = await numbers('SEARCH ALL')
  assert.deepEqual([found.length, found.includes(3), found.at(-1)], [COUNT - 1, false, COUNT])
  await client.run('NOOP')
  assert.deepEqual((await numbers('SEARCH SUBJECT new')).at(-1), COUNT)
  other.close()
})

it('commands stay in order, several sessions search at once, and a search ends with its session', async () => {
  const others = await Promise.all([1, 2, 3].map(() => logInImap(appliance, mailbox)))
  for (const one of others)
    one.write('a SELECT INBOX\r\nb SEARCH SUBJECT s\r\nc SEARCH SUBJECT absent\r\nd SORT (SUBJECT) UTF-8 ALL\r\n')
  const [gone, ...rest] = others
  gone!.close()
  for (const one of rest) {
    const seen: string[] = []
    for (let line = await one.response(); !line!.startsWith('d '); line = await one.response()) seen.push(line!)
    const order = seen.filter((line) => /^[a-d] |\* (SEARCH|SORT)/.test(line)).map((line) => line.slice(0, 8))
    assert.deepEqual(
      order.map((line) => line.slice(0, 4)),
      ['a OK', '* SE', 'b OK', '* SE', 'c OK', '* SO'],
    )
    one.write('e LOGOUT\r\n')
    await once(one.socket, 'close')
  }
})

it('damaged content is a warning, in the search thread as on the first thread', async () => {
  const damaged = await appliance.app.blobsDb.write((tx) => tx.run('UPDATE chunks SET start = start + 1'))
  assert.ok(damaged.changes > 0)
  const large = await client.run('SEARCH BODY absent')
  const small = await client.run('SEARCH 1:5 BODY absent')
  await appliance.app.blobsDb.write((tx) => tx.run('UPDATE chunks SET start = start - 1'))
  for (const reply of [large, small]) {
    assert.equal(reply.status, 'OK')
    assert.match(reply.untagged[0]!, /^\* NO \[CORRUPTION\] The content of messages is damaged: UID 1:/)
    assert.equal(reply.untagged.at(-1), '* SEARCH')
  }
})

it('the order that is kept for the next SORT is the one of all messages, also with new ones and without those that left', async () => {
  const other = await logInImap(appliance, mailbox)
  await other.run('SELECT INBOX')
  const criteria = ['SUBJECT', 'FROM', 'REVERSE FROM DATE', 'ARRIVAL', 'DISPLAYTO SIZE', 'CC']
  const agree = async (key: string) => {
    for (const one of criteria) {
      // MODSEQ needs the numbers of all messages: nothing is kept for it.
      const whole = (await client.run(`UID SORT (${one}) UTF-8 MODSEQ 1 ${key}`)).untagged.find((line) =>
        line.startsWith('* SORT'),
      )!
      const expected = whole
        .replace(/ \(MODSEQ \d+\)$/, '')
        .split(' ')
        .slice(2)
        .map(Number)
      assert.ok(expected.length > 0)
      assert.deepEqual(await numbers(`UID SORT (${one}) UTF-8 ${key}`), expected, `${one} ${key}`)
    }
  }
  await agree('ALL')
  await agree('UNSEEN')
  await agree('SUBJECT copper')
  for (const subject of ['A first one', 'copper', 'zebra']) {
    const text = `From: ${subject}@x.test\r\nSubject: ${subject}\r\n\r\nx`
    await other.run(`APPEND INBOX {${text.length}}`, text)
  }
  await client.run('NOOP')
  await agree('ALL')
  await other.run('STORE 10:20 +FLAGS (\\Deleted)')
  await other.run('EXPUNGE')
  await agree('UID 1:300')
  await client.run('NOOP')
  await agree('ALL')
  const random = new Random(5)
  for (let step = 0; step < amount(12, 100); step++) {
    const text = `Subject: ${random.pick(['Re: ', ''])}s${random.below(99)}\r\n\r\nx`
    const first = 1 + random.below(HERE_MESSAGES)
    const changes = async () => {
      if (random.chance(0.5)) return other.run(`APPEND INBOX {${text.length}}`, text)
      await other.run(`STORE ${first}:${first + random.below(4)} ${random.pick(['+', '-'])}FLAGS (\\Deleted \\Seen)`)
      return random.chance(0.5) ? other.run('EXPUNGE') : undefined
    }
    await Promise.all([changes(), client.run(`UID SORT (${random.pick(criteria)}) UTF-8 ALL`)])
    await client.run('NOOP')
    await agree(random.pick(['ALL', 'UNSEEN', 'SUBJECT s1', 'NOT SUBJECT s']))
    const { untagged } = await client.run('UID THREAD REFERENCES UTF-8 ALL')
    const named = untagged[0]!.match(/\d+/g)!.map(Number)
    assert.deepEqual(
      named.toSorted((a, b) => a - b),
      await numbers('UID SEARCH ALL'),
    )
  }
  other.close()
})
