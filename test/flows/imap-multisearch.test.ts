// ESEARCH over several mailboxes (RFC 7377): which are searched, in which states, and what the answers name.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { type ImapClient, logInImap } from '../support/imap.ts'

let appliance: TestAppliance
let client: ImapClient
let mailbox: { email: string; key: string }

const FOLDERS = ['folder1', 'folder2', 'folder2/salmon', 'folder2/salmon/smoked', 'folder3', 'Grüße']

before(async () => {
  appliance = await startAppliance()
  const team = await appliance.team()
  await team.domain('acme.test')
  mailbox = await team.mailbox('ada@acme.test')
  client = await logInImap(appliance, mailbox)
  await client.run('ENABLE UTF8=ACCEPT')
  for (const folder of FOLDERS) {
    const name = Buffer.from(folder).toString('latin1')
    assert.equal((await client.run(`CREATE "${name}"`)).status, 'OK')
    for (const [subject, flag] of [
      ['chad', ''],
      ['other', '\\Seen'],
      ['chad again', ''],
    ]) {
      const text = `Subject: ${subject}\r\n\r\n${folder === 'folder3' ? 'rare' : 'x'}`
      assert.equal((await client.run(`APPEND "${name}" (${flag}) {${Buffer.byteLength(text)}}`, text)).status, 'OK')
    }
  }
  await client.run('SUBSCRIBE folder3')
})
after(() => appliance.close())

/** The results, as mailbox and what was found. */
async function found(session: ImapClient, text: string): Promise<string[]> {
  session.write(`tag1 ESEARCH ${text}\r\n`)
  const { tagged, untagged } = await session.until('tag1')
  assert.match(tagged, /^OK/, `${text}: ${tagged}`)
  return untagged
    .filter((one) => one.startsWith('* ESEARCH'))
    .map((one) => {
      const [, name, result] =
        /^\* ESEARCH \(TAG "tag1" MAILBOX ("?[^"]+"?) UIDVALIDITY [1-9]\d*\) UID (.*)$/.exec(one) ?? []
      return `${Buffer.from(name ?? one, 'latin1')} ${result}`
    })
}

it('the examples of RFC 7377 §2.1: mailboxes and subtrees without a selected mailbox', async () => {
  const session = await logInImap(appliance, mailbox)
  assert.deepEqual((await found(session, 'IN (mailboxes "folder1" subtree "folder2") unseen')).sort(), [
    ...['folder1 ALL 1,3', 'folder2 ALL 1,3', 'folder2/salmon ALL 1,3', 'folder2/salmon/smoked ALL 1,3'],
  ])
  assert.deepEqual((await found(session, 'IN (mailboxes "folder1" subtree-one "folder2") subject "chad"')).sort(), [
    ...['folder1 ALL 1,3', 'folder2 ALL 1,3', 'folder2/salmon ALL 1,3'],
  ])
  assert.deepEqual((await found(session, 'IN (mailboxes (folder1 folder1 absent)) RETURN (MIN COUNT) ALL')).sort(), [
    'folder1 MIN 1 COUNT 3',
  ])
  session.close()
})

it('personal, inboxes and subscribed; mailboxes without matches have no answer', async () => {
  assert.equal((await found(client, 'IN (personal) SUBJECT chad')).length, FOLDERS.length)
  assert.equal((await found(client, 'IN (inboxes personal) SUBJECT chad')).length, FOLDERS.length)
  assert.deepEqual(await found(client, 'IN (subscribed) SUBJECT chad'), ['folder3 ALL 1,3'])
  assert.deepEqual(await found(client, 'IN (personal) BODY rare'), ['folder3 ALL 1:3'])
  assert.deepEqual(await found(client, 'IN (personal) RETURN (COUNT) SUBJECT absent'), [])
})

it('names are in the encoding of the session', async () => {
  const plain = await logInImap(appliance, mailbox)
  assert.deepEqual(await found(plain, 'IN (mailboxes "Gr&APwA3w-e") ALL'), ['Gr&APwA3w-e ALL 1:3'])
  const name = Buffer.from('"Grüße"').toString('latin1')
  assert.deepEqual(await found(client, `IN (mailboxes ${name}) ALL`), ['"Grüße" ALL 1:3'])
  plain.close()
})

it('the selected mailbox is searched as the session knows it, and its result can be saved', async () => {
  const session = await logInImap(appliance, mailbox)
  assert.match((await session.run('ESEARCH ALL')).tagged, /^BAD/)
  assert.match((await session.run('ESEARCH IN (selected) ALL')).tagged, /^BAD/)
  await session.run('SELECT folder1')
  await client.run('APPEND folder1 {17}', 'Subject: chad\r\n\r\n')
  assert.deepEqual(await found(session, 'SUBJECT chad'), ['folder1 ALL 1,3'], 'not announced yet')
  await session.run('NOOP')
  assert.deepEqual(await found(session, 'IN (selected) RETURN (SAVE COUNT) 1:2'), ['folder1 COUNT 2'])
  assert.deepEqual(await found(session, 'IN (selected) $'), ['folder1 ALL 1:2'])
  assert.match((await session.run('ESEARCH IN (personal) RETURN (SAVE) ALL')).tagged, /^BAD/)
  assert.match((await session.run('ESEARCH IN (personal) $')).tagged, /^NO/)
  assert.match((await session.run('ESEARCH IN (personal) 1:2')).tagged, /^BAD/)
  session.close()
})

it('what is not the grammar is BAD, and the number of names is bounded', async () => {
  for (const text of [
    ...[
      '',
      'IN',
      'IN () ALL',
      'IN (unknown) ALL',
      'IN (selected-delayed) ALL',
      'IN (mailboxes) ALL',
      'IN ("personal") ALL',
    ],
    ...['IN (personal (depth 1)) ALL', 'IN (personal)', 'RETURN (COUNT)'],
  ])
    assert.match((await client.run(`ESEARCH ${text}`)).tagged, /^BAD/, text)
  const names = Array.from({ length: 300 }, (_, i) => `m${i}`).join(' ')
  assert.match((await client.run(`ESEARCH IN (mailboxes (${names}) subtree (${names})) ALL`)).tagged, /^NO \[LIMIT\]/)
  assert.ok((await client.run('CAPABILITY')).untagged[0]!.split(' ').includes('MULTISEARCH'))
})
