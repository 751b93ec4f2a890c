// A whole appliance for a test: temporary data, free ports, the real main without signals, and its own DNS server.

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVENTS } from '../../src/api/schemas/events.ts'
import type { Clock } from '../../src/base/clock.ts'
import { type Log, openLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Context } from '../../src/context.ts'
import { type Check, closed, compileCheck } from '../../src/http/validate.ts'
import type { Appliance } from '../../src/main.ts'
import type { OpenServer } from '../../src/sync/model/server.ts'
import { assertDescribed } from './described.ts'
import { suppliedDkimPair } from './dkim-pairs.ts'
import { type LocalDns, startDns, type Zone } from './dns.ts'
import { layEmptyDatabase } from './empty-database.ts'
import { openAppliance } from './program.ts'

const eventChecks = new Map<keyof typeof EVENTS, Check>()

export interface ApplianceSetup {
  clock?: Clock
  /** DNS records of the appliance's DNS server. */
  zone?: Zone
  /** Receives the log; silent unless TEST_LOG says otherwise. */
  log?: Log
  /** Connects to the servers of outside accounts. */
  openServer?: OpenServer
  /** Whether remote pictures and the like may come from this machine. */
  fetchesPrivate?: boolean
  /** Settings on top of those of the test. */
  env?: Record<string, string>
  /** Whether the workers run in threads; by default on this thread with the clock of the test. */
  workers?: 'threads' | 'here'
  /** A data folder to keep; a temporary one by default. */
  dataDir?: string
}

/** A parsed response of the API. */
export interface Reply {
  status: number
  headers: Headers
  // The assertions of each test check the JSON, not types.
  body: Json
}

// biome-ignore lint/suspicious/noExplicitAny: the content of a response is unknown until a test has checked it
export type Json = any

export interface TestAppliance extends AsyncDisposable {
  app: Context
  ports: Appliance['ports']
  origin: string
  sendOrigin: string
  dns: LocalDns
  dataDir: string
  /** Resolves when nothing is due and no delivery is in progress. */
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
  /** Creates a team with a root key with all permissions. */
  team(name?: string): Promise<TestTeam>
  close(): Promise<void>
}

export interface TestTeam {
  id: string
  key: string
  /** Creates a domain of this team; names under `.test` are verified immediately. */
  domain(name: string): Promise<string>
  /** Creates a mailbox with a key with all scopes. */
  mailbox(email: string, options?: { quotaBytes?: number }): Promise<{ id: string; email: string; key: string }>
}

export async function startAppliance(setup: ApplianceSetup = {}): Promise<TestAppliance> {
  const dataDir = setup.dataDir ?? (await mkdtemp(join(tmpdir(), 'mailstead-test-')))
  if (setup.dataDir === undefined) await layEmptyDatabase(dataDir)
  const dns = await startDns(setup.zone ?? {})
  const appliance = await openOnFreePorts(setup, dataDir, dns).catch(async (error: unknown) => {
    await dns[Symbol.asyncDispose]()
    throw error
  })
  return furnish(appliance, { dns, dataDir, keep: setup.dataDir !== undefined })
}

// The origins must be known before the ports are bound; another process may bind them in between.
async function openOnFreePorts(setup: ApplianceSetup, dataDir: string, dns: LocalDns): Promise<Appliance> {
  for (let tries = 1; ; tries++) {
    try {
      return await open(setup, dataDir, dns)
    } catch (error) {
      if (tries === 5 || !String((error as Error).message).includes('in use')) throw error
    }
  }
}

async function open(setup: ApplianceSetup, dataDir: string, dns: LocalDns): Promise<Appliance> {
  const [http, send] = await freePorts()
  const config = loadConfig(
    {
      DATA_DIR: dataDir,
      HTTP_PORT: String(http),
      SEND_PORT: String(send),
      SMTP_PORT: '0',
      // Receives in this thread, on the clock of the test and with what the test replaces in the context.
      RECEIVE_THREADS: process.env.TEST_RECEIVE_THREADS ?? '0',
      HTTP_BIND: '127.0.0.1',
      SMTP_BIND: '127.0.0.1',
      CLIENT_PROTOCOLS: 'imaps,imap,submissions,submission,managesieve',
      CLIENT_BIND: '127.0.0.1',
      IMAPS_PORT: '0',
      IMAP_PORT: '0',
      SUBMISSIONS_PORT: '0',
      SUBMISSION_PORT: '0',
      MANAGESIEVE_PORT: '0',
      OPERATOR_BIND: '127.0.0.1:0',
      APP_ORIGIN: `http://127.0.0.1:${http}`,
      SEND_ORIGIN: `http://127.0.0.1:${send}`,
      MAIL_HOSTS: 'mx.mailstead.test',
      DNS_SERVERS: dns.address,
      // Many calls of one test use one key; the limit itself is tested with its own setting.
      RATE_LIMIT_PER_MINUTE: '100000',
      LOG_LEVEL: process.env.TEST_LOG ?? 'silent',
      ...setup.env,
    },
    join(dataDir, 'no-settings-file.json'),
  )
  const workers = setup.workers ?? 'here'
  const log = setup.log ?? openLog(config.LOG_LEVEL)
  return openAppliance(config, {
    ...{ clock: setup.clock, log, checkReplies: true, workers, newDkimPair: suppliedDkimPair },
    fetchesPrivate: setup.fetchesPrivate,
    ...(setup.openServer === undefined ? {} : { openServer: setup.openServer }),
  })
}

