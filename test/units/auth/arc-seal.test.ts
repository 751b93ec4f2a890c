// Our ARC seals are those of mailauth, and take no time for any message.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import mailauthArc from 'mailauth/lib/arc/index.js'
import { arcSeal } from '../../../src/auth/arc-seal.ts'
import type { DkimSigningKey } from '../../../src/auth/dkim-sign.ts'
import { compose } from '../../../src/mime/compose/compose.ts'
import { rsaKey } from '../../support/dkim.ts'
import { randomDraft } from '../../support/drafts.ts'
import { Random } from '../../support/random.ts'

const NOW = Date.UTC(2025, 0, 2, 3, 4, 5)
const rsa = rsaKey()
const { privateKey } = rsa
const key: DkimSigningKey = { domain: 'shop.test', selector: 's1', algorithm: 'rsa-sha256', privateKey }

const sealOf = (bytes: Uint8Array, arc: string) =>
  arcSeal(bytes, { ...key, results: `mx.shop.test; spf=pass; arc=${arc}`, now: NOW })

/** What mailauth makes of the whole message. */
async function theirs(bytes: Buffer, cv: string): Promise<string> {
  const create = mailauthArc.createSeal as unknown as (input: Buffer, data: object) => Promise<{ headers: string[] }>
  const { headers } = await create(bytes, {
    seal: {
      ...{ signingDomain: 'shop.test', selector: 's1', algorithm: 'rsa-sha256', cv, strict: true },
      ...{ authResults: `mx.shop.test; spf=pass; arc=${cv}`, signTime: new Date(NOW) },
      privateKey: privateKey.export({ format: 'pem', type: 'pkcs8' }),
    },
  })
  return headers.map((field) => `${field.trimEnd()}\r\n`).join('')
}

test('seals are those of mailauth, for the first and for further sets', async () => {
  const messages = Array.from({ length: 10 }, (_, seed) => compose(randomDraft(new Random(4000 + seed))).bytes)
  messages.push(
    Buffer.from('FROM : a@shop.test\r\nSubject: a\r\n  b\r\nX-A\r\n : c\r\nno field\r\n\r\n a  b \r\n\r\n\r\n'),
    Buffer.from('From: a@shop.test\r\n\r\n'),
    Buffer.from('From: a@shop.test\r\n'),
  )
  for (const message of messages) {
    let bytes = Buffer.from(message)
    for (const cv of ['none', 'pass', 'pass', 'fail', 'pass']) {
      const seal = await sealOf(bytes, cv)
      assert.equal(seal, await theirs(bytes, cv), bytes.toString())
      bytes = Buffer.concat([Buffer.from(seal, 'latin1'), bytes])
    }
    assert.match(bytes.toString('latin1'), /^ARC-Seal: i=4; .*cv=fail/)
  }
})

test('a message with fields of ARC of any length and form takes no time', async () => {
  const gap = ' '.repeat(60_000)
  const results = `ARC-Authentication-Results: i=1; mx.test; none; ${'x;;'.repeat(20_000)}`
  const tags = 'i=1; a=rsa-sha256; d=sender.test; s=s1;'
  const message = `ARC-Message-Signature: ${tags} h=from; bh=a; z=a${gap}b; b=a`
  const fields = [`ARC-Seal: ${tags} cv=none; z=a${gap}b; b=a`, message, results, 'From: a@shop.test']
  const bytes = Buffer.from(`${fields.join('\r\n')}\r\n\r\nbody\r\n`)
  const before = process.cpuUsage()
  assert.match(await sealOf(bytes, 'pass'), /^ARC-Seal: i=2; /)
  const { user } = process.cpuUsage(before)
  assert.ok(user < 400_000, `${user} \u00b5s`)
})
