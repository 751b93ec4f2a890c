// Cleaning shares its thread: a team that has many messages cleaned keeps no other waiting.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cleaner, MESSAGES_EACH } from '../../../src/workers/cleaner.ts'

test('the messages of one team keep no other team waiting', async () => {
  const cleaner = new Cleaner()
  const order: string[] = []
  const html = { bytes: Buffer.from('<p>Hello</p>'), encoding: '8bit', charset: 'utf-8' }
  const options = {
    format: 'markdown',
    chars: 1000,
    includeQuoted: true,
    includeSignature: true,
    links: 'inline',
  } as const
  const clean = async (source: string) => {
    const task = { text: null, html, incomplete: false, fromDomain: 'shop.test', options }
    const { content } = await cleaner.clean(task, { source, isPreferred: true })
    order.push(source)
    return content
  }
  const flood = Array.from({ length: MESSAGES_EACH }, () => clean('flood'))
  await assert.rejects(clean('flood'), { code: 'service_unavailable', message: /^Too many messages/ })
  assert.equal((await clean('office')).trim(), 'Hello')
  assert.ok(order.length <= 3, `the ${order.length}th`)
  await Promise.all(flood)
  await cleaner.close()
})
