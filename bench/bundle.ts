// The program as it is started: the sources and the bundle, time until the ports are open and memory when idle.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { buildBundle } from '../scripts/build.ts'
import { BUNDLED_CLI } from '../scripts/bundle.js'
import { startEnv } from './mailstead.ts'
import { applianceEnv } from './settings.ts'
import { megabytes, printTable } from './table.ts'

const ROOT = join(import.meta.dirname, '..')
/** The second and third start find compiled code of the first. */
const STARTS = 3
/** By then the thread that checkpoints the databases after the start has ended, and what the start left is collected and returned. */
const SETTLE_MS = 45_000

interface Measured {
  openMs: number
  memoryBytes: number
}

async function measure(file: string, env: Record<string, string>): Promise<Measured> {
  const started = performance.now()
  const child = spawn(process.execPath, [join(ROOT, file), 'serve', '--json'], {
    // As scripts/run.js and the image start it.
    env: { ...process.env, ...startEnv(), ...env, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await opened(child)
    const openMs = performance.now() - started
    await pause(SETTLE_MS)
    const status = readFileSync(`/proc/${child.pid}/status`, 'latin1')
    return { openMs, memoryBytes: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024 }
  } finally {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}

async function opened(child: ChildProcess): Promise<void> {
  for await (const line of createInterface({ input: child.stdout! })) {
    if (line.includes('"appliance.started"')) break
  }
  // The log goes on; a full pipe would stop the process.
  child.stdout!.resume()
}

/** @param dns address of a DNS server */
export async function benchBundle(folder: string, dns: string): Promise<void> {
  await buildBundle()
  const rows: string[][] = []
  for (const [name, file] of [
    ['sources', 'src/cli/cli.ts'],
    ['bundle', BUNDLED_CLI],
  ] as const) {
    const env = {
      ...applianceEnv(join(folder, `idle-${name}`), dns),
      NODE_COMPILE_CACHE: join(folder, `compiled-${name}`),
    }
    const starts: Measured[] = []
    for (let i = 0; i < STARTS; i++) starts.push(await measure(file, env))
    const last = starts.at(-1)!
    rows.push([
      name,
      `${Math.round(starts[0]!.openMs)} ms`,
      `${Math.round(last.openMs)} ms`,
      megabytes(last.memoryBytes),
    ])
  }
  rows.push(['aim for the bundle', '', 'below 1,000 ms', 'below 150 MB'])
  printTable('Start and idle memory (RSS)', ['', 'first start', 'third start', 'idle'], rows)
}
