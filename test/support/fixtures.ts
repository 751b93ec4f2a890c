// Fixtures stored beside the project: their paths, and the reason for skipped tests when they are missing.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const project = resolve(import.meta.dirname, '../..')
const folder = resolve(project, process.env.SHARED_DIR ?? '../shared', 'fixtures')

/** Absolute path of a fixture file or folder; null when it is missing. */
export function fixtures(path: string): string | null {
  const at = join(folder, path)
  return existsSync(at) ? at : null
}

/** For node:test's `skip`: false when the fixtures exist, else the reason. */
export function fixturesMissing(path: string): false | string {
  return fixtures(path) ? false : `fixtures/${path} is not there: set SHARED_DIR to the folder that holds it`
}

/** Names of the files of a folder that end in `ending`, sorted; none when the folder is missing. */
export function fixtureNames(path: string, ending = ''): string[] {
  const at = fixtures(path)
  if (!at) return []
  const names = readdirSync(at, { recursive: true, withFileTypes: true })
  return names
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name).slice(at.length + 1))
    .sort()
}

/** The bytes of a fixture that must be there. */
export function fixtureBytes(path: string): Buffer {
  return readFileSync(join(folder, path))
}

/** The JSON of a fixture; an empty list when it is missing, so that a table test has no rows. */
export function fixtureJson<T>(path: string): T {
  const at = fixtures(path)
  return JSON.parse(at ? readFileSync(at, 'utf8') : '[]') as T
}
