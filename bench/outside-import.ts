// Follows the import of an outside account: its rate, memory and heaps at several points, a kill -9 amid it, and changes meanwhile.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { THREADS } from '../src/jobs/workers.ts'
import { type Mailstead, startEnv } from './mailstead.ts'
import type { SeededAccount } from './seed-outside.ts'

const LOOK_MS = 200
/** Memory is compared at these parts of the import. */
const POINTS = [0.1, 0.5, 0.9]
/** Parts of the import at which both sides change, and at which the appliance is killed. */
const CHANGED_AT = 0.3
const KILLED_AT = 0.6
const REPORT = 'report.json'
const REPORT_MS = 10_000

/** Of the appliance at one moment, bytes. */
export interface MemoryPoint {
  messages: number
  /** RSS, and what of it is no mapped file. */
  resident: number
  anonymous: number
  /** Heaps in use: of the first thread, of the one that imports, and of all others. */
  heaps: { first: number; sync: number; others: number }
}

export interface ImportResult {
  /** Without the time from the kill until the import goes on. */
  seconds: number
  cpuSeconds: number
  /** Until the newest message can be read. */
  readableMs: number
  /** From the kill -9 until the first message after it, with the start of the process. */
  goesOnMs: number
  points: MemoryPoint[]
}

export interface ImportWatch {
  /** Starts the appliance, again after it was killed. */
  start(): Promise<Mailstead>
  account: SeededAccount
  messages: number
  /** Subject of the newest message. */
  newest: string
  /** Done while the import runs. */
  onChanges(mailstead: Mailstead): Promise<void>
}

/** Lets the appliance write its heaps to a file when it is asked to. */
export function reportEnv(folder: string): Record<string, string> {
  const options = ['--report-on-signal', '--report-exclude-network', '--report-exclude-env', '--report-compact']
  const target = [`--report-dir=${folder}`, `--report-filename=${REPORT}`]
  return { NODE_OPTIONS: [startEnv().NODE_OPTIONS, ...options, ...target].join(' ') }
}

/** @throws Error with what the appliance has written, when it has ended */
export async function get({ app, child }: Mailstead, path: string, key: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}`, host: 'app.bench.test' }
  const answer = await fetch(`http://127.0.0.1:${app}/api/v1${path}`, { headers }).catch(async (error: unknown) => {
    await Promise.race([child.failed, pause(LOOK_MS)])
    throw error
  })
  return ((await answer.json()) as { data: unknown }).data
}

interface Progress {
  status: string
  status_reason: string | null
  import: { messages_done: number }
}

async function progressOf(mailstead: Mailstead, { id, key }: SeededAccount): Promise<Progress> {
  const record = (await get(mailstead, `/remote-accounts/${id}`, key)) as Progress
  if (record.status === 'error' || record.status === 'delayed')
    throw new Error(`The import failed: ${record.status_reason}`)
  return record
}

/** @param folder where the appliance writes its reports: see {@link reportEnv} */
export async function watchImport(folder: string, watch: ImportWatch): Promise<[ImportResult, Mailstead]> {
  const { account, messages, newest } = watch
  let mailstead = await watch.start()
  const result: ImportResult = { seconds: 0, cpuSeconds: 0, readableMs: 0, goesOnMs: 0, points: [] }
  let [began, isChanged, isKilled] = [0, false, false]
  for (let before = mailstead.child.usage().cpuSeconds; ; await pause(LOOK_MS)) {
    const record = await progressOf(mailstead, account)
    const now = performance.now()
    if (began === 0 && record.status !== 'pending') began = now - LOOK_MS / 2
    const part = record.import.messages_done / messages
    if (result.readableMs === 0 && (await isReadable(mailstead, account, newest)))
      result.readableMs = performance.now() - began
    const isActive = record.status === 'active'
    if (isActive || part >= (POINTS[result.points.length] ?? 2))
      result.points.push(await memoryOf(folder, mailstead, record.import.messages_done))
    if (isActive) {
      result.seconds = (now - began - result.goesOnMs) / 1000
      result.cpuSeconds += mailstead.child.usage().cpuSeconds - before
      return [result, mailstead]
    }
    if (!isChanged && part >= CHANGED_AT) {
      isChanged = true
      await watch.onChanges(mailstead)
    }
    if (isKilled || part < KILLED_AT) continue
    isKilled = true
    result.cpuSeconds += mailstead.child.usage().cpuSeconds - before
    const killedAt = performance.now()
    process.kill(mailstead.child.pid, 'SIGKILL')
    await mailstead.child.ended
    const { import: kept } = record
    mailstead = await watch.start()
    before = 0
    while ((await progressOf(mailstead, account)).import.messages_done <= kept.messages_done) await pause(LOOK_MS / 4)
    result.goesOnMs = performance.now() - killedAt
  }
}

async function isReadable(mailstead: Mailstead, { mailboxKey }: SeededAccount, newest: string): Promise<boolean> {
  const [first] = (await get(mailstead, '/mailbox/messages?limit=1', mailboxKey)) as { subject: string }[]
  return first?.subject === newest
}

async function memoryOf(folder: string, { child }: Mailstead, messages: number): Promise<MemoryPoint> {
  const status = readFileSync(`/proc/${child.pid}/status`, 'latin1')
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
  const [resident, anonymous] = [kilobytes('VmRSS') * 1024, kilobytes('RssAnon') * 1024]
  return { messages, resident, anonymous, heaps: await heapsOf(folder, child.pid) }
}

interface Report {
  header: { threadId: number }
  javascriptHeap: { usedMemory: number }
  workers: Report[]
}

async function heapsOf(folder: string, pid: number): Promise<MemoryPoint['heaps']> {
  const file = join(folder, REPORT)
  process.kill(pid, 'SIGUSR2')
  const report = await reportIn(file, performance.now() + REPORT_MS)
  rmSync(file)
  // The first threads to be started are numbered in this order.
  const syncId = 1 + THREADS.findIndex(({ name }) => name === 'sync')
  const used = (reports: readonly Report[]) => reports.reduce((sum, one) => sum + one.javascriptHeap.usedMemory, 0)
  const isSync = ({ header }: Report) => header.threadId === syncId
  return {
    first: report.javascriptHeap.usedMemory,
    sync: used(report.workers.filter(isSync)),
    others: used(report.workers.filter((one) => !isSync(one))),
  }
}

async function reportIn(file: string, until: number): Promise<Report> {
  for (;;) {
    await pause(50)
    try {
      if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Report
    } catch (error) {
      // It is being written.
      if (performance.now() > until) throw error
    }
    if (performance.now() > until) throw new Error('The appliance has written no report.')
  }
}
