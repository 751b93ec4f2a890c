// The memory that this process may use, of the machine or of its control groups, and the shares of it that its parts may take.

import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'

const MIB = 1024 * 1024
/** Of the memory; the rest is for the other threads, and for what is not in the heap of V8: buffers, SQLite and its pages. */
const HEAP_SHARE = 1 / 2
/** Bytes that the appliance takes under load without large messages: code, heaps of the threads, page caches. */
const BASE_BYTES = 272 * MIB
const GROUPS = '/sys/fs/cgroup'

/** Reads a file as text; null when there is none. Replaced in tests. */
export type ReadText = (path: string) => string | null

/** Bytes. A container or a unit of systemd may have less than its machine. */
export function memoryBytes(read: ReadText = readText, machine = totalmem()): number {
  const groups = (read('/proc/self/cgroup') ?? '').split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
  const limits = groups.flatMap((group) => {
    const [, controllers = '', path = '/'] = group ?? []
    if (group === null) return []
    if (controllers === '') return unifiedLimits(read, path)
    return controllers.split(',').includes('memory') ? legacyLimits(read, path) : []
  })
  // Knows the bounds of other systems too; without one it is 0, or a number above the memory of any machine.
  const bounds = [process.constrainedMemory(), ...limits].filter((bound) => bound > 0)
  return Math.min(machine, ...bounds)
}

/** cgroup v2: a group is bound by its own limits and by those of all groups above it. `memory.high` throttles instead of ending a process. */
function unifiedLimits(read: ReadText, path: string): number[] {
  return foldersUp(path).flatMap((folder) =>
    ['memory.max', 'memory.high'].flatMap((name) => numberIn(read(join(GROUPS, folder, name)))),
  )
}

/** cgroup v1: `memory.stat` has the least limit of the group and those above it. In a container, its own group is mounted as the root. */
function legacyLimits(read: ReadText, path: string): number[] {
  const folder = [join(GROUPS, 'memory', path), join(GROUPS, 'memory')].find(
    (name) => read(join(name, 'memory.stat')) !== null,
  )
  if (folder === undefined) return []
  const stat = /^hierarchical_memory_limit (\d+)$/m.exec(read(join(folder, 'memory.stat'))!)?.[1] ?? null
  return [...numberIn(stat), ...numberIn(read(join(folder, 'memory.limit_in_bytes')))]
}

/** The folder of a group and those above it, the root last: in a container, the own group is mounted as the root. */
function foldersUp(path: string): string[] {
  const folders = [path]
  while (folders.at(-1) !== '/' && folders.at(-1) !== '.') folders.push(dirname(folders.at(-1)!))
  return folders
}

/** "max" stands for no limit. */
function numberIn(text: string | null): number[] {
  const value = Number(text?.trim() || Number.NaN)
  return Number.isFinite(value) ? [value] : []
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return null
  }
}

/** Whether the parts of the appliance do with less, bytes of memory below 1 GiB. */
export function isSmallMachine(memory = memoryBytes()): boolean {
  return memory < 1024 * MIB
}

/**
 * A bound for the old generation of a thread, MiB. V8 collects early only when a heap comes near its bound: with one above the memory of the
 * machine it would let the heap grow until the kernel ends the process, with all threads.
 * @param most on a machine with enough memory
 */
export function oldGenerationMb(most: number, memory = memoryBytes()): number {
  return Math.min(most, Math.floor((memory * HEAP_SHARE) / MIB))
}

/** How much of the memory beside the base a part may take, bytes. */
export interface MemoryShare {
  /** From 0 to 1. */
  share: number
  /** Below it the part could not do its work. */
  least: number
  /** More is of no use. */
  most: number
}

/** Bytes that a part may take. */
export function shareBytes({ share, least, most }: MemoryShare, memory = memoryBytes()): number {
  return Math.min(most, Math.max(least, Math.floor((memory - BASE_BYTES) * share)))
}
