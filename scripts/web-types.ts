// Writes web/src/api/schema.d.ts, the types of docs/openapi.json for the pages, when the document has changed.

import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const ROOT = join(import.meta.dirname, '..')
const DOCUMENT = join(ROOT, 'docs/openapi.json')
const TYPES = join(ROOT, 'web/src/api/schema.d.ts')

interface Generator {
  default(document: object, options: object): Promise<unknown>
  astToString(tree: unknown): string
}

/** Headers, examples and operations of other programs are left out: pages do not use their types. */
function pruned(document: object): object {
  return JSON.parse(JSON.stringify(document), (_, value) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
    const { examples: _examples, example: _example, ...kept } = value
    // A text, and no member of a schema that is called so.
    if (typeof kept.description === 'string') delete kept.description
    if ('content' in kept && 'headers' in kept) delete kept.headers
    return kept
  })
}

/** Generates the types unless they are there for this document already. */
export async function writeWebTypes(): Promise<void> {
  const text = readFileSync(DOCUMENT, 'utf8')
  const head = `// Generated from docs/openapi.json ${createHash('sha256').update(text).digest('hex')}\n`
  if (readIfThere().startsWith(head)) return
  const require = createRequire(join(ROOT, 'web/package.json'))
  const entry = join(dirname(require.resolve('openapi-typescript/package.json')), 'dist/index.mjs')
  const generator: Generator = await import(pathToFileURL(entry).href)
  // A member with a default may be left out of a body.
  const tree = await generator.default(pruned(JSON.parse(text)), { defaultNonNullable: false, alphabetize: true })
  writeFileSync(TYPES, head + generator.astToString(tree))
}

function readIfThere(): string {
  try {
    return readFileSync(TYPES, 'utf8')
  } catch {
    return ''
  }
}

if (import.meta.main) await writeWebTypes()
