// Installs node_modules as in package-lock.json, and finds the Node that runs Mailstead. Plain JavaScript: nothing is installed yet.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

/** The project folder. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The oldest Node the sources run on as they stand; `engines` in package.json names the oldest that starts this file. */
const OLDEST_NODE = 24
/** The Node of the development dependency `node`. */
const OWN_NODE = join(ROOT, 'node_modules/node/bin/node')

/** A failure told in one sentence. */
export class StartError extends Error {}

/**
 * Installs what is missing.
 * @param {{ development: boolean }} options whether the tools of development are wanted too
 * @returns the path of the Node to run Mailstead's files with
 * @throws StartError
 */
export function prepare({ development }) {
  // Where the running Node is too old, the one that comes with the development dependencies takes its place.
  const withDev = development || !runningNodeWillDo()
  if (!isInstalled(withDev)) install(withDev)
  return findNode()
}

/** Compares what `npm ci` noted that it laid down with the lock file; packages for other platforms are left out of both. */
function isInstalled(withDev) {
  const wanted = readPackages(join(ROOT, 'package-lock.json'))
  if (wanted === undefined) throw new StartError('package-lock.json is missing or not readable.')
  const noted = readPackages(join(ROOT, 'node_modules/.package-lock.json')) ?? {}
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '' || entry.optional || entry.devOptional || (entry.dev && !withDev)) return true
    return noted[path]?.version === entry.version && noted[path]?.integrity === entry.integrity
  })
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return undefined
  }
}

function install(withDev) {
  console.error('mailstead: installing dependencies (npm ci), this once …')
  const npm = spawnSync(
    'npm',
    ['ci', ...(withDev ? ['--include=dev'] : []), '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, npm_config_update_notifier: 'false' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  if (npm.error)
    throw new StartError(`npm could not be started (${npm.error.message}); install Node with npm and try again.`)
  if (npm.status !== 0) throw new StartError(`npm ci failed: ${firstError(`${npm.stderr}\n${npm.stdout}`)}`)
}

/** The one line of a complaint, of npm's or of another program, that says what is wrong. */
function firstError(output) {
  const lines = output.split('\n').map((line) => line.replace(/^npm (error|ERR!)\s*/i, '').trim())
  const telling = lines.filter((line) => line !== '' && !/^(code|errno|syscall|path|dest|A complete log)\b/.test(line))
  return telling[0] ?? 'it gave no reason; run it by hand to see more.'
}

function findNode() {
  let failure = 'it is not in node_modules.'
  if (existsSync(join(ROOT, 'node_modules/node/package.json'))) {
    let problem = startProblem(OWN_NODE)
    // A missing library of the system would be missing after another installation as well.
    if (problem !== null && !LIBRARY.test(problem)) problem = fetchOwnNode() ?? startProblem(OWN_NODE)
    if (problem === null) return OWN_NODE
    failure = problem
  }
  if (runningNodeWillDo()) return process.execPath
  throw new StartError(
    `Mailstead needs Node ${OLDEST_NODE} or newer; this is ${process.version}, and the newer one of the npm package "node" does not start: ${failure} ${cureOf(failure)}`,
  )
}

/**
 * The install script of the package, by hand: npm leaves it out where install scripts are switched off.
 * @returns {string | null} its complaint
 */
function fetchOwnNode() {
  const folder = join(ROOT, 'node_modules/node')
  const { status, stderr } = spawnSync(process.execPath, ['installArchSpecificPackage.js'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return status === 0 ? null : firstError(stderr).replace(/\.?$/, '.')
}

/** @returns {string | null} why a Node does not start, null when it does */
function startProblem(node) {
  if (!existsSync(node)) return `${node} is missing.`
  const { status, error, stderr } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  if (status === 0) return null
  // A program for another C library or processor "does not exist", or has a wrong format, for the system.
  if (error) return `the system cannot run it (${error.code}).`
  return firstError(stderr).replace(/\.?$/, '.')
}

/** The name of a shared library as a loader prints it. */
const LIBRARY = /\blib[\w+-]+\.so/

/** Packages with the libraries that a minimal system may lack, by the beginning of the name of the library. */
const LIBRARIES = new Map([
  ['libatomic.so', 'libatomic1 on Debian and Ubuntu (apt-get install libatomic1), libatomic on Alpine and Fedora'],
  ['libstdc++.so', 'libstdc++6 on Debian and Ubuntu (apt-get install libstdc++6), libstdc++ on Alpine and Fedora'],
])

/**
 * @param {string} failure what was printed instead of a version
 * @returns {string} what to do about it
 */
export function cureOf(failure) {
  const [library = null] = LIBRARY.exec(failure) ?? []
  const source = LIBRARIES.get(library)
  if (source !== undefined) return `Install the package ${source}, and start again.`
  if (library !== null) return `Install the package of your system that has ${library}, and start again.`
  return `Install Node ${OLDEST_NODE} or newer (on Alpine: apk add nodejs-current npm), and start again.`
}

function runningNodeWillDo() {
  return Number(process.versions.node.split('.')[0]) >= OLDEST_NODE
}
