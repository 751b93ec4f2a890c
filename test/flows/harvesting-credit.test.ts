// Messages to report addresses are accepted and dropped: they do not count as good mail that offsets guessed recipients.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAppliance } from '../support/appliance.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'

test('a source does not gain recipient attempts with messages that are dropped', async (t) => {
  await using appliance = await startAppliance({ env: { PROXY_PROTOCOL_FROM: '127.0.0.1' } })
  const team = await appliance.team()
  await team.domain('in.test')
  let guesses = 0
  let refused = ''
  for (let round = 0; round < 110; round++) {
    const client = await SmtpClient.connect(appliance.ports.smtp)
    client.write('PROXY TCP4 5.5.5.9 127.0.0.1 4000 25\r\n')
    const since = Date.now()
    const hello = await client.reply()
    if (hello.code !== 220) {
      refused = hello.text
      client.drop()
      break
    }
    await client.command('EHLO client.test', 250)
    const { text } = await client.mail({
      from: '',
      to: 'fbl@bounce.mx.mailstead.test',
      content: plainMail({ from: 'x@attack.com', to: 'y@attack.com' }),
    })
    if (round === 0) assert.match(text, /^250/)
    for (const n of [1, 2]) {
      await client.command('MAIL FROM:<>')
      const reply = await client.command(`RCPT TO:<guess${round}-${n}@in.test>`)
      if (reply.code === 550) guesses++
      await client.command('RSET')
    }
    client.drop()
    if (Date.now() - since > 3000) {
      refused = 'slowed'
      break
    }
  }
  t.diagnostic(`${guesses} guesses, then: ${refused}`)
  assert.ok(guesses < 110, `${guesses} addresses were tried and none was slowed`)
})
