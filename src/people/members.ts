// Members of teams and their roles; every team keeps at least one owner (docs/design/directory.md §3).

import { conflict, invalid, notFound } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Reader, Tx } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import { Where } from '../db/sql-text.ts'
import { key, type RecordOf, type RowOf, table, text, time } from '../db/table.ts'
import { ROLES } from '../directory/names/permissions.ts'
import { parseMailbox } from '../mime/address.ts'
import type { PeopleDeps } from './deps.ts'

export type MemberRole = 'owner' | 'admin' | 'member' | 'viewer' | 'user'

export const MEMBERS = table('members', {
  n: key(),
  id: text(),
  team_id: text(),
  /** Lower-case. */
  email: text(),
  /** Of earlier versions; the name is that of the person. */
  display_name: text().orNull().hidden(),
  role: text<MemberRole>(),
  invited_at: time(),
  joined_at: time().orNull(),
  last_login_at: time().orNull(),
  /** Sessions opened at or before this time do not open the team; null when none were ended. */
  signed_out_at: time().orNull(),
})
type MemberRow = RowOf<typeof MEMBERS> & { person_name: string | null }

export interface TeamMember extends RecordOf<typeof MEMBERS> {
  displayName: string | null
  /** `invited` until the first sign-in. */
  status: 'invited' | 'active'
}

/** Which members of a team a list shows. */
export interface MemberFilter {
  /** Part of the address or of the name. */
  search?: string
  role?: MemberRole
  limit: number
  after: PageKey | null
}

export const MEMBER_ROLES: readonly MemberRole[] = ['owner', 'admin', 'member', 'viewer', 'user']

/** The permissions of each role in the console. */
export const MEMBER_PERMISSIONS: Readonly<Record<MemberRole, readonly string[]>> = {
  owner: ROLES['root:full'],
  admin: ROLES['root:full'],
  member: [...ROLES['root:readonly'], 'email.send'],
  viewer: ROLES['root:readonly'],
  // Opens the mailboxes granted to them, and nothing of the team.
  user: [],
}

const EMAIL_MAX = 254
/** The name of a person who has signed in: one who was only invited may not know of the team. */
const NAME = '(SELECT display_name FROM persons WHERE persons.email = members.email AND members.joined_at IS NOT NULL)'
const SELECT = `SELECT ${MEMBERS.columns}, ${NAME} AS person_name FROM members`

interface MembersDeps extends Pick<PeopleDeps, 'db' | 'clock'> {
  /** Runs in the unit of work that adds a member. */
  onAdded(tx: Tx, member: TeamMember): void
}

export class Members {
  readonly #deps: MembersDeps

  constructor(deps: MembersDeps) {
    this.#deps = deps
  }

