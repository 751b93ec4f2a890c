// What accounts hold in memory and do at a time: one team never keeps the others from working.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RemoteAccount } from '../../../src/sync/model/records.ts'
import { TURN_MS } from '../../../src/sync/model/work-slots.ts'
import { ContentMemory } from '../../../src/sync/session/content-memory.ts'
import { type RoundDeps, SyncSession } from '../../../src/sync/session/sync-session.ts'
import { ManualClock } from '../../support/clock.ts'

const MIB = 1024 * 1024

/** Begins work of a team that ends when it is told to. */
function begin(start: (work: () => Promise<void>) => Promise<void>) {
  const end = Promise.withResolvers<void>()
  const state = { isRunning: false, end: end.resolve, done: Promise.resolve() }
  state.done = start(() => {
    state.isRunning = true
    return end.promise
  })
  return state
}

const turn = () => new Promise(setImmediate)

test('accounts of one team whose servers are slow leave room for those of another', async () => {
  const memory = new ContentMemory(new ManualClock())
  const slow = Array.from({ length: 20 }, () => begin((work) => memory.working({ teamId: 'team_a' }, work)))
  const other = begin((work) => memory.working({ teamId: 'team_b' }, work))
  await turn()
  assert.deepEqual([slow.filter(({ isRunning }) => isRunning).length, other.isRunning], [6, true])
  slow[0]!.end()
  await turn()
  assert.equal(slow[6]!.isRunning, true)
  for (const one of [...slow, other]) one.end()
  await Promise.all([...slow, other].map(({ done }) => done))
})

test('teams whose servers are slow leave room for another, and give way to it', async () => {
  const memory = new ContentMemory(new ManualClock())
  const part = Promise.withResolvers<void>()
  const workOf = (teamId: string) =>
    Array.from({ length: 10 }, () =>
      begin((work) =>
        memory.working({ teamId }, async (slot) => {
          await part.promise
          await slot.yieldTurn()
          await work()
        }),
      ),
    )
  const slow = [...workOf('team_a'), ...workOf('team_b')]
  await turn()
  const quick = begin((work) => memory.working({ teamId: 'team_c' }, work))
  await turn()
  assert.equal(quick.isRunning, true)
  // Three teams have all of it: the next one waits for a part of the work, and not for all.
  const next = begin((work) => memory.working({ teamId: 'team_d' }, work))
  await turn()
  assert.equal(next.isRunning, false)
  part.resolve()
  await turn()
  assert.equal(next.isRunning, true)
  const running = [slow.slice(0, 10), slow.slice(10)].map((all) => all.filter(({ isRunning }) => isRunning).length)
  assert.deepEqual(running, [3, 2])
  const all = [...slow, quick, next]
  for (const one of all) one.end()
  await Promise.all(all.map(({ done }) => done))
})

test('a team with all that may work at a server gives way to another team there', async () => {
  const memory = new ContentMemory(new ManualClock())
  const part = Promise.withResolvers<void>()
  const at = (teamId: string) => ({ teamId, server: 'imap.mail.test' })
  const first = Array.from({ length: 6 }, () =>
    begin((work) =>
      memory.working(at('team_a'), async (slot) => {
        await part.promise
        await slot.yieldTurn()
        await work()
      }),
    ),
  )
  const other = begin((work) => memory.working(at('team_b'), work))
  await turn()
  assert.equal(other.isRunning, false)
  part.resolve()
  await turn()
  assert.deepEqual([first.filter(({ isRunning }) => isRunning).length, other.isRunning], [5, true])
  for (const one of [...first, other]) one.end()
  await Promise.all([...first, other].map(({ done }) => done))
})

test('teams with one account each take turns with another that waits, and not at each part of the work', async () => {
  const clock = new ManualClock()
  const memory = new ContentMemory(clock)
  let ended = false
  const worked: string[] = []
  let parts = Promise.withResolvers<void>()
  const rounds = Array.from({ length: 9 }, (_, n) =>
    memory.working({ teamId: `team_${n}` }, async (slot) => {
      while (!ended) {
        worked.push(`team_${n}`)
        await parts.promise
        await slot.yieldTurn()
      }
    }),
  )
  /** All that have a slot do a part of their work. @returns who did the next one */
  const next = async (ms: number) => {
    clock.advance(ms)
    worked.length = 0
    const done = parts
    parts = Promise.withResolvers()
    done.resolve()
    await turn()
    return [...new Set(worked)].sort().join(' ').replaceAll('team_', '')
  }
  const all = '0 1 2 3 4 5 6 7'
  assert.equal(await next(0), all)
  assert.equal(await next(TURN_MS - 1), all)
  const second = await next(1)
  assert.equal(second, '1 2 3 4 5 6 7 8')
  // The others have worked for as long as the one that gave way, which has none now and has not waited.
  for (const ms of [0, 1, TURN_MS - 2]) assert.equal(await next(ms), second)
  const third = await next(1)
  assert.match(third, /^0 /)
  assert.equal(third.length, all.length, 'one of the others gave way')
  ended = true
  await next(0)
  await Promise.all(rounds)
})

