// Rejects query parameters that a route does not know: a filter that is ignored would return what was not asked for.

import type { TObject, TSchema } from 'typebox'
import { type Issue, ProductError } from '../base/errors.ts'
import { meantName } from '../base/nearest.ts'
import { ISSUES_MAX } from './validate.ts'

const NAME_MAX = 200

/** What a parameter of the query is called today: parameters with a former name carry the new one. */
type Names = ReadonlyMap<string, string>

/** @param query schema of the query, if the route has one */
export function parameterNames(query: TObject | undefined): Names {
  const fields = Object.entries((query?.properties ?? {}) as Record<string, TSchema & { 'x-replaced-by'?: string }>)
  return new Map(fields.map(([name, field]) => [name, field['x-replaced-by'] ?? name]))
}

/** @throws ProductError validation_error that names the nearest known parameter, or all when none is near */
export function refuseUnknown(given: Iterable<string>, known: Names): void {
  const issues: Issue[] = []
  for (const name of given) {
    if (known.has(name) || issues.length === ISSUES_MAX) continue
    const field = name.slice(0, NAME_MAX)
    issues.push({ field, code: 'unknown_field', message: `Unknown parameter \`${field}\`. ${adviceOn(field, known)}` })
  }
  if (issues.length > 0) throw new ProductError('validation_error', issues[0]!.message, { issues })
}

function adviceOn(name: string, known: Names): string {
  const meant = meantName(name, [...known.keys()])
  if (meant !== undefined) return `Did you mean \`${known.get(meant)}\`?`
  const names = [...new Set(known.values())].map((one) => `\`${one}\``)
  return names.length === 0 ? 'This path takes none.' : `This path takes ${names.join(', ')}.`
}
