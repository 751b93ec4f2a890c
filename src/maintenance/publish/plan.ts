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

/** What cannot stand beside an alias (RFC 1034 §3.6.2): a name server ignores one that is added (RFC 2136 §3.4.2.2), and says nothing. */
const NOT_BESIDE_ALIAS = ['A', 'AAAA', 'MX', 'TXT'] as const

/** @param replaced purposes of records that may take the place of others @throws Error when the name server does not answer */
export async function planRecords(
  view: Pick<ZoneView, 'values'>,
  records: readonly SetupRecord[],
  replaced: ReadonlySet<RecordPurpose>,
): Promise<PlannedRecord[]> {
  const planned: PlannedRecord[] = []
  for (const record of records) {
    const current = await view.values(record.name, record.type)
    const beside = await excludedBeside(view, record)
    const own = records.filter(({ name, type }) => name === record.name && type === record.type)
    const obstacles = [
      ...beside,
      ...current.filter((value) => !own.some((each) => each.value === value) && excludes(record, value)),
    ]
    planned.push({ ...record, current, obstacles, state: stateOf(record, { current, beside, obstacles }, replaced) })
  }
  return planned
}

/** Records of other types at the name of a record that exclude it, each with its type. */
async function excludedBeside(view: Pick<ZoneView, 'values'>, { name, type }: SetupRecord): Promise<string[]> {
  const found: string[] = []
  for (const other of type === 'CNAME' ? NOT_BESIDE_ALIAS : (['CNAME'] as const))
    found.push(...(await view.values(name, other)).map((value) => `${other} ${value}`))
  return found
}

function stateOf(
  { purpose, value }: SetupRecord,
  { current, beside, obstacles }: { current: string[]; beside: string[]; obstacles: string[] },
  replaced: ReadonlySet<RecordPurpose>,
): PlanState {
  if (obstacles.length === 0) return current.includes(value) ? 'present' : 'add'
  // An alias leads everything at the name elsewhere: that is more than one record.
  return replaced.has(purpose) && beside.length === 0 ? 'replace' : 'keep'
}

/** Whether a record cannot stand beside another one of its name and type. */
function excludes({ type, value }: SetupRecord, other: string): boolean {
  if (type === 'CNAME' || type === 'MX' || type === 'SRV') return true
  if (type !== 'TXT') return false
  // Receivers ignore all of two SPF or DMARC records (RFC 7208 §4.5, RFC 7489 §6.6.3).
  const tag = /^v=\w+/.exec(value)?.[0].toLowerCase()
  return tag !== undefined && other.toLowerCase().startsWith(tag)
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