test('an account ends its last answer before it gives way: others may wait for what it holds', async () => {
  const steps: string[] = []
  const slot = { yieldTurn: async () => void steps.push('gives way'), without: (wait: () => Promise<void>) => wait() }
  const deps = {
    memory: { working: (_: unknown, work: (given: typeof slot) => Promise<void>) => work(slot) },
    store: { accounts: { byMailbox: () => ({}) } },
    db: {},
  }
  const server = { ready: async () => void steps.push('ends the answer') }
  const connection = { server, token: '', signal: new AbortController().signal }
  const account = { teamId: 'team_a', auth: 'password', imap: null } as RemoteAccount
  const session = new SyncSession(deps as unknown as RoundDeps, account, connection as never)
  await session.working(() => session.ready())
  assert.deepEqual(steps, ['ends the answer', 'gives way'])
})

test('a large message holds no more than its team may have', async () => {
  const memory = new ContentMemory(new ManualClock())
  const large = begin((work) => memory.holding({ teamId: 'team_a' }, 50 * MIB, work))
  const waits = begin((work) => memory.holding({ teamId: 'team_a' }, 1, work))
  const other = begin((work) => memory.holding({ teamId: 'team_b' }, 4 * MIB, work))
  await turn()
  assert.deepEqual([large.isRunning, waits.isRunning, other.isRunning], [true, false, true])
  large.end()
  await turn()
  assert.equal(waits.isRunning, true)
  for (const one of [waits, other]) one.end()
  await Promise.all([large, waits, other].map(({ done }) => done))
})

test('the bounds of all teams together hold', async () => {
  const memory = new ContentMemory(new ManualClock())
  const teams = ['team_a', 'team_b', 'team_c']
  const rounds = teams.flatMap((team) =>
    Array.from({ length: 6 }, () => begin((work) => memory.working({ teamId: team }, work))),
  )
  const large = teams.map((team) => begin((work) => memory.holding({ teamId: team }, 50 * MIB, work)))
  await turn()
  assert.equal(rounds.filter(({ isRunning }) => isRunning).length, 8)
  assert.equal(large.filter(({ isRunning }) => isRunning).length, 2)
  for (const one of [...rounds, ...large]) one.end()
  await Promise.all([...rounds, ...large].map(({ done }) => done))
})

test('an account that may not be read now lets others work, and waits for its turn again', async () => {
  const memory = new ContentMemory(new ManualClock())
  const paced = Promise.withResolvers<void>()
  const slow = Array.from({ length: 6 }, () =>
    begin((work) =>
      memory.working({ teamId: 'team_a' }, async (slot) => {
        await slot.without(() => paced.promise)
        await work()
      }),
    ),
  )
  await turn()
  const other = begin((work) => memory.working({ teamId: 'team_a' }, work))
  await turn()
  assert.equal(other.isRunning, true)
  paced.resolve()
  await turn()
  const running = () => slow.filter(({ isRunning }) => isRunning).length
  assert.equal(running(), 5)
  other.end()
  await turn()
  assert.equal(running(), 6)
  for (const one of slow) one.end()
  await Promise.all([...slow, other].map(({ done }) => done))
})

test('a slow server with accounts of several teams leaves room for the accounts at others', async () => {
  const memory = new ContentMemory(new ManualClock())
  const at = (server: string, n: number) => ({ teamId: `team_${server}_${n}`, server })
  const slow = Array.from({ length: 20 }, (_, n) => begin((work) => memory.working(at('slow', n), work)))
  const large = Array.from({ length: 2 }, (_, n) => begin((work) => memory.holding(at('slow', n), 50 * MIB, work)))
  const others = [
    begin((work) => memory.working(at('other', 1), work)),
    begin((work) => memory.holding(at('other', 1), 50 * MIB, work)),
  ]
  await turn()
  const running = [slow, large, others].map((all) => all.filter(({ isRunning }) => isRunning).length)
  assert.deepEqual(running, [6, 1, 2])
  const all = [...slow, ...large, ...others]
  for (const one of all) one.end()
  await Promise.all(all.map(({ done }) => done))
})

test('what is larger than its server had said is held, and waits for those before it', async () => {
  const memory = new ContentMemory(new ManualClock())
  const team = { teamId: 'team_a' }
  const known = Promise.withResolvers<void>()
  const first = begin((work) => memory.holding(team, 10 * MIB, work))
  const larger = begin((work) =>
    memory.holding(team, 1, async (holds) => {
      await known.promise
      await holds(8 * MIB)
      await work()
    }),
  )
  await turn()
  known.resolve()
  await turn()
  assert.deepEqual([first.isRunning, larger.isRunning], [true, false])
  first.end()
  await turn()
  const waits = begin((work) => memory.holding(team, 10 * MIB, work))
  await turn()
  assert.deepEqual([larger.isRunning, waits.isRunning], [true, false])
  larger.end()
  waits.end()
  await Promise.all([first, larger, waits].map(({ done }) => done))
})
