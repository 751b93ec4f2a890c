// What a program that a test starts has of the environment: where programs are, and what `npm start` sets for Node; no setting of the appliance.

import process from 'node:process'

/** As in scripts/run.js. Without the compile cache a start translates every file of the sources again. */
const NAMES = ['PATH', 'NODE_COMPILE_CACHE', 'NODE_OPTIONS', 'MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_']

export const PROGRAM_ENV: Record<string, string> = Object.fromEntries(
  NAMES.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
)
