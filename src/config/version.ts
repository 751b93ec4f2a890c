// The version of the program, read from package.json.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_FOLDER } from '../base/entry.ts'

const MANIFEST = join(PROJECT_FOLDER, 'package.json')

/** `major.minor.patch`. */
export const PROGRAM_VERSION: string = (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }).version
