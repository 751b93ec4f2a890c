// What sessions hear of changes: in IDLE, with other commands, after QRESYNC; by other sessions, the API and deliveries.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startAppliance, type TestAppliance, type TestTeam } from '../support/appliance.ts'
import { type ImapClient, logInImap } from '../support/imap.ts'
import { sendMail } from '../support/smtp.ts'

let appliance: TestAppliance
let team: TestTeam
let boxes = 0

before(async () => {
  appliance = await startAppliance()
  team = await appliance.team()
  await team.domain('acme.test')
})
after(() => appliance.close())

type Mailbox = { id: string; email: string; key: string }

async function filled(count: number): Promise<{ mailbox: Mailbox; client: ImapClient }> {
  const mailbox = await team.mailbox(`c${++boxes}@acme.test`)
  const client = await logInImap(appliance, mailbox)
  for (let i = 1; i <= count; i++) {
    const text = `Subject: ${i}\r\n\r\nx`
    assert.equal((await client.run(`APPEND INBOX {${text.length}}`, text)).status, 'OK')
  }
  await client.run('SELECT INBOX')
  return { mailbox, client }
}

async function second(mailbox: Mailbox, ...commands: string[]): Promise<ImapClient> {
  const client = await logInImap(appliance, mailbox)
  for (const one of [...commands, 'SELECT INBOX']) assert.equal((await client.run(one)).status, 'OK', one)
  return client
}

