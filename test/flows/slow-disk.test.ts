// A slow disk: a mailbox waits for the flush of its own numbers, and not for those of other mailboxes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { receive } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { holdFlushes } from '../support/held-flushes.ts'
import { logInImap } from '../support/imap.ts'

/** What waits for the wrong flush waits without end. */
const TIMEOUT = { timeout: 120_000 }

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
    assert.deepEqual(ended, [])
    flushes.end()
    await Promise.all([change, ...own])
    assert.equal(ended.length, 3)
    assert.match((await clients.ana.run('FETCH 1 FLAGS')).untagged[0]!, /\\Seen/)
  },
)
