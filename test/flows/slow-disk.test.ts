// A slow disk: a mailbox waits for the flush of its own numbers, and not for those of other mailboxes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { APPEND_MESSAGES } from '../../src/imap/grammar/limits.ts'
import { ORDERED_FROM } from '../../src/imap/untagged/sort-folder.ts'
import { receive } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { holdFlushes } from '../support/held-flushes.ts'
import { logInImap } from '../support/imap.ts'

/** What waits for the wrong flush waits without end. */
const TIMEOUT = { timeout: 240_000 }

/** One of the messages of an APPEND (RFC 3502). */
function small(_: unknown, n: number): string {
  const text = `Subject: small ${n}\r\n\r\nx\r\n`
  return ` {${text.length}+}\r\n${text}`
}

test(
  'a change of one mailbox that is not flushed keeps its own numbers back, and no other mailbox',
  TIMEOUT,
  async (t) => {
    await using appliance = await startAppliance()
    const team = await appliance.team()
    await team.domain('in.test')
    const [ana, ben] = [await team.mailbox('ana@in.test'), await team.mailbox('ben@in.test')]
    for (const box of [ana, ben]) await receive(appliance, { to: box.email, subject: 'first' })
    const clients = { ana: await logInImap(appliance, ana), ben: await logInImap(appliance, ben) }
    const [message] = (await appliance.get('/mailbox/messages', ana.key)).body.data
    const messages = Array.from({ length: APPEND_MESSAGES }, small).join('')
    for (let count = 0; count < ORDERED_FROM; count += APPEND_MESSAGES)
      assert.equal((await clients.ben.run(`APPEND INBOX${messages}`)).status, 'OK')
    await clients.ben.run('SELECT INBOX')
    const ended: string[] = []
    const flushes = holdFlushes(t)
    const change = appliance
      .call('PATCH', `/mailbox/messages/${message.id}`, ana.key, { flags: { seen: true } })
      .then(() => ended.push('change'))
    const isSeen = 'SELECT 1 FROM messages WHERE id = ? AND seen = 1'
    while (flushes.held.length === 0 || !appliance.app.db.read.get(isSeen, [message.id])) await turn()
    const own = [
      appliance.get('/mailbox/messages', ana.key).then(() => ended.push('list')),
      clients.ana.run('SELECT INBOX').then(() => ended.push('select')),
    ]
    assert.equal((await appliance.get('/mailbox/messages', ben.key)).status, 200)
    assert.equal((await clients.ben.run('STATUS INBOX (UIDNEXT HIGHESTMODSEQ)')).status, 'OK')
    for (const command of [
      'UID SEARCH ALL',
      'UID SEARCH UNSEEN',
      'UID SORT (SUBJECT) UTF-8 ALL',
      'UID FETCH 1:* FLAGS',
    ])
      assert.equal((await clients.ben.run(command)).status, 'OK', command)
    assert.deepEqual(ended, [])
    flushes.end()
    await Promise.all([change, ...own])
    assert.equal(ended.length, 3)
    assert.match((await clients.ana.run('FETCH 1 FLAGS')).untagged[0]!, /\\Seen/)
  },
)
