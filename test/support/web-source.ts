// The sources of the pages as text, for the house tests: imports, code without comments, style sheets.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from './source.ts'

/** One file of web/src. */
export interface WebSource {
  /** From web/src, such as `parts/button.tsx`. */
  path: string
  text: string
  lines: string[]
  /** Files of web/src that it imports, types included. */
  imports: string[]
}

const IMPORT = /(?:^import|^export|^} from)[^'\n]*'(\.[^']+)'|import\('(\.[^']+)'\)/gm

/** Every file of web/src with this ending, ordered by path; what is generated is left out. */
export function webSources(pattern = '{ts,tsx}'): WebSource[] {
  const paths = globSync(`**/*.${pattern}`, { cwd: join(ROOT, 'web/src') }).filter((path) => !path.endsWith('.d.ts'))
  return paths.sort().map((path) => {
    const text = readFileSync(join(ROOT, 'web/src', path), 'utf8')
    const imports = [...text.matchAll(IMPORT)].map(([, first, second]) => join(dirname(path), (first ?? second)!))
    return { path, text, lines: text.trimEnd().split('\n'), imports }
  })
}

/** The code of a line without its comment. */
export function withoutComment(line: string): string {
  return line.replace(/(?:^|\s)\/\/.*$/, '').replace(/^\s*(?:\/\*\*?|\*).*$/, '')
}
