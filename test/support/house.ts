// A whole appliance for a test: temporary data, free ports, the true main without signals, and its own name server.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVENTS } from '../../src/api/schemas/events.ts'
import type { Clock } from '../../src/base/clock.ts'
import { openLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Context } from '../../src/context.ts'
import { type Check, closed, compileCheck } from '../../src/http/validate.ts'
import { type Appliance, openAppliance } from '../../src/main.ts'
import { assertDescribed } from './described.ts'
import { type LocalDns, startDns, type Zone } from './dns.ts'

const eventChecks = new Map<keyof typeof EVENTS, Check>()

export interface HouseSetup {
  clock?: Clock
  /** DNS records the house's name server answers with. */
  zone?: Zone
  /** Settings on top of those of the test. */
  env?: Record<string, string>
  /** Whether the workers have threads of their own; on this thread and the clock of the test unless said. */
  workers?: 'threads' | 'here'
  /** A data folder that is kept; a temporary one otherwise. */
  dataDir?: string
}

/** A reply of the API, read. */
export interface Reply {
  status: number
  headers: Headers
  // The API's JSON is judged by the assertions of each test, not by types.
  body: Json
}

// biome-ignore lint/suspicious/noExplicitAny: what the API answers is unknown until the assertions of a test have looked at it
export type Json = any

