// The bundle in dist/: which of its files runs, and whether it is made of the sources as they are now. Plain JavaScript: nothing is installed yet.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Written last by scripts/build.ts: `{ "inputs": [paths in the project], "checksum": "…", "modules": { path: file } }`. */
export const BUILD_NOTE = 'build.json'

/** The file of the bundle that stands for src/cli/cli.ts. */
export const BUNDLED_CLI = 'dist/cli.js'

/**
 * @param {string} root the project folder
 * @param {readonly string[]} inputs paths in it
 * @returns {string} a checksum of their names and contents
 * @throws when one cannot be read
 */
export function checksumOf(root, inputs) {
  const hash = createHash('sha256')
  for (const path of inputs) {
    const content = readFileSync(join(root, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/**
 * @param {string} root the project folder
 * @returns {boolean} whether dist/ is there and was built from the sources and the lock file as they are now
 */
export function isBundleFresh(root) {
  try {
    const { inputs, checksum } = JSON.parse(readFileSync(join(root, 'dist', BUILD_NOTE), 'utf8'))
    return checksumOf(root, inputs) === checksum
  } catch {
    return false
  }
}

/**
 * @param {string} root the project folder
 * @param {string} source a module of src that the bundle loads on first use: its path in the project
 * @returns {string} the path of the file in dist/ that has the exports of the module
 * @throws when dist/ has no such file
 */
export function bundledModule(root, source) {
  const { modules } = JSON.parse(readFileSync(join(root, 'dist', BUILD_NOTE), 'utf8'))
  if (modules[source] === undefined) throw new Error(`dist/ has no file for ${source}: npm run build.`)
  return `dist/${modules[source]}`
}
