// Child process of arrivals.ts: delivers one message after the other at a steady rate on one connection.

import { once } from 'node:events'
import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import type { ArrivalsRequest } from './arrivals.ts'
import { DeliveryClient } from './delivery-client.ts'
import { mail } from './mails.ts'

/** Numbers of messages that no fill has used. */
const FIRST = 10_000_000
const MESSAGES = 500

const [{ port, protocol, to, key, bytes, perSecond }] = (await once(process, 'message')) as [ArrivalsRequest]
const form = { bytes, to, key, word: 'arriving' }
const mails = await Promise.all(Array.from({ length: MESSAGES }, (_, index) => mail(FIRST + index, form)))
let isOver = false
process.once('message', () => (isOver = true))
const client = new DeliveryClient(port)
await client.open(protocol === 'LMTP' ? 'LHLO' : 'EHLO')
let accepted = 0
for (const began = performance.now(); !isOver; ) {
  const index = accepted
  // Each is another message: the same one twice would be a repeated delivery.
  const bytesOf = Buffer.concat([Buffer.from(`X-Number: ${index}\r\n`), mails[index % MESSAGES]!])
  const { reply } = await client.send(to, bytesOf)
  if (!reply.startsWith('250')) throw new Error(`The delivery was refused: ${reply}`)
  accepted++
  const ahead = (accepted / perSecond) * 1000 - (performance.now() - began)
  if (ahead > 0) await pause(ahead)
}
await client.quit()
process.send!({ accepted })
process.disconnect!()
