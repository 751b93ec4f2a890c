// SORT, THREAD and COMPRESS over the appliance; their algorithms and streams have tests of their own.

import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { constants, createDeflateRaw, createInflateRaw } from 'node:zlib'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { type ImapClient, logInImap } from '../support/imap.ts'

let appliance: TestAppliance
let client: ImapClient
let mailbox: { email: string; key: string }

before(async () => {
  appliance = await startAppliance()
  const team = await appliance.team()
  await team.domain('acme.test')
  mailbox = await team.mailbox('ada@acme.test')
  client = await logInImap(appliance, mailbox)
  const messages = [
    ['Zoe <z@x.test>', 'Tea', '03 Jan 2024', '<1@x>', ''],
    ['Ann <b@x.test>', 'Re: Tea', '04 Jan 2024', '<2@x>', '<1@x>'],
    ['Bob <a@x.test>', 'Coffee', '01 Jan 2024', '<3@x>', ''],
    ['Cid <c@x.test>', 'Re: Tea', '05 Jan 2024', '<4@x>', '<1@x> <2@x>'],
  ]
  for (const [from, subject, day, id, references] of messages) {
    const fields = [`From: ${from}`, `Subject: ${subject}`, `Date: ${day} 10:00:00 +0000`, `Message-ID: ${id}`]
    if (references !== '') fields.push(`References: ${references}`)
    const text = `${fields.join('\r\n')}\r\n\r\nx`
    await client.run(`APPEND INBOX {${text.length}}`, text)
  }
  await client.run('SELECT INBOX')
})
after(() => appliance.close())

it('SORT orders by the criteria, ESORT answers in that order', async () => {
  const sorted = async (text: string) => (await client.run(`SORT ${text}`)).untagged[0]
  assert.equal(await sorted('(SUBJECT DATE) UTF-8 ALL'), '* SORT 3 1 2 4')
  assert.equal(await sorted('(REVERSE DATE) UTF-8 ALL'), '* SORT 4 2 1 3')
  assert.equal(await sorted('(FROM) UTF-8 ALL'), '* SORT 3 2 4 1')
  assert.equal(await sorted('(DISPLAYFROM) UTF-8 SUBJECT Tea'), '* SORT 2 4 1')
  assert.match((await sorted('RETURN (MIN MAX ALL COUNT) (DATE) UTF-8 ALL'))!, /MIN 3 MAX 4 ALL 3,1:2,4 COUNT 4$/)
  assert.match((await client.run('SORT (FOO) UTF-8 ALL')).tagged, /^BAD/)
  assert.match((await client.run('SORT (DATE) koi8-r ALL')).tagged, /^NO \[BADCHARSET/)
})

it('THREAD groups by references and by subject', async () => {
  assert.deepEqual((await client.run('THREAD REFERENCES UTF-8 ALL')).untagged, ['* THREAD (3)(1 2 4)'])
  assert.deepEqual((await client.run('UID THREAD ORDEREDSUBJECT UTF-8 ALL')).untagged, ['* THREAD (3)(1 (2)(4))'])
  assert.deepEqual((await client.run('THREAD REFERENCES UTF-8 SUBJECT nothing')).untagged, ['* THREAD'])
  assert.match((await client.run('THREAD FOO UTF-8 ALL')).tagged, /^BAD/)
})

it('COMPRESS compresses both directions, once, also the end', async () => {
  const own = await logInImap(appliance, mailbox)
  assert.match((await own.run('COMPRESS LZW')).tagged, /^BAD/)
  assert.match((await own.run('COMPRESS DEFLATE')).tagged, /^OK/)
  const { socket } = own
  socket.removeAllListeners('data')
  const [inflate, deflate] = [createInflateRaw({ finishFlush: constants.Z_SYNC_FLUSH }), createDeflateRaw()]
  socket.pipe(inflate)
  deflate.on('data', (bytes) => socket.write(bytes))
  deflate.write('a NOOP\r\nb COMPRESS DEFLATE\r\nc EXAMINE INBOX\r\nd FETCH 1:* (ENVELOPE)\r\ne LOGOUT\r\n')
  deflate.flush(constants.Z_SYNC_FLUSH)
  let text = ''
  for await (const piece of inflate) text += piece
  assert.match(
    text,
    /^a OK.*b NO \[COMPRESSIONACTIVE\].*c OK.*4 FETCH \(ENVELOPE.*\* BYE.*e OK LOGOUT completed\.\r\n$/s,
  )
})