describe('IDLE', () => {
  it('hears deliveries, flags of the API and expunges, and ends with DONE', async () => {
    const { mailbox, client } = await filled(1)
    client.write('i IDLE\r\n')
    assert.equal(await client.response(), '+ idling')
    await sendMail(appliance.ports.smtp, { from: 'x@y.test', to: mailbox.email, subject: 'new', text: 'text' })
    assert.equal(await client.response(), '* 2 EXISTS')
    assert.equal(await client.response(), '* 2 RECENT')
    const { data } = (await appliance.get('/mailbox/messages?q=subject:1', mailbox.key)).body
    await appliance.call('PATCH', `/mailbox/messages/${data[0].id}`, mailbox.key, { flags: { flagged: true } })
    assert.match((await client.response())!, /^\* 1 FETCH \(FLAGS \(\\Flagged/)
    await appliance.call('DELETE', `/mailbox/messages/${data[0].id}?permanent=true`, mailbox.key)
    let expunged = (await client.response())!
    // Deleted messages may be moved to Trash first; here they leave the folder either way.
    while (expunged.includes('FETCH')) expunged = (await client.response())!
    assert.equal(expunged, '* 1 EXPUNGE')
    client.write('DONE\r\n')
    assert.match((await client.response())!, /^i OK/)
    client.close()
  })

  it('other text than DONE is BAD', async () => {
    const { client } = await filled(0)
    client.write('i IDLE\r\n')
    assert.equal(await client.response(), '+ idling')
    client.write('j NOOP\r\n')
    assert.match((await client.response())!, /^i BAD/)
    client.close()
  })
})

describe('other sessions', () => {
  it('EXPUNGE waits while sequence numbers must not change', async () => {
    const { mailbox, client } = await filled(3)
    const other = await second(mailbox)
    await other.run('STORE 2 +FLAGS.SILENT (\\Deleted)')
    await other.run('EXPUNGE')
    const fetched = await client.run('FETCH 1:3 (UID)')
    assert.deepEqual(fetched.untagged, ['* 1 FETCH (UID 1)', '* 3 FETCH (UID 3)'])
    assert.match(fetched.tagged, /^OK \[EXPUNGEISSUED\]/)
    assert.match((await client.run('STORE 2:3 +FLAGS (\\Seen)')).tagged, /^OK \[EXPUNGEISSUED\]/)
    assert.match((await client.run('COPY 2 Archive')).tagged, /^NO \[EXPUNGEISSUED\]/)
    assert.deepEqual((await client.run('NOOP')).untagged, ['* 2 EXPUNGE'])
    assert.deepEqual((await client.run('FETCH 2 (UID)')).untagged, ['* 2 FETCH (UID 3)'])
    other.close()
    client.close()
  })

  it('flags are announced once, and not to whom changed them silently', async () => {
    const { mailbox, client } = await filled(2)
    const other = await second(mailbox)
    assert.deepEqual((await client.run('STORE 1 +FLAGS.SILENT (\\Seen)')).untagged, [])
    assert.deepEqual((await client.run('NOOP')).untagged, [])
    assert.deepEqual((await other.run('NOOP')).untagged, ['* 1 FETCH (FLAGS (\\Seen))'])
    assert.deepEqual((await other.run('NOOP')).untagged, [])
    other.close()
    client.close()
  })

  it('a folder that is deleted ends the session behind its expunges', async () => {
    const { mailbox, client } = await filled(0)
    for (const one of ['CREATE gone', 'APPEND gone {3+}\r\nabc']) assert.equal((await client.run(one)).status, 'OK')
    const other = await second(mailbox)
    await other.run('SELECT gone')
    assert.equal((await client.run('DELETE gone')).status, 'OK')
    const answer = await other.run('NOOP')
    assert.deepEqual(
      answer.untagged.map((one) => one.slice(0, 11)),
      ['* 1 EXPUNGE', '* BYE The s'],
    )
    client.close()
  })
})

describe('QRESYNC', () => {
  it('SELECT answers what vanished and what changed; later expunges are VANISHED', async () => {
    const { mailbox, client } = await filled(6)
    const validity = /UIDVALIDITY (\d+)/.exec((await client.run('STATUS INBOX (UIDVALIDITY)')).untagged[0]!)![1]
    const modSeq = /HIGHESTMODSEQ (\d+)/.exec((await client.run('STATUS INBOX (HIGHESTMODSEQ)')).untagged.at(-1)!)![1]
    await client.run('STORE 2:3 +FLAGS.SILENT (\\Deleted)')
    await client.run('EXPUNGE')
    await client.run('UID STORE 5 +FLAGS.SILENT (\\Answered)')
    const other = await logInImap(appliance, mailbox)
    assert.match((await other.run(`SELECT INBOX (QRESYNC (${validity} ${modSeq}))`)).tagged, /^BAD/)
    assert.deepEqual((await other.run('ENABLE QRESYNC')).untagged, ['* ENABLED QRESYNC'])
    const selected = await other.run(`SELECT INBOX (QRESYNC (${validity} ${modSeq}))`)
    assert.ok(selected.untagged.includes('* VANISHED (EARLIER) 2:3'), selected.untagged.join('\n'))
    assert.ok(selected.untagged.some((one) => /^\* 3 FETCH \(UID 5 FLAGS \(\\Answered\) MODSEQ \(\d+\)\)$/.test(one)))
    const some = await other.run(`SELECT INBOX (QRESYNC (${validity} ${modSeq} 5:6,3,1))`)
    assert.ok(some.untagged.includes('* VANISHED (EARLIER) 3'), some.untagged.join('\n'))
    assert.ok(some.untagged.some((one) => /^\* 3 FETCH \(UID 5 /.test(one)))
    const fetched = await other.run(`UID FETCH 1:* (FLAGS) (CHANGEDSINCE ${modSeq} VANISHED)`)
    assert.equal(fetched.untagged[0], '* VANISHED (EARLIER) 2:3')
    assert.equal(fetched.untagged.length, 2)
    await client.run('STORE 1 +FLAGS.SILENT (\\Deleted)')
    await client.run('EXPUNGE')
    assert.deepEqual((await other.run('NOOP')).untagged, ['* VANISHED 1'])
    other.close()
    client.close()
  })

  it('another UIDVALIDITY gets a whole folder', async () => {
    const { client } = await filled(2)
    await client.run('ENABLE QRESYNC')
    const { untagged } = await client.run('SELECT INBOX (QRESYNC (1 1))')
    assert.ok(!untagged.some((one) => /VANISHED|FETCH/.test(one)))
    client.close()
  })
})
