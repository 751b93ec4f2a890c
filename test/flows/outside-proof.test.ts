// Accounts at real servers: imported while the appliance is killed again and again, then changed on both sides; each time both are equal.
// OUTSIDE_SERVERS says where; OUTSIDE_MESSAGES and OUTSIDE_CHANGES say how many; more than the suite takes by itself is for a night of testing.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
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

const MESSAGES = Number(process.env.OUTSIDE_MESSAGES ?? 100)
const CHANGES = Number(process.env.OUTSIDE_CHANGES ?? 30)
const SEED = Number(process.env.SEED ?? 1)
const KILLS = 4
/** Cyrus and Courier take a minute or two each: they are added by name. */
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

/** Kills the appliance each time another part of the import is done. */
async function importUnderKills(dataDir: string, account: OutsideAccount, key: string): Promise<number> {
  let [killed, reached] = [0, 0]
  for (;;) {
    const [http] = await freePorts()
    const child = await serve(servedEnv(dataDir, { ...env, HTTP_PORT: String(http), RATE_LIMIT_PER_MINUTE: '100000' }))
    const record = async () => {
      const url = `http://127.0.0.1:${http}/api/v1/remote-accounts/${account.id}`
      const answer = await fetch(url, { headers: { authorization: `Bearer ${key}`, host: 'app.sending.test' } })
      return ((await answer.json()) as { data: { status: string; import: { messages_done: number } } }).data
    }
    const ended = once(child, 'exit')
    let isActive = false
    try {
      let done = reached
      do {
        await new Promise((resolve) => setTimeout(resolve, 20))
        const current = await record()
        assert.notEqual(current.status, 'error', JSON.stringify(current))
        isActive = current.status === 'active'
        done = current.import.messages_done
      } while (!isActive && (killed >= KILLS || done < reached + MESSAGES / (KILLS + 1)))
      reached = done
    } finally {
      child.kill(isActive ? 'SIGTERM' : 'SIGKILL')
      await ended
    }
    if (isActive) return killed
    killed++
  }
}

/** Reads both sides until they are equal. @throws AssertionError after 60 s */
async function untilEqual(
  appliance: TestAppliance,
  sides: { here: () => Promise<FolderContents>; there: () => Promise<FolderContents> },
  sync: () => Promise<unknown>,
) {
  const end = performance.now() + 60_000
  for (;;) {
    await sync()
    await appliance.settle()
    const [here, there] = [await sides.here(), await sides.there()]
    const differences = differencesOf(here, there)
    if (differences.length === 0) return { here, there }
    if (performance.now() > end) assert.deepEqual(differences.slice(0, 30), [], `seed ${SEED}`)
  }
}

for (const side of SIDES.filter(({ name }) => SERVERS.includes(name))) {
  test(`${side.name}: imported under kills, then changed on both sides at random`, { skip: side.skip }, async () => {
    const { user = EMAIL } = side
    await using open = new AsyncDisposableStack()
    const server = open.use(await side.start())
    const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-proof-'))
    open.defer(() => rm(dataDir, { recursive: true, force: true }))
    const parts = [
      Math.ceil(MESSAGES * 0.6),
      Math.floor(MESSAGES * 0.3),
      MESSAGES - Math.ceil(MESSAGES * 0.6) - Math.floor(MESSAGES * 0.3),
    ]
    await server.fill(user, '', proofMessages(0, parts[0]!))
    await server.fill(user, 'Work', proofMessages(parts[0]!, parts[1]!))
    // The same message twice in a folder is two messages.
    await server.fill(user, 'Archive', [
      ...proofMessages(parts[0]! + parts[1]!, parts[2]! - 1),
      proofMessage(parts[0]! + parts[1]!),
    ])

    const first = await startAppliance({ dataDir, env })
    const team = await first.team()
    const account = await attach(first, team, server, { user, email: EMAIL })
    await first.close()
    const killed = await importUnderKills(dataDir, account, team.key)
    assert.ok(killed > 0)

    const clock = new ManualClock(Date.now())
    const appliance = open.use(await startAppliance({ dataDir, env, clock }))
    const far = open.use(await signIn(server, user))
    const near = await signInHere(appliance, account)
    open.defer(() => near.close())
    const sides = { here: () => contentsOf(near), there: () => contentsOf(far) }
    const sync = async () => {
      clock.advance(11_000)
      await appliance.call('POST', `/remote-accounts/${account.id}/sync`, team.key)
    }
    const imported = await untilEqual(appliance, sides, sync)
    assert.equal(Object.values(imported.here).flat().length, MESSAGES)

    const random = new Random(SEED)
    for (let n = 0; n < CHANGES; n++) {
      await Promise.all([changeAtRandom(near, random, 100_000 + n), changeAtRandom(far, random, 200_000 + n)])
    }
    await untilEqual(appliance, sides, sync)
  })
}
