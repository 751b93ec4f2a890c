// Child processes of a benchmark: started, measured through /proc, and stopped by process id.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const ROOT = join(import.meta.dirname, '..')
/** Clock ticks per second in /proc (USER_HZ, the same on every Linux). */
const TICKS = 100
const STOP_LIMIT_MS = 20_000

/** What a process (with all its threads and children) has used so far. */
export interface Usage {
  cpuSeconds: number
  /** Of these, what the first thread used: in Node the one that talks to everybody. */
  mainSeconds: number
  /** RSS of one process; of a process with children the proportional shares (PSS), so that shared pages count once. */
  memoryBytes: number
}

export interface Child extends AsyncDisposable {
  pid: number
  usage(): Usage
  /** The next message of the child over IPC. */
  message<T>(): Promise<T>
  send(message: object): void
  /** Resolves when it has ended by itself. */
  ended: Promise<void>
  stop(): Promise<void>
}

/** Starts a TypeScript file of the project on the Node that runs this one; its output is shown only when it fails. */
export function startNode(file: string, args: string[] = [], env: Record<string, string> = {}): Child {
  const child = spawn(process.execPath, [join(ROOT, file), ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Typed arrays and buffers as they are.
    serialization: 'advanced',
  })
  return wrap(child, file)
}

/** Starts a program that stays in the foreground. */
export function startProgram(program: string, args: string[]): Child {
  return wrap(spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] }), program)
}

function wrap(child: ChildProcess, name: string): Child {
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4000)
    })
  }
  const exit = once(child, 'exit')
  const failed = exit.then(([code, signal]) => {
    throw new Error(`${name} ended (${code ?? signal}):\n${output}`)
  })
  failed.catch(() => {})
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS)
    await exit
    clearTimeout(late)
  }
  return {
    pid: child.pid!,
    usage: () => usageOf(child.pid!),
    message: <T>() => Promise.race([once(child, 'message').then(([message]) => message as T), failed]),
    ended: exit.then(() => {}),
    send: (message) => void child.send?.(message),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Sums a process and its living children; what dead children used is already in their parent's account. */
function usageOf(pid: number): Usage {
  const ids = [pid, ...childrenOf(pid)]
  // Fields of proc(5), counted from 1: utime 14, stime 15, cutime 16, cstime 17.
  const ticks = ids.flatMap((id) => [14, 15, 16, 17].map((field) => Number(readStat(id)?.[field - 3] ?? 0)))
  const memory =
    ids.length > 1 ? ids.map((id) => readMemory(id, 'smaps_rollup', 'Pss')) : [readMemory(pid, 'status', 'VmRSS')]
  const main = [14, 15].map((field) => Number(readStat(pid, `task/${pid}/`)?.[field - 3] ?? 0))
  return { cpuSeconds: sum(ticks) / TICKS, mainSeconds: sum(main) / TICKS, memoryBytes: sum(memory) }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** One line of a file in /proc that counts kilobytes. */
function readMemory(pid: number, file: string, line: string): number {
  try {
    const text = readFileSync(`/proc/${pid}/${file}`, 'latin1')
    return Number(new RegExp(`^${line}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

function childrenOf(pid: number): number[] {
  const ids = globSync('/proc/[0-9]*').map((path) => Number(path.slice('/proc/'.length)))
  return ids.filter((id) => readStat(id)?.[4 - 3] === String(pid))
}

/** The fields after the name, which itself may hold spaces and parentheses. */
function readStat(pid: number, thread = ''): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/${thread}stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
