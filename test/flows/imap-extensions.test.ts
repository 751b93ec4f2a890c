// PARTIAL, UIDONLY, INPROGRESS and FUZZY over the appliance, alone and together with other extensions.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { type ImapClient, logInImap } from '../support/imap.ts'

let appliance: TestAppliance
let team: TestTeam
let boxes = 0

before(async () => {
  appliance = await startAppliance()
  team = await appliance.team()
  await team.domain('acme.test')
})
after(() => appliance.close())

/** A client of a new mailbox with INBOX selected: UIDs 11 to 10 + `count`, sequence numbers from 1 on. */
async function filled(count: number): Promise<ImapClient & { mailbox: { email: string; key: string } }> {
  const mailbox = await team.mailbox(`e${++boxes}@acme.test`)
  const client = Object.assign(await logInImap(appliance, mailbox), { mailbox })
  const texts = Array.from({ length: count + 10 }, (_, i) => `Subject: message ${i + 1}\r\n\r\nx`)
  await client.run(`APPEND INBOX ${texts.map((text) => `{${text.length}+}\r\n${text}`).join(' ')}`)
  await client.run('SELECT INBOX')
  await client.run('STORE 1:10 +FLAGS.SILENT (\\Deleted)')
  await client.run('EXPUNGE')
  return client
}

async function lines(client: ImapClient, text: string): Promise<string[]> {
  const { status, untagged, tagged } = await client.run(text)
  assert.equal(status, 'OK', `${text}: ${tagged}`)
  return untagged
}

/** The answer of a search without its tag. */
async function found(client: ImapClient, text: string): Promise<string> {
  return (await lines(client, text))[0]!.replace(/\(TAG "t\d+"\) /, '')
}

describe('PARTIAL', () => {
  it('of SEARCH and SORT counts from either end', async () => {
    const client = await filled(5)
    assert.equal(await found(client, 'SEARCH RETURN (PARTIAL 1:1) ALL'), '* ESEARCH PARTIAL (1:1 1)')
    assert.equal(await found(client, 'SEARCH RETURN (PARTIAL 4:2) ALL'), '* ESEARCH PARTIAL (2:4 2:4)')
    assert.equal(await found(client, 'SEARCH RETURN (PARTIAL 1:6) ALL'), '* ESEARCH PARTIAL (1:6 1:5)')
    assert.equal(await found(client, 'SEARCH RETURN (PARTIAL 6:6) ALL'), '* ESEARCH PARTIAL (6:6 NIL)')
    assert.equal(await found(client, 'SEARCH RETURN (PARTIAL 2:3) 1:2,4:5'), '* ESEARCH PARTIAL (2:3 2,4)')
    assert.equal(await found(client, 'UID SEARCH RETURN (PARTIAL -1:-2) ALL'), '* ESEARCH UID PARTIAL (-1:-2 14:15)')
    assert.equal(await found(client, 'UID SEARCH RETURN (PARTIAL -9:-5) ALL'), '* ESEARCH UID PARTIAL (-5:-9 11)')
    assert.equal(
      await found(client, 'UID SEARCH RETURN (COUNT PARTIAL 2:3) ALL'),
      '* ESEARCH UID COUNT 5 PARTIAL (2:3 12:13)',
    )
    assert.equal(
      await found(client, 'SORT RETURN (PARTIAL 2:4) (REVERSE ARRIVAL REVERSE SUBJECT) UTF-8 ALL'),
      '* ESEARCH PARTIAL (2:4 4,3,2)',
    )
    for (const bad of ['1', '1:*', '*:1', '0:1', '1:-1', '-1:1', '1:2 ALL', '1:2 PARTIAL 3:4'])
      assert.equal((await client.run(`SEARCH RETURN (PARTIAL ${bad}) ALL`)).status, 'BAD', bad)
  })

  it('saves what it names, with MIN and MAX, and everything with COUNT', async () => {
    const client = await filled(5)
    const saved = async (options: string) => {
      await lines(client, `UID SEARCH RETURN (SAVE ${options}) ALL`)
      return found(client, 'UID SEARCH RETURN (ALL) $')
    }
    assert.equal(await saved('PARTIAL 2:3'), '* ESEARCH UID ALL 12:13')
    assert.equal(await saved('PARTIAL 2:3 MAX'), '* ESEARCH UID ALL 12:13,15')
    assert.equal(await saved('PARTIAL 4:5 MIN'), '* ESEARCH UID ALL 11,14:15')
    assert.equal(await saved('PARTIAL 2:3 COUNT MIN'), '* ESEARCH UID ALL 11:15')
    assert.equal(await saved('PARTIAL 8:9'), '* ESEARCH UID')
  })

  it('of UID FETCH takes a part of the messages, or of those that changed', async () => {
    const client = await filled(6)
    const uids = async (text: string) => (await lines(client, text)).map((one) => Number(/UID (\d+)/.exec(one)?.[1]))
    assert.deepEqual(await uids('UID FETCH 12:16 FLAGS (PARTIAL 1:2)'), [12, 13])
    assert.deepEqual(await uids('UID FETCH 1:* FLAGS (PARTIAL -1:-3)'), [14, 15, 16])
    assert.deepEqual(await uids('UID FETCH 16,11,13 FLAGS (PARTIAL 2:9)'), [13, 16])
    assert.deepEqual(await uids('UID FETCH 1:* FLAGS (PARTIAL 7:9)'), [])
    assert.equal((await client.run('FETCH 1:* FLAGS (PARTIAL 1:2)')).status, 'BAD')
    const modSeq = /HIGHESTMODSEQ (\d+)/.exec((await lines(client, 'STATUS INBOX (HIGHESTMODSEQ)')).at(-1)!)![1]
    await lines(client, 'UID STORE 12,14,16 +FLAGS.SILENT (\\Seen)')
    assert.deepEqual(await uids(`UID FETCH 1:* FLAGS (CHANGEDSINCE ${modSeq} PARTIAL -1:-2)`), [14, 16])
    assert.deepEqual(await uids(`UID FETCH 1:15 FLAGS (PARTIAL 2:5 CHANGEDSINCE ${modSeq})`), [14])
  })
})

