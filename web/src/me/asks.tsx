// Everything that waits for a decision of the person.

import { ApprovalCard, useApprovals } from '../panels/approvals.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { approvals as words } from '../words/en/approvals.ts'

export function Asks() {
  const { data, error, refetch } = useApprovals()
  return (
    <Page title={words.title} note={words.note} curl={[{ method: 'GET', path: '/approvals', base: '/me/v1' }]}>
      {error !== null ? (
        <ErrorCard error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <Skeleton rows={3} />
      ) : data.length === 0 ? (
        <Empty icon="stamp" title={words.emptyTitle}>
          {words.emptyText}
        </Empty>
      ) : (
        <ApprovalCard approvals={data} />
      )}
    </Page>
  )
}
