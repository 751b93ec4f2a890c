// What the spam filter does for the team: caught, corrected, per source, and what was learned.

import { take } from '../../api/client.ts'
import type { SpamReport } from '../../api/types.ts'
import { exact } from '../../base/dates.ts'
import { count, percent, plural } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { ButtonLink } from '../../parts/button.tsx'
import { Fact } from '../../parts/facts.tsx'
import { choicesOf, FilterMenu, useFilters } from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { Empty, ErrorCard } from '../../parts/quiet.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { spam as words } from '../../words/en/spam.ts'
import { useTeam } from '../team.ts'

type Period = keyof typeof words.periods

export function Spam() {
  const team = useTeam()
  const filters = useFilters()
  const days = (filters.get('days') ?? '30') as `${Period}`
  const { data, error, refetch } = useQuery([team.id, 'inbound', 'spam', days], () =>
    take(team.api.GET('/inbound/spam', { params: { query: { days } } })),
  )
  const period = <FilterMenu filters={filters} name="days" label={words.period} choices={choicesOf(words.periods)} />
  return (
    <Page title={words.title} note={words.note} actions={period} curl={[{ method: 'GET', path: '/inbound/spam' }]}>
      {error !== null && <ErrorCard error={error} onRetry={refetch} />}
      {data !== undefined && <Report report={data} />}
    </Page>
  )
}

function Report({ report }: { report: SpamReport }) {
  return (
    <>
      <Caught report={report} />
      <Learned report={report} />
      <Reasons report={report} />
    </>
  )
}

function Caught({ report }: { report: SpamReport }) {
  const team = useTeam()
  const { received, junk, refused, ham_loss: loss, junk_score: score } = report
  const share = received === 0 ? null : words.shareOf(percent(junk / received))
  return (
    <Section
      title={words.messages}
      actions={<ButtonLink href={`${team.href('inbound')}?status=junk`}>{words.show}</ButtonLink>}
    >
      <dl class="facts">
        <Fact name={words.received}>{count(received)}</Fact>
        <Fact name={words.junk}>
          {count(junk)} {share !== null && <span class="soft">{share}</span>}
        </Fact>
        <Fact name={words.refused}>{count(refused)}</Fact>
        <Fact name={words.loss}>{words.lossText(count(Math.round(1 / loss)), String(score))}</Fact>
      </dl>
    </Section>
  )
}

function Learned({ report: { missed, mistaken, model, labels } }: { report: SpamReport }) {
  return (
    <Section title={words.corrected}>
      <dl class="facts">
        <Fact name={words.missed}>{count(missed)}</Fact>
        <Fact name={words.mistaken}>{count(mistaken)}</Fact>
        <Fact name={words.learned}>
          {model === null
            ? words.nothingLearned
            : words.learnedText(
                count(model.spam),
                count(model.ham),
                plural(model.mailboxes, words.mailbox, words.mailboxes),
              )}
        </Fact>
        {model !== null && <Fact name={words.learnedOn}>{exact(model.trained_at)}</Fact>}
      </dl>
      {labels.length > 0 && (
        <Table
          rows={labels}
          label={words.labels}
          columns={LABEL_COLUMNS}
          keyOf={({ source, label }) => `${source} ${label}`}
          isNamed
        />
      )}
    </Section>
  )
}

function Reasons({ report: { reasons, senders } }: { report: SpamReport }) {
  if (reasons.length === 0 && senders.length === 0)
    return (
      <Empty icon="shield-check" title={words.emptyTitle}>
        {words.empty}
      </Empty>
    )
  return (
    <>
      <Section title={words.reasons}>
        <Table rows={reasons} label={words.reasons} columns={REASON_COLUMNS} keyOf={({ reason }) => reason} isNamed />
      </Section>
      <Section title={words.senders}>
        <Table rows={senders} label={words.senders} columns={SENDER_COLUMNS} keyOf={({ domain }) => domain} isNamed />
      </Section>
    </>
  )
}

const { columns } = words

const LABEL_COLUMNS: readonly Column<SpamReport['labels'][number]>[] = [
  { head: columns.source, cell: ({ source }) => words.sources[source], class: 'line' },
  { head: columns.label, cell: ({ label }) => words.names[label] },
  { head: columns.messages, cell: ({ messages }) => count(messages) },
  { head: columns.corrected, cell: ({ corrected }) => count(corrected) },
]

const REASON_COLUMNS: readonly Column<SpamReport['reasons'][number]>[] = [
  { head: words.reason, cell: ({ sentence }) => sentence, class: 'line' },
  { head: columns.messages, cell: ({ messages }) => count(messages) },
]

const SENDER_COLUMNS: readonly Column<SpamReport['senders'][number]>[] = [
  { head: words.sender, cell: ({ domain }) => <Foreign>{domain}</Foreign>, class: 'line' },
  { head: columns.messages, cell: ({ messages }) => count(messages) },
]
