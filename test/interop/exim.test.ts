// Exim delivers to us: it ends a session with ".", QUIT and the end of its half, and reads the answers after that.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { missingExim, sendByExim } from '../support/exim.ts'
import { startHouse, type TestHouse } from '../support/house.ts'
import { keptIn } from '../support/kept.ts'

const SKIP = missingExim()
let house: TestHouse | undefined
after(() => house?.close())

for (const tls of [false, true]) {
  test(`a whole Exim hears that its message was taken${tls ? ' over STARTTLS' : ''}`, { skip: SKIP }, async () => {
    house ??= await startHouse()
    const team = await house.team()
    const domain = tls ? 'secure.test' : 'plain.test'
    await team.domain(domain)
    const ben = await team.mailbox(`ben@${domain}`)
    const log = await sendByExim({
      port: house.ports.smtp,
      from: 'ann@out.test',
      to: ben.email,
      content: 'From: Ann <ann@out.test>\nSubject: one\n\nHello\n',
      tls,
    })
    assert.match(log, /=> ben@\S+ .*H=127\.0\.0\.1/, log)
    assert.match(log, / Completed$/m)
    if (tls) assert.match(log, / X=TLS1\.3:/)
    const kept = await keptIn(house, ben.id)
    assert.deepEqual(
      kept.map(({ subject }) => subject),
      ['one'],
    )
  })
}
