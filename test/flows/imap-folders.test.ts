// IMAP and folders: creation, renaming, subscriptions, annotations, and their bounds.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ANNOTATION_BYTES, ANNOTATIONS_MAX } from '../../src/store/rows/annotations.ts'
import { SUBSCRIBED_NAMES_MAX } from '../../src/store/rows/folders-names.ts'
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

async function open(): Promise<ImapClient> {
  return logInImap(appliance, await team.mailbox(`f${++boxes}@acme.test`))
}

async function untagged(client: ImapClient, text: string): Promise<string[]> {
  const { status, untagged: lines, tagged } = await client.run(text)
  assert.equal(status, 'OK', tagged)
  return lines
}

describe('names that are normalised', () => {
  it('IMAP4rev2 names the form in which a mailbox has the name of CREATE, SELECT and RENAME', async () => {
    const client = await open()
    const [written, normal] = ['Cafe\u0301', 'Caf\u00e9'].map((name) => Buffer.from(name).toString('latin1'))
    assert.deepEqual(await untagged(client, 'CREATE inbox/x'), [])
    await untagged(client, 'ENABLE IMAP4rev2')
    assert.deepEqual(await untagged(client, `CREATE "${written}"`), [
      `* LIST (\\HasNoChildren) "/" "${normal}" ("OLDNAME" ("${written}"))`,
    ])
    assert.deepEqual(await untagged(client, 'CREATE inbox/y/'), [
      '* LIST (\\HasNoChildren) "/" INBOX/y ("OLDNAME" (inbox/y))',
    ])
    for (const name of ['plain', 'parent/']) assert.deepEqual(await untagged(client, `CREATE ${name}`), [])
    const list = (lines: string[]) => lines.filter((line) => line.startsWith('* LIST'))
    assert.deepEqual(list(await untagged(client, `SELECT "${written}"`)), [
      `* LIST () "/" "${normal}" ("OLDNAME" ("${written}"))`,
    ])
    for (const name of ['INBOX', 'inbox'])
      assert.deepEqual(list(await untagged(client, `SELECT ${name}`)), ['* LIST () "/" INBOX'])
    assert.deepEqual(await untagged(client, `RENAME plain "${written}2"`), [
      `* LIST (\\HasNoChildren) "/" "${normal}2" ("OLDNAME" ("${written}2"))`,
    ])
  })
})

describe('RENAME', () => {
  it('a name with very many levels costs no more than it has bytes', async () => {
    const client = await open()
    await untagged(client, 'CREATE flat')
    const name = `${'a/'.repeat(20_000)}b`
    const start = process.cpuUsage()
    assert.match((await client.run(`RENAME flat {${name.length}}`, name)).tagged, /^NO \[CANNOT\]/)
    assert.match((await client.run(`CREATE {${name.length}}`, name)).tagged, /^NO \[CANNOT\]/)
    assert.ok(process.cpuUsage(start).user < 1_000_000)
  })

  it('creates missing parents, and none when it fails', async () => {
    const client = await open()
    await untagged(client, 'CREATE a')
    await untagged(client, 'RENAME a x/y/z')
    assert.deepEqual((await untagged(client, 'LIST "" x*')).sort(), [
      '* LIST (\\HasChildren) "/" x',
      '* LIST (\\HasChildren) "/" x/y',
      '* LIST (\\HasNoChildren) "/" x/y/z',
    ])
    assert.match((await client.run('RENAME x/y/z new/parent/.')).tagged, /^NO \[CANNOT\]/)
    assert.deepEqual(await untagged(client, 'LIST "" new*'), [])
  })
})

