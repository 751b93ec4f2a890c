// Several test files in one process, one after the other, each as a suite with its name: most of the time of a short file is the start of its process.

import { join, relative } from 'node:path'
import process from 'node:process'
import { describe } from 'node:test'
import { pathToFileURL } from 'node:url'
import { noteProcessorTime, processorSeconds } from './processor-time.ts'

const ROOT = join(import.meta.dirname, '..')
/** A process that does not end by then was left something open. */
const END_LIMIT_MS = 10_000

// A test may wait for what does not keep a process alive.
const alive = setInterval(() => {}, END_LIMIT_MS)
const left: string[] = []
let spent = 0
for (const file of process.argv.slice(2)) {
  const name = relative(ROOT, file)
  await describe(name, async () => void (await import(pathToFileURL(file).href)))
  const now = processorSeconds()
  noteProcessorTime(name, now - spent)
  spent = now
  left.push(`  after ${name}: ${process.getActiveResourcesInfo().join(', ') || 'nothing'}`)
}
clearInterval(alive)
setTimeout(() => console.error(`The process does not end. Open were\n${left.join('\n')}`), END_LIMIT_MS).unref()
