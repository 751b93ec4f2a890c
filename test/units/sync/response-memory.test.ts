// Servers that send large answers at the same time: their connections wait for their turn instead of holding all of it.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ResponseMemory } from '../../../src/sync/imap/response-memory.ts'
import type { AccountServer } from '../../../src/sync/model/server.ts'
import { ServerError } from '../../../src/sync/model/server.ts'
import { ManualClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { type HostileConnection, type HostileServer, startHostileImap } from '../../support/hostile-imap.ts'
import { openHostile } from '../../support/hostile-session.ts'

const KIB = 1024
const MIB = 1024 * KIB
const LIMITS = { waiting: 64 * KIB, working: 256 * KIB, large: 8 * MIB, turns: 2, teamTurns: 1 }
const HALF = Buffer.alloc(MIB, 'x')

const clock = new ManualClock()
/** Of messages that are announced and given by half, in the order in which they were asked for. */
const asked: (() => void)[] = []
let server: HostileServer
const HEADS = 16

/** Heads with a Message-ID of 1 MiB: twice as much as is ever held. */
function giveHeads(connection: HostileConnection, tag: string): void {
  for (let uid = 1; uid <= HEADS; uid++) {
    const field = `Message-ID: <${uid}@long.test>${' '.repeat(MIB)}\r\n\r\n`
    connection.write(
      `* ${uid} FETCH (UID ${uid} FLAGS () RFC822.SIZE 9 BODY[HEADER.FIELDS (MESSAGE-ID)] {${field.length}}\r\n`,
    )
    connection.write(`${field})\r\n`)
  }
  connection.write(`${tag} OK done\r\n`)
}

before(async () => {
  server = await startHostileImap({
    answers: {
      'UID FETCH': (connection: HostileConnection, tag: string, line: string) => {
        if (line.includes('MESSAGE-ID')) return giveHeads(connection, tag)
        connection.write(`* 1 FETCH (UID 1 BODY[] {${2 * HALF.length}}\r\n`)
        connection.write(HALF)
        asked.push(() => {
          connection.write(HALF)
          connection.write(`)\r\n${tag} OK done\r\n`)
        })
      },
      IDLE: (connection: HostileConnection) => void connection.flood('* OK still here\r\n'.repeat(1000)),
    },
  })
})
after(() => server[Symbol.asyncDispose]())

async function open(
  memory: ResponseMemory,
  team: string,
): Promise<{ account: AccountServer; isWaiting: () => boolean }> {
  const connection = memory.connection(team)
  const account = await openHostile(server, { clock, memory: connection })
  await account.select('INBOX', null)
  return { account, isWaiting: () => connection.isWaiting }
}

test('one team reads one large answer at a time, all teams two; the others are read when their turn comes', async () => {
  const memory = new ResponseMemory(clock, LIMITS)
  const all = await Promise.all(['a', 'a', 'b', 'c'].map((team) => open(memory, team)))
  asked.splice(0)
  const reading = []
  for (const [at, { account }] of all.entries()) {
    // A turn ends with the next command.
    reading.push(account.contents([1]).then(async (found) => [found, await account.select('INBOX', null)] as const))
    await eventually(() => asked.length === at + 1)
    if (at > 0 && at !== 2) await eventually(() => all[at]!.isWaiting())
  }
  const waiting = () => all.map(({ isWaiting }) => isWaiting())
  assert.deepEqual(waiting(), [false, true, false, true])
  for (const finish of asked) finish()
  const contents = await Promise.all(reading)
  assert.deepEqual(
    contents.map(([found]) => found.get(1)?.length),
    [2, 2, 2, 2].map((mib) => mib * MIB),
  )
  assert.deepEqual(waiting(), [false, false, false, false])
  await Promise.all(all.map(({ account }) => account.close()))
})

test('a turn ends when contents are about to be asked for: what waits for memory meanwhile keeps none', async () => {
  const memory = new ResponseMemory(clock, LIMITS)
  const [first, next] = await Promise.all([open(memory, 'a'), open(memory, 'a')])
  asked.splice(0)
  const given = first.account.contents([1])
  await eventually(() => asked.length === 1)
  asked[0]!()
  await given
  const found = next.account.contents([1])
  await eventually(() => next.isWaiting())
  await first.account.ready((wait) => wait())
  await eventually(() => !next.isWaiting())
  asked[1]!()
  assert.equal((await found).get(1)!.length, 2 * MIB)
  await Promise.all([first, next].map(({ account }) => account.close()))
})

test('an answer that is not finished ends its connection, and the next one is read', async () => {
  const memory = new ResponseMemory(clock, LIMITS)
  const [slow, next] = await Promise.all([open(memory, 'a'), open(memory, 'a')])
  asked.splice(0)
  const failed = slow.account.contents([1]).catch((error: unknown) => error)
  await eventually(() => asked.length === 1)
  const found = next.account.contents([1])
  await eventually(() => next.isWaiting())
  // The time in which it waits is not that of its server.
  clock.advance(121_000)
  const error = await failed
  assert.ok(error instanceof ServerError)
  await eventually(() => !next.isWaiting())
  asked[1]!()
  assert.equal((await found).get(1)!.length, 2 * MIB)
  await next.account.close()
})

test('what waits for changes may be sent little; nothing is read above the limit', async () => {
  const memory = new ResponseMemory(clock, { ...LIMITS, large: MIB })
  for (const call of [
    (account: AccountServer) => account.wait(1000, new AbortController().signal),
    (account: AccountServer) => account.contents([1]),
  ]) {
    const { account } = await open(memory, 'a')
    await assert.rejects(call(account), /above the limits/)
  }
})

test('of a long header field the beginning is held, and the others are read', async () => {
  const { account } = await open(new ResponseMemory(clock, LIMITS), 'a')
  const heads = await account.heads([[1, HEADS]])
  assert.deepEqual(
    heads.map(({ messageId }) => messageId),
    Array.from({ length: HEADS }, (_, at) => `<${at + 1}@long.test>`),
  )
  await account.close()
})
