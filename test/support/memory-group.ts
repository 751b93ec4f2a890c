// A control group with a limit on memory, for a process as it runs in a small container: cgroup v1 or v2, where this process may make one.

import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'

const ROOT = '/sys/fs/cgroup'

/** Where groups are made, and the name of the file with the limit. */
interface Hierarchy {
  folder: string
  limitFile: string
}

export interface MemoryGroup extends Disposable {
  /** The command that runs another one in the group, under the same process id. */
  command(program: string, args: readonly string[]): [program: string, args: string[]]
  /** A figure of memory.stat, bytes. */
  stat(name: string): number
  /** Highest use of all that the kernel counts, files in the page cache included, bytes. */
  peak(): number
}

/** For node:test's `skip`: false where a group can be made, else the reason. */
export function memoryGroupMissing(): false | string {
  return find() === null ? `no control group with a memory limit can be made below ${ROOT}: run as root` : false
}

/** @throws Error see {@link memoryGroupMissing} */
export function openMemoryGroup(limitBytes: number): MemoryGroup {
  const hierarchy = find()
  if (hierarchy === null) throw new Error(String(memoryGroupMissing()))
  const folder = join(hierarchy.folder, `mailstead-${process.pid}-${Math.random().toString(36).slice(2)}`)
  mkdirSync(folder)
  writeFileSync(join(folder, hierarchy.limitFile), String(limitBytes))
  const read = (name: string) => readFileSync(join(folder, name), 'latin1')
  const isUnified = hierarchy.limitFile === 'memory.max'
  return {
    command: (program, args) => [
      'sh',
      ['-c', 'echo $$ > "$0" && exec "$@"', join(folder, 'cgroup.procs'), program, ...args],
    ],
    stat: (name) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(read('memory.stat'))?.[1] ?? Number.NaN),
    peak: () => Number(read(isUnified ? 'memory.peak' : 'memory.max_usage_in_bytes')),
    [Symbol.dispose]: () => rmdirSync(folder),
  }
}

function find(): Hierarchy | null {
  const groups = readFileSync('/proc/self/cgroup', 'latin1')
  const legacy = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(groups)?.[1]
  if (legacy !== undefined) {
    const folder = join(ROOT, 'memory', legacy)
    return isWritable(folder) ? { folder, limitFile: 'memory.limit_in_bytes' } : null
  }
  const unified = /^0::(.*)$/m.exec(groups)?.[1]
  if (unified === undefined) return null
  // A group that holds processes has no children with limits: beside it.
  for (const folder of [join(ROOT, unified), join(ROOT, dirname(unified))]) {
    if (isWritable(folder) && controlsOf(folder).includes('memory')) return { folder, limitFile: 'memory.max' }
  }
  return null
}

function controlsOf(folder: string): string[] {
  try {
    return readFileSync(join(folder, 'cgroup.subtree_control'), 'latin1').trim().split(' ')
  } catch {
    return []
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
