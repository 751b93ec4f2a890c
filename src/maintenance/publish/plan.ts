// Which records of a set-up are to be added to a zone, and which stand in their way: nothing foreign is replaced unless it is named.

import type { RecordSetChange } from '../../dns/update.ts'
import type { ZoneView } from '../../dns/zone-view.ts'
import type { RecordPurpose, SetupRecord } from '../quickstart/records.ts'

/**
 * `present`: as it is to be. `add`: nothing is in its way. `replace`: others are, and it was asked to replace them. `keep`: others are, and
 * stay.
 */
export type PlanState = 'present' | 'add' | 'replace' | 'keep'

export interface PlannedRecord extends SetupRecord {
  state: PlanState
  /** Values that it cannot stand beside. */
  obstacles: string[]
  /** All values of its name and type now. */
  current: string[]
}

/** @param replaced purposes of records that may take the place of others @throws Error when the name server does not answer */
export async function planRecords(
  view: Pick<ZoneView, 'values'>,
  records: readonly SetupRecord[],
  replaced: ReadonlySet<RecordPurpose>,
): Promise<PlannedRecord[]> {
  const planned: PlannedRecord[] = []
  for (const record of records) {
    const current = await view.values(record.name, record.type)
    const alias = record.type === 'CNAME' ? [] : await view.values(record.name, 'CNAME')
    const own = records.filter(({ name, type }) => name === record.name && type === record.type)
    const obstacles = [
      ...alias.map((target) => `CNAME ${target}`),
      ...current.filter((value) => !own.some((each) => each.value === value) && excludes(record, value)),
    ]
    planned.push({ ...record, current, obstacles, state: stateOf(record, { current, alias, obstacles }, replaced) })
  }
  return planned
}

function stateOf(
  { purpose, value }: SetupRecord,
  { current, alias, obstacles }: { current: string[]; alias: string[]; obstacles: string[] },
  replaced: ReadonlySet<RecordPurpose>,
): PlanState {
  if (obstacles.length === 0) return current.includes(value) ? 'present' : 'add'
  // An alias leads everything at the name elsewhere: that is more than one record.
  return replaced.has(purpose) && alias.length === 0 ? 'replace' : 'keep'
}

/** Whether a record cannot stand beside another one of its name and type. */
function excludes({ type, value }: SetupRecord, other: string): boolean {
  if (type === 'CNAME' || type === 'MX' || type === 'SRV') return true
  if (type !== 'TXT') return false
  // Receivers ignore all of two SPF or DMARC records (RFC 7208 §4.5, RFC 7489 §6.6.3).
  const tag = /^v=\w+/.exec(value)?.[0]
  return tag !== undefined && other.startsWith(tag)
}

/** One change for each name and type. */
export function changesOf(planned: readonly PlannedRecord[]): RecordSetChange[] {
  const wanted = planned.filter(({ state }) => state === 'add' || state === 'replace')
  return [...Map.groupBy(wanted, ({ name, type }) => `${name} ${type}`).values()].map((records) => {
    const [{ name, type, current }] = records as [PlannedRecord]
    const removes = records.flatMap(({ state, obstacles }) => (state === 'replace' ? obstacles : []))
    const adds = records.map(({ value }) => value).filter((value) => !current.includes(value))
    return { name, type, current, adds, removes: [...new Set(removes)] }
  })
}
