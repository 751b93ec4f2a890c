// Commands for what only the API could do: members of a team, and one sent message.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { data } from '../../api/expect.ts'
import { type Json, startAppliance } from '../../support/appliance.ts'
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

test('sender filters of a mailbox and of a domain are shown and replaced', async () => {
  const set = ['filter', 'set', ana.email, 'denylist', '--deny', '@spam.example', '--allow', 'bob@spam.example']
  const rules = [
    { type: 'allow', pattern: 'bob@spam.example' },
    { type: 'deny', pattern: '@spam.example' },
  ]
  assert.deepEqual(await cli.json(...set), { mode: 'denylist', rules })
  assert.deepEqual(await cli.json('filter', 'set', ana.email, 'off'), { mode: 'off', rules })
  const stored = data<Json>(await appliance.get(`/mailboxes/${ana.id}/filters`, team.key))
  assert.deepEqual(stored, { mode: 'off', rules })
  await cli.json('filter', 'set', 'shop.test', 'allowlist', '--allow', '@partner.example')
  const { out } = await cli.run('filter', 'show', 'shop.test')
  assert.deepEqual(out, ['shop.test: allowlist', '  allow  @partner.example'])
  await cli.json('filter', 'set', 'shop.test', 'off')
  await cli.refused(['filter', 'set', ana.email, 'denylist', '--deny', 'not a sender'], 'pattern')
  await cli.refused(['filter', 'show', 'none.test'], 'no domain none.test')
})

test('Sieve scripts are checked, stored, activated, shown and deleted', async () => {
  const text = 'require "fileinto";\nfileinto "Archive";\n'
  assert.deepEqual((await cli.given(text).run('sieve', 'check')).out, ['The script is valid.'])
  const wrong = await cli.given('keep').run('sieve', 'check')
  assert.equal(wrong.code, 1)
  assert.match(wrong.out[0]!, /^1:\d+ A ";" is missing/)
  await cli.given('keep').refused(['sieve', 'put', ana.email, 'rules'], 'line 1, column 5: A ";" is missing here.')
  assert.equal((await cli.given(text).json('sieve', 'put', ana.email, 'rules', '--activate')).is_active, true)
  assert.deepEqual((await cli.run('sieve', 'show', ana.email, 'rules')).out, text.trim().split('\n'))
  assert.deepEqual(
    (await cli.json('sieve', 'list', ana.email)).map(({ name, is_active }: Json) => [name, is_active]),
    [['rules', true]],
  )
  await cli.refused(['sieve', 'delete', ana.email, 'rules'], 'active')
  await cli.json('sieve', 'deactivate', ana.email, 'rules')
  await cli.json('sieve', 'activate', ana.email, 'rules')
  await cli.json('sieve', 'deactivate', ana.email, 'rules')
  await cli.json('sieve', 'delete', ana.email, 'rules')
  await cli.refused(['sieve', 'show', ana.email, 'rules'], 'has no script rules')
  const actions = (await cli.json('audit')).map(({ action }: { action: string }) => action)
  for (const words of ['sieve put', 'sieve activate', 'sieve deactivate', 'sieve delete']) {
    assert.ok(actions.includes(words), words)
  }
})

test('delivery groups are created, changed, shown and deleted', async () => {
  const account = (name: string) =>
    cli
      .given('secret')
      .json(
        ...['provider', 'create', '--name', name, '--smtp-host', 'smtp.relay.test'],
        ...['--smtp-username', 'u', '--from-email', 'news@shop.test'],
      )
  const [first, second] = [(await account('One')).id, (await account('Two')).id]
  const group = await cli.json(
    'group',
    'create',
    'News',
    '--member',
    first,
    '--member',
    second,
    '--strategy',
    'failover',
  )
  assert.deepEqual(
    group.members.map((member: Json) => [member.provider_id, member.position]),
    [
      [first, 0],
      [second, 1],
    ],
  )
  assert.equal((await cli.json('group', 'update', group.id, '--name', 'Weekly')).name, 'Weekly')
  assert.equal((await cli.json('group', 'update', group.id, '--member', second)).members.length, 1)
  assert.deepEqual(
    (await cli.json('group', 'list')).map(({ id }: Json) => id),
    [group.id],
  )
  assert.match((await cli.run('group', 'show', group.id)).out[0]!, /^dgrp_\w+ {2}failover {2}Weekly$/)
  await cli.refused(['group', 'create', 'Empty'], '--member')
  await cli.json('group', 'delete', group.id)
  await cli.refused(['group', 'show', group.id], 'no delivery group')
})

test('events that a webhook did not get are counted and delivered again', async () => {
  const { id } = await cli.json('webhook', 'create', 'https://hooks.test/in', '--event', 'message.received')
  assert.deepEqual(await cli.json('webhook', 'replay-failed', id, '--count'), { events: 0, has_more: false })
  const { out } = await cli.run('webhook', 'replay-failed', id, '--after', '2030-01-01')
  assert.deepEqual(out, ['0 events are queued again; mailstead serve delivers them.'])
  await cli.refused(['webhook', 'replay-failed', id, '--after', 'yesterday'], 'not a time')
})
