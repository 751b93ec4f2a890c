// Exim delivers to the appliance: it ends a session with ".", QUIT and a half-close, and reads the replies after that.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startAppliance, type TestAppliance } from '../support/appliance.ts'
import { missingExim, sendByExim } from '../support/exim.ts'
import { storedMessages } from '../support/stored.ts'

const SKIP = missingExim()
let appliance: TestAppliance | undefined
after(() => appliance?.close())

for (const tls of [false, true]) {
  test(`Exim delivers a message${tls ? ' over STARTTLS' : ''}`, { skip: SKIP }, async () => {
    appliance ??= await startAppliance()
    const team = await appliance.team()
    const domain = tls ? 'secure.test' : 'plain.test'
    await team.domain(domain)
    const ben = await team.mailbox(`ben@${domain}`)
    const log = await sendByExim({
      port: appliance.ports.smtp,
      from: 'ann@out.test',
      to: ben.email,
      content: 'From: Ann <ann@out.test>\nSubject: one\n\nHello\n',
      tls,
    })
    assert.match(log, /=> ben@\S+ .*H=127\.0\.0\.1/, log)
    assert.match(log, / Completed$/m)
    if (tls) assert.match(log, / X=TLS1\.3:/)
    const kept = await storedMessages(appliance, ben.id)
    assert.deepEqual(
      kept.map(({ subject }) => subject),
      ['one'],
    )
  })
}