describe('SUBSCRIBE', () => {
  it('to a name without a folder holds for the folder that is created later', async () => {
    const client = await open()
    await untagged(client, 'SUBSCRIBE later')
    assert.deepEqual(await untagged(client, 'LIST (SUBSCRIBED) "" later'), [
      '* LIST (\\NonExistent \\Subscribed) "/" later',
    ])
    await untagged(client, 'CREATE later')
    await untagged(client, 'CREATE other')
    assert.deepEqual(await untagged(client, 'LIST "" (later other) RETURN (SUBSCRIBED)'), [
      '* LIST (\\Subscribed) "/" later',
      '* LIST () "/" other',
    ])
    await untagged(client, 'DELETE later')
    assert.deepEqual(await untagged(client, 'LIST (SUBSCRIBED) "" later'), [
      '* LIST (\\NonExistent \\Subscribed) "/" later',
    ])
    await untagged(client, 'UNSUBSCRIBE later')
    assert.deepEqual(await untagged(client, 'LIST (SUBSCRIBED) "" later'), [])
  })

  it('takes a bounded number of names of bounded length', async () => {
    const client = await open()
    let text = ''
    for (let n = 1; n <= SUBSCRIBED_NAMES_MAX; n++) text += `s${n} SUBSCRIBE n${n}\r\n`
    client.write(text)
    for (let n = 1; n <= SUBSCRIBED_NAMES_MAX; n++) assert.equal((await client.until(`s${n}`)).status, 'OK')
    assert.match((await client.run('SUBSCRIBE more')).tagged, /^NO \[LIMIT\]/)
    assert.equal((await client.run('SUBSCRIBE n7')).status, 'OK')
    for (const impossible of ['x'.repeat(256), 'a/b/c/d/e/f/g/h/i/j/k', 'a//b', 'a/.'])
      assert.match((await client.run(`SUBSCRIBE ${impossible}`)).tagged, /^NO \[CANNOT\]/, impossible)
  })
})

