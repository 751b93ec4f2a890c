// Validates and compiles how a test compares: match type, comparator, address part and keys (RFC 5228 2.7, RFC 5231).

import type { ArgumentValue, ParsedArguments, ScriptChecker, TagRule } from './arguments.ts'
import { COMPARATORS, type Comparator, fold } from './comparators.ts'
import type { Extension } from './extensions.ts'
import { readGlob } from './glob.ts'
import type { FieldIndex, Relation, SieveAddressPart, SieveMatch } from './script.ts'

const RELATIONS = ['gt', 'ge', 'lt', 'le', 'eq', 'ne']

export const MATCH_TAGS: Readonly<Record<string, TagRule>> = {
  is: { group: 'match' },
  contains: { group: 'match' },
  matches: { group: 'match' },
  value: { group: 'match', takes: 'string', needs: 'relational' },
  count: { group: 'match', takes: 'string', needs: 'relational' },
  comparator: { group: 'comparator', takes: 'string' },
}

export const PART_TAGS: Readonly<Record<string, TagRule>> = {
  all: { group: 'part' },
  localpart: { group: 'part' },
  domain: { group: 'part' },
  user: { group: 'part', needs: 'subaddress' },
  detail: { group: 'part', needs: 'subaddress' },
}

/** RFC 5260 §6. */
export const INDEX_TAGS: Readonly<Record<string, TagRule>> = {
  index: { group: 'index', takes: 'number', needs: 'index' },
  last: { group: 'last', needs: 'index' },
}

/** Null: all fields of the name. */
export function indexOf({ tags }: ParsedArguments): FieldIndex | null {
  const given = tags.get('index')
  return given ? { index: given.number, fromLast: tags.has('last') } : null
}

export function partOf({ tags }: ParsedArguments): SieveAddressPart {
  return (tags.get('part')?.tag ?? 'all') as SieveAddressPart
}

/** @returns null when something is wrong, which was reported to the checker */
export function matchOf({ tags }: ParsedArguments, keys: ArgumentValue, checker: ScriptChecker): SieveMatch | null {
  const given = tags.get('match')
  const type = (given?.tag ?? 'is') as SieveMatch['type']
  const comparator = comparatorOf(tags.get('comparator'), type, checker)
  if (comparator === null) return null
  if (type === 'matches') {
    return { type, comparator, keys: [], globs: keys.strings.map((key) => readGlob(fold(key, comparator))) }
  }
  const folded = keys.strings.map((key) => fold(key, comparator))
  if (type === 'is' || type === 'contains') return { type, comparator, keys: folded }
  const relation = given!.strings[0]!.toLowerCase()
  if (!RELATIONS.includes(relation)) {
    checker.wrong(given!.at, `":${type}" is followed by one of ${RELATIONS.map((one) => `"${one}"`).join(', ')}.`)
    return null
  }
  return { type, comparator, keys: folded, relation: relation as Relation }
}

function comparatorOf(
  given: ArgumentValue | undefined,
  type: SieveMatch['type'],
  checker: ScriptChecker,
): Comparator | null {
  // RFC 5231 4.2: counts should be compared as numbers; as text, 10 would come before 9.
  if (given === undefined) return type === 'count' ? 'i;ascii-numeric' : 'i;ascii-casemap'
  const name = given.strings[0]!
  const wrong = (message: string) => {
    checker.wrong(given.at, message)
    return null
  }
  if (!COMPARATORS.has(name)) return wrong(`There is no comparator "${name}" here.`)
  const extension = `comparator-${name}` as Extension
  // RFC 5228 2.7.3: the other two need no require.
  if (name === 'i;ascii-numeric' && !checker.has(extension)) {
    return wrong(`The comparator "${name}" needs require "${extension}" at the start of the script.`)
  }
  if (name === 'i;ascii-numeric' && (type === 'contains' || type === 'matches')) {
    return wrong(`The comparator "${name}" knows numbers, not parts of them: it does not go with ":${type}".`)
  }
  return name as Comparator
}

/** Names of header fields, which are compared without regard to case whatever the comparator is (RFC 5228 2.7). */
export function fieldNames({ strings }: ArgumentValue): string[] {
  return strings.map((name) => name.toLowerCase())
}
