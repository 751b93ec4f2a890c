// Changes since a state, the same for all types (docs/design/mailbox.md §3 "Changes object").

import { Type } from 'typebox'
import { Default, Nullable } from '../../http/schema.ts'
import type { Changes as StoredChanges } from '../../store/rows/changes.ts'
import { MAILBOX_LIMITS } from './limits.ts'
import { record } from './record.ts'

const CHANGES_PAGE = 100
const Ids = (description: string) => Type.Array(Type.String(), { description })

export const Changes = record(
  'Changes',
  'Changes since a state; an object created and deleted in between is left out.',
  {
    old_state: Type.String({ description: 'The requested state.' }),
    new_state: Type.String({ description: 'The state after these changes.' }),
    has_more_changes: Type.Boolean({ description: 'Request the rest with `new_state`.' }),
    created: Ids('New things.'),
    updated: Ids('Changed objects.'),
    destroyed: Ids('Deleted objects.'),
    total: Type.Integer({ minimum: 0, description: 'Number of changes in this response.' }),
  },
)

/** The same for types with counts. */
export const CountedChanges = record('CountedChanges', 'Changes of objects that have counts since a state.', {
  ...Changes.properties,
  updated_properties: Nullable(
    Type.Array(Type.String(), { description: 'Members that may differ in `updated`; null: any member.' }),
  ),
})

/** The query of every list of changes. */
export const changesQuery = Type.Object({
  since_state: Type.String({ minLength: 1, maxLength: 64, description: 'The last state the client knows.' }),
  limit: Default(
    Type.Integer({ minimum: 1, maximum: MAILBOX_LIMITS.changes_limit_max, description: 'Maximum number of changes.' }),
    CHANGES_PAGE,
  ),
})

/** @param properties the only members in which updated objects can differ; null for any */
export function presentCounted(changes: StoredChanges, properties: readonly string[] | null) {
  return { ...presentChanges(changes), updated_properties: properties === null ? null : [...properties] }
}

export function presentChanges({ oldState, newState, hasMoreChanges, created, updated, destroyed }: StoredChanges) {
  const total = created.length + updated.length + destroyed.length
  return {
    old_state: oldState,
    new_state: newState,
    has_more_changes: hasMoreChanges,
    created,
    updated,
    destroyed,
    total,
  }
}
