// The limits of a team, each with what is used of it.

import { take } from '../../api/client.ts'
import type { TeamLimit } from '../../api/types.ts'
import { count } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { Bar, State } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { limits as words } from '../../words/en/limits.ts'
import { useTeam } from '../team.ts'

const NEAR = 0.8

const shareOf = ({ used, most }: TeamLimit) => (used === null || most === null || most === 0 ? null : used / most)

const COLUMNS: Column<TeamLimit>[] = [
  { head: words.resource, cell: ({ resource }) => <span class="strong">{words.resources[resource]}</span> },
  {
    head: words.used,
    cell: ({ used }) => (used === null ? <span class="soft">{words.unknown}</span> : count(used)),
    class: 'number',
  },
  {
    head: words.most,
    cell: ({ most }) => (most === null ? <span class="soft">{words.noLimit}</span> : count(most)),
    class: 'number',
  },
  { head: words.share, cell: (limit) => <Share limit={limit} />, class: 'number' },
]

function Share({ limit }: { limit: TeamLimit }) {
  const share = shareOf(limit)
  if (share === null) return null
  return (
    <span class="row end limit-share">
      {share >= NEAR && <State tone={share >= 1 ? 'danger' : 'warn'}>{share >= 1 ? words.full : words.near}</State>}
      <span class="used">
        <Bar share={share} />
      </span>
    </span>
  )
}

export function Limits() {
  const team = useTeam()
  const query = useQuery([team.id, 'usage'], () => take(team.api.GET('/team/usage')))
  return (
    <Page title={words.title} note={words.note} curl={[{ method: 'GET', path: '/team/usage' }]}>
      {query.error !== null && <ErrorCard error={query.error} onRetry={query.refetch} />}
      {query.isLoading && <Skeleton />}
      {query.data !== undefined && (
        <Table
          label={words.title}
          rows={query.data.limits}
          columns={COLUMNS}
          isNamed
          keyOf={({ resource }) => resource}
        />
      )}
      <p class="soft">{words.ask}</p>
    </Page>
  )
}
