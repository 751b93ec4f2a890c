// Everything that waits for a decision of the person.

import type { ApiRequest } from '../base/curl.ts'
import { ApprovalCard, useApprovals } from '../panels/approvals.tsx'
import { HeldMessages, useHeld } from '../panels/held-messages.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { approvals as words } from '../words/en/approvals.ts'

const REQUESTS: readonly ApiRequest[] = [
  { method: 'GET', path: '/approvals', base: '/me/v1' },
  { method: 'GET', path: '/held-messages', base: '/me/v1' },
]

export function Asks() {
  const approvals = useApprovals()
  const held = useHeld()
  const error = approvals.error ?? held.error
  const refetch = () => void Promise.all([approvals.refetch(), held.refetch()])
  return (
    <Page title={words.title} note={words.note} curl={REQUESTS}>
      {error !== null ? (
        <ErrorCard error={error} onRetry={refetch} />
      ) : approvals.data === undefined || held.data === undefined ? (
        <Skeleton rows={3} />
      ) : approvals.data.length + held.data.length === 0 ? (
        <Empty icon="stamp" title={words.emptyTitle}>
          {words.emptyText}
        </Empty>
      ) : (
        <>
          <ApprovalCard approvals={approvals.data} />
          <HeldMessages messages={held.data} />
        </>
      )}
    </Page>
  )
}
