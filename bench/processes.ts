// Child processes of a benchmark: started, measured through /proc, and stopped by process id.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import type { MemoryGroup } from '../test/support/memory-group.ts'

const ROOT = join(import.meta.dirname, '..')
/** Clock ticks per second in /proc (USER_HZ, the same on every Linux). */
const TICKS = 100
const STOP_LIMIT_MS = 20_000
/** rspamd needs some 15 s on a busy machine. */
const OPEN_LIMIT_MS = 120_000
const OPEN_LOOK_MS = 20

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
  /** Rejects with what it has written, when it has ended. */
  failed: Promise<never>
  stop(): Promise<void>
}

/** Starts a TypeScript file of the project on the Node that runs this one; its output is shown only when it fails. @param group bounds its memory */
export function startNode(
  file: string,
  args: string[] = [],
  env: Record<string, string> = {},
  group?: MemoryGroup,
): Child {
  const command = [join(ROOT, file), ...args]
  const [program, rest] = group?.command(process.execPath, command) ?? [process.execPath, command]
  const child = spawn(program, rest, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Typed arrays and buffers as they are.
    serialization: 'advanced',
  })
  return wrap(child, file)
}

/** Starts a program that stays in the foreground, as the first of its process group: Postfix ends its group when it stops. */
function startProgram(program: string, args: string[]): Child {
  return wrap(spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true }), program)
}

/** Starts a program that stays in the foreground and waits until it listens; one that does not is stopped. @see untilOpen */
export async function startServer(command: readonly string[], at: number | string): Promise<Child> {
  const [program, ...args] = command
  const child = startProgram(program!, args)
  try {
    await untilOpen(child, at)
    return child
  } catch (error) {
    await child.stop()
    throw error
  }
}

/** The command with another /etc/resolv.conf, in a mount namespace of its own; for root. The process id stays that of the command. */
export function withResolver(resolver: string, command: readonly string[]): string[] {
  return ['unshare', '-m', 'sh', '-c', 'mount --bind "$0" /etc/resolv.conf && exec "$@"', resolver, ...command]
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/**
 * Waits until a child accepts connections on a port of loopback or a socket of the file system.
 * @throws Error what the child has written, when it has ended; or that it is late
 */
export async function untilOpen(child: Child, at: number | string): Promise<void> {
  const limit = performance.now() + OPEN_LIMIT_MS
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = typeof at === 'number' ? connect(at, '127.0.0.1') : connect(at)
      const settle = (open: boolean) => {
        socket.destroy()
        resolve(open)
      }
      socket.on('connect', () => settle(true)).on('error', () => settle(false))
    })
  while (!(await isOpen())) {
    if (performance.now() > limit) throw new Error(`Nothing listens at ${at} after ${OPEN_LIMIT_MS / 1000} s.`)
    await Promise.race([pause(OPEN_LOOK_MS), child.failed])
  }
}

/** Children that run. They are stopped with this process, also when it is interrupted: bench.ts makes an exit of that. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM')
})

function wrap(child: ChildProcess, name: string): Child {
  running.add(child)
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4000)
    })
  }
  const exit = once(child, 'exit')
  exit.then(
    () => running.delete(child),
    () => running.delete(child),
  )
  const failed = exit.then(([code, signal]): never => {
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
    failed,
    send: (message) => void child.send?.(message),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Sums a process and its living descendants; what dead children used is already in their parent's account. */
function usageOf(pid: number): Usage {
  const ids = [pid, ...descendantsOf(pid)]
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

function descendantsOf(pid: number): number[] {
  const parents = globSync('/proc/[0-9]*').map((path) => {
    const id = Number(path.slice('/proc/'.length))
    return { id, parent: Number(readStat(id)?.[4 - 3]) }
  })
  const found = new Set([pid])
  // A set that grows while it is walked: children are found before their own children are looked for.
  for (const each of found) for (const { id, parent } of parents) if (parent === each) found.add(id)
  found.delete(pid)
  return [...found]
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
