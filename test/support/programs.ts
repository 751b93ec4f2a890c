// External programs of tests: whether they are installed, and the reason when not.

import { spawnSync } from 'node:child_process'
import process from 'node:process'

// Debian installs Postfix's programs where only root looks.
const PATH = `${process.env.PATH}:/usr/sbin:/sbin`

/**
 * @param args a call that succeeds when everything needed is installed; by default the program only has to start
 * @returns false, or the reason for node:test's `skip`
 */
export function missingProgram(program: string, args?: string[], needed = program): false | string {
  const result = spawnSync(program, args ?? ['--version'], { env: { ...process.env, PATH }, stdio: 'ignore' })
  const there = result.error === undefined && (args === undefined || result.status === 0)
  return there ? false : `${needed} is not installed`
}
