// While a heavy message is inspected, the listeners stay responsive: CPU-bound work runs in other threads.

import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { after, test } from 'node:test'
import { startAppliance } from '../support/appliance.ts'
import { SmtpClient } from '../support/smtp.ts'

// Messages like these may be filed into Junk, which lists leave out.
const appliance = await startAppliance({ env: { SPAM_JUNK_SCORE: '99', SPAM_REFUSE_SCORE: '99' } })
after(() => appliance.close())
const team = await appliance.team()
await team.domain('in.test')
const mailbox = await team.mailbox('me@in.test')

const head = ['From: ann@out.test', 'To: me@in.test', 'Subject: Heavy', 'MIME-Version: 1.0']
const line = `${'x'.repeat(76)}\r\n`
const base64 = `${'QUJD'.repeat(19)}\r\n`

const heavy: [string, string][] = [
  ['text of 20 MB', [...head, '', line.repeat(256 * 1024)].join('\r\n')],
  ['empty lines', [...head, '', '\r\n'.repeat(4 * 1024 * 1024)].join('\r\n')],
  [
    'an attachment of 20 MB',
    [
      ...head,
      'Content-Type: application/octet-stream; name="a.bin"',
      'Content-Transfer-Encoding: base64',
      '',
      base64.repeat(256 * 1024),
    ].join('\r\n'),
  ],
  [
    'HTML with 200,000 elements',
    [...head, 'Content-Type: text/html', '', '<div><a href="http://a.test/">b.test</a>\r\n'.repeat(200_000)].join(
      '\r\n',
    ),
  ],
]

for (const [name, content] of heavy) {
  test(name, async (t) => {
    await using client = await SmtpClient.greet(appliance.ports.smtp)
    const delay = monitorEventLoopDelay({ resolution: 5 })
    let stored = false
    const receiving = client.mail({ from: 'ann@out.test', to: ['me@in.test'], content }).then((reply) => {
      stored = true
      return reply
    })
    delay.enable()
    let answered = 0
    while (!stored) {
      const reply = await appliance.get('/mailbox/me', mailbox.key)
      assert.equal(reply.status, 200)
      if (!stored) answered++
    }
    delay.disable()
    assert.match((await receiving).text, /^250 /)
    t.diagnostic(
      `${answered} answers meanwhile; longest pause ${Math.round(delay.max / 1e6)} ms (the test's own work included)`,
    )
    assert.ok(answered >= 10, `only ${answered} answers meanwhile`)
  })
}

test('all messages are stored afterwards', async () => {
  const { body } = await appliance.get('/mailbox/messages', mailbox.key)
  assert.equal(body.data.length, heavy.length)
})
