// Delivery groups: several sending accounts under one name, and the strategy that distributes messages among them (docs/design/sending.md §4).

import { conflict, invalid, notFound, ProductError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Reader, SqlValue, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { placeholders } from '../../db/sql-text.ts'
import { integer, key, type RecordOf, table, text, time } from '../../db/table.ts'
import { checkName } from '../../directory/keys/teams.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { refuseWhileRouted } from './routing-rules.ts'
import { ownProviders } from './row.ts'

export type GroupStrategy = 'weighted' | 'round_robin' | 'failover'

export const DELIVERY_GROUPS = table('delivery_groups', {
  n: key(),
  id: text(),
  team_id: text(),
  name: text(),
  strategy: text<GroupStrategy>(),
  /** The counter of `round_robin`. */
  turn: integer().or(0).hidden(),
  created_at: time(),
  updated_at: time(),
})
export const DELIVERY_GROUP_MEMBERS = table('delivery_group_members', {
  delivery_group: integer().hidden(),
  provider_id: text(),
  /** Overrides the account's own percentage inside the group; null keeps it. */
  weight: integer().orNull(),
  position: integer(),
})
const MEMBER = DELIVERY_GROUP_MEMBERS.and('delivery_group')

export type GroupMember = RecordOf<typeof DELIVERY_GROUP_MEMBERS>
export interface DeliveryGroup extends RecordOf<typeof DELIVERY_GROUPS> {
  members: GroupMember[]
}

/** A member in a request; its position defaults to its index in the list. */
export interface MemberInput {
  providerId: string
  weight?: number | null
  position?: number
}

export interface GroupChange {
  name?: string
  strategy?: GroupStrategy
  members?: readonly MemberInput[]
}

export const NAME_MAX = 100
const WHAT = 'delivery group'

export class Groups {
  readonly #deps: OutboundDeps

  constructor(deps: OutboundDeps) {
    this.#deps = deps
  }

  /** @throws ProductError conflict (the name is taken), validation_error (not_found: an account that is not the team's) */
  async create(teamId: string, input: Required<GroupChange>): Promise<DeliveryGroup> {
    const { db, clock } = this.#deps
    const name = checkName(input.name, NAME_MAX)
    return db.write((tx) => {
      this.#checkFree(tx, teamId, name, '')
      const id = newId('deliveryGroup')
      const now = clock.now()
      const group = { id, teamId, name, strategy: input.strategy, createdAt: now, updatedAt: now }
      const n = DELIVERY_GROUPS.insert(tx, group)
      this.#setMembers(tx, teamId, n, input.members)
      return this.get(teamId, id, tx)!
    })
  }

  get(teamId: string, id: string, reader: Reader = this.#deps.db.read): DeliveryGroup | undefined {
    return read(reader, 'WHERE id = ? AND team_id = ?', [id, teamId])[0]
  }

  /** Newest first. */
  list(teamId: string, filter: { limit: number; after: PageKey | null }): Page<DeliveryGroup> {
    const values: SqlValue[] = [teamId, ...(filter.after ?? []), filter.limit + 1]
    const groups = read(
      this.#deps.db.read,
      `WHERE team_id = ? ${filter.after === null ? '' : 'AND (created_at, n) < (?, ?)'}
       ORDER BY created_at DESC, n DESC LIMIT ?`,
      values,
    )
    return pageOf(groups, filter.limit, ({ createdAt, n }) => [createdAt, n])
  }

  /**
   * Changes the given fields; `members` replaces the whole list.
   * @throws ProductError not_found, conflict, validation_error, and what the precondition throws
   */
  async update(
    teamId: string,
    id: string,
    change: GroupChange,
    precondition: (current: DeliveryGroup) => void = () => {},
  ): Promise<DeliveryGroup> {
    const { db, clock } = this.#deps
    return db.write((tx) => {
      const current = this.get(teamId, id, tx)
      if (current === undefined) throw notFound(WHAT)
      precondition(current)
      const name = change.name === undefined ? current.name : checkName(change.name, NAME_MAX)
      this.#checkFree(tx, teamId, name, id)
      tx.run('UPDATE delivery_groups SET name = ?, strategy = ?, updated_at = ? WHERE n = ?', [
        name,
        change.strategy ?? current.strategy,
        clock.now(),
        current.n,
      ])
      if (change.members !== undefined) this.#setMembers(tx, teamId, current.n, change.members)
      return this.get(teamId, id, tx)!
    })
  }

  /** @throws ProductError not_found, conflict (a mailbox's send_scope or a routing rule names it), and what the precondition throws */
  async remove(teamId: string, id: string, precondition: (current: DeliveryGroup) => void = () => {}): Promise<void> {
    await this.#deps.db.write((tx) => {
      const current = this.get(teamId, id, tx)
      if (current === undefined) throw notFound(WHAT)
      precondition(current)
      const mailbox = this.#deps.directory.mailboxes.namingInScope(tx, teamId, id)
      if (mailbox !== undefined) {
        const message = `The delivery group is still used by the send_scope of ${mailbox}.`
        throw new ProductError('conflict', message, { issues: [{ field: 'send_scope', code: 'in_use', message }] })
      }
      refuseWhileRouted(tx, id, WHAT)
      tx.run('DELETE FROM delivery_group_members WHERE delivery_group = ?', [current.n])
      tx.run('DELETE FROM delivery_groups WHERE n = ?', [current.n])
    })
  }

  /** Filters the ids to the groups of the team. */
  own(reader: Reader, teamId: string, ids: readonly string[]): Set<string> {
    const rows = reader.all<{ id: string }>(
      `SELECT id FROM delivery_groups WHERE team_id = ? AND id IN (${placeholders(ids)})`,
      [teamId, ...ids],
    )
    return new Set(rows.map(({ id }) => id))
  }

  /** Groups of a team in the order of the ids, for routing; unknown ids are omitted. */
  many(teamId: string, ids: readonly string[]): DeliveryGroup[] {
    const rest = `WHERE team_id = ? AND id IN (${placeholders(ids)})`
    const groups = read(this.#deps.db.read, rest, [teamId, ...ids])
    return groups.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
  }

  /** The name of one group that has the account as a member. */
  naming(tx: Tx, providerId: string): string | undefined {
    const row = tx.get<{ name: string }>(
      `SELECT name FROM delivery_groups JOIN delivery_group_members ON delivery_group = n WHERE provider_id = ? LIMIT 1`,
      [providerId],
    )
    return row?.name
  }

  /** The round-robin counter of a group; each call increments it. */
  nextTurn(tx: Tx, n: number): number {
    const row = tx.get<{ turn: number }>(
      'UPDATE delivery_groups SET turn = (turn + 1) % 1000000000 WHERE n = ? RETURNING turn',
      [n],
    )
    return row?.turn ?? 0
  }

  #checkFree(tx: Tx, teamId: string, name: string, exceptId: string): void {
    const row = tx.get('SELECT 1 AS taken FROM delivery_groups WHERE team_id = ? AND name = ? AND id <> ?', [
      teamId,
      name,
      exceptId,
    ])
    if (row !== undefined) throw conflict('The team already has a delivery group of this name.', 'name')
  }

  #setMembers(tx: Tx, teamId: string, group: number, members: readonly MemberInput[]): void {
    const own = ownProviders(
      tx,
      teamId,
      members.map(({ providerId }) => providerId),
    )
    const seen = new Set<string>()
    tx.run('DELETE FROM delivery_group_members WHERE delivery_group = ?', [group])
    for (const [index, { providerId, weight = null, position = index }] of members.entries()) {
      const field = `members.${index}.provider_id`
      if (!own.has(providerId)) throw invalid(field, 'not_found', 'There is no such provider.')
      if (seen.has(providerId)) throw invalid(field, 'duplicate', 'A provider can be a member only once.')
      seen.add(providerId)
      DELIVERY_GROUP_MEMBERS.insert(tx, { deliveryGroup: group, providerId, weight, position })
    }
  }
}

/** @param rest the statement from WHERE on */
function read(reader: Reader, rest: string, values: readonly SqlValue[]): DeliveryGroup[] {
  const groups = DELIVERY_GROUPS.all(reader, rest, values)
  const members = membersOf(
    reader,
    groups.map(({ n }) => n),
  )
  return groups.map((group) => ({ ...group, members: members.get(group.n) ?? [] }))
}

function membersOf(reader: Reader, groups: readonly number[]): Map<number, GroupMember[]> {
  if (groups.length === 0) return new Map()
  const rest = `WHERE delivery_group IN (${placeholders(groups)}) ORDER BY position, provider_id`
  const grouped = Map.groupBy(MEMBER.all(reader, rest, groups), ({ deliveryGroup }) => deliveryGroup)
  return new Map([...grouped].map(([n, list]) => [n, list.map(({ deliveryGroup: _, ...member }) => member)]))
}
