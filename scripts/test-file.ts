// Loaded before a test file that has a process of its own: notes at the end what it took.

import { join, relative } from 'node:path'
import process from 'node:process'
import { isMainThread } from 'node:worker_threads'
import { noteProcessorTime, processorSeconds } from './processor-time.ts'

const file = process.argv[1]!
if (isMainThread && file.endsWith('.test.ts'))
  process.on('exit', () => noteProcessorTime(relative(join(import.meta.dirname, '..'), file), processorSeconds()))
