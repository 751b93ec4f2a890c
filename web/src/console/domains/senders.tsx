// Who sends in the name of a domain, whether its policy can be tightened, and whether its mail arrives with TLS, by the reports of others.

import { take } from '../../api/client.ts'
import type { DmarcSource, DmarcSummary, Domain, TlsReportFailure, TlsReportSummary } from '../../api/types.ts'
import { count, percent } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { State } from '../../parts/marks.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { ServerText } from '../../parts/server-text.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { domains as words } from '../../words/en/domains.ts'
import { useTeam } from '../team.ts'

export function Senders({ domain }: { domain: Domain }) {
  return (
    <>
      <Dmarc domain={domain} />
      <Tls domain={domain} />
    </>
  )
}

function Dmarc({ domain }: { domain: Domain }) {
  const team = useTeam()
  const path = { domain_id: domain.id }
  const query = useQuery([team.id, 'domains', domain.id, 'senders'], () =>
    take(team.api.GET('/domains/{domain_id}/dmarc-reports', { params: { path } })),
  )
  if (query.error !== null) return <ErrorCard error={query.error} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton rows={3} />
  const { sources } = query.data
  return (
    <Section title={words.tabs.senders} note={words.sendersNote}>
      {sources.length === 0 ? (
        <Empty icon="inbox" title={words.noReports}>
          {words.noReportsText}
        </Empty>
      ) : (
        <>
          <p>{sentence(query.data)}</p>
          <Advice advice={query.data.advice} />
          <Table
            label={words.tabs.senders}
            rows={sources}
            columns={COLUMNS}
            keyOf={({ source_ip }) => source_ip}
            isTall
            isNamed
          />
        </>
      )}
    </Section>
  )
}

const TONES = { safe: 'good', not_yet: 'warn', too_little: '' } as const

function Advice({ advice: { verdict, reasons } }: Pick<DmarcSummary, 'advice'>) {
  return (
    <div class="stack">
      <p>
        <State tone={TONES[verdict]}>{words.verdicts[verdict]}</State>
      </p>
      <p class="soft">
        <ServerText>{reasons.join(' ')}</ServerText> {words.nextSteps[verdict]}
      </p>
    </div>
  )
}

function Tls({ domain }: { domain: Domain }) {
  const team = useTeam()
  const path = { domain_id: domain.id }
  const query = useQuery([team.id, 'domains', domain.id, 'tls-reports'], () =>
    take(team.api.GET('/domains/{domain_id}/tls-reports', { params: { path } })),
  )
  if (query.error !== null) return <ErrorCard error={query.error} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton rows={2} />
  const { failures, reporters } = query.data
  return (
    <Section title={words.tlsReports} note={words.tlsReportsNote}>
      {reporters.length === 0 ? <p class="soft">{words.noTlsReports}</p> : <p>{tlsSentence(query.data)}</p>}
      {failures.length > 0 && (
        <Table
          label={words.tlsReports}
          rows={failures}
          columns={FAILURES}
          keyOf={({ policy_type, result, host }) => `${policy_type} ${result} ${host}`}
          isTall
          isNamed
        />
      )}
    </Section>
  )
}

function tlsSentence({ succeeded, failed, days, reporters }: TlsReportSummary): string {
  return words.tlsSentence(count(succeeded), count(succeeded + failed), days, reporters)
}

const FAILURES: Column<TlsReportFailure>[] = [
  { head: words.failure, cell: ({ result }) => <span class="mono">{result}</span> },
  { head: words.mailServer, cell: ({ host }) => (host === '' ? '' : <Foreign>{host}</Foreign>) },
  { head: words.requiredBy, cell: ({ policy_type }) => words.policyTypes[policy_type], class: 'wide-only' },
  { head: words.sessions, cell: ({ sessions }) => count(sessions), class: 'number' },
]

function sentence({ messages, passed, days, reporters }: DmarcSummary): string {
  return words.sendersSentence(count(passed), count(messages), days, reporters)
}

const share = (part: number, { messages }: DmarcSource) => `${percent(messages === 0 ? 0 : part / messages)} %`

const COLUMNS: Column<DmarcSource>[] = [
  {
    head: words.source,
    cell: ({ source_ip }) => <span class="mono">{source_ip === '' ? words.otherSources : source_ip}</span>,
  },
  {
    head: words.state,
    cell: ({ messages, passed }) => {
      if (passed === messages) return <State tone="good">{words.allPass}</State>
      return <State tone={passed === 0 ? 'danger' : 'warn'}>{passed === 0 ? words.nonePass : words.somePass}</State>
    },
  },
  { head: words.messages, cell: ({ messages }) => count(messages), class: 'number' },
  { head: words.signedDkim, cell: (source) => share(source.dkim, source), class: 'number wide-only' },
  { head: words.sentFromSpf, cell: (source) => share(source.spf, source), class: 'number wide-only' },
  { head: words.stopped, cell: ({ stopped }) => count(stopped), class: 'number wide-only' },
]
