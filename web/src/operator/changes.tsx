// The audit log of the whole server.

import { operatorApi, takeList } from '../api/client.ts'
import { AuditLog, auditQueryOf } from '../panels/audit-log.tsx'
import { useFilters } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { operator } from '../words/en/operator.ts'

export function Changes() {
  const query = { ...auditQueryOf(useFilters()) }
  return (
    <Page
      title={operator.pages.changes}
      note={operator.changes.note}
      command="mailstead audit"
      curl={[{ method: 'GET', path: '/audit', query, base: '/operator/v1' }]}
    >
      <AuditLog
        label={operator.pages.changes}
        scope="operator"
        ask={(query) => takeList(operatorApi.GET('/audit', { params: { query } }))}
      />
    </Page>
  )
}
