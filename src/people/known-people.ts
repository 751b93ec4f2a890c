// Everyone the appliance knows, for its operator: members of teams, and those who have signed in.

import type { Db, Row } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import { Where } from '../db/sql-text.ts'
import type { Members, TeamMember } from './members.ts'
import type { Passkeys } from './passkeys.ts'
import type { Sessions } from './sessions.ts'

export interface KnownPerson {
  /** Lower-case. */
  email: string
  displayName: string | null
  isOperator: boolean
  /** The oldest first. */
  memberships: TeamMember[]
  passkeys: number
  hasPassword: boolean
  /** Browsers that are signed in. */
  sessions: number
  lastLoginAt: number | null
}

export interface KnownPeopleFilter {
  /** Part of the address or of the name. */
  search?: string
  isOperator?: boolean
  limit: number
  after: PageKey | null
}

interface Deps {
  db: Db
  members: Members
  passkeys: Passkeys
  sessions: Sessions
}

const KNOWN = `SELECT known.email, display_name, coalesce(is_operator, 0) AS is_operator, password IS NOT NULL AS has_password
  FROM (SELECT email FROM persons UNION SELECT email FROM members) AS known
  LEFT JOIN persons ON persons.email = known.email`

export class KnownPeople {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** By address. */
  async list({ search, isOperator, limit, after }: KnownPeopleFilter): Promise<Page<KnownPerson>> {
    const where = new Where()
    if (after !== null) where.add('known.email > ?', ...after)
    if (isOperator !== undefined) where.add('coalesce(is_operator, 0) = ?', isOperator ? 1 : 0)
    if (search !== undefined) {
      where.add(`instr(lower(known.email || ' ' || coalesce(display_name, '')), ?) > 0`, search.toLowerCase())
    }
    const rows = await this.#deps.db.scan.all(`${KNOWN} WHERE ${where.sql} ORDER BY known.email LIMIT ?`, [
      ...where.values,
      limit + 1,
    ])
    return pageOf(
      rows,
      limit,
      (row) => [row.email as string],
      (row) => this.#personOf(row),
    )
  }

  /** @param email lower-case @returns undefined for someone who is no member and never signed in */
  get(email: string): KnownPerson | undefined {
    const row = this.#deps.db.read.get(`${KNOWN} WHERE known.email = ?`, [email])
    return row && this.#personOf(row)
  }

  #personOf(row: Row): KnownPerson {
    const { members, passkeys, sessions } = this.#deps
    const email = row.email as string
    const memberships = members.of(email)
    const times = memberships.flatMap(({ lastLoginAt }) => lastLoginAt ?? [])
    return {
      ...{ email, displayName: row.display_name as string | null, isOperator: row.is_operator === 1, memberships },
      ...{ passkeys: passkeys.count(email), hasPassword: row.has_password === 1 },
      ...{ sessions: sessions.list(email).length, lastLoginAt: times.length === 0 ? null : Math.max(...times) },
    }
  }
}
