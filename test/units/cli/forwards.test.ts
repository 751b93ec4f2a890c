// Commands for the forwards of a mailbox.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startAppliance } from '../../support/appliance.ts'
import { Commands } from '../../support/cli.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('in.test')
const { id: mailboxId, email } = await team.mailbox('ana@in.test')
await appliance.app.administration.mailboxes.addAlias(team.id, mailboxId, 'orders@in.test')
const cli = new Commands({
  ...{ DATA_DIR: appliance.dataDir, DNS_SERVERS: appliance.dns.address, MAIL_HOSTS: 'mx.mailstead.test' },
})

test('an address is added, listed and removed; it is asked, and nothing else is sent', async () => {
  assert.deepEqual((await cli.run('mailbox', 'forward', 'list', email)).out, ['ana@in.test forwards nothing.'])
  const add = ['mailbox', 'forward', 'add', email]
  const { out } = await cli.run(...add, 'ana@elsewhere.example')
  const [, id] = /^ana@elsewhere\.example is asked to confirm within 7 days \((fwd_\w{24})\)\.$/.exec(out[0]!)!
  const other = await cli.json(...add, 'shop@elsewhere.example', '--alias', 'Orders@in.test', '--no-copy')
  assert.deepEqual(
    [other.alias, other.keep_copy, other.status, other.created_by],
    ['orders@in.test', false, 'pending', 'operator'],
  )
  const asked = appliance.app.db.read.all<{ subject: string }>('SELECT subject FROM emails ORDER BY n')
  assert.deepEqual(
    asked.map(({ subject }) => subject),
    ['Forward mail of ana@in.test to you?', 'Forward mail of orders@in.test to you?'],
  )
  const listed = await cli.run('mailbox', 'forward', 'list', email)
  assert.match(listed.out[1]!, /^fwd_\w{24} +shop@elsewhere\.example +orders@in\.test +pending +none$/)
  assert.match(listed.out[2]!, /^fwd_\w{24} +ana@elsewhere\.example +ana@in\.test +pending +kept$/)
  await cli.refused([...add, 'x@elsewhere.example', '--alias', 'no@in.test'], 'no such alias')
  await cli.refused([...add, email], 'cannot forward to itself')
  await cli.refused(['mailbox', 'forward', 'remove', email, 'x@elsewhere.example'], 'does not forward to')
  assert.deepEqual(await cli.json('mailbox', 'forward', 'remove', email, 'SHOP@elsewhere.example'), [
    { id: other.id, deleted: true },
  ])
  assert.deepEqual(await cli.json('mailbox', 'forward', 'remove', email, id!), [{ id, deleted: true }])
  assert.deepEqual(await cli.json('mailbox', 'forward', 'list', email), [])
})
