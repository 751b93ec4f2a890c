// A mixed load for minutes or hours, and the memory of the appliance meanwhile: does it stay flat?

import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { BUNDLED_CLI } from '../scripts/bundle.js'
import { startDns } from '../test/support/dns.ts'
import { startHook } from '../test/support/hook.ts'
import { openMemoryGroup } from '../test/support/memory-group.ts'
import { type RemoteDovecot, remoteDovecotMissing, startRemoteDovecot } from '../test/support/remote-dovecot.ts'
import { makeKeys, zoneOf } from './mails.ts'
import { startEnv } from './mailstead.ts'
import { type Child, freePort, startNode, untilOpen } from './processes.ts'
import type { SeededSoak, SoakSeed } from './seed-soak.ts'
import { applianceEnv } from './settings.ts'
import { SoakLoad } from './soak-load.ts'
import { PROBE_EVERY_MS, PROBE_FOLDER, SNAPSHOT_REQUEST, type ThreadMemory } from './soak-probe.ts'

const BOXES = 12
const FAR_DOMAINS = 40
const HOOK = 'hook.soak.test'
const USER = 'soak@elsewhere.test'
/** Rows are printed this often. */
const ROW_MS = 60_000
const MIB = 1024 * 1024
/** A thread that has not written for so long has ended. */
const STALE_MS = 4 * PROBE_EVERY_MS

const HEAD = [
  ...['min', 'RSS', 'anon', 'file', 'heap', 'in use', 'external', 'buffers', 'native', 'threads', 'disk', 'CPU s'],
  ...['received', 'sent', 'errors'],
]

export interface SoakOptions {
  /** How long the load runs. */
  minutes: number
  /** Part of the full load, above 0: 0.2 does everything five times more seldom. */
  rate: number
  /** Minutes at which every thread writes a heap snapshot. */
  snapshots: readonly number[]
  /** Memory of the appliance, MiB; null for that of the machine. */
  limitMib: number | null
}

export async function benchSoak(folder: string, options: SoakOptions): Promise<void> {
  const { minutes, rate, snapshots, limitMib } = options
  const probes = join(folder, 'probes')
  mkdirSync(probes)
  const keys = makeKeys()
  await using hook = await startHook(HOOK)
  await using dns = await startDns(zoneOf(keys))
  const outside = remoteDovecotMissing() ? null : await startRemoteDovecot()
  await using _outside = outside ?? { async [Symbol.asyncDispose]() {} }
  await using sink = startNode('bench/sink.ts')
  const { port: sinkPort } = await sink.message<{ port: number }>()
  const [smtp, app, send, imaps] = [await freePort(), await freePort(), await freePort(), await freePort()]
  const env = {
    ...applianceEnv(join(folder, 'soak'), dns.address),
    ...{ SMTP_PORT: String(smtp), HTTP_PORT: String(app), SEND_PORT: String(send), IMAPS_PORT: String(imaps) },
    ...{ DIRECT_PORT: String(sinkPort), ALLOW_PRIVATE_SMTP_HOSTS: 'true', ALLOW_PRIVATE_WEBHOOKS: 'true' },
    ...{ ALLOW_PRIVATE_IMAP_HOSTS: 'true', EXTRA_CA_FILE: hook.caFile },
    ...{ IMAP_MAX_PER_ADDRESS: '5000', IMAP_MAX_PER_MAILBOX: '5000' },
  }
  const emails = Array.from({ length: BOXES }, (_, n) => `box${n}@bench.test`)
  const seeded = await seed(env, { mailboxes: emails, webhook: hook.url(), outside: accountAt(outside) })
  publish(dns, seeded)
  const probe = `--import=${join(import.meta.dirname, 'soak-probe.ts')}`
  const started = startEnv()
  using group = limitMib === null ? undefined : openMemoryGroup(limitMib * MIB)
  const settings = { ...started, ...env, [PROBE_FOLDER]: probes, NODE_OPTIONS: `${started.NODE_OPTIONS} ${probe}` }
  await using child = startNode(BUNDLED_CLI, ['serve', '--json'], settings, group)
  for (const port of [smtp, app, imaps]) await untilOpen(child, port)
  const load = new SoakLoad({
    ...{ smtp, imaps, app, send, teamKey: seeded.teamKey, signingKey: keys.private, rate },
    boxes: emails.map((email, n) => ({ email, key: seeded.keys[n]! })),
    outside: outside === null ? null : { server: outside, user: USER, key: seeded.outsideKey! },
  })
  console.log(
    `\nMixed load, ${rate} of the full rate, for ${minutes} minutes${limitMib === null ? '' : ` in ${limitMib} MiB`}; MB`,
  )
  console.log(HEAD.map((name) => name.padStart(8)).join(' '))
  const running = Promise.race([load.run(), child.failed])
  const printer = new SoakPrinter({ child, load, probes, data: join(folder, 'soak') })
  for (let minute = 0; minute <= minutes; minute++) {
    await Promise.race([pause(minute === 0 ? PROBE_EVERY_MS * 2 : ROW_MS), running])
    hook.requests.length = 0
    printer.print(minute)
    if (snapshots.includes(minute)) await printer.snapshot()
  }
  load.end()
  await running
  for (const [error, count] of load.errors) console.log(`  ${count} × ${error}`)
  console.log([...load.counts].map(([name, count]) => `${name} ${count}`).join(', '))
}

