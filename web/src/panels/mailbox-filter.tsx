// The sender filter of a mailbox, shown to those who may change it.

import type { FilterState } from '../api/types.ts'
import { refresh, useAction, useQuery } from '../live/query.ts'
import { ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { SenderFilter } from '../parts/sender-filter.tsx'
import { say } from '../parts/toast.tsx'
import { common } from '../words/en/common.ts'
import { senderFilters } from '../words/en/filters.ts'
import type { MailboxRequests } from './mailbox-requests.ts'

export function MailboxFilter({ mailbox }: { mailbox: MailboxRequests }) {
  const { actor, id, mayManage } = mailbox
  const query = useQuery([actor, 'mailbox-filters', id], mailbox.readFilter, { when: mayManage })
  const save = useAction(async (filter: FilterState) => {
    await mailbox.replaceFilter(filter, query.data!.tag)
    refresh(actor, 'mailbox-filters', id)
    say(senderFilters.saved)
  })
  if (!mayManage) return <p class="soft">{common.viewerNote}</p>
  if (query.failure !== null) return <ErrorCard error={query.failure} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton rows={3} />
  return (
    <SenderFilter
      key={query.data.tag}
      filter={query.data.value}
      mayChange
      isBusy={save.isBusy}
      error={save.error}
      onSave={(filter) => void save.run(filter)}
    />
  )
}
