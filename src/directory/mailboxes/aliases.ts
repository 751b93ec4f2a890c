// Aliases: additional addresses of a mailbox, managed by the administrators of the team.

import type { Clock } from '../../base/clock.ts'
import { conflict, notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { key, type RecordOf, type RowOf, table, text, time } from '../../db/table.ts'
import { parseMailbox } from '../../mime/address.ts'
import { basesOf, SEPARATOR_DEFAULT } from '../../mime/local-patterns.ts'
import type { OwnAddresses } from '../../mime/own-addresses.ts'
import type { Domains } from '../domains/domains.ts'
import { type Addressing, patternsTo } from './addressing.ts'
import { dropForwardsOfAlias } from './forwards.ts'
import type { Mailbox } from './mailbox-record.ts'
import type { PatternAddresses } from './pattern-addresses.ts'
import type { RetiredAddresses } from './retired-addresses.ts'

export interface Alias {
  id: string
  mailboxId: string
  domainId: string
  /** Lower-case. */
  email: string
  createdAt: number
}

/** Maximum aliases of a mailbox. */
export const ALIASES_MAX = 50

export const ALIASES = table('aliases', {
  n: key(),
  id: text(),
  mailbox_id: text(),
  domain_id: text(),
  /** Lower-case. */
  email: text(),
  /** What a throw-away address is for (aliases-throw-away.ts); null for an alias. */
  made_for: text().orNull(),
  /** Since when a throw-away address refuses mail. */
  paused_at: time().orNull(),
  created_at: time(),
})

/** What aliases need of mailboxes; `Mailboxes` itself imports this file. */
interface AliasOwners {
  getIn(reader: Reader, teamId: string, id: string): Mailbox | undefined
  takeAddress(tx: Tx, teamId: string, written: string): { email: string; domainId: string }
  reachedAt(domainId: string, email: string): object | undefined
}

interface Deps {
  db: Db
  clock: Clock
  mailboxes: AliasOwners
  domains: Pick<Domains, 'byName' | 'receivingById'>
  addressing: Pick<Addressing, 'leadsTo'>
  retired: Pick<RetiredAddresses, 'addIn' | 'has'>
  patternAddresses: Pick<PatternAddresses, 'has'>
}

export class Aliases {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Newest first. */
  list(mailboxId: string, { limit, after }: { limit: number; after: PageKey | null }): Page<Alias> {
    const rows = ALIASES.all(
      this.#deps.db.read,
      `WHERE mailbox_id = ? AND made_for IS NULL${after === null ? '' : ' AND (created_at, n) < (?, ?)'}
       ORDER BY created_at DESC, n DESC LIMIT ?`,
      [mailboxId, ...(after ?? []), limit + 1],
    )
    return pageOf(rows, limit, ({ createdAt, n }) => [createdAt, n], present)
  }

  /** The alias of a mailbox with this address, in any case of its letters. */
  named(mailboxId: string, address: string): Alias | undefined {
    const email = parseMailbox(address)?.email.toLowerCase() ?? ''
    const rest = 'WHERE mailbox_id = ? AND email = ? AND made_for IS NULL'
    const row = ALIASES.get(this.#deps.db.read, rest, [mailboxId, email])
    return row && present(row)
  }

  /**
   * Adds an address to a mailbox, at any verified domain of the team. The caller adds its identity in the same unit of work.
   * @throws ProductError not_found, validation_error, conflict (the address is in use, the mailbox is deleted or has enough aliases)
   */
  addIn(tx: Tx, teamId: string, mailboxId: string, written: string): { alias: Alias; mailbox: Mailbox } {
    const { clock, mailboxes } = this.#deps
    const mailbox = mailboxes.getIn(tx, teamId, mailboxId)
    if (mailbox === undefined) throw notFound('mailbox')
    if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
    if (mailbox.domainId === null)
      throw conflict('The mailbox is an outside account: it has the addresses of that account.')
    const address = mailboxes.takeAddress(tx, teamId, written)
    const sql = 'SELECT count(*) AS count FROM aliases WHERE mailbox_id = ? AND made_for IS NULL'
    const { count } = tx.get<{ count: number }>(sql, [mailboxId])!
    if (count >= ALIASES_MAX) throw conflict(`The mailbox already has ${ALIASES_MAX} aliases. Remove one first.`)
    const alias = { ...address, id: newId('alias'), mailboxId, createdAt: clock.now() }
    ALIASES.insert(tx, alias)
    return { alias, mailbox }
  }

  /**
   * Removes an alias and its forwards; mail to it is rejected from then on. The caller ends the sign-ins through the mailbox and removes the
   * identities of the alias in the same unit of work.
   * @returns the mailbox and the address @throws ProductError not_found
   */
  removeIn(tx: Tx, teamId: string, mailboxId: string, id: string): { mailbox: Mailbox; email: string } {
    const mailbox = this.#deps.mailboxes.getIn(tx, teamId, mailboxId)
    if (mailbox === undefined) throw notFound('mailbox')
    const sql = 'DELETE FROM aliases WHERE id = ? AND mailbox_id = ? AND made_for IS NULL RETURNING domain_id, email'
    const removed = tx.get<{ domain_id: string; email: string }>(sql, [id, mailboxId])
    if (removed === undefined) throw notFound('alias')
    dropForwardsOfAlias(tx, mailboxId, removed.email)
    this.#deps.retired.addIn(tx, removed.domain_id, removed.email)
    return { mailbox, email: removed.email }
  }

  /** Whether there are aliases at a domain. */
  anyAt(tx: Tx, domainId: string): boolean {
    return tx.get('SELECT 1 AS found FROM aliases WHERE domain_id = ? LIMIT 1', [domainId]) !== undefined
  }

  /**
   * Addresses a mailbox writes as: its own, its aliases and its throw-away addresses, the first two also with a tag (docs/design/mailbox.md §8), and those of patterns that lead to
   * it. An agent writes as its own address only (docs/design/agents.md §7).
   */
  ownAddresses(reader: Reader, { id, email, isAgent }: Mailbox): OwnAddresses {
    if (isAgent) return { addresses: [email], takesTags: false, patterns: [] }
    const addresses = [email, ...aliasesOf(reader, id).map((alias) => alias.email)]
    const tagged = addresses.flatMap((address) => this.#tagPatterns(address))
    const others = patternsTo(reader, id).map(
      ({ pattern, domainId }) => `${pattern}@${this.#deps.domains.receivingById(domainId)?.name ?? ''}`,
    )
    return { addresses, takesTags: true, patterns: [...tagged, ...others] }
  }

  /** Whether a mailbox writes as an address: it leads here, and what only a pattern leads here was used before. */
  mayWriteAs(reader: Reader, mailbox: Mailbox, email: string): boolean {
    const reach = this.#reachOf(reader, mailbox, email.toLowerCase())
    if (reach === null || reach === 'named') return reach !== null
    return this.#deps.patternAddresses.has(reader, reach.domainId, email.toLowerCase())
  }

  /** The domain of an address that only a pattern leads to the mailbox; undefined where it has the address itself, or does not have it. */
  byPattern(reader: Reader, mailbox: Mailbox, email: string): { domainId: string } | undefined {
    const reach = this.#reachOf(reader, mailbox, email.toLowerCase())
    return reach === null || reach === 'named' ? undefined : reach
  }

  /** As the address is resolved for receiving, whether or not the domain receives now. */
  #reachOf(reader: Reader, mailbox: Mailbox, email: string): 'named' | { domainId: string } | null {
    if (email === mailbox.email) return 'named'
    if (mailbox.isAgent) return null
    const { domains, mailboxes, addressing, retired } = this.#deps
    const at = Math.max(email.lastIndexOf('@'), 0)
    const [local, name] = [email.slice(0, at), email.slice(at + 1)]
    const domain = domains.byName(name)
    const names = [local, ...basesOf(local, domain?.separators ?? SEPARATOR_DEFAULT)].map((base) => `${base}@${name}`)
    for (const base of names) {
      if (base === mailbox.email || isAliasOf(reader, mailbox.id, base, base === email)) return 'named'
      if (domain !== undefined && mailboxes.reachedAt(domain.id, base) !== undefined) return null
    }
    if (domain === undefined || addressing.leadsTo(domain.id, local) !== mailbox.id) return null
    return names.some((base) => retired.has(domain.id, base)) ? null : { domainId: domain.id }
  }

  /** With separators other than `+`. */
  #tagPatterns(address: string): string[] {
    const at = address.lastIndexOf('@')
    const separators = this.#deps.domains.byName(address.slice(at + 1))?.separators ?? SEPARATOR_DEFAULT
    return [...separators.replace('+', '')].map((one) => `${address.slice(0, at)}${one}*${address.slice(at)}`)
  }
}

function present({ id, mailboxId, domainId, email, createdAt }: RecordOf<typeof ALIASES>): Alias {
  return { id, mailboxId, domainId, email, createdAt }
}

/** The addresses of the aliases of a mailbox and its throw-away addresses, lower-case, the oldest first. */
export function aliasesOf(reader: Reader, mailboxId: string): { domainId: string; email: string }[] {
  const sql = 'SELECT domain_id AS domainId, email FROM aliases WHERE mailbox_id = ? ORDER BY n'
  return reader.all<{ domainId: string; email: string }>(sql, [mailboxId])
}

function isAliasOf(reader: Reader, mailboxId: string, email: string, isWhole: boolean): boolean {
  const found = ALIASES.only('made_for').get(reader, 'WHERE mailbox_id = ? AND email = ?', [mailboxId, email])
  return found !== undefined && (isWhole || found.madeFor === null)
}

const AT = ALIASES.only('mailbox_id', 'made_for', 'paused_at')

/** The alias or throw-away address of exactly this lower-case address. */
export function aliasAt(reader: Reader, domainId: string, email: string): RecordOf<typeof AT> | undefined {
  return AT.get(reader, 'WHERE domain_id = ? AND email = ?', [domainId, email])
}

/** Frees the aliases of a mailbox in the unit of work that deletes it. They are remembered, in case it is restored. */
export function dropAliases(tx: Tx, mailboxId: string): void {
  tx.run(
    `INSERT INTO deleted_aliases (id, mailbox_id, domain_id, email, created_at, made_for, paused_at)
     SELECT id, mailbox_id, domain_id, email, created_at, made_for, paused_at FROM aliases WHERE mailbox_id = ?`,
    [mailboxId],
  )
  tx.run('DELETE FROM aliases WHERE mailbox_id = ?', [mailboxId])
}

/**
 * Gives a restored mailbox its aliases again.
 * @param isFree whether the team may still use an address
 * @returns the addresses that it cannot have again
 */
export function restoreAliases(tx: Tx, mailboxId: string, isFree: (email: string) => boolean): string[] {
  const rows = tx.all<RowOf<typeof ALIASES>>(
    'SELECT * FROM deleted_aliases WHERE mailbox_id = ? ORDER BY created_at, id',
    [mailboxId],
  )
  forgetAliases(tx, mailboxId)
  return rows.flatMap((row) => {
    if (!isFree(row.email)) return [row.email]
    ALIASES.insert(tx, ALIASES.record(row))
    return []
  })
}

/** Forgets the aliases of a deleted mailbox. */
export function forgetAliases(tx: Tx, mailboxId: string): void {
  tx.run('DELETE FROM deleted_aliases WHERE mailbox_id = ?', [mailboxId])
}
