// The pages in web/dist: whether they are made of the sources as they are now. Plain JavaScript: nothing is installed yet.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checksumOf } from './bundle.js'

/** The folder of what `npm run build:web` makes. */
export const WEB_DIST = 'web/dist'

/** Written last by scripts/build-web.ts; its member `checksum` covers the inputs. */
export const WEB_MANIFEST = `${WEB_DIST}/manifest.json`

/**
 * What the pages are made of: paths in the project, in order. The types of the API are checked by `npm run check` and leave no trace here.
 * @param {string} root the project folder
 * @returns {string[]}
 */
export function webInputs(root) {
  const names = readdirSync(join(root, 'web/src'), { recursive: true }).map((name) => `web/src/${name}`)
  const sources = names.filter((path) => /\.(?:tsx?|css|svg)$/.test(path) && !path.endsWith('.d.ts'))
  return [...sources, 'web/package.json', 'package-lock.json', 'scripts/build-web.ts'].sort()
}

/**
 * @param {string} root the project folder
 * @returns {boolean} whether web/dist is there and was built from the sources as they are now
 */
export function isWebFresh(root) {
  try {
    const { checksum } = JSON.parse(readFileSync(join(root, WEB_MANIFEST), 'utf8'))
    return checksumOf(root, webInputs(root)) === checksum
  } catch {
    return false
  }
}
