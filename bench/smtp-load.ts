// Child process: sends messages as fast as the server accepts them, over persistent connections or a new one for each message.

import { once } from 'node:events'
import process from 'node:process'
import { DeliveryClient } from './delivery-client.ts'
import { type MailForm, mail } from './mails.ts'

/** A request of the parent. */
export interface Load extends MailForm {
  messages: number
  connections: number
  /** A new connection for every message; `connections` is the number of concurrent ones. */
  fresh: boolean
}

export interface LoadResult {
  /** From the first byte to the last "250", ms. */
  elapsed: number
  /** From the last byte of each message to its "250", ms. */
  waits: number[]
  /** Replies other than 250, counted by text. */
  refusals: [string, number][]
}

async function run(load: Load, mails: Buffer[], port: number): Promise<LoadResult> {
  const waits: number[] = []
  const refusals = new Map<string, number>()
  let next = 0
  const worker = async () => {
    let client: DeliveryClient | undefined
    while (next < mails.length) {
      const bytes = mails[next++]!
      if (client === undefined) {
        client = new DeliveryClient(port)
        await client.open()
      }
      const { reply, wait } = await client.send(load.to, bytes)
      if (reply.startsWith('250')) waits.push(wait)
      else refusals.set(reply, (refusals.get(reply) ?? 0) + 1)
      if (load.fresh) {
        await client.quit()
        client = undefined
      }
    }
    await client?.quit()
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: Math.min(load.connections, mails.length) }, worker))
  return { elapsed: performance.now() - started, waits, refusals: [...refusals] }
}

// All messages are generated first, so that it does not affect the measurement; then one run for each named port.
const [load] = (await once(process, 'message')) as [Load]
const mails: Buffer[] = []
for (let i = 0; i < load.messages; i++) mails.push(await mail(i, load))
process.send!({ ready: true })
const [{ port }] = (await once(process, 'message')) as [{ port: number }]
process.send!(await run(load, mails, port))
process.disconnect?.()