describe('METADATA', () => {
  const METADATA = '* METADATA INBOX'

  it('keeps entries of the server and of mailboxes; NIL removes them', async () => {
    const client = await open()
    const comment = 'My new comment across\r\ntwo lines.'
    const set = await client.run(`SETMETADATA INBOX (/private/comment {${comment.length}}`, `${comment})`)
    assert.match(set.tagged, /^OK/)
    assert.deepEqual(await untagged(client, 'GETMETADATA "INBOX" /PRIVATE/Comment'), [
      `${METADATA} (/private/comment {${comment.length}}\r\n${comment})`,
    ])
    await untagged(client, 'SETMETADATA "" (/private/comment "of the server" /private/vendor/x/y "1")')
    assert.deepEqual(await untagged(client, 'GETMETADATA "" (/private/comment /shared/comment)'), [
      '* METADATA "" (/private/comment "of the server" /shared/comment NIL)',
    ])
    await untagged(client, 'SETMETADATA INBOX (/private/comment NIL /shared/comment "Its sole use is to test.")')
    assert.deepEqual(await untagged(client, 'GETMETADATA INBOX (/private/comment /shared/comment)'), [
      `${METADATA} (/private/comment NIL /shared/comment "Its sole use is to test.")`,
    ])
    await untagged(client, 'SETMETADATA INBOX (/private/x ~{3+}\r\na\0b)')
    assert.deepEqual(await untagged(client, 'GETMETADATA INBOX /private/x'), [`${METADATA} (/private/x ~{3}\r\na\0b)`])
  })

  it('DEPTH names what is below, MAXSIZE leaves out what is larger', async () => {
    const client = await open()
    await untagged(client, 'SETMETADATA INBOX (/private/a "1" /private/a/b "22" /private/a/b/c "333" /private/ab "4")')
    const got = async (text: string) => (await untagged(client, `GETMETADATA ${text}`))[0]
    assert.equal(await got('(DEPTH 0) INBOX /private/a'), `${METADATA} (/private/a "1")`)
    assert.equal(await got('(DEPTH 1) INBOX (/private/a)'), `${METADATA} (/private/a "1" /private/a/b "22")`)
    assert.equal(
      await got('(DEPTH infinity) INBOX /private/a'),
      `${METADATA} (/private/a "1" /private/a/b "22" /private/a/b/c "333")`,
    )
    assert.equal(await got('(DEPTH infinity) INBOX /shared'), undefined)
    // The form of the examples of RFC 5464, with the options behind the name.
    const limited = await client.run('GETMETADATA "INBOX" (MAXSIZE 1 DEPTH infinity) (/private/a)')
    assert.deepEqual(limited.untagged, [`${METADATA} (/private/a "1")`])
    assert.match(limited.tagged, /^OK \[METADATA LONGENTRIES 3\]/)
    for (const bad of ['(DEPTH 2) INBOX /private/a', '(DEPTH 0 DEPTH 0) INBOX /private/a', '(FOO) INBOX /private/a'])
      assert.equal((await client.run(`GETMETADATA ${bad}`)).status, 'BAD', bad)
    assert.match((await client.run('GETMETADATA nowhere /private/a')).tagged, /^NO \[NONEXISTENT\]/)
  })

  it('has a bound for values and entries; names are checked', async () => {
    const client = await open()
    const value = 'x'.repeat(ANNOTATION_BYTES)
    await untagged(client, `SETMETADATA INBOX (/private/full "${value}")`)
    assert.match(
      (await client.run(`SETMETADATA INBOX (/private/full "${value}x")`)).tagged,
      /^NO \[METADATA MAXSIZE 1024\]/,
    )
    const entries = Array.from({ length: ANNOTATIONS_MAX }, (_, n) => `/private/n${n} "x"`).join(' ')
    assert.match((await client.run(`SETMETADATA INBOX (${entries})`)).tagged, /^NO \[METADATA TOOMANY\]/)
    assert.deepEqual(await untagged(client, 'GETMETADATA INBOX /private/n0'), [`${METADATA} (/private/n0 NIL)`])
    await untagged(client, `SETMETADATA INBOX (/private/full NIL ${entries})`)
    for (const bad of ['/private/a*', '/private/a%', '/private/', '/private//a', 'private/a', '"/private/\u00e9"'])
      assert.equal((await client.run(`SETMETADATA INBOX (${bad} "x")`)).status, 'BAD', bad)
    for (const no of ['/other/a', '/private', '/private/vendor/x', '/private/specialuse'])
      assert.match((await client.run(`SETMETADATA Sent (${no} "x")`)).tagged, /^NO \[CANNOT\]/, no)
    assert.match((await client.run('SETMETADATA "" (/shared/admin "x")')).tagged, /^NO \[NOPERM\]/)
  })

  it('stays with a folder that is renamed, is copied with INBOX, and goes with a folder that is deleted', async () => {
    const client = await open()
    await untagged(client, 'CREATE a')
    await untagged(client, 'SETMETADATA a (/private/comment "kept")')
    await untagged(client, 'RENAME a b')
    assert.deepEqual(await untagged(client, 'GETMETADATA b /private/comment'), [
      '* METADATA b (/private/comment "kept")',
    ])
    await untagged(client, 'DELETE b')
    await untagged(client, 'CREATE b')
    assert.deepEqual(await untagged(client, 'GETMETADATA b /private/comment'), ['* METADATA b (/private/comment NIL)'])
    await untagged(client, 'SETMETADATA INBOX (/private/comment "both")')
    await untagged(client, 'RENAME INBOX old')
    assert.deepEqual(await untagged(client, 'GETMETADATA old /private/comment'), [
      '* METADATA old (/private/comment "both")',
    ])
    assert.deepEqual(await untagged(client, 'GETMETADATA INBOX /private/comment'), [
      `${METADATA} (/private/comment "both")`,
    ])
  })

  it('comes with LIST, and shows the use of a folder', async () => {
    const client = await open()
    await untagged(client, 'CREATE foo')
    await untagged(client, 'SUBSCRIBE gone')
    await untagged(client, 'SETMETADATA foo (/shared/vendor/cmu/color "#b71c1c")')
    const list = 'LIST (SUBSCRIBED) "" (Sent gone) RETURN (METADATA (/shared/vendor/cmu/color /private/specialuse))'
    await untagged(client, 'SUBSCRIBE Sent')
    assert.deepEqual((await untagged(client, list)).toSorted(), [
      '* LIST (\\NonExistent \\Subscribed) "/" gone',
      '* LIST (\\Subscribed \\Sent) "/" Sent',
      '* METADATA Sent (/shared/vendor/cmu/color NIL /private/specialuse "\\\\Sent")',
    ])
    assert.deepEqual(
      await untagged(client, 'LIST "" foo RETURN (METADATA ("/shared/vendor/cmu/color") STATUS (MESSAGES))'),
      ['* LIST () "/" foo', '* STATUS foo (MESSAGES 0)', '* METADATA foo (/shared/vendor/cmu/color "#b71c1c")'],
    )
    assert.deepEqual(await untagged(client, 'GETMETADATA (DEPTH infinity) Drafts /private'), [
      '* METADATA Drafts (/private/specialuse "\\\\Drafts")',
    ])
  })
})
