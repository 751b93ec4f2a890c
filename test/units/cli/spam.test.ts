// Commands for what the spam filter has learned.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { receive } from '../../api/expect.ts'
import { startAppliance } from '../../support/appliance.ts'
import { Commands } from '../../support/cli.ts'
import { storedMessages } from '../../support/stored.ts'

const appliance = await startAppliance()
after(() => appliance.close())
const team = await appliance.team()
await team.domain('in.test')
const { id, email, key } = await team.mailbox('ana@in.test')
const cli = new Commands({
  ...{ DATA_DIR: appliance.dataDir, DNS_SERVERS: appliance.dns.address, MAIL_HOSTS: 'mx.mailstead.test' },
})

test('labels are shown, learned, exported and forgotten', async () => {
  assert.match((await cli.run('spam', 'state', email)).out[0]!, /has labeled nothing yet/)
  await receive(appliance, { to: email, subject: 'Lamps', text: 'Crystal lamps at no cost' })
  const [message] = await storedMessages(appliance, id)
  const { status } = await appliance.call('POST', `/mailbox/messages/${message!.id}/classify`, key, { as: 'spam' })
  assert.equal(status, 200)
  const state = await cli.json('spam', 'state', email)
  assert.deepEqual(state.labels, [{ source: 'api', label: 'spam', count: 1, corrected: 1 }])
  assert.deepEqual((await cli.json('spam', 'retrain', email)).added, { spam: 0, ham: 0 })
  assert.deepEqual((await cli.json('spam', 'state', email)).model.spam, 1)
  const [label] = await cli.json('spam', 'export', email)
  assert.match(label.content, /^[0-9a-f]{64}$/)
  assert.equal(label.label, 'spam')
  assert.equal((await cli.json('spam', 'reset', email)).reset, true)
  assert.deepEqual((await cli.json('spam', 'state', email)).labels, [])
  await cli.refused(['spam', 'state', 'nobody@in.test'], 'no mailbox')
})

test('a score is explained in sentences', async () => {
  const file = join(appliance.dataDir, 'offer.eml')
  writeFileSync(
    file,
    'From: "PayPal Service" <a@out.example>\r\nSubject: Your account\r\nContent-Type: text/html\r\n\r\n' +
      '<a href="http://192.0.2.1/x">Sign in</a><input type="password">\r\n',
  )
  const { score, probability, evidence } = await cli.json('spam', 'explain', file, '--mailbox', email)
  assert.ok(score >= 5 && probability > 0.5, `${score} ${probability}`)
  const claimed = evidence.find(({ reason }: { reason: string }) => reason === 'brand_claimed')
  assert.match(claimed.sentence, /name of a company/)
  assert.equal(claimed.detail, 'paypal')
  assert.match((await cli.run('spam', 'explain', file)).out[0]!, /^Score \d/)
  await cli.refused(['spam', 'explain', join(appliance.dataDir, 'missing.eml')], 'cannot be read')
})
