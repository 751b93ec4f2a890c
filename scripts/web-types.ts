// Writes the types of the API's documents for the pages, when a document has changed: web/src/api/schema.d.ts, schema-operator.d.ts and schema-me.d.ts.

import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const ROOT = join(import.meta.dirname, '..')
/** Documents in docs/, and the file of the types of each. */
const TYPES = {
  'openapi.json': 'schema.d.ts',
  'openapi-operator.json': 'schema-operator.d.ts',
  'openapi-me.json': 'schema-me.d.ts',
} as const

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

/** Generates the types that are not there for their document already. */
export async function writeWebTypes(): Promise<void> {
  for (const [document, file] of Object.entries(TYPES)) await writeTypes(document, join(ROOT, 'web/src/api', file))
}

async function writeTypes(document: string, file: string): Promise<void> {
  const text = readFileSync(join(ROOT, 'docs', document), 'utf8')
  const head = `// Generated from docs/${document} ${createHash('sha256').update(text).digest('hex')}\n`
  if (readIfThere(file).startsWith(head)) return
  const require = createRequire(join(ROOT, 'web/package.json'))
  const entry = join(dirname(require.resolve('openapi-typescript/package.json')), 'dist/index.mjs')
  const generator: Generator = await import(pathToFileURL(entry).href)
  // A member with a default may be left out of a body.
  const tree = await generator.default(pruned(JSON.parse(text)), { defaultNonNullable: false, alphabetize: true })
  writeFileSync(file, head + generator.astToString(tree))
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

if (import.meta.main) await writeWebTypes()
