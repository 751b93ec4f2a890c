// Accounts at real servers: imported while the appliance is killed again and again, then changed on both sides; each time both are equal.
// OUTSIDE_SERVERS says where; OUTSIDE_MESSAGES and OUTSIDE_CHANGES say how many; more than the suite takes by itself is for a night of testing.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { amount } from '../support/amount.ts'
import { freePorts, startAppliance, type TestAppliance } from '../support/appliance.ts'
import { ManualClock } from '../support/clock.ts'
import { attach, type OutsideAccount, signIn } from '../support/outside.ts'
import {
  changeAtRandom,
  contentsOf,
  differencesOf,
  type FolderContents,
  proofMessage,
  proofMessages,
  signInHere,
} from '../support/outside-proof.ts'
import { Random } from '../support/random.ts'
import { remoteCourierMissing, startRemoteCourier } from '../support/remote-courier.ts'
import { CYRUS_USER, remoteCyrusMissing, startRemoteCyrus } from '../support/remote-cyrus.ts'
import { type RemoteServer, remoteDovecotMissing, startRemoteDovecot } from '../support/remote-dovecot.ts'
import { serve, servedEnv } from '../support/served.ts'

const MESSAGES = Number(process.env.OUTSIDE_MESSAGES ?? amount(60, 100))
const CHANGES = Number(process.env.OUTSIDE_CHANGES ?? amount(10, 30))
const SEED = Number(process.env.SEED ?? 1)
/** How often each import is interrupted, and after how many more messages. */
const KILLS = amount(1, 2)
const PART = MESSAGES / (2 * KILLS + 2)
/** Cyrus and Courier are added by name. */
const SERVERS = (process.env.OUTSIDE_SERVERS ?? 'Dovecot,Dovecot without CONDSTORE').split(',')
const env = { ALLOW_PRIVATE_IMAP_HOSTS: 'true' }
const EMAIL = 'proof@elsewhere.test'

interface Side {
  name: string
  skip: false | string
  start(): Promise<RemoteServer>
  /** The address, unless given. */
  user?: string
}

/** Dovecot as it is without QRESYNC, CONDSTORE, MOVE and IDLE. */
const PLAIN = ['imap_capability = IMAP4rev1 UIDPLUS NAMESPACE LITERAL+ SPECIAL-USE']

const SIDES: Side[] = [
  { name: 'Dovecot', skip: remoteDovecotMissing(), start: () => startRemoteDovecot() },
  {
    name: 'Dovecot without CONDSTORE',
    skip: remoteDovecotMissing(),
    start: () => startRemoteDovecot({ config: ['protocol imap {', ...PLAIN, '}'] }),
  },
  { name: 'Courier', skip: remoteCourierMissing(), start: startRemoteCourier },
  { name: 'Cyrus', skip: remoteCyrusMissing(), start: startRemoteCyrus, user: CYRUS_USER },
]

/** An account at one of the servers. */
interface Proof {
  side: Side
  server: RemoteServer
  user: string
  account: OutsideAccount
  /** How often the appliance was killed while a part more of it was imported. */
  killed: number
  /** Messages that were imported at the last kill. */
  reached: number
}

interface ImportRecord {
  status: string
  import: { messages_done: number }
}

/** Kills the appliance each time another part of an import is done, until each has seen it often enough. */
async function importUnderKills(dataDir: string, proofs: readonly Proof[], key: string): Promise<void> {
  const isDone = new Set<Proof>()
  while (isDone.size < proofs.length) {
    const [http] = await freePorts()
    const child = await serve(servedEnv(dataDir, { ...env, HTTP_PORT: String(http), RATE_LIMIT_PER_MINUTE: '100000' }))
    const call = async (method: string, path: string) => {
      const headers = { authorization: `Bearer ${key}`, host: 'app.sending.test' }
      const answer = await fetch(`http://127.0.0.1:${http}/api/v1/remote-accounts/${path}`, { method, headers })
      return ((await answer.json()) as { data: ImportRecord }).data
    }
    const recordOf = async ({ account: { id } }: Proof) => {
      const record = await call('GET', id)
      return record.status === 'paused' ? call('POST', `${id}/resume`) : record
    }
    const ended = once(child, 'exit')
    try {
      for (let isKilled = false; !isKilled && isDone.size < proofs.length; ) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        const open = proofs.filter((proof) => !isDone.has(proof))
        const records = await Promise.all(open.map(recordOf))
        const running = open.flatMap((proof, index) => {
          const { status, import: done } = records[index]!
          assert.notEqual(status, 'error', `${proof.side.name}: ${JSON.stringify(records[index])}`)
          if (status === 'active') isDone.add(proof)
          return status === 'active' ? [] : { proof, done: done.messages_done }
        })
        isKilled = running.some(({ proof, done }) => proof.killed < KILLS && done >= proof.reached + PART)
        for (const { proof, done } of isKilled ? running : []) {
          if (done > proof.reached) proof.killed++
          proof.reached = done
        }
      }
    } finally {
      child.kill(isDone.size === proofs.length ? 'SIGTERM' : 'SIGKILL')
      await ended
    }
  }
}