describe('UIDONLY', () => {
  it('refuses sequence numbers, and answers with UIDs alone', async () => {
    const client = await filled(4)
    assert.deepEqual(await lines(client, 'ENABLE UIDONLY IMAP4rev2'), ['* ENABLED UIDONLY IMAP4rev2'])
    const numbered = ['FETCH 1 FLAGS', 'STORE 1 +FLAGS (x)', 'SEARCH ALL', 'COPY 1 Archive', 'MOVE 1 Archive']
    const named = [
      'SORT (DATE) UTF-8 ALL',
      'THREAD REFERENCES UTF-8 ALL',
      'UID SEARCH 1:*',
      'UID SEARCH NOT (OR SEEN 2)',
    ]
    for (const text of [...numbered, ...named, 'UID SORT (DATE) UTF-8 1', 'REPLACE 1 INBOX {5+}\r\nhello'])
      assert.match((await client.run(text)).tagged, /^BAD \[UIDREQUIRED\]/, text)
    assert.deepEqual(await lines(client, 'UID FETCH 12:13 (FLAGS)'), [
      '* 12 UIDFETCH (FLAGS ())',
      '* 13 UIDFETCH (FLAGS ())',
    ])
    assert.deepEqual(await lines(client, 'UID FETCH 14 (UID RFC822.SIZE)'), ['* 14 UIDFETCH (UID 14 RFC822.SIZE 24)'])
    assert.deepEqual(await lines(client, 'UID STORE 12 +FLAGS (\\Seen)'), ['* 12 UIDFETCH (FLAGS (\\Seen))'])
    assert.match((await lines(client, 'UID SEARCH RETURN (ALL) UNSEEN'))[0]!, / UID ALL 11,13:14$/)
    assert.match((await client.run('UID COPY 11 Archive')).tagged, /^OK \[COPYUID \d+ 11 1\]/)
    assert.match((await client.run('UID SEARCH RETURN (SAVE) UID 11')).tagged, /^OK/)
    assert.deepEqual(await lines(client, 'UID FETCH $ (FLAGS)'), ['* 11 UIDFETCH (FLAGS ())'])
  })

  it('hears of other sessions by UID; with CONDSTORE and QRESYNC', async () => {
    const client = await filled(4)
    const other = await logInImap(appliance, client.mailbox)
    await lines(other, 'SELECT INBOX')
    await lines(client, 'ENABLE UIDONLY')
    const selected = await lines(client, 'SELECT INBOX')
    assert.ok(selected.includes('* 4 EXISTS') && !selected.some((one) => one.includes('[UNSEEN')), selected.join('\n'))
    await lines(other, 'UID STORE 13 +FLAGS.SILENT (\\Answered)')
    assert.deepEqual(await lines(client, 'NOOP'), ['* 13 UIDFETCH (FLAGS (\\Answered))'])
    await lines(other, 'UID STORE 11 +FLAGS.SILENT (\\Deleted)')
    await lines(other, 'EXPUNGE')
    assert.deepEqual(await lines(client, 'NOOP'), ['* VANISHED 11'])
    await lines(client, 'UID STORE 12 +FLAGS.SILENT (\\Deleted)')
    assert.deepEqual(await lines(client, 'EXPUNGE'), ['* VANISHED 12'])
    await lines(client, 'ENABLE QRESYNC')
    const [silent] = await lines(client, 'UID STORE 14 +FLAGS.SILENT (x)')
    assert.match(silent!, /^\* 14 UIDFETCH \(MODSEQ \(\d+\)\)$/)
    assert.match((await client.run('SELECT INBOX (QRESYNC (1 1 1:20 (1 11)))')).tagged, /^BAD \[UIDREQUIRED\]/)
    const validity = /UIDVALIDITY (\d+)/.exec((await lines(client, 'STATUS INBOX (UIDVALIDITY)'))[0]!)![1]
    const changed = await lines(client, `SELECT INBOX (QRESYNC (${validity} 1))`)
    assert.ok(
      changed.some((one) => /^\* 14 UIDFETCH \(FLAGS \(x\) MODSEQ \(\d+\)\)$/.test(one)),
      changed.join('\n'),
    )
  })
})

