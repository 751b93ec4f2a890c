// The audit log of the whole appliance, for the operator.

import { route } from '../../http/route.ts'
import { listOf } from '../../http/schema.ts'
import { AuditEntryJson, auditQuery, presentAuditEntry } from '../schemas/audit.ts'
import { searchOf, timeRange } from '../schemas/list-filters.ts'

export const operatorAudit = route({
  method: 'GET',
  surface: 'operator',
  path: '/audit',
  docs: {
    operation: 'listApplianceAuditEntries',
    tag: 'Service',
    summary: 'List all changes that people, keys and commands made, newest first',
    description: '`team_id`, `actor` and `action` narrow the list; secrets are not in the entries.',
  },
  access: { as: 'operator' },
  query: auditQuery,
  reply: { schema: listOf(AuditEntryJson) },
  async handle({ query, after, app }) {
    const { actor, limit } = query
    const filter = { ...timeRange(query), actor, search: searchOf(query), limit, after }
    const page = await app.people.audit.list(null, filter)
    return { items: page.items.map(presentAuditEntry), next: page.next }
  },
})
