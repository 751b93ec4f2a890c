// What happened since a state, as every kind of thing tells it (decisions §10.3 "Changes object").

import { Type } from 'typebox'
import { Default, Nullable } from '../../http/schema.ts'
import type { Changes as StoredChanges } from '../../store/changes.ts'
import { MAILBOX_LIMITS } from '../mailbox/limits.ts'
import { record } from './record.ts'

const CHANGES_PAGE = 100
const Ids = (description: string) => Type.Array(Type.String(), { description })

export const Changes = record('Changes', 'What happened since a state; what came and went in between is not told.', {
  old_state: Type.String({ description: 'The state that was asked for.' }),
  new_state: Type.String({ description: 'The state after these changes.' }),
  has_more_changes: Type.Boolean({ description: 'Ask again with `new_state` for the rest.' }),
  created: Ids('New things.'),
  updated: Ids('Things that changed.'),
  destroyed: Ids('Things that are gone.'),
  total: Type.Integer({ minimum: 0, description: 'How many are told here.' }),
})

/** The same of things that have counts. */
export const CountedChanges = record('CountedChanges', 'What happened since a state to things that have counts.', {
  ...Changes.properties,
  updated_properties: Nullable(
    Type.Array(Type.String(), { description: 'All that may differ in `updated`; null: anything may.' }),
  ),
})

/** The query of every list of changes. */
export const changesQuery = Type.Object({
  since_state: Type.String({ minLength: 1, maxLength: 64, description: 'The last state this client knows.' }),
  limit: Default(
    Type.Integer({ minimum: 1, maximum: MAILBOX_LIMITS.changes_limit_max, description: 'Changes told at once.' }),
    CHANGES_PAGE,
  ),
})

/** @param properties the only members in which what is told as updated may differ; null where any may */
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
