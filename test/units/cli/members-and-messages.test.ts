// Commands for what only the API could do: members of a team, and one sent message.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { data } from '../../api/expect.ts'
import { startAppliance } from '../../support/appliance.ts'
import { Commands } from '../../support/cli.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team('Shop')
await team.domain('shop.test')
const ana = await team.mailbox('ana@shop.test')
const cli = new Commands({ DATA_DIR: appliance.dataDir, MAIL_HOSTS: 'mx.mailstead.test' })

test('members get another role and leave; the last owner stays', async () => {
  await cli.json('member', 'add', 'olga@people.test')
  await cli.json('member', 'add', 'max@people.test', '--role', 'viewer')
  assert.equal((await cli.json('member', 'role', 'max@people.test', 'admin')).role, 'admin')
  await cli.refused(['member', 'role', 'max@people.test', 'king'], 'owner')
  await cli.refused(['member', 'remove', 'olga@people.test'], 'owner')
  await cli.json('member', 'remove', 'max@people.test')
  await cli.refused(['member', 'remove', 'max@people.test'], 'no member of Shop')
  const actions = (await cli.json('audit')).map(({ action }: { action: string }) => action)
  for (const words of ['member role', 'member remove']) assert.ok(actions.includes(words), words)
})

test('a sent message is shown with its recipients', async () => {
  const mail = { from: 'news@shop.test', to: ana.email, subject: 'Shown', text_body: 'x' }
  const { message_id: id } = data<{ message_id: string }>(
    await appliance.call('POST', '/emails/send', team.key, mail),
    202,
  )
  await appliance.settle()
  const { out } = await cli.run('email', 'show', id)
  assert.match(out[0]!, /^eml_\w+ +sent +news@shop\.test +Shown$/)
  assert.ok(out.some((line) => /ana@shop\.test +sent/.test(line)))
  await cli.refused(['email', 'show', 'eml_none'], 'no such message')
})