/** What both sides of an account have. */
interface Sides {
  here(): Promise<FolderContents>
  there(): Promise<FolderContents>
}

/** Compares after each synchronisation until both sides are equal. @throws AssertionError after 60 s */
async function untilEqual(appliance: TestAppliance, sides: Sides, sync: () => Promise<unknown>) {
  const end = performance.now() + 60_000
  for (;;) {
    await sync()
    await appliance.settle()
    const [here, there] = await Promise.all([sides.here(), sides.there()])
    const differences = differencesOf(here, there)
    if (differences.length === 0) return here
    if (performance.now() > end) assert.deepEqual(differences.slice(0, 30), [], `seed ${SEED}`)
  }
}

/** Fills the folders of a user. */
async function fill(server: RemoteServer, user: string): Promise<void> {
  const [inbox, work] = [Math.ceil(MESSAGES * 0.6), Math.floor(MESSAGES * 0.3)]
  await server.fill(user, '', proofMessages(0, inbox))
  await server.fill(user, 'Work', proofMessages(inbox, work))
  // The same message twice in a folder is two messages.
  const first = inbox + work
  await server.fill(user, 'Archive', [...proofMessages(first, MESSAGES - first - 1), proofMessage(first)])
}

const chosen = SIDES.filter(({ name }) => SERVERS.includes(name))
for (const { name, skip } of chosen) if (skip !== false) test(name, { skip }, () => {})

test('accounts are imported under kills, then changed on both sides at random', async (t) => {
  await using open = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-proof-'))
  open.defer(() => rm(dataDir, { recursive: true, force: true }))
  const present = chosen.filter(({ skip }) => skip === false)
  const first = await startAppliance({ dataDir, env })
  const team = await first.team()
  const begin = async (side: Side, index: number): Promise<Proof> => {
    const server = open.use(await side.start())
    const { user = EMAIL } = side
    await fill(server, user)
    const account = await attach(first, team, server, { user, email: `proof${index}@elsewhere.test` })
    // The import goes on with the process that is killed.
    await first.call('POST', `/remote-accounts/${account.id}/pause`, team.key)
    return { side, server, user, account, killed: 0, reached: 0 }
  }
  const proofs = await Promise.all(present.map(begin))
  await first.close()
  await importUnderKills(dataDir, proofs, team.key)

  const clock = new ManualClock(Date.now())
  const appliance = open.use(await startAppliance({ dataDir, env, clock }))
  const check = async ({ side, server, user, account, killed }: Proof) => {
    assert.ok(killed > 0)
    const far = open.use(await signIn(server, user))
    const near = await signInHere(appliance, account)
    open.defer(() => near.close())
    const sides = { here: () => contentsOf(near), there: () => contentsOf(far) }
    const sync = async () => {
      clock.advance(11_000)
      await appliance.call('POST', `/remote-accounts/${account.id}/sync`, team.key)
    }
    const imported = await untilEqual(appliance, sides, sync)
    assert.equal(Object.values(imported).flat().length, MESSAGES)

    const random = new Random(SEED)
    for (let n = 0; n < CHANGES; n++) {
      await Promise.all([changeAtRandom(near, random, 100_000 + n), changeAtRandom(far, random, 200_000 + n)])
    }
    await untilEqual(appliance, sides, sync)
    t.diagnostic(`${side.name}: ${MESSAGES} messages, killed ${killed} times, ${CHANGES} changes on each side`)
  }
  await Promise.all(proofs.map((proof) => t.test(proof.side.name, () => check(proof))))
})
