// What stands at the end of a link of the sidebar: a sign where a page needs a person.

import { takeList } from '../../api/client.ts'
import { useQuery } from '../../live/query.ts'
import { Icon } from '../../parts/icon.tsx'
import { common } from '../../words/en/common.ts'
import { useTeam } from '../team.ts'

/** A sign beside "Domains" while one of them is not verified, beside "Sending" while an account is in error. */
export function Counts({ page }: { page: string }) {
  if (page === 'domains') return <DomainSign />
  return null
}

function DomainSign() {
  const team = useTeam()
  const failed = useQuery([team.id, 'domains', 'failed'], () =>
    takeList(team.api.GET('/domains', { params: { query: { verification_status: 'failed', limit: 1 } } })),
  )
  if ((failed.data?.items.length ?? 0) === 0) return null
  return (
    <>
      <Icon name="triangle-alert" tone="warn" />
      <span class="hidden-word">{common.errors.failed}</span>
    </>
  )
}
