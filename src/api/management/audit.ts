// The audit log of a team.

import { route } from '../../http/route.ts'
import { listOf } from '../../http/schema.ts'
import { AuditEntryJson, auditQuery, presentAuditEntry } from '../schemas/audit.ts'
import { searchOf, timeRange } from '../schemas/list-filters.ts'

const listAudit = route({
  method: 'GET',
  path: '/team/audit',
  docs: {
    operation: 'listAuditEntries',
    tag: 'Team',
    summary: 'List the changes that people and keys made to the team, newest first',
    description: 'Entries are kept for `LOG_RETENTION_DAYS`.',
  },
  access: { as: 'team', permission: 'audit.read' },
  query: auditQuery,
  reply: { schema: listOf(AuditEntryJson) },
  async handle({ query, after, principal, app }) {
    const { actor, limit } = query
    const filter = { ...timeRange(query), actor, search: searchOf(query), limit, after }
    const page = await app.people.audit.list(principal.teamId, filter)
    return { items: page.items.map(presentAuditEntry), next: page.next }
  },
})

export const audit = [listAudit]
