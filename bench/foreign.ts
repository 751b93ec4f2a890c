// Packages that are no dependency of the project, read from the folder that a benchmark is given.

import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import process from 'node:process'

const require = createRequire(join(resolve(process.argv[2] ?? '.'), 'package.json'))
/** @throws Error when the folder does not hold it */
export const foreign = <T>(name: string): T => require(name) as T

/** @returns ms */
export async function timed(work: () => unknown): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