function accountAt(server: RemoteDovecot | null): SoakSeed['outside'] {
  return server === null ? null : { port: server.port, user: USER, password: server.password }
}

async function seed(env: Record<string, string>, request: SoakSeed): Promise<SeededSoak> {
  await using child = startNode('bench/seed-soak.ts', [], env)
  child.send(request)
  const seeded = await child.message<SeededSoak>()
  await child.ended
  return seeded
}

function publish(dns: Awaited<ReturnType<typeof startDns>>, { dkim }: SeededSoak): void {
  const ttl = 3600
  const far = Array.from({ length: FAR_DOMAINS }, (_, n) => [
    `far${n}.test`,
    { MX: [{ priority: 1, exchange: 'mx.sink.test' }], ttl },
  ])
  dns.negativeTtl = ttl
  Object.assign(dns.zone, Object.fromEntries(far), {
    'mx.sink.test': { A: ['127.0.0.1'], ttl },
    [HOOK]: { A: ['127.0.0.1'], ttl },
    ...Object.fromEntries(dkim.map(({ name, value }) => [name, { TXT: [value], ttl }])),
  })
}

interface PrinterDeps {
  child: Child
  load: SoakLoad
  /** Folder of the files of `soak-probe.ts`. */
  probes: string
  data: string
}

class SoakPrinter {
  readonly #deps: PrinterDeps

  constructor(deps: PrinterDeps) {
    this.#deps = deps
  }

  print(minute: number): void {
    const { child, load, data } = this.#deps
    const status = readFileSync(`/proc/${child.pid}/status`, 'latin1')
    const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
    const threads = this.#threads()
    const sum = (member: keyof ThreadMemory) => threads.reduce((total, one) => total + one[member], 0)
    const anonymous = kib('RssAnon') * 1024
    const cells = [
      ...[kib('VmRSS') * 1024, anonymous, kib('RssFile') * 1024, sum('heapTotal'), sum('heapUsed')],
      ...[sum('external'), sum('arrayBuffers'), anonymous - sum('heapTotal') - sum('external')],
    ].map((bytes) => String(Math.round(bytes / MIB)))
    const errors = [...load.errors.values()].reduce((total, count) => total + count, 0)
    const rest = [kib('Threads'), Math.round(bytesIn(data) / MIB), Math.round(child.usage().cpuSeconds)]
    const counts = [load.counts.get('smtp') ?? 0, load.counts.get('send') ?? 0, errors]
    console.log([minute, ...cells, ...rest, ...counts].map((cell) => String(cell).padStart(8)).join(' '))
  }

  /** Heap snapshots of all threads, beside their memory. */
  async snapshot(): Promise<void> {
    const request = join(this.#deps.probes, SNAPSHOT_REQUEST)
    writeFileSync(request, '')
    await pause(PROBE_EVERY_MS * 3)
    rmSync(request)
    const made = readdirSync(this.#deps.probes).filter((name) => name.endsWith('.heapsnapshot'))
    for (const name of made) {
      const target = join('/tmp', `soak-${name}`)
      copyFileSync(join(this.#deps.probes, name), target)
      rmSync(join(this.#deps.probes, name))
      console.log(`  ${target}`)
    }
  }

  #threads(): ThreadMemory[] {
    const { probes } = this.#deps
    const names = readdirSync(probes).filter((name) => name.endsWith('.json'))
    const all = names.map((name) => JSON.parse(readFileSync(join(probes, name), 'utf8')) as ThreadMemory)
    return all.filter(({ at }) => Date.now() - at < STALE_MS)
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).reduce((sum, entry) => {
    try {
      return sum + (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0)
    } catch {
      // Removed in between: a file of the spool.
      return sum
    }
  }, 0)
}