describe('a command that is not allowed in its state', () => {
  it('is read to its end, with the message behind it', async () => {
    const client = await logInImap(appliance, await team.mailbox(`e${++boxes}@acme.test`))
    assert.match((await client.run('REPLACE 1 INBOX {5+}\r\nx:y\r\n')).tagged, /^BAD Select/)
    assert.deepEqual(await lines(client, 'NOOP'), [])
  })
})

describe('FUZZY', () => {
  const MESSAGES = [
    'From: a@x.test\r\nSubject: other\r\n\r\nsome green tea here',
    'From: Green Tea Ltd <b@x.test>\r\nSubject: offer\r\n\r\ngreen tea again',
    'From: c@x.test\r\nSubject: green tea\r\n\r\nnothing',
    'From: d@x.test\r\nSubject: Th\u00e9 (tea), green\r\n\r\nnothing',
  ]
  let client: ImapClient

  before(async () => {
    client = await logInImap(appliance, await team.mailbox('fuzzy@acme.test'))
    const texts = MESSAGES.map((text) => Buffer.from(text).toString('latin1'))
    await lines(client, `APPEND INBOX ${texts.map((text) => `{${text.length}+}\r\n${text}`).join(' ')}`)
    await lines(client, 'SELECT INBOX')
  })

  it('compares words in any order where SEARCH compares substrings', async () => {
    assert.equal(await found(client, 'SEARCH SUBJECT "green tea"'), '* SEARCH 3')
    assert.equal(await found(client, 'SEARCH FUZZY SUBJECT "green tea"'), '* SEARCH 3 4')
    assert.equal(await found(client, 'SEARCH FUZZY (SUBJECT "the gre" NOT FROM "ltd")'), '* SEARCH 4')
    assert.equal(await found(client, 'SEARCH FUZZY FROM "tea gre"'), '* SEARCH 2')
    assert.equal(await found(client, 'SEARCH FUZZY BODY "green te"'), '* SEARCH 1 2')
    assert.equal(
      await found(client, 'SEARCH FUZZY SINCE 1-Jan-2000 FUZZY OR SUBJECT "off" HEADER Subject "oth"'),
      '* SEARCH 1 2',
    )
  })

  it('RELEVANCY has a score for each message that is returned, and sorts', async () => {
    const text = 'FUZZY TEXT "green tea"'
    assert.equal(
      await found(client, `SEARCH RETURN (RELEVANCY ALL) ${text}`),
      '* ESEARCH ALL 1:3 RELEVANCY (50 75 100)',
    )
    assert.equal(
      await found(client, `UID SEARCH RETURN (RELEVANCY PARTIAL -1:-2) ${text}`),
      '* ESEARCH UID PARTIAL (-1:-2 2:3) RELEVANCY (75 100)',
    )
    assert.equal(
      await found(client, `SEARCH RETURN (RELEVANCY COUNT) FUZZY TEXT "nowhere"`),
      '* ESEARCH COUNT 0 RELEVANCY ()',
    )
    assert.equal(await found(client, `SORT (RELEVANCY) UTF-8 ${text}`), '* SORT 3 2 1')
    assert.equal(
      await found(client, `SORT RETURN (PARTIAL 1:2 RELEVANCY) (RELEVANCY) UTF-8 ${text}`),
      '* ESEARCH PARTIAL (1:2 3,2) RELEVANCY (100 75)',
    )
    for (const bad of ['SEARCH RETURN (RELEVANCY) TEXT "tea"', 'SORT (RELEVANCY) UTF-8 ALL'])
      assert.equal((await client.run(bad)).status, 'BAD', bad)
  })
})
