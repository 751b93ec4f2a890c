// Runs one of the project's TypeScript files on the required Node version, after installing what is missing: node scripts/run.js <file> [arguments].

import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { prepare, ROOT, StartError } from './install.js'

const [file, ...args] = process.argv.slice(2)

/** Runs the file in the caller's folder; this process ends the way that one ends. */
function run(node) {
  // What was read once need not be read again: Node starts faster and keeps its TypeScript reader out of memory.
  const env = { NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled'), ...process.env }
  const child = spawn(node, [join(ROOT, file), ...args], { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal gives Ctrl-C to the whole group already; a second one would read as impatience.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

try {
  // What lies in src runs without the tools of development.
  run(prepare({ development: !file.startsWith('src/') }))
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(`mailstead: ${error.message}`)
  process.exitCode = 1
}
