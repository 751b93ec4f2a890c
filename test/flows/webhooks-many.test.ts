// A hundred thousand events for a receiver that does not respond: memory stays constant, and none is lost when it responds again.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { data } from '../api/expect.ts'
import { startAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { startHook } from '../support/hook.ts'

const EVENTS = 100_000
const AT_ONCE = 2000
/** 1 KiB each: a hundred megabytes if they were held. */
const PADDING = 'x'.repeat(800)
const GROWTH_MAX = 24 * 1024 * 1024

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
// Code in the compile cache is of the flags with which it was compiled.
setFlagsFromString('--no-expose-gc')
const clock = new ManualClock(Date.now())
const hook = await startHook()
const appliance = await startAppliance({
  clock,
  zone: { 'hooks.test': { A: ['127.0.0.1'] } },
  env: { ALLOW_PRIVATE_WEBHOOKS: 'true', EXTRA_CA_FILE: hook.caFile },
})
after(async () => {
  await appliance.close()
  await hook[Symbol.asyncDispose]()
})
const team = await appliance.team()
const { db, outbox } = appliance.app

function heap(): number {
  collect()
  return process.memoryUsage().heapUsed + process.memoryUsage().external
}

async function count(sql: string): Promise<number> {
  return (await db.scan.get<{ count: number }>(sql))!.count
}

test('pending deliveries are stored on disk', async () => {
  const silent: ServerResponse[] = []
  // However long all this takes here: a request that was given up makes room for another one, and may still be open at this end.
  let [open, most] = [0, 0]
  hook.answer((_request, response) => {
    silent.push(response)
    most = Math.max(most, ++open)
    response.on('close', () => open--)
  })
  data(await appliance.call('POST', '/webhooks', team.key, { url: hook.url(), event_types: ['*'] }), 201)
  const before = heap()
  for (let made = 0; made < EVENTS; made += AT_ONCE) {
    await db.write((tx) => {
      for (let n = 0; n < AT_ONCE; n++) {
        const event = {
          teamId: team.id,
          type: 'message.delivered' as const,
          mailboxId: null,
          domainId: null,
          at: clock.now(),
        }
        outbox.record(tx, { ...event, data: { text: PADDING } })
      }
    })
  }
  // Spreading goes on by itself, a piece at a time.
  while ((await count('SELECT count(*) AS count FROM events WHERE dispatched = 0')) > 0);
  assert.equal(await count('SELECT count(*) AS count FROM webhook_queue'), EVENTS)
  const leased = await count('SELECT count(*) AS count FROM webhook_queue WHERE lease IS NOT NULL')
  // On a slow machine requests were given up by now. The clock stands still, so that the receiver seems quick and as many as for a quick one
  // are claimed ahead.
  const givenUp = silent.length - open
  const leasedMax = givenUp === 0 ? 32 : 512 + 4
  assert.ok(leased <= leasedMax, `${leased} claimed, at most ${leasedMax} after ${givenUp} requests that were given up`)
  const growth = heap() - before
  assert.ok(growth < GROWTH_MAX, `${Math.round(growth / 1024)} KiB more for ${EVENTS} events`)
  assert.ok(most <= 2 * 4, 'four at a time, and no more')

  hook.answer((_request, response) => response.end('ok'))
  for (const response of silent) response.end('ok')
  while (hook.requests.length < 1000) await hook.next()
  const known = `SELECT (SELECT count(*) FROM webhook_queue) + (SELECT count(*) FROM webhook_attempts WHERE result = 'success') AS count`
  assert.equal(await count(known), EVENTS)
  const ids = hook.requests.map(({ headers }) => headers['x-service-event-id'])
  assert.equal(new Set(ids).size, ids.length, 'no event is delivered twice')
})
