// What is known of one agent: its inbox, its traffic, its keys and its owner.

import type { OwnAgent } from '../../api/agents.ts'
import { apiAs, take } from '../../api/client.ts'
import type { ApiKey, MailboxAdmin } from '../../api/types.ts'
import { daysAgo } from '../../base/dates.ts'
import { count, size } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { type Curve, TimeChart } from '../../panels/time-chart.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Bar, State, Time } from '../../parts/marks.tsx'
import { Section } from '../../parts/page.tsx'
import { Skeleton } from '../../parts/quiet.tsx'
import { Table } from '../../parts/table.tsx'
import { agents as words } from '../../words/en/agents.ts'

const DAYS = 14

const CURVES: readonly Curve[] = [
  { name: words.curves.received, kind: 'line', of: ({ received }) => received },
  { name: words.curves.sent, kind: 'area', of: ({ sent }) => sent },
  { name: words.curves.failed, kind: 'bars', of: ({ failed }) => failed },
]

export function Traffic({ agent: { team_id: teamId } }: { agent: OwnAgent }) {
  const after = daysAgo(DAYS).slice(0, 10)
  const series = useQuery([teamId, 'timeseries', 'agent', after], () =>
    take(apiAs(teamId).GET('/emails/metrics/timeseries', { params: { query: { after, interval: 'day' as const } } })),
  )
  if (series.data === undefined) return series.isLoading ? <Skeleton rows={4} /> : null
  return (
    <div class="card">
      <TimeChart title={words.traffic} points={series.data.points} curves={CURVES} interval="day" />
    </div>
  )
}

export function Inbox({ mailbox, agent }: { mailbox: MailboxAdmin; agent: OwnAgent }) {
  const { quota_bytes: quota, quota_used_bytes: used = 0 } = mailbox
  return (
    <section class="card card-pad stack">
      <h2 class="sub">{words.inbox}</h2>
      <div class="stack tight">
        <span class="row wide">
          <span class="soft">{words.used}</span>
          <span>{words.usedOf(size(used), size(quota))}</span>
        </span>
        <Bar share={quota === 0 ? 0 : used / quota} />
      </div>
      <span class="row wide">
        <span class="soft">{words.messages}</span>
        <span>{count(mailbox.message_count ?? 0)}</span>
      </span>
      <span class="row wide">
        <span class="soft">{words.lastActivity}</span>
        <span>
          {mailbox.last_activity_at === null ? words.never : <Time at={mailbox.last_activity_at} as="relative" />}
        </span>
      </span>
      <a href={`/console/${agent.team_id}/mailboxes/${mailbox.id}`}>{words.openInbox}</a>
    </section>
  )
}

export function About({ agent, owners }: { agent: OwnAgent; owners: readonly string[] }) {
  return (
    <dl class="stack about">
      <Fact name={words.owner}>
        {owners.map((email) => (
          <span key={email}>
            <Foreign>{email}</Foreign>{' '}
          </span>
        ))}
      </Fact>
      <Fact name={words.registered}>
        <Time at={agent.created_at} />
      </Fact>
      <Fact name={words.lastUsed}>
        {agent.last_used_at === null ? words.never : <Time at={agent.last_used_at} as="relative" />}
      </Fact>
      {agent.ended_at !== null && (
        <Fact name={words.ended}>
          <Time at={agent.ended_at} />
        </Fact>
      )}
      <Fact name={words.id}>
        <CodeValue text={agent.id} what={words.id} />
      </Fact>
    </dl>
  )
}

export function Keys({ keys }: { keys: readonly ApiKey[] }) {
  return (
    <Section title={words.keys} note={words.keysNote}>
      {keys.length === 0 ? (
        <p class="soft">{words.noKeys}</p>
      ) : (
        <Table
          label={words.keys}
          rows={keys}
          keyOf={({ id }) => id}
          columns={[
            { head: words.key, cell: ({ name }) => <Foreign>{name}</Foreign> },
            {
              head: words.keyState,
              cell: ({ status }) => <State tone={status === 'active' ? 'good' : ''}>{words.keyStates[status]}</State>,
            },
            {
              head: words.lastUsed,
              cell: ({ last_used_at }) => (last_used_at === null ? words.never : <Time at={last_used_at} />),
              class: 'number soft',
            },
          ]}
        />
      )}
    </Section>
  )
}
