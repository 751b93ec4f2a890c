// The audit log of the team: who changed what, when and from where.

import { takeList } from '../../api/client.ts'
import { AuditLog, auditQueryOf } from '../../panels/audit-log.tsx'
import { useFilters } from '../../parts/filters.tsx'
import { Page } from '../../parts/page.tsx'
import { audit as words } from '../../words/en/audit.ts'
import { useTeam } from '../team.ts'

export function Audit() {
  const team = useTeam()
  const query = { ...auditQueryOf(useFilters()) }
  return (
    <Page title={words.title} note={words.note} curl={[{ method: 'GET', path: '/team/audit', query }]}>
      <AuditLog
        label={words.title}
        scope={team.id}
        ask={(query) => takeList(team.api.GET('/team/audit', { params: { query } }))}
      />
    </Page>
  )
}
