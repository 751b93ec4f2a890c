// What was sent and received over time: figures, charts, and who it was divided among.

import { useState } from 'preact/hooks'
import { take, takeList } from '../../api/client.ts'
import { useQuery } from '../../live/query.ts'
import { FilterBar, FilterChip, FilterMenu, type Filters, useFilters } from '../../parts/filters.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Page } from '../../parts/page.tsx'
import { metrics as words } from '../../words/en/metrics.ts'
import { type OpenTeam, useTeam } from '../team.ts'
import { Breakdown } from './breakdown.tsx'
import { Charts } from './charts.tsx'
import { ChooseDates } from './choose-dates.tsx'
import { type Range, rangeOf } from './range.ts'

const MOST_CHOICES = 50

/** What all requests of the page have in common. */
export interface MetricsQuery {
  after: string
  before?: string
  domain?: string
  provider_id?: string
  mailbox_id?: string
  tag?: string
}

/** A tag is not combined with other filters. */
function queryOf(filters: Filters, { after, before }: Range): MetricsQuery {
  const span = { after, before: before ?? undefined }
  const tag = filters.get('tag')
  if (tag !== undefined) return { ...span, tag }
  return {
    ...span,
    domain: filters.get('domain'),
    provider_id: filters.get('account'),
    mailbox_id: filters.get('mailbox'),
  }
}

export function Metrics() {
  const filters = useFilters()
  const range = rangeOf(filters)
  const query = queryOf(filters, range)
  return (
    <Page
      title={words.title}
      note={words.note}
      curl={[
        { method: 'GET', path: '/emails/metrics', query: { ...query } },
        { method: 'GET', path: '/emails/metrics/timeseries', query: { ...query, interval: range.interval } },
        { method: 'GET', path: '/emails/metrics/breakdown', query: { ...query, by: filters.get('by') ?? 'domain' } },
      ]}
    >
      <Choices filters={filters} range={range} query={query} />
      <Charts query={query} range={range} />
      <Breakdown query={query} filters={filters} />
    </Page>
  )
}

/** What the filters offer: domains and accounts of the team, and the tags of the span. */
function useChoices(team: OpenTeam, { after, before }: MetricsQuery) {
  const domains = useQuery([team.id, 'domains', 'choices'], () =>
    takeList(team.api.GET('/domains', { params: { query: { limit: MOST_CHOICES } } })),
  )
  const accounts = useQuery(
    [team.id, 'providers', 'choices'],
    () => takeList(team.api.GET('/providers', { params: { query: { limit: MOST_CHOICES } } })),
    { when: team.may('provider.read') },
  )
  const mailboxes = useQuery(
    [team.id, 'mailboxes', 'choices'],
    () => takeList(team.api.GET('/mailboxes', { params: { query: { limit: MOST_CHOICES } } })),
    { when: team.may('mailbox.admin.read') },
  )
  const tags = useQuery([team.id, 'metrics-tags', after, before], () =>
    take(
      team.api.GET('/emails/metrics/breakdown', {
        params: { query: { after, before, by: 'tag', limit: MOST_CHOICES } },
      }),
    ),
  )
  return {
    domains: (domains.data?.items ?? []).map(({ domain }) => ({ value: domain, label: domain })),
    accounts: (accounts.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name })),
    mailboxes: (mailboxes.data?.items ?? []).map(({ id, email }) => ({ value: id, label: email })),
    tags: (tags.data?.rows ?? []).flatMap(({ key }) => (key === null ? [] : [{ value: key, label: key }])),
  }
}

interface ChoicesProps {
  filters: Filters
  range: Range
  query: MetricsQuery
}

function Choices({ filters, range, query }: ChoicesProps) {
  const team = useTeam()
  const { domains, accounts, mailboxes, tags } = useChoices(team, query)
  // A tag in the place of the other filters, and the other way round.
  const alone: Filters = {
    ...filters,
    set: (name, value) => filters.change({ domain: null, account: null, mailbox: null, [name]: value }),
  }
  const others: Filters = { ...filters, set: (name, value) => filters.change({ tag: null, [name]: value }) }
  const intervals = range.intervals.map((value) => ({ value, label: words.intervals[value] }))
  return (
    <>
      <FilterBar>
        <Span filters={filters} range={range} />
        <FilterMenu filters={filters} name="interval" label={words.interval} choices={intervals} />
        <FilterMenu filters={others} name="domain" label={words.domain} choices={domains} />
        {accounts.length > 0 && <FilterMenu filters={others} name="account" label={words.account} choices={accounts} />}
        {mailboxes.length > 0 && (
          <FilterMenu filters={others} name="mailbox" label={words.mailbox} choices={mailboxes} />
        )}
        {!mailboxes.some(({ value }) => value === filters.get('mailbox')) && (
          <FilterChip filters={filters} name="mailbox" label={words.mailbox} />
        )}
        {(tags.length > 0 || filters.get('tag') !== undefined) && (
          <FilterMenu filters={alone} name="tag" label={words.tag} choices={tags} />
        )}
      </FilterBar>
      {filters.get('tag') !== undefined && <p class="soft meta">{words.tagAlone}</p>}
    </>
  )
}

function Span({ filters, range }: Omit<ChoicesProps, 'query'>) {
  const [isChoosing, setChoosing] = useState(false)
  const label = range.days === null ? words.chosen(filters.get('from')!, filters.get('to')!) : words.spans[range.days]!
  const items = Object.entries(words.spans).map(([days, text]) => ({
    label: text,
    isChosen: days === range.days,
    onPress: () => filters.change({ days: days === '7' ? null : days, from: null, to: null }),
  }))
  return (
    <>
      <Menu
        class="button filter on"
        label={`${words.span}: ${label}`}
        items={[...items, { label: words.choose, isChosen: range.days === null, onPress: () => setChoosing(true) }]}
      >
        <Icon name="calendar" />
        {label}
        <Icon name="chevron-down" />
      </Menu>
      {isChoosing && <ChooseDates filters={filters} range={range} onClose={() => setChoosing(false)} />}
    </>
  )
}
