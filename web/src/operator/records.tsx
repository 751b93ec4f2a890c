// The DNS records of the server itself: what has to be published, and what DNS answers now.

import { operatorApi, take } from '../api/client.ts'
import type { OwnRecord, OwnRecordChecks } from '../api/operator.ts'
import { useQuery } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { CodeValue } from '../parts/copy.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../parts/filters.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Badge, State, Time } from '../parts/marks.tsx'
import { Page, Section } from '../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { operator } from '../words/en/operator.ts'
import { ownRecords as words } from '../words/en/operator-users.ts'

/** While the page is open; DNS servers are asked each time. */
const WATCH_MS = 30_000

/** A row of either table. */
interface RecordLine {
  what: string
  type: string
  name: string
  /** Null where several values would be right. */
  value: string | null
  found: readonly string[]
  status: OwnRecord['status']
}

interface RecordGroup {
  title: string
  note: string
  isReserved: boolean
  lines: RecordLine[]
}

export function Records() {
  const filters = useFilters()
  const { data, error, isLoading, refetch } = useQuery(
    ['operator', 'own-records'],
    () => take(operatorApi.GET('/own-records/checks')),
    { every: WATCH_MS, isAlone: true },
  )
  const [text, status] = [(filters.get('q') ?? '').toLowerCase(), filters.get('status')]
  const isShown = (line: RecordLine) =>
    (status === undefined || line.status === status) &&
    `${line.what} ${line.name} ${line.value ?? ''}`.toLowerCase().includes(text)
  const groups = data === undefined ? [] : groupsOf(data)
  const isNone = data !== undefined && groups.every(({ lines }) => lines.filter(isShown).length === 0)
  return (
    <Page
      title={operator.pages.records}
      note={data === undefined ? words.note : <CheckedAt at={data.checked_at} />}
      badge={data === undefined ? undefined : <Summary groups={groups} />}
      command="mailstead domain own"
      curl={[
        { method: 'GET', path: '/own-records', base: '/operator/v1' },
        { method: 'GET', path: '/own-records/checks', base: '/operator/v1' },
      ]}
      actions={
        <Button kind="primary" icon="refresh-cw" isBusy={isLoading} onPress={refetch}>
          {words.again}
        </Button>
      }
    >
      {error !== null && <ErrorCard error={error} onRetry={refetch} />}
      {data === undefined && error === null && <Skeleton />}
      {data !== undefined && (
        <FilterBar>
          <SearchField filters={filters} label={words.search} />
          <FilterMenu filters={filters} name="status" label={words.status} choices={choicesOf(words.statuses)} />
        </FilterBar>
      )}
      {isNone && <Empty icon="search" title={words.noneMatch} />}
      <div class="stack loose">
        {groups.map((group) => (
          <Group key={group.title} group={{ ...group, lines: group.lines.filter(isShown) }} />
        ))}
      </div>
    </Page>
  )
}

function groupsOf({ hosts, domains }: OwnRecordChecks): RecordGroup[] {
  const lines = hosts.map(({ purpose, ...record }) => ({ ...record, what: words.purposes[purpose] }))
  const isReserved = hosts.every(({ status }) => status === 'not_checked')
  return [
    { title: words.hosts, note: words.hostsNote, isReserved, lines },
    ...domains.map(({ domain, is_reserved, checks }) => ({
      ...{ title: words.domainTitle(domain), note: words.domainNote, isReserved: is_reserved },
      lines: checks.map(({ record, name, expected, found, ok }): RecordLine => {
        const isNowhere = found.length === 0
        const status = is_reserved && isNowhere ? 'not_checked' : ok ? 'ok' : isNowhere ? 'missing' : 'wrong'
        return { what: words.kinds[record], type: typeOf(record, expected), name, value: expected, found, status }
      }),
    })),
  ]
}

/** A record whose value is a host name is a CNAME. */
function typeOf(record: string, value: string): string {
  if (record === 'mx') return 'MX'
  return /[= ]/.test(value) ? 'TXT' : 'CNAME'
}

function CheckedAt({ at }: { at: string }) {
  return (
    <>
      {words.checked} <Time at={at} as="relative" />
    </>
  )
}

const TONES = { ok: 'good', missing: 'warn', wrong: 'warn', unanswered: 'warn', not_checked: '' } as const

function Summary({ groups }: { groups: readonly RecordGroup[] }) {
  const lines = groups.flatMap((group) => group.lines)
  const wrong = lines.filter(({ status }) => TONES[status] === 'warn').length
  if (lines.every(({ status }) => status === 'not_checked')) return <Badge>{words.statuses.not_checked}</Badge>
  return <Badge tone={wrong === 0 ? 'good' : 'warn'}>{wrong === 0 ? words.allRight : words.wrong(wrong)}</Badge>
}

function Group({ group: { title, note, isReserved, lines } }: { group: RecordGroup }) {
  if (lines.length === 0) return null
  return (
    <Section title={title} note={isReserved ? words.reserved : note}>
      <Table
        label={title}
        rows={lines}
        columns={COLUMNS}
        keyOf={({ type, name, value, found }) => `${type} ${name} ${value ?? found.join()}`}
        isTall
        isNamed
      />
    </Section>
  )
}

const COLUMNS: readonly Column<RecordLine>[] = [
  { head: words.columns.record, cell: ({ what }) => what },
  { head: words.columns.type, cell: ({ type }) => type, class: 'mono soft' },
  { head: words.columns.name, cell: ({ name }) => <CodeValue text={name} what={name} />, class: 'cut' },
  {
    head: words.columns.value,
    class: 'cut',
    cell: (line) => (
      <span class="two-lines">
        {line.value === null ? (
          <span class="soft">{words.anyAddress}</span>
        ) : (
          <CodeValue text={line.value} what={line.what} />
        )}
        <Found line={line} />
      </span>
    ),
  },
  {
    head: words.columns.state,
    class: 'number',
    cell: ({ status }) => (
      <State tone={TONES[status]} icon={status === 'not_checked' ? 'circle' : undefined}>
        {words.statuses[status]}
      </State>
    ),
  },
]

/** What DNS has, where it is not what it should be, or where any address is right. */
function Found({ line: { status, value, found } }: { line: RecordLine }) {
  if (status === 'not_checked' || status === 'unanswered' || (status === 'ok' && value !== null)) return null
  const texts = found.length === 0 ? words.nothing : found.join(', ')
  return (
    <span>
      {words.found}: <Foreign>{texts}</Foreign>
    </span>
  )
}
