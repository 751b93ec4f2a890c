// A session on a folder that was deleted never reaches a folder that was created later, of its own mailbox or of another team's.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { receive } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { logInImap } from '../support/imap.ts'

const appliance = await startAppliance()
after(() => appliance.close())

test('a folder of another team is not read under the number of one that was deleted', async () => {
  const [team, other] = [await appliance.team(), await appliance.team()]
  await team.domain('acme.test')
  await other.domain('other.test')
  const own = await team.mailbox('ann@acme.test')
  const { body: made } = await appliance.call('POST', '/mailbox/folders', own.key, { name: 'Last' })
  await using client = await logInImap(appliance, own)
  assert.equal((await client.run('APPEND Last {17}', 'Subject: own\r\n\r\nx')).status, 'OK')
  assert.equal((await client.run('SELECT Last')).status, 'OK')
  const path = `/mailbox/folders/${made.data.id}?on_messages=delete`
  assert.equal((await appliance.call('DELETE', path, own.key)).status, 200)

  const foreign = await other.mailbox('ben@other.test')
  await receive(appliance, { to: foreign.email, subject: 'Not for Ann' })
  const { untagged } = await client.run('FETCH 1 (FLAGS UID ENVELOPE BODY.PEEK[])')
  assert.doesNotMatch(untagged.join('\n'), /Not for Ann|ENVELOPE/)
})
