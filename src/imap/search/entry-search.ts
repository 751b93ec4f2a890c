// Searches that one statement answers: Roundcube lists folders by them, counts what is unseen, and looks for subjects.

import { DAY_MS } from '../../base/durations.ts'
import { foldedText } from '../../mime/header-keys.ts'
import type { EntryCondition } from '../../store/entries/folders-search.ts'
import { ENTRY_FLAGS } from '../../store/entries/keywords.ts'
import type { SearchKey } from '../grammar/search-keys.ts'

/**
 * A search as a condition on entries and their subjects.
 * @param isTop every match must be in the sets of the key, which narrow the candidates already
 * @returns null when it needs more than entries and subjects
 */
export function entryCondition(key: SearchKey, now: number, isTop = true): EntryCondition | null {
  switch (key.kind) {
    case 'all':
    case 'save-date-supported':
      return { kind: 'all' }
    case 'and':
      return every(key.keys.map((child) => entryCondition(child, now, isTop)))
    case 'or': {
      const [left, right] = [key.left, key.right].map((child) => entryCondition(child, now, false))
      return left == null || right == null ? null : { kind: 'any', of: [left, right] }
    }
    case 'not': {
      const of = entryCondition(key.key, now, false)
      return of === null ? null : { kind: 'not', of }
    }
    case 'set':
      return isTop ? { kind: 'all' } : null
    case 'flag':
      return { kind: 'flag', bit: ENTRY_FLAGS[key.flag], isSet: key.isSet }
    case 'size':
      return { kind: 'size', relation: key.relation === 'larger' ? 'larger' : 'smaller', bytes: key.bytes }
    case 'within': {
      const at = now - key.seconds * 1000
      return { kind: 'time', of: 'received', ...(key.relation === 'younger' ? { from: at } : { until: at }) }
    }
    case 'date':
      return key.date === 'sent' ? null : dateCondition(key)
    case 'subject':
      return subjectCondition(key)
    case 'header':
      return key.name.toLowerCase() === 'subject' ? subjectCondition(key) : null
    default:
      return null
  }
}

/** An empty string asks whether there is a field; subjects are kept a line each. */
function subjectCondition({ value, isFuzzy }: { value: string; isFuzzy?: boolean }): EntryCondition | null {
  const text = foldedText(value)
  return isFuzzy || text === '' || text.includes('\n') ? null : { kind: 'subject', text }
}

/** True when a condition is on subjects, which takes longer. */
export function readsSubjects(condition: EntryCondition): boolean {
  if (condition.kind === 'not') return readsSubjects(condition.of)
  return (
    condition.kind === 'subject' ||
    ('of' in condition && Array.isArray(condition.of) && condition.of.some(readsSubjects))
  )
}

function every(of: readonly (EntryCondition | null)[]): EntryCondition | null {
  const needed = of.filter((one) => one?.kind !== 'all')
  if (needed.includes(null)) return null
  return needed.length === 0 ? { kind: 'all' } : { kind: 'every', of: needed as EntryCondition[] }
}

function dateCondition({ date, relation, day }: Extract<SearchKey, { kind: 'date' }>): EntryCondition {
  const of = date === 'saved' ? 'filed' : 'received'
  if (relation === 'before') return { kind: 'time', of, until: day }
  return { kind: 'time', of, from: day, ...(relation === 'on' ? { until: day + DAY_MS } : {}) }
}
