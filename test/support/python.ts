// Python as another mail parser: a script gets a folder of messages and prints one JSON value.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The one with Debian's packages, whatever else PATH contains. */
export const PYTHON = '/usr/bin/python3'
const RUN_LIMIT_MS = 60_000

/**
 * @param script finds the paths of the messages in `sys.argv[1:]`, in their order, and prints JSON
 * @returns its output
 */
export async function askPython<T>(script: string, mails: readonly Uint8Array[]): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'mailstead-python-'))
  try {
    const paths = mails.map((_, index) => join(folder, `${index}.eml`))
    await Promise.all(paths.map((path, index) => writeFile(path, mails[index]!)))
    const limits = { timeout: RUN_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 }
    const { stdout } = await promisify(execFile)(PYTHON, ['-c', script, ...paths], limits)
    return JSON.parse(stdout) as T
  } finally {
    await rm(folder, { recursive: true })
  }
}
