// The address rules of a domain: separators of sub-addresses, and patterns for addresses that no mailbox and no alias has.

import type { Clock } from '../../base/clock.ts'
import { invalid, notFound } from '../../base/errors.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { RowCache } from '../../db/row-cache.ts'
import { key, table, text, time } from '../../db/table.ts'
import { byLength, localPattern, matchesPattern, SEPARATORS, type Separator } from '../../mime/local-patterns.ts'
import type { Domains } from '../domains/domains.ts'

/** How the addresses of a domain lead to its mailboxes. */
export interface AddressRules {
  separators: readonly Separator[]
  /** In the order in which they are tried: most literal characters first, then the older. */
  patterns: readonly AddressPattern[]
}

export interface AddressPattern {
  /** Of a local part, lower-case, with one `*`; `*` alone is the catch-all. */
  pattern: string
  mailboxId: string
}

interface Deps {
  db: Db
  clock: Clock
  domains: Pick<Domains, 'separators' | 'setSeparatorsIn'>
  /** Whether the team has a mailbox of this id that is not deleted and receives here. */
  mayLeadTo(reader: Reader, teamId: string, mailboxId: string): boolean
}

export const PATTERNS_MAX = 100
export const SEPARATORS_MAX = 2
/** Domains whose patterns are in memory. */
const KNOWN_MAX = 1000

export const ADDRESS_PATTERNS = table('address_patterns', {
  n: key(),
  domain_id: text(),
  pattern: text(),
  mailbox_id: text(),
  created_at: time(),
})

export class Addressing {
  readonly #deps: Deps
  /** By domain: read for each recipient that no mailbox and no alias has. */
  readonly #patterns: RowCache<string, readonly AddressPattern[]>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#patterns = new RowCache(deps.db, KNOWN_MAX)
  }

  /** @throws ProductError not_found */
  get(teamId: string, domainId: string, reader: Reader = this.#deps.db.read): AddressRules {
    const separators = this.#deps.domains.separators(reader, teamId, domainId)
    if (separators === undefined) throw notFound('domain')
    return { separators: [...separators] as Separator[], patterns: readPatterns(reader, domainId) }
  }

  /**
   * Replaces the rules of a domain, in the unit of work of the caller; patterns that stay keep their age.
   * @param check receives the current rules inside the unit of work; throws to refuse
   * @throws ProductError not_found, validation_error
   */
  putIn(
    tx: Tx,
    teamId: string,
    domainId: string,
    rules: AddressRules,
    check?: (current: AddressRules) => void,
  ): AddressRules {
    const separators = checkSeparators(rules.separators)
    const patterns = normalPatterns(rules.patterns)
    check?.(this.get(teamId, domainId, tx))
    for (const [index, { mailboxId }] of patterns.entries()) {
      if (this.#deps.mayLeadTo(tx, teamId, mailboxId)) continue
      throw invalid(`patterns.${index}.mailbox_id`, 'not_found', 'There is no such mailbox.')
    }
    this.#deps.domains.setSeparatorsIn(tx, domainId, separators)
    this.#write(tx, domainId, patterns)
    return this.get(teamId, domainId, tx)
  }

  #write(tx: Tx, domainId: string, patterns: readonly AddressPattern[]): void {
    const names = JSON.stringify(patterns.map(({ pattern }) => pattern))
    tx.run('DELETE FROM address_patterns WHERE domain_id = ? AND pattern NOT IN (SELECT value FROM json_each(?))', [
      domainId,
      names,
    ])
    for (const { pattern, mailboxId } of patterns) {
      tx.run(
        `INSERT INTO address_patterns (domain_id, pattern, mailbox_id, created_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (domain_id, pattern) DO UPDATE SET mailbox_id = excluded.mailbox_id`,
        [domainId, pattern, mailboxId, this.#deps.clock.now()],
      )
    }
  }

  /** The id of the mailbox that the first matching pattern of a domain leads to. @param local lower-case */
  leadsTo(domainId: string, local: string): string | undefined {
    const patterns = this.#patterns.get(domainId, () => readPatterns(this.#deps.db.read, domainId))!
    return patterns.find(({ pattern }) => matchesPattern(pattern, local))?.mailboxId
  }
}

/** The patterns that lead to a mailbox, each with its domain. */
export function patternsTo(reader: Reader, mailboxId: string): { pattern: string; domainId: string }[] {
  return ADDRESS_PATTERNS.only('pattern', 'domain_id').all(reader, 'WHERE mailbox_id = ? ORDER BY n', [mailboxId])
}

/** Ends the patterns that lead to a mailbox, in the unit of work that deletes it. */
export function dropPatternsTo(tx: Tx, mailboxId: string): void {
  tx.run('DELETE FROM address_patterns WHERE mailbox_id = ?', [mailboxId])
}

/** Ends the patterns of a domain, in the unit of work that deletes it. */
export function dropPatternsOf(tx: Tx, domainId: string): void {
  tx.run('DELETE FROM address_patterns WHERE domain_id = ?', [domainId])
}

function readPatterns(reader: Reader, domainId: string): AddressPattern[] {
  const all = ADDRESS_PATTERNS.only('pattern', 'mailbox_id').all(reader, 'WHERE domain_id = ? ORDER BY n', [domainId])
  return byLength(all)
}

function checkSeparators(separators: readonly Separator[]): string {
  const all = [...new Set(separators)]
  const areSeparators = all.every((character) => SEPARATORS.includes(character))
  if (areSeparators && all.length >= 1 && all.length <= SEPARATORS_MAX) return all.join('')
  throw invalid('separators', 'invalid_format', `Give one or two of ${SEPARATORS.join(' ')}.`)
}

function normalPatterns(patterns: readonly AddressPattern[]): AddressPattern[] {
  if (patterns.length > PATTERNS_MAX) {
    throw invalid('patterns', 'too_big', `A domain has at most ${PATTERNS_MAX} patterns.`)
  }
  const seen = new Set<string>()
  return patterns.map(({ pattern: written, mailboxId }, index) => {
    const pattern = localPattern(written)
    const field = `patterns.${index}.pattern`
    if (pattern === null) {
      const message = 'A pattern is the part before the @, with one * in it: *, shop-* or *-orders.'
      throw invalid(field, 'invalid_format', message)
    }
    if (seen.has(pattern)) throw invalid(field, 'forbidden_value', `The pattern ${pattern} is there twice.`)
    seen.add(pattern)
    return { pattern, mailboxId }
  })
}
