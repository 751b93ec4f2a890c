// What stands at the end of a link of the sidebar: a sign where a page needs a person, a number of what the page lists.

import { listApprovals } from '../../api/agents.ts'
import { take, takeList } from '../../api/client.ts'
import type { TeamLimit } from '../../api/types.ts'
import { count } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { Icon } from '../../parts/icon.tsx'
import { approvals as words } from '../../words/en/approvals.ts'
import { shell } from '../../words/en/shell.ts'
import { useTeam } from '../team.ts'

/** Pages whose number is a count of the limits of the team. */
const COUNTED: Readonly<Record<string, TeamLimit['resource']>> = { mailboxes: 'mailboxes', people: 'members' }

/** A sign beside "Domains" while one of them is not verified; how many mailboxes and people there are, how many agents wait. */
export function Counts({ page }: { page: string }) {
  const resource = COUNTED[page]
  if (resource !== undefined) return <Used resource={resource} />
  if (page === 'domains') return <DomainSign />
  if (page === 'agents') return <Waiting />
  return null
}

function Used({ resource }: { resource: TeamLimit['resource'] }) {
  const team = useTeam()
  const usage = useQuery([team.id, 'usage'], () => take(team.api.GET('/team/usage')))
  const used = usage.data?.limits.find((limit) => limit.resource === resource)?.used ?? null
  return used === null ? null : count(used)
}

function Waiting() {
  const waiting = useQuery(['approvals'], listApprovals)
  const agents = waiting.data?.filter(({ kind }) => kind !== 'limit_request').length ?? 0
  if (agents === 0) return null
  return (
    <>
      <span class="count" aria-hidden="true">
        {agents}
      </span>
      <span class="hidden-word">{words.waiting(agents)}</span>
    </>
  )
}

function DomainSign() {
  const team = useTeam()
  const domains = useQuery([team.id, 'domains', 'wrong'], () =>
    takeList(team.api.GET('/domains', { params: { query: { limit: 100 } } })),
  )
  const wrong = domains.data?.items.some((one) => one.verification_status === 'failed' || one.checks_ok === false)
  if (wrong !== true) return null
  return (
    <>
      <Icon name="triangle-alert" tone="warn" />
      <span class="hidden-word">{shell.domainsWrong}</span>
    </>
  )
}
