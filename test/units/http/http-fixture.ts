// The HTTP middleware over a real database in a temporary folder, with a few sample routes and fixed keys.

import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLog } from '../../../src/base/log.ts'
import { MemoryShares } from '../../../src/base/memory-shares.ts'
import { Vault } from '../../../src/base/secrets.ts'
import { loadConfig } from '../../../src/config/load.ts'
import type { Context } from '../../../src/context.ts'
import { Db } from '../../../src/db/db.ts'
import { Limits } from '../../../src/directory/names/limits.ts'
import type { Recognised } from '../../../src/directory/names/principal.ts'
import { Replays } from '../../../src/directory/names/replays.ts'
import { RequestLog } from '../../../src/directory/names/request-log.ts'
import { type HttpService, openHttp } from '../../../src/http/app.ts'
import type { Route } from '../../../src/http/route.ts'
import { ManualClock } from '../../support/clock.ts'
import { copyEmptyDatabase } from '../../support/empty-database.ts'

export const TEAM = `team_${'a'.repeat(24)}`
export const OTHER_TEAM = `team_${'b'.repeat(24)}`
export const MAILBOX = `mbx_${'a'.repeat(24)}`

const ORIGINS = { APP_ORIGIN: 'https://mail.example', SEND_ORIGIN: 'https://send.mail.example' }

/** What each sample secret stands for. */
const KEYS = new Map<string, Recognised>([
  ['root', team(TEAM, 'key_root', ['domain.*', 'webhook.*'])],
  ['reader', team(TEAM, 'key_reader', ['domain.read'])],
  ['other', team(OTHER_TEAM, 'key_other', ['domain.*'])],
  ['suspended', { ...team(TEAM, 'key_suspended', ['domain.*']), suspended: true }],
  ['mailbox', mailbox('key_mailbox', ['mailbox.read'])],
])

function team(teamId: string, keyId: string, permissions: string[]): Recognised {
  return { principal: { kind: 'team', keyId, teamId, permissions }, suspended: false }
}

function mailbox(keyId: string, permissions: string[]): Recognised {
  return { principal: { kind: 'mailbox', keyId, teamId: TEAM, mailboxId: MAILBOX, permissions }, suspended: false }
}

export interface HttpFixtureOptions {
  env?: Record<string, string>
  clock?: ManualClock
  /** Folder of the database, to open the same one again. */
  folder?: string
  checkReplies?: boolean
}

/** A running fixture. */
export interface HttpFixture extends AsyncDisposable {
  app: string
  send: string
  port: number
  http: HttpService
  clock: ManualClock
  db: Db
  folder: string
  /** Lines of the log. */
  lines: Record<string, unknown>[]
  /** Credentials that were looked up. */
  looked: Set<string>
  /** Fetches from the app origin with a key (`root` unless given; null for none). */
  call(path: string, init?: RequestInit & { key?: string | null }): Promise<Reply>
  /** Stops the fixture but keeps its folder. */
  stop(): Promise<void>
}

/** A response read to its end. */
export interface Reply {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came back
  json: any
}

export async function openHttpFixture(
  routes: readonly Route[],
  options: HttpFixtureOptions = {},
): Promise<HttpFixture> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'mailstead-http-'))
  const clock = options.clock ?? new ManualClock()
  const config = loadConfig(
    {
      HTTP_PORT: '0',
      OPERATOR_BIND: '127.0.0.1:0',
      SEND_PORT: '0',
      HTTP_BIND: '127.0.0.1',
      ...ORIGINS,
      ...options.env,
    },
    join(folder, 'no-settings.json'),
  )
  await copyEmptyDatabase(join(folder, 'mail.db'))
  const db = new Db({ file: join(folder, 'mail.db') })
  const lines: Record<string, unknown>[] = []
  const looked = new Set<string>()
  const log = openLog('info', { write: (line: string) => lines.push(JSON.parse(line)) })
  const directory = {
    requests: new RequestLog({ db, clock }),
    keys: {
      recogniser(secret: string) {
        looked.add(secret)
        return () => KEYS.get(secret)
      },
      get: () => undefined,
    },
    replays: new Replays(db, clock),
    limits: new Limits(db),
  }
  const vault = new Vault(Buffer.alloc(32, 7))
  const people = { audit: { record: async () => {} }, sessions: { read: () => undefined } }
  // No mailbox of the fixture has mail.
  const store = { accounts: { byMailbox: () => undefined } }
  // No mailbox has a send policy.
  const outbound = { held: { policies: { isUnder: () => false } } }
  // Without HTTPS no certificate is looked at.
  const certificate = { onChange: () => {} }
  const notifier = { listen: () => () => {} }
  const memory = new MemoryShares(clock)
  const app = {
    config,
    clock,
    log,
    memory,
    db,
    vault,
    directory,
    people,
    store,
    outbound,
    certificate,
    notifier,
  } as unknown as Context
  let http: HttpService
  try {
    http = openHttp(app, routes, { checkReplies: options.checkReplies ?? true })
    await http.start()
  } catch (error) {
    await db.close()
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  const origin = `http://127.0.0.1:${http.ports.app}`
  let open = true
  const stop = async () => {
    if (!open) return
    open = false
    await http.stop()
    await db.close()
  }
  return {
    app: origin,
    send: `http://127.0.0.1:${http.ports.send}`,
    port: http.ports.app,
    ...{ http, clock, db, folder, lines, looked, stop },
    call: (path, init) => call(origin + path, init),
    async [Symbol.asyncDispose]() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function call(url: string, init: RequestInit & { key?: string | null } = {}): Promise<Reply> {
  const { key = 'root', ...rest } = init
  const headers = new Headers(rest.headers)
  if (key !== null && !headers.has('authorization')) headers.set('authorization', `Bearer ${key}`)
  const response = await fetch(url, { redirect: 'manual', ...rest, headers })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true && text !== ''
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : null }
}

/** Posts JSON. */
export function posted(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  }
}

/** Sends bytes as they are and reads until the other side closes. */
export function speak(port: number, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    const done = () => resolve(Buffer.concat(chunks).toString('latin1'))
    socket
      .on('data', (chunk) => chunks.push(chunk as Buffer))
      .on('close', done)
      .on('error', () => {})
  })
}
