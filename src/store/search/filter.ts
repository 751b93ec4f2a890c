// Terms as conditions of SQL: text in the full-text index, everything else on the row of the message.

import type { SqlValue } from '../../db/db.ts'
import { type Fragment, inFolder } from '../folders.ts'
import { hasPersonLike } from '../messages/correspondents.ts'
import { hasKeyword } from '../messages/keywords.ts'
import { matching } from './hits.ts'
import { expression, type Match, matchAll, matchAny, matchNot, matchOf, matchPeople } from './match.ts'
import type { Leaf, Term } from './terms.ts'

/** What had to be looked up before terms can become SQL. */
export interface Known {
  account: number
  /** Numbers of the folders a name of a term stands for. */
  folders(name: string): readonly number[]
  /** People a text stands for; null when they are too many. */
  people(text: string): readonly number[] | null
  /** Number of a thread by its id. */
  thread(id: string): number | undefined
}

/** A condition on a row of `messages` with that alias. */
export type Where = (alias: string) => Fragment

/** A condition in two parts, both of which must hold; null asks for nothing. `never` is what nothing meets. */
export interface Condition {
  match: Match | null
  where: Where | null
  never: boolean
}

const NOTHING_ASKED: Condition = { match: null, where: null, never: false }
const NEVER: Condition = { match: null, where: null, never: true }

export function conditionOf(term: Term, known: Known): Condition {
  switch (term.kind) {
    case 'all':
      return all(term.of.map((child) => conditionOf(child, known)))
    case 'any':
      return any(
        term.of.map((child) => conditionOf(child, known)),
        known.account,
      )
    case 'not':
      return not(conditionOf(term.of, known), known.account)
    default:
      return leafCondition(term, known)
  }
}

/** Every one of them. */
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
  if (possible.some(({ match, where }) => match === null && where === null)) return NOTHING_ASKED
  const texts = possible.flatMap(({ match, where }) => (match !== null && where === null ? match : []))
  const match = texts.length === 0 ? null : matchAny(account, texts)
  const others = possible.filter(({ where }) => where !== null).map((condition) => whole(condition, account))
  if (others.length === 0) return { match, where: null, never: false }
  const wheres = match === null ? others : [whole({ match, where: null, never: false }, account), ...others]
  return { match: null, where: (alias) => join(wheres, alias, ' OR '), never: false }
}

function not(condition: Condition, account: number): Condition {
  const { match, where, never } = condition
  if (never) return NOTHING_ASKED
  if (match === null && where === null) return NEVER
  if (match !== null && where === null) return { match: matchNot(account, match), where: null, never: false }
  const inner = whole(condition, account)
  return onRow((alias) => {
    const { sql, values } = inner(alias)
    return { sql: `NOT (${sql})`, values }
  })
}

/** Both parts as one condition on the row. */
function whole({ match, where }: Condition, account: number): Where {
  if (match === null) return where!
  const text: Where = (alias) => {
    const { sql, values } = matching({ account, match: expression(account, match) })
    return { sql: `${alias}.n IN (${sql})`, values }
  }
  return where === null ? text : (alias) => join([text, where], alias, ' AND ')
}

function join(wheres: readonly Where[], alias: string, word: string): Fragment {
  const parts = wheres.map((where) => where(alias))
  return { sql: parts.map(({ sql }) => `(${sql})`).join(word), values: parts.flatMap(({ values }) => values) }
}

function leafCondition(leaf: Leaf, known: Known): Condition {
  const match = matchOf(leaf)
  if (match) return { ...NOTHING_ASKED, match }
  switch (leaf.kind) {
    case 'anywhere':
      return NOTHING_ASKED
    case 'person':
      return personCondition(leaf, known)
    case 'folder':
      return inFolders(known.folders(leaf.name))
    case 'thread':
      return threadCondition(known.thread(leaf.id))
    case 'keyword':
      return onRow((alias) => hasKeyword(alias, known.account, leaf.keyword))
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

function personCondition({ parts, text }: Extract<Leaf, { kind: 'person' }>, known: Known): Condition {
  const people = known.people(text)
  if (people === null) return onRow((alias) => hasPersonLike(alias, parts, text))
  return people.length === 0 ? NEVER : { ...NOTHING_ASKED, match: matchPeople(parts, people) }
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

function onRow(where: Where): Condition {
  return { match: null, where, never: false }
}