  /** By the time they were invited. */
  list(teamId: string, { search, role, limit, after }: MemberFilter): Page<TeamMember> {
    const where = new Where().add('team_id = ?', teamId)
    if (after !== null) where.add('(invited_at, n) > (?, ?)', ...after)
    if (role !== undefined) where.add('role = ?', role)
    if (search !== undefined) {
      where.add(`instr(lower(email || ' ' || coalesce(${NAME}, '')), ?) > 0`, search.toLowerCase())
    }
    const rows = this.#deps.db.read.all<MemberRow>(`${SELECT} WHERE ${where.sql} ORDER BY invited_at, n LIMIT ?`, [
      ...where.values,
      limit + 1,
    ])
    return pageOf(rows, limit, (row) => [row.invited_at, row.n], memberOf)
  }

  /** How many members a team has. */
  count(teamId: string): number {
    const sql = 'SELECT count(*) AS count FROM members WHERE team_id = ?'
    return this.#deps.db.read.get<{ count: number }>(sql, [teamId])!.count
  }

  get(teamId: string, id: string, reader: Reader = this.#deps.db.read): TeamMember | undefined {
    const row = reader.get<MemberRow>(`${SELECT} WHERE team_id = ? AND id = ?`, [teamId, id])
    return row && memberOf(row)
  }

  /** These members of a team, by id. */
  byIds(teamId: string, ids: readonly string[]): Map<string, TeamMember> {
    const sql = `${SELECT} WHERE team_id = ? AND id IN (SELECT value FROM json_each(?))`
    const rows = this.#deps.db.read.all<MemberRow>(sql, [teamId, JSON.stringify(ids)])
    return new Map(rows.map(memberOf).map((member) => [member.id, member]))
  }

  /** Every team a person belongs to, the oldest membership first. */
  of(email: string, reader: Reader = this.#deps.db.read): TeamMember[] {
    return reader.all<MemberRow>(`${SELECT} WHERE email = ? ORDER BY n`, [email]).map(memberOf)
  }

  /** Addresses of the owners of a team, who receive its notices. */
  owners(teamId: string, reader: Reader = this.#deps.db.read): string[] {
    const rows = reader.all<{ email: string }>(
      `SELECT email FROM members WHERE team_id = ? AND role = 'owner' ORDER BY n`,
      [teamId],
    )
    return rows.map(({ email }) => email)
  }

  /** @throws ProductError conflict when the person is a member already, validation_error */
  add(tx: Tx, teamId: string, person: { email: string; role: MemberRole }): TeamMember {
    const email = checkPersonEmail(person.email)
    this.refuseExisting(tx, teamId, email)
    const id = newId('member')
    MEMBERS.insert(tx, { id, teamId, email, role: person.role, invitedAt: this.#deps.clock.now() })
    const added = this.get(teamId, id, tx)!
    this.#deps.onAdded(tx, added)
    return added
  }

  /** @throws ProductError conflict when the person is a member already */
  refuseExisting(reader: Reader, teamId: string, email: string): void {
    const known = reader.get('SELECT 1 AS found FROM members WHERE team_id = ? AND email = ?', [teamId, email])
    if (known !== undefined) throw conflict('This person is already a member of the team.', 'email')
  }

  /** Makes a person whose address is proven an owner, whatever their previous role. */
  addOwner(tx: Tx, teamId: string, email: string): void {
    const now = this.#deps.clock.now()
    tx.run(
      `INSERT INTO members (id, team_id, email, role, invited_at, joined_at) VALUES (?, ?, ?, 'owner', ?, ?)
       ON CONFLICT (team_id, email) DO UPDATE SET role = 'owner', joined_at = coalesce(joined_at, excluded.joined_at)`,
      [newId('member'), teamId, email, now, now],
    )
  }

  /**
   * @param check sees the member as they are inside the unit of work and throws to refuse
   * @throws ProductError not_found, conflict for the last owner
   */
  changeRole(tx: Tx, teamId: string, id: string, role: MemberRole, check: (current: TeamMember) => void): TeamMember {
    const member = this.get(teamId, id, tx)
    if (member === undefined) throw notFound('member')
    check(member)
    if (member.role === 'owner' && role !== 'owner') this.#refuseLast(tx, teamId)
    tx.run('UPDATE members SET role = ? WHERE n = ?', [role, member.n])
    return { ...member, role }
  }

  /**
   * @param check as in `changeRole`
   * @returns the member that was removed
   * @throws ProductError not_found, conflict for the last owner
   */
  remove(tx: Tx, teamId: string, id: string, check: (current: TeamMember) => void): TeamMember {
    const member = this.get(teamId, id, tx)
    if (member === undefined) throw notFound('member')
    check(member)
    if (member.role === 'owner') this.#refuseLast(tx, teamId)
    tx.run('DELETE FROM members WHERE n = ?', [member.n])
    return member
  }

  /**
   * Records a sign-in; the person has then joined every team the sign-in opens. A time of `signOut` that a wrong clock dated ahead must not
   * close the new session.
   */
  noteSignIn(tx: Tx, { email, teamId }: { email: string; teamId: string | null }): void {
    const now = this.#deps.clock.now()
    tx.run(
      `UPDATE members SET last_login_at = ?, joined_at = coalesce(joined_at, ?), signed_out_at = iif(signed_out_at > ?, ?, signed_out_at)
       WHERE email = ? AND team_id = coalesce(?, team_id)`,
      [now, now, now, now - 1, email, teamId],
    )
  }

  /** Sessions that are open now do not open the team any more. @throws ProductError not_found */
  signOut(tx: Tx, teamId: string, id: string, check: (current: TeamMember) => void): TeamMember {
    const member = this.get(teamId, id, tx)
    if (member === undefined) throw notFound('member')
    check(member)
    tx.run('UPDATE members SET signed_out_at = ? WHERE n = ?', [this.#deps.clock.now(), member.n])
    return member
  }

  #refuseLast(tx: Tx, teamId: string): void {
    if (this.owners(teamId, tx).length <= 1)
      throw conflict('A team must keep at least one owner. Make another member an owner first.')
  }
}

/** The address of a person in stored form. @throws ProductError validation_error */
export function checkPersonEmail(written: string, field = 'email'): string {
  if (written.length <= EMAIL_MAX && parseMailbox(written) !== null) return written.toLowerCase()
  throw invalid(field, 'invalid_format', `The ${field} must be a single email address.`)
}

function memberOf(row: MemberRow): TeamMember {
  const member = MEMBERS.record(row)
  return { ...member, displayName: row.person_name, status: member.joinedAt === null ? 'invited' : 'active' }
}
