// What happened to a domain: its records as checks found them changed, its keys, and when it was added and proven.

import { takeList } from '../../api/client.ts'
import type { DkimKey, Domain } from '../../api/types.ts'
import { dayAndTime } from '../../base/dates.ts'
import { useQuery } from '../../live/query.ts'
import type { LiveCheck } from '../../panels/domain-records.tsx'
import type { Tone } from '../../parts/icon.tsx'
import { domains as words } from '../../words/en/domains.ts'
import { useTeam } from '../team.ts'

interface Step {
  at: string
  title: string
  tone: Tone
}

const MOST_SHOWN = 8

/** The oldest key was made with the domain and says nothing by itself. */
function keySteps(keys: readonly DkimKey[]): Step[] {
  const { keyFound, keyReplaced, keyMade } = words.changeWords
  return keys.flatMap(({ selector, created_at, found_at, replaced_at }, index) => [
    ...(index < keys.length - 1 ? [{ at: created_at, title: keyMade(selector), tone: '' as const }] : []),
    ...(found_at === null ? [] : [{ at: found_at, title: keyFound(selector), tone: 'good' as const }]),
    ...(replaced_at === null ? [] : [{ at: replaced_at, title: keyReplaced(selector), tone: '' as const }]),
  ])
}

function stepsOf(domain: Domain, changes: LiveCheck['changes'], keys: readonly DkimKey[]): Step[] {
  const { added, verified } = words.changeWords
  const seen = changes.map(({ record, change, ok, at }) => ({
    at,
    title: words.changeWords[change](words.kinds[record].name),
    tone: ok ? ('good' as const) : ('warn' as const),
  }))
  const known: Step[] = [
    { at: domain.created_at, title: added, tone: '' },
    ...(domain.verified_at === null ? [] : [{ at: domain.verified_at, title: verified, tone: 'good' as const }]),
  ]
  return [...seen, ...keySteps(keys), ...known].sort((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, MOST_SHOWN)
}

export function Changes({ domain, live }: { domain: Domain; live: LiveCheck }) {
  const team = useTeam()
  const keys = useQuery([team.id, 'domains', domain.id, 'keys'], () =>
    takeList(team.api.GET('/domains/{domain_id}/dkim', { params: { path: { domain_id: domain.id } } })),
  )
  return (
    <section class="stack">
      <h2 class="sub">{words.changes}</h2>
      <ol class="changes">
        {stepsOf(domain, live.changes, keys.data?.items ?? []).map(({ at, title, tone }) => (
          <li key={`${at} ${title}`}>
            <span class={`dot ${tone}`} aria-hidden="true" />
            <span class="two-lines">
              <span>{title}</span>
              <time dateTime={at}>{dayAndTime(at)}</time>
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