function furnish(
  appliance: Appliance,
  { dns, dataDir, keep }: { dns: LocalDns; dataDir: string; keep: boolean },
): TestAppliance {
  const { app } = appliance
  const origin = app.config.APP_ORIGIN
  let closed = false

  const call: TestAppliance['call'] = async (method, path, key, body, headers = {}) => {
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
    if (surface !== undefined) assertDescribed(surface, method, pathname, response)
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
      await appliance.close()
      await dns[Symbol.asyncDispose]()
      if (!keep) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
    }
  }

  return {
    app,
    ports: appliance.ports,
    origin,
    sendOrigin: app.config.SEND_ORIGIN,
    dns,
    dataDir,
    call,
    get: (path, key, headers) => call('GET', path, key, undefined, headers),
    settle: () => appliance.settle(),
    team: (name = 'Team') => seedTeam(app, name),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function seedTeam(app: Context, name: string): Promise<TestTeam> {
  const { teams, keys, domains } = app.directory
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
      const mailbox = await app.administration.mailboxes.create(team.id, { email, ...options })
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

// When an appliance closes no row names missing content, and no content is without a row.
async function checkContent(app: Context): Promise<void> {
  const hashes = async () => new Set((await app.store.blobs.hashes()).map((hash) => Buffer.from(hash).toString('hex')))
  const kept = await hashes()
  const rows = await app.db.scan.all<{ blob: Uint8Array }>(
    'SELECT blob FROM messages UNION SELECT blob FROM emails WHERE blob IS NOT NULL UNION SELECT sha256 AS blob FROM uploads ' +
      'UNION SELECT bodies AS blob FROM drafts WHERE bodies IS NOT NULL UNION SELECT blob FROM kept_contents ' +
      'UNION SELECT blob FROM removed_messages',
  )
  const named = new Set(rows.map((row) => Buffer.from(row.blob).toString('hex')))
  // Work of the appliance goes on meanwhile, and writes content before its row: what rows name was there after they were read.
  const later = await hashes()
  const missing = [...named].filter((hash) => !later.has(hash))
  assert.deepEqual(missing, [], 'every message has its content')
  const orphans = [...kept].filter((hash) => !named.has(hash))
  // Content of sent messages is released and stays until the next sweep: at most once for each message that is finished or erased; a
  // draft has its bodies as well. A queued message may have been on its way into a local mailbox when the appliance closed: its copy's content is written before its row.
  const [{ released }] = (await app.db.scan.all<{ released: number }>(
    `SELECT (SELECT count(*) FROM emails WHERE blob IS NULL) + (SELECT count(*) FROM queue) +
       2 * (SELECT count(*) FROM changes WHERE type = 'messages' AND gone = 1) AS released`,
  )) as [{ released: number }]
  assert.ok(orphans.length <= released, `${orphans.length} contents belong to no message, ${released} were released`)
}

/** Every event of a test has the documented format. */
async function checkEvents(app: Context): Promise<void> {
  for (const { body } of await app.db.scan.all<{ body: string }>('SELECT body FROM events LIMIT 500')) {
    const event = JSON.parse(body) as { type: keyof typeof EVENTS; data: object }
    // Tests of webhook delivery create events without content.
    if (Object.keys(event.data).length < 2) continue
    const check = eventChecks.get(event.type) ?? compileCheck(closed(EVENTS[event.type]))
    eventChecks.set(event.type, check)
    assert.deepEqual(check.passes(event) ? [] : check.issues(event), [], body)
  }
}

/** Below the ports of outgoing connections (from 32768 on): they stay free while a server that was killed is away. */
const [FIRST_PORT, LAST_PORT] = [12_000, 32_000]

/** Two different free ports of loopback, for servers that start again on the same one. */
export async function freePorts(): Promise<[number, number]> {
  const first = await freePort()
  let second = first
  while (second === first) second = await freePort()
  return [first, second]
}

async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}
