// How long the processors worked for a process, and for all processes it started and waited for.

import { appendFileSync, readFileSync } from 'node:fs'
import process from 'node:process'

/** Linux counts in hundredths of a second, on every architecture (`getconf CLK_TCK`). */
const TICKS_PER_SECOND = 100

/** @returns seconds of this process; on Linux with those of its children that have ended, and of theirs */
export function processorSeconds(): number {
  try {
    // proc(5): the name, which stands in parentheses, may contain spaces; utime, stime, cutime and cstime are fields 14 to 17.
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const ticks = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
    return ticks.reduce((sum, field) => sum + Number(field), 0) / TICKS_PER_SECOND
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
}

/** Where processes of tests note what each file took: a file, one line for each. */
export const NOTES = 'MAILSTEAD_TEST_TIMES'

/** Notes for the run what a test file took. @param file relative to the root */
export function noteProcessorTime(file: string, seconds: number): void {
  const notes = process.env[NOTES]
  if (notes !== undefined) appendFileSync(notes, `${seconds.toFixed(2)} ${file}\n`)
}

/** @returns seconds by test file, of what was noted there */
export function notedTimes(notes: string): Map<string, number> {
  const lines = readFileSync(notes, 'utf8').trimEnd().split('\n')
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), Number.parseFloat(line)]))
}
