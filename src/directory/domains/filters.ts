// Sender filters of a domain or a mailbox: storage as one value, and evaluation without side effects.

import type { Clock } from '../../base/clock.ts'
import { type Issue, ProductError } from '../../base/errors.ts'
import type { Db, Reader, Row, Tx } from '../../db/db.ts'
import { RowCache } from '../../db/row-cache.ts'
import { type FilterSender, matchSender, normalPattern, PATTERN_MAX, readSender } from './filter-pattern.ts'

export type FilterMode = 'off' | 'allowlist' | 'denylist'

export interface FilterRule {
  type: 'allow' | 'deny'
  pattern: string
}

/** The whole filter of one domain or mailbox. With mode `off` the rules are kept but not used. */
export interface FilterState {
  mode: FilterMode
  rules: FilterRule[]
}

/** Most rules of one filter (docs/design/contract.md §2.6). */
export const RULES_MAX = 1000
const ISSUES_MAX = 50
/** Filters in memory. */
const KNOWN_MAX = 500
/** Maximum From addresses of one message that are evaluated. */
export const SENDERS_MAX = 100

export class Filters {
  readonly #db: Db
  readonly #clock: Clock
  /** Read for each recipient of a message. */
  readonly #known: RowCache<string, Readonly<FilterState>>

  constructor(deps: { db: Db; clock: Clock }) {
    this.#db = deps.db
    this.#clock = deps.clock
    this.#known = new RowCache(deps.db, KNOWN_MAX)
  }

  /** @param ownerId a domain or a mailbox; one without a filter has mode `off` and no rules */
  get(ownerId: string): Readonly<FilterState> {
    return this.#known.get(ownerId, () => Object.freeze(readFilter(this.#db.read, ownerId)))!
  }

  /**
   * Replaces a filter as a whole.
   * @param check receives the current state inside the same unit of work and throws to refuse, so that of concurrent writers
   * with the same precondition one wins
   * @returns the state as stored: lower-case patterns, exact duplicates taken out, order kept
   * @throws ProductError validation_error, and what `check` throws
   */
  async put(ownerId: string, state: FilterState, check?: (current: FilterState) => void): Promise<FilterState> {
    const next = { mode: state.mode, rules: normalRules(state.rules) }
    return this.#db.write((tx) => {
      check?.(readFilter(tx, ownerId))
      tx.run(
        `INSERT INTO filters (owner_id, mode, rules, updated_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (owner_id) DO UPDATE SET mode = excluded.mode, rules = excluded.rules, updated_at = excluded.updated_at`,
        [ownerId, next.mode, JSON.stringify(next.rules), this.#clock.now()],
      )
      return next
    })
  }

  /** Deletes a filter, in the unit of work that deletes its owner. */
  drop(tx: Tx, ownerId: string): void {
    tx.run('DELETE FROM filters WHERE owner_id = ?', [ownerId])
  }
}

function readFilter(reader: Reader, ownerId: string): FilterState {
  const row = reader.get<Row>('SELECT mode, rules FROM filters WHERE owner_id = ?', [ownerId])
  if (row === undefined) return { mode: 'off', rules: [] }
  return { mode: row.mode as FilterMode, rules: JSON.parse(row.rules as string) as FilterRule[] }
}

function normalRules(rules: readonly FilterRule[]): FilterRule[] {
  const issues: Issue[] = []
  if (rules.length > RULES_MAX) {
    issues.push({ field: 'rules', code: 'too_big', message: `A filter has at most ${RULES_MAX} rules.` })
  }
  const kept = new Map<string, FilterRule>()
  for (const [index, { type, pattern }] of rules.slice(0, RULES_MAX).entries()) {
    const normal = normalPattern(pattern)
    if (normal !== null) kept.set(`${type} ${normal}`, { type, pattern: normal })
    else if (issues.length < ISSUES_MAX) issues.push(patternIssue(`rules.${index}.pattern`, pattern))
  }
  if (issues.length > 0) throw new ProductError('validation_error', issues[0]!.message, { issues })
  return [...kept.values()]
}

function patternIssue(field: string, pattern: string): Issue {
  if (pattern.length === 0) return { field, code: 'too_small', message: 'A pattern must not be empty.' }
  if (pattern.length > PATTERN_MAX) {
    return { field, code: 'too_big', message: `A pattern has at most ${PATTERN_MAX} characters.` }
  }
  const message = 'A pattern must be an address, @domain, domain or *.domain, with at most one * in the local part.'
  return { field, code: 'invalid_format', message }
}

/** The sender identities of a message, and the filters of its recipient. */
export interface FilterInput {
  domainFilter: FilterState
  mailboxFilter: FilterState
  /** Every address of the From header; only a single one can match an allow rule. */
  headerFrom: readonly string[]
  /** Null or empty for bounces (`<>`). */
  envelopeFrom: string | null
  /** True for a DMARC fail, and for a From that DMARC could not evaluate. */
  dmarcFailed: boolean
}

/** The decision of the filters and its reason. */
export interface FilterDecision {
  accept: boolean
  /** Whose filter decided; null when both are off. */
  scope: 'mailbox' | 'domain' | null
  mode: FilterMode
  /** The rule that decided; null where the absence of a match did. */
  rule: FilterRule | null
}

/** docs/design/directory.md §5.4 and §5.5: the mailbox's filter first, then the domain's when no rule of the mailbox decides. */
export function evaluateFilters(facts: FilterInput): FilterDecision {
  const { mailboxFilter, domainFilter } = facts
  const identities = readIdentities(facts)
  if (mailboxFilter.mode !== 'off') {
    const { accept, rule } = evaluateFilter(mailboxFilter, identities)
    if (rule !== null || mailboxFilter.mode === 'allowlist') {
      return { accept, scope: 'mailbox', mode: mailboxFilter.mode, rule }
    }
  }
  if (domainFilter.mode === 'off') {
    const scope = mailboxFilter.mode === 'off' ? null : 'mailbox'
    return { accept: true, scope, mode: mailboxFilter.mode, rule: null }
  }
  return { ...evaluateFilter(domainFilter, identities), scope: 'domain', mode: domainFilter.mode }
}

interface Identities {
  deniable: FilterSender[]
  allowable: FilterSender[]
}

// Deny rules match either identity; allow rules match only the visible From, and only unless DMARC failed.
function readIdentities({ headerFrom, envelopeFrom, dmarcFailed }: FilterInput): Identities {
  const from = headerFrom.slice(0, SENDERS_MAX).map(readSender).filter(isSender)
  const envelope = [readSender(envelopeFrom ?? '')].filter(isSender)
  return { deniable: [...from, ...envelope], allowable: headerFrom.length === 1 && !dmarcFailed ? from : [] }
}

function isSender(sender: FilterSender | null): sender is FilterSender {
  return sender !== null
}

function evaluateFilter(filter: FilterState, identities: Identities): { accept: boolean; rule: FilterRule | null } {
  const first = (type: FilterRule['type'], senders: readonly FilterSender[]) =>
    filter.rules.find((rule) => rule.type === type && senders.some((sender) => matchSender(rule.pattern, sender))) ??
    null
  const deny = first('deny', identities.deniable)
  const allow = first('allow', identities.allowable)
  if (filter.mode === 'allowlist') return { accept: allow !== null && deny === null, rule: deny ?? allow }
  return { accept: deny === null || allow !== null, rule: allow ?? deny }
}
