// Translates search terms to SQL conditions: full-text terms for the index, all others on the row of the message.

import type { SqlValue } from '../../db/db.ts'
import { hasKeyword } from '../entries/keywords.ts'
import { type Fragment, inFolder } from '../rows/folders.ts'
import { hasCorrespondentLike } from './correspondents.ts'
import { matching } from './hits.ts'
import { expression, type Match, matchAll, matchAny, matchCorrespondents, matchNot, matchOf } from './match.ts'
import type { Leaf, Term } from './terms.ts'

/** The names in a search, resolved to numbers. */
export interface ResolvedNames {
  account: number
  /** Numbers of the folders a name refers to. */
  folders(name: string): readonly number[]
  /** Numbers of the correspondents that contain a text; null if there are too many. */
  correspondents(text: string): readonly number[] | null
  /** Number of the thread with an id. */
  thread(id: string): number | undefined
}

/** A condition on a row of `messages` with that alias. */
export type RowCondition = (alias: string) => Fragment

/** A condition with a full-text and a row part, both of which must hold; null: no condition. `never`: nothing matches. */
export interface Condition {
  match: Match | null
  where: RowCondition | null
  never: boolean
}

const ALWAYS: Condition = { match: null, where: null, never: false }
const NEVER: Condition = { match: null, where: null, never: true }

export function conditionOf(term: Term, resolved: ResolvedNames): Condition {
  switch (term.kind) {
    case 'all':
      return all(term.of.map((child) => conditionOf(child, resolved)))
    case 'any':
      return any(
        term.of.map((child) => conditionOf(child, resolved)),
        resolved.account,
      )
    case 'not':
      return not(conditionOf(term.of, resolved), resolved.account)
    default:
      return leafCondition(term, resolved)
  }
}

/** All of the conditions. */
export function all(conditions: readonly Condition[]): Condition {
  if (conditions.some((condition) => condition.never)) return NEVER
  const matches = conditions.flatMap(({ match }) => match ?? [])
  const wheres = conditions.flatMap(({ where }) => where ?? [])
  return {
    match: matches.length === 0 ? null : matchAll(matches),
    where: wheres.length === 0 ? null : (alias) => join(wheres, alias, ' AND '),
    never: false,
  }
}

function any(conditions: readonly Condition[], account: number): Condition {
  const possible = conditions.filter((condition) => !condition.never)
  if (possible.length === 0) return NEVER
  if (possible.some(({ match, where }) => match === null && where === null)) return ALWAYS
  const texts = possible.flatMap(({ match, where }) => (match !== null && where === null ? match : []))
  const match = texts.length === 0 ? null : matchAny(account, texts)
  const others = possible.filter(({ where }) => where !== null).map((condition) => asRowCondition(condition, account))
  if (others.length === 0) return { match, where: null, never: false }
  const wheres = match === null ? others : [asRowCondition({ match, where: null, never: false }, account), ...others]
  return { match: null, where: (alias) => join(wheres, alias, ' OR '), never: false }
}

function not(condition: Condition, account: number): Condition {
  const { match, where, never } = condition
  if (never) return ALWAYS
  if (match === null && where === null) return NEVER
  if (match !== null && where === null) return { match: matchNot(account, match), where: null, never: false }
  const inner = asRowCondition(condition, account)
  return onRow((alias) => {
    const { sql, values } = inner(alias)
    return { sql: `NOT (${sql})`, values }
  })
}

/** Both parts as one condition on the row. */
function asRowCondition({ match, where }: Condition, account: number): RowCondition {
  if (match === null) return where!
  const text: RowCondition = (alias) => {
    const { sql, values } = matching({ account, match: expression(account, match) })
    return { sql: `${alias}.n IN (${sql})`, values }
  }
  return where === null ? text : (alias) => join([text, where], alias, ' AND ')
}

function join(wheres: readonly RowCondition[], alias: string, word: string): Fragment {
  const parts = wheres.map((where) => where(alias))
  return { sql: parts.map(({ sql }) => `(${sql})`).join(word), values: parts.flatMap(({ values }) => values) }
}

function leafCondition(leaf: Leaf, resolved: ResolvedNames): Condition {
  const match = matchOf(leaf)
  if (match) return { ...ALWAYS, match }
  switch (leaf.kind) {
    case 'anywhere':
      return ALWAYS
    case 'person':
      return personCondition(leaf, resolved)
    case 'folder':
      return inFolders(resolved.folders(leaf.name))
    case 'thread':
      return threadCondition(resolved.thread(leaf.id))
    case 'keyword':
      return onRow((alias) => hasKeyword(alias, resolved.account, leaf.keyword))
    case 'flag':
      return column(`${leaf.flag} = ?`, [leaf.on])
    case 'attachment':
      return column('has_attachments = ?', [leaf.on])
    case 'received':
      return bounds('received_at', [
        ['>=', leaf.from],
        ['<', leaf.before],
      ])
    default:
      return bounds('size_bytes', [
        ['>=', leaf.kind === 'size' ? leaf.min : null],
        ['<=', leaf.kind === 'size' ? leaf.max : null],
      ])
  }
}

function personCondition({ parts, text }: Extract<Leaf, { kind: 'person' }>, resolved: ResolvedNames): Condition {
  const people = resolved.correspondents(text)
  if (people === null) return onRow((alias) => hasCorrespondentLike(alias, parts, text))
  return people.length === 0 ? NEVER : { ...ALWAYS, match: matchCorrespondents(parts, people) }
}

function inFolders(folders: readonly number[]): Condition {
  if (folders.length === 0) return NEVER
  return onRow((alias) => {
    const parts = folders.map((folder) => inFolder(`${alias}.n`, folder))
    return { sql: `(${parts.map(({ sql }) => sql).join(' OR ')})`, values: parts.flatMap(({ values }) => values) }
  })
}

function threadCondition(thread: number | undefined): Condition {
  return thread === undefined ? NEVER : column('thread = ?', [thread])
}

function bounds(name: string, tests: [sign: string, value: number | null][]): Condition {
  const set = tests.filter(([, value]) => value !== null)
  return all(set.map(([sign, value]) => column(`${name} ${sign} ?`, [value])))
}

function column(test: string, values: SqlValue[]): Condition {
  return onRow((alias) => ({ sql: `${alias}.${test}`, values }))
}

function onRow(where: RowCondition): Condition {
  return { match: null, where, never: false }
}