export interface TestHouse extends AsyncDisposable {
  app: Context
  ports: Appliance['ports']
  origin: string
  sendOrigin: string
  dns: LocalDns
  dataDir: string
  /** Resolves when nothing is due and nothing is in hand. */
  settle(): Promise<void>
  /** Calls the API; a body is sent as JSON. */
  call(
    method: string,
    path: string,
    key?: string | null,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply>
  get(path: string, key?: string | null, headers?: Record<string, string>): Promise<Reply>
  /** A team with a root key that may do everything. */
  team(name?: string): Promise<TestTeam>
  close(): Promise<void>
}

export interface TestTeam {
  id: string
  key: string
  /** A domain of this team; names under `.test` are verified at once. */
  domain(name: string): Promise<string>
  /** A mailbox with a key that may do everything a mailbox may. */
  mailbox(email: string, options?: { quotaBytes?: number }): Promise<{ id: string; email: string; key: string }>
}

export async function startHouse(setup: HouseSetup = {}): Promise<TestHouse> {
  const dataDir = setup.dataDir ?? (await mkdtemp(join(tmpdir(), 'mailstead-test-')))
  const dns = await startDns(setup.zone ?? {})
  const house = await openOnFreePorts(setup, dataDir, dns).catch(async (error: unknown) => {
    await dns[Symbol.asyncDispose]()
    throw error
  })
  return furnish(house, { dns, dataDir, keep: setup.dataDir !== undefined })
}

// The origins must be known before the ports are bound; somebody else may bind them in between.
async function openOnFreePorts(setup: HouseSetup, dataDir: string, dns: LocalDns): Promise<Appliance> {
  for (let tries = 1; ; tries++) {
    try {
      return await open(setup, dataDir, dns)
    } catch (error) {
      if (tries === 5 || !String((error as Error).message).includes('in use')) throw error
    }
  }
}

async function open(setup: HouseSetup, dataDir: string, dns: LocalDns): Promise<Appliance> {
  const [http, send] = await freePorts()
  const config = loadConfig(
    {
      DATA_DIR: dataDir,
      HTTP_PORT: String(http),
      SEND_PORT: String(send),
      SMTP_PORT: '0',
      HTTP_BIND: '127.0.0.1',
      SMTP_BIND: '127.0.0.1',
      OPERATOR_BIND: '127.0.0.1:0',
      APP_ORIGIN: `http://127.0.0.1:${http}`,
      SEND_ORIGIN: `http://127.0.0.1:${send}`,
      MAIL_HOSTS: 'mx.mailstead.test',
      DNS_SERVERS: dns.address,
      // Many calls of one test come from one key; the limit itself is tested with its own setting.
      RATE_LIMIT_PER_MINUTE: '100000',
      LOG_LEVEL: process.env.TEST_LOG ?? 'silent',
      ...setup.env,
    },
    join(dataDir, 'no-settings-file.json'),
  )
  const workers = setup.workers ?? 'here'
  return openAppliance(config, { clock: setup.clock, log: openLog(config.LOG_LEVEL), checkReplies: true, workers })
}

function furnish(
  house: Appliance,
  { dns, dataDir, keep }: { dns: LocalDns; dataDir: string; keep: boolean },
): TestHouse {
  const { app } = house
  const origin = app.config.APP_ORIGIN
  let closed = false

  const call: TestHouse['call'] = async (method, path, key, body, headers = {}) => {
    const target = path.startsWith('http')
      ? path
      : origin + (path.startsWith('/api/') || path.startsWith('/.') ? path : `/api/v1${path}`)
    const response = await fetch(target, {
      method,
      redirect: 'manual',
      headers: {
        ...(key ? { authorization: `Bearer ${key}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    })
    const surfaces = { [origin]: 'app', [app.config.SEND_ORIGIN]: 'send' } as const
    const { origin: asked, pathname } = new URL(target)
    const surface = surfaces[asked]
    if (surface !== undefined) assertDescribed(surface, method, pathname, response.status)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson && text !== '' ? JSON.parse(text) : text) as Json,
    }
  }

  const close = async () => {
    if (closed) return
    closed = true
    try {
      await checkContent(app)
      await checkEvents(app)
    } finally {
      await house.close()
      await dns[Symbol.asyncDispose]()
      if (!keep) await rm(dataDir, { recursive: true, force: true })
    }
  }

  return {
    app,
    ports: house.ports,
    origin,
    sendOrigin: app.config.SEND_ORIGIN,
    dns,
    dataDir,
    call,
    get: (path, key, headers) => call('GET', path, key, undefined, headers),
    settle: () => house.settle(),
    team: (name = 'Team') => seedTeam(app, name),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function seedTeam(app: Context, name: string): Promise<TestTeam> {
  const { teams, keys, domains, mailboxes } = app.directory
  const team = await teams.create({ name })
  const issued = await keys.issue({
    teamId: team.id,
    kind: 'root',
    name: 'test',
    role: 'root:full',
    createdBy: 'operator',
  })
  return {
    id: team.id,
    key: issued.secret,
    async domain(domain) {
      return (await domains.create(team.id, domain)).id
    },
    async mailbox(email, options = {}) {
      const mailbox = await mailboxes.create(team.id, { email, ...options })
      const key = await keys.issue({
        teamId: team.id,
        kind: 'mailbox',
        mailboxId: mailbox.id,
        name: 'test',
        createdBy: 'operator',
      })
      return { id: mailbox.id, email, key: key.secret }
    },
  }
}

// Architecture §9: at the end of each house no row names content that is missing, and no content is without a row.
async function checkContent(app: Context): Promise<void> {
  const kept = new Set((await app.store.blobs.hashes()).map((hash) => Buffer.from(hash).toString('hex')))
  const rows = await app.db.scan.all<{ blob: Uint8Array }>(
    'SELECT blob FROM messages UNION SELECT blob FROM emails WHERE blob IS NOT NULL UNION SELECT sha256 AS blob FROM uploads',
  )
  const named = new Set(rows.map((row) => Buffer.from(row.blob).toString('hex')))
  const missing = [...named].filter((hash) => !kept.has(hash))
  assert.deepEqual(missing, [], 'every message has its content')
  const orphans = [...kept].filter((hash) => !named.has(hash))
  // What has left is released and lies there until the next clean-up: at most once for each mail that is done with or erased. One that
  // still waits may have been on its way into a mailbox here when the house closed: its copy's content comes before its row.
  const [{ released }] = (await app.db.scan.all<{ released: number }>(
    `SELECT (SELECT count(*) FROM emails WHERE blob IS NULL) + (SELECT count(*) FROM queue) +
       (SELECT count(*) FROM changes WHERE type = 'messages' AND gone = 1) AS released`,
  )) as [{ released: number }]
  assert.ok(orphans.length <= released, `${orphans.length} contents belong to no message, ${released} were let go of`)
}

/** What happened in a test is told in the agreed form, whatever the test was about. */
async function checkEvents(app: Context): Promise<void> {
  for (const { body } of await app.db.scan.all<{ body: string }>('SELECT body FROM events LIMIT 500')) {
    const event = JSON.parse(body) as { type: keyof typeof EVENTS; data: object }
    // Tests of the telling alone make up events that say next to nothing.
    if (Object.keys(event.data).length < 2) continue
    const check = eventChecks.get(event.type) ?? compileCheck(closed(EVENTS[event.type]))
    eventChecks.set(event.type, check)
    assert.deepEqual(check.passes(event) ? [] : check.issues(event), [], body)
  }
}

/** Two different ones: a port that was let go of may be given again at once. */
export async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()]
  const ports = servers.map(async (server) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as { port: number }).port
  })
  const [first, second] = await Promise.all(ports)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return [first!, second!]
}
