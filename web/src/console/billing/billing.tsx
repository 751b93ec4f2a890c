// The credits of a team, and what sending costs.

import { take, takeList } from '../../api/client.ts'
import type { BillingTransaction } from '../../api/types.ts'
import { count, money } from '../../base/numbers.ts'
import { useMatching, usePages, useQuery } from '../../live/query.ts'
import { transactionColumns } from '../../panels/transactions.tsx'
import { Fact } from '../../parts/facts.tsx'
import { choicesOf, FilterBar, FilterMenu, type Filters, SearchField, useFilters } from '../../parts/filters.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { Empty, ErrorCard } from '../../parts/quiet.tsx'
import { List } from '../../parts/table.tsx'
import { billing as words } from '../../words/en/billing.ts'
import { useTeam } from '../team.ts'

type Period = keyof typeof words.periods

export function Billing() {
  const filters = useFilters()
  const requests = ['/billing/summary', '/billing/transactions']
  return (
    <Page title={words.title} note={words.note} curl={requests.map((path) => ({ method: 'GET', path }))}>
      <Summary filters={filters} />
      <Transactions filters={filters} />
    </Page>
  )
}

function Summary({ filters }: { filters: Filters }) {
  const team = useTeam()
  const days = (filters.get('days') ?? '30') as Period
  const { data, error, refetch } = useQuery([team.id, 'billing', days], () =>
    take(team.api.GET('/billing/summary', { params: { query: { days } } })),
  )
  const period = <FilterMenu filters={filters} name="days" label={words.period} choices={choicesOf(words.periods)} />
  return (
    <Section title={words.summary} actions={period}>
      {error !== null && <ErrorCard error={error} onRetry={refetch} />}
      {data !== undefined && (
        <dl class="facts">
          <Fact name={words.purchased}>{money(data.total_purchased, data.currency)}</Fact>
          <Fact name={words.consumed}>{money(data.total_consumed, data.currency)}</Fact>
          <Fact name={words.count}>{count(data.transaction_count)}</Fact>
        </dl>
      )}
    </Section>
  )
}

function Transactions({ filters }: { filters: Filters }) {
  const team = useTeam()
  const query = { type: filters.get('type') as BillingTransaction['type'] | undefined }
  const pages = usePages([team.id, 'billing', 'transactions', query], (cursor) =>
    takeList(team.api.GET('/billing/transactions', { params: { query: { ...query, cursor } } })),
  )
  const shown = useMatching(pages, filters.get('q') ?? '', ({ description, id }) => `${description} ${id}`)
  return (
    <Section title={words.transactions}>
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="type" label={words.type} choices={choicesOf(words.types)} />
      </FilterBar>
      <List
        pages={shown}
        label={words.transactions}
        columns={TRANSACTION_COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <Empty icon="receipt-text" title={words.emptyTitle}>
            {words.empty}
          </Empty>
        }
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
    </Section>
  )
}

const TRANSACTION_COLUMNS = transactionColumns(words)
