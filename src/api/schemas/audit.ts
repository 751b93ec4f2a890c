// Entries of the audit log, for a team and for the operator.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { Id, Nullable, pageQuery, Words } from '../../http/schema.ts'
import type { AuditEntry as AuditRecord } from '../../people/audit.ts'
import { searchFilters, timeFilters } from './list-filters.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

const PAGE = 25

export const AuditEntryJson = record('AuditEntry', 'A change, and who made it.', {
  id: Id('auditEntry'),
  at: TimeOf('When it was made.'),
  actor: record('AuditActor', 'Who made it.', {
    kind: Words(['person', 'key', 'command'], '`command`: on the machine of the appliance.'),
    id: Type.String({ description: 'Of the member, the session or the key.' }),
    label: Type.String({ description: 'The address of the person, or the name of the key.' }),
  }),
  action: Type.String({ description: 'The operation, as the OpenAPI document names it.' }),
  target: record('AuditTarget', 'What was changed.', {
    type: Nullable(Type.String()),
    id: Nullable(Type.String()),
    label: Nullable(Type.String()),
  }),
  opens: Nullable(
    Type.String({
      description:
        'What the change gives access to, such as the content that a new key or webhook sees; null where it gives none.',
    }),
  ),
  source: Type.String({ description: 'Address of the request.' }),
  request_id: Type.String(),
})

export const auditQuery = pageQuery({
  limit: PAGE,
  ...timeFilters('Made'),
  actor: Type.String({ minLength: 1, maxLength: 254, description: 'Id, address or name of the actor.' }),
  ...searchFilters('A part of the operation, the actor or the target.'),
})

export function presentAuditEntry({
  id,
  at,
  actor,
  action,
  target,
  opens,
  source,
  requestId,
}: AuditRecord): Static<typeof AuditEntryJson> {
  return { id, at: isoTime(at), actor, action, target, opens, source, request_id: requestId }
}
