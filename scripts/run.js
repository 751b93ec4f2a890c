// Runs one of the project's TypeScript files on the required Node version, after installing what is missing: node scripts/run.js <file> [arguments].

import { spawn, spawnSync } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { BUNDLED_CLI, isBundleFresh } from './bundle.js'
import { prepare, ROOT, StartError } from './install.js'
import { isWebFresh } from './web-freshness.js'

const CLI = 'src/cli/cli.ts'

/** Leaves the pages as they are, also when they are missing or old. */
const NO_WEB = '--no-web'

const [file, ...given] = process.argv.slice(2)
const args = given.filter((argument) => argument !== NO_WEB)

/** Builds the pages before the server starts, when their sources are newer. The server starts without them as well. */
function buildPages(node) {
  const { status, stderr } = spawnSync(node, [join(ROOT, 'scripts/build-web.ts')], { encoding: 'utf8' })
  if (status !== 0) console.error(`mailstead: the pages could not be built; the API works.\n${stderr.trim()}`)
}

/** Runs the file in the caller's folder; this process ends the way that one ends. */
function run(node, file) {
  const env = {
    // What was read once need not be read again: Node starts faster and keeps its TypeScript reader out of memory.
    NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled'),
    // glibc: threads share two heaps instead of holding one each, and return what they do not use (its first default, which grows
    // otherwise): 15 MB less in an idle appliance.
    MALLOC_ARENA_MAX: '2',
    MALLOC_TRIM_THRESHOLD_: '131072',
    // One helper thread of V8 instead of four: the program has threads of its own, and on two cores helpers that collect the same
    // garbage mostly wait for each other (6 to 8 % of the processor time of a received message).
    // The young generation of the first thread stays at 3 × 8 MiB: 40 MB less under load, for the same processor time.
    // The garbage of an idle thread is collected (src/base/idle-memory.ts).
    NODE_OPTIONS: '--v8-pool-size=1 --max-semi-space-size=8 --expose-gc',
    ...process.env,
  }
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
  // What is in src runs without the tools of development.
  const startsServer = file === CLI && args[0] === 'serve'
  const wantsPages = startsServer && !given.includes(NO_WEB) && !isWebFresh(ROOT)
  // Pages are built with the tools of development.
  const node = prepare({ development: wantsPages || !file.startsWith('src/') })
  if (wantsPages) buildPages(node)
  run(node, file === CLI && isBundleFresh(ROOT) ? BUNDLED_CLI : file)
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(`mailstead: ${error.message}`)
  process.exitCode = 1
}
