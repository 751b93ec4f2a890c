// The attempts of one webhook: what was sent, what came back, and delivering it again.

import { done, take, takeList } from '../../api/client.ts'
import type { WebhookDelivery, WebhookDeliveryDetail } from '../../api/types.ts'
import { count, size } from '../../base/numbers.ts'
import { LIVE_MS, refresh, useAction, usePages, useQuery } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import { choicesOf, FilterBar, FilterMenu, type Filters, SearchField, useFilters } from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { State, Time } from '../../parts/marks.tsx'
import { Empty, ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { RawJson } from '../../parts/raw-json.tsx'
import { CSV_PART, SaveCsv } from '../../parts/save-csv.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { say } from '../../parts/toast.tsx'
import { webhooks } from '../../words/en/webhooks.ts'
import { useTeam } from '../team.ts'

const words = webhooks.attempts
/** Characters of an answer in the list. */
const EXCERPT_MAX = 120
const TONES = { success: 'good', retrying: 'warn', failed: 'danger', permanent_failure: 'danger' } as const

export function Attempts({ webhookId }: { webhookId: string }) {
  const team = useTeam()
  const filters = useFilters()
  const text = filters.get('event')?.trim() ?? ''
  const searched = searchOf(text)
  const query = {
    result: filters.get('result') as WebhookDelivery['result'] | undefined,
    event_type: filters.get('type') as EventType | undefined,
    ...searched,
  }
  const path = { webhook_id: webhookId }
  const ask = (part: { cursor: string | undefined; limit?: number }) =>
    takeList(team.api.GET('/webhooks/{webhook_id}/deliveries', { params: { path, query: { ...query, ...part } } }))
  const pages = usePages([team.id, 'webhooks', webhookId, 'attempts', query], (cursor) => ask({ cursor }), {
    every: LIVE_MS,
  })
  return (
    <>
      <FilterBar
        end={<SaveCsv name="webhook-attempts" ask={(cursor) => ask({ cursor, limit: CSV_PART })} columns={CSV} />}
      >
        <SearchField filters={filters} label={words.search} name="event" />
        <FilterMenu filters={filters} name="result" label={words.result} choices={choicesOf(words.results)} />
        <FilterMenu filters={filters} name="type" label={words.type} choices={choicesOf(webhooks.types)} />
      </FilterBar>
      {text !== '' && searched === null && (
        <p class="soft" role="status">
          {words.notSearched}
        </p>
      )}
      <List
        pages={pages}
        label={words.label}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: ({ id }) => <Attempt webhookId={webhookId} id={id} filters={filters} />,
        }}
        empty={
          <Empty icon="webhook" title={words.emptyTitle}>
            {words.empty}
          </Empty>
        }
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
    </>
  )
}

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { head: words.columns.result, cell: ({ result }) => <State tone={TONES[result]}>{words.results[result]}</State> },
  { head: words.columns.event, cell: ({ event_type: type }) => webhooks.types[type], class: 'line' },
  {
    head: words.columns.attempt,
    cell: ({ delivery_attempt: attempt, max_attempts: most }) => words.of(attempt, most),
    class: 'soft',
  },
  { head: words.columns.answer, cell: answerOf, class: 'soft' },
  {
    head: words.columns.body,
    cell: ({ response_body: body, error_message: error }) => <Foreign>{error ?? excerptOf(body ?? '')}</Foreign>,
    class: 'cut soft line wide-only',
  },
  { head: words.columns.time, cell: ({ created_at: at }) => <Time at={at} />, class: 'soft corner' },
]

const CSV: Readonly<Record<string, (row: WebhookDelivery) => string | number | null>> = {
  id: ({ id }) => id,
  created_at: (row) => row.created_at,
  event_id: (row) => row.event_id,
  event_type: (row) => row.event_type,
  result: ({ result }) => result,
  response_status: (row) => row.response_status,
  response_ms: (row) => row.response_ms,
  delivery_attempt: (row) => row.delivery_attempt,
  next_retry_at: (row) => row.next_retry_at,
  error_message: (row) => row.error_message,
  response_body: (row) => row.response_body,
}

type EventType = WebhookDelivery['event_type']

/** What the API searches by for a text: a whole event id, or the one event type that it is part of; null for other texts. */
function searchOf(text: string): { event_id: string } | { event_type: EventType } | null {
  const wanted = text.toLowerCase()
  if (/^evt_[a-z0-9]{24}$/.test(wanted)) return { event_id: wanted }
  const types = Object.entries(webhooks.types) as [EventType, string][]
  const exact = types.filter(([type]) => type === wanted)
  const matching = types.filter(([type, label]) => type.includes(wanted) || label.toLowerCase().includes(wanted))
  const [found, other] = exact.length > 0 ? exact : matching
  return wanted === '' || found === undefined || other !== undefined ? null : { event_type: found[0] }
}

/** The beginning of an answer, on one line. */
const excerptOf = (body: string) => body.slice(0, EXCERPT_MAX).replace(/\s+/g, ' ')

function answerOf({ response_status: status, response_ms: ms }: WebhookDelivery): string {
  return status === 0 ? words.noAnswer : words.took(status, count(ms))
}

function Attempt({ webhookId, id, filters }: { webhookId: string; id: string; filters: Filters }) {
  const team = useTeam()
  const headerOf = useRequestKey()
  const path = { webhook_id: webhookId, delivery_id: id }
  const { data, error, refetch } = useQuery([team.id, 'webhooks', webhookId, 'attempts', 'one', id], () =>
    take(team.api.GET('/webhooks/{webhook_id}/deliveries/{delivery_id}', { params: { path } })),
  )
  const replay = useAction(async () => {
    const params = { path, header: headerOf({}) }
    await done(team.api.POST('/webhooks/{webhook_id}/deliveries/{delivery_id}/replay', { params }))
    refresh(team.id, 'webhooks', webhookId)
    say(words.replayed)
  })
  if (error !== null) return <ErrorCard error={error} onRetry={refetch} />
  if (data === undefined) return <Skeleton rows={3} />
  return (
    <div class="card card-pad stack">
      <Facts attempt={data} />
      <Exchange attempt={data} />
      {replay.error !== null && <ErrorCard error={replay.error} />}
      <div class="row wrap">
        {team.may('webhook.manage') && data.payload_available && (
          <Button isBusy={replay.isBusy} onPress={() => void replay.run()}>
            {words.replay}
          </Button>
        )}
        {filters.get('event') !== data.event_id && (
          <Button kind="link" onPress={() => filters.change({ event: data.event_id, open: null })}>
            {words.sameEvent}
          </Button>
        )}
      </div>
      <RawJson record={data} />
    </div>
  )
}

function Facts({ attempt: data }: { attempt: WebhookDeliveryDetail }) {
  return (
    <dl class="facts small">
      <Fact name={words.status}>{answerOf(data)}</Fact>
      <Fact name={words.attempt}>{words.of(data.delivery_attempt, data.max_attempts)}</Fact>
      {data.error_message !== null && (
        <Fact name={words.error}>
          <Foreign>{data.error_message}</Foreign>
        </Fact>
      )}
      {data.next_retry_at !== null && (
        <Fact name={words.next}>
          <Time at={data.next_retry_at} as="relative" /> <span class="soft">{words.retryingNote}</span>
        </Fact>
      )}
      <Fact name={words.size}>{size(data.request_payload_bytes)}</Fact>
      <Fact name={words.eventId}>
        <CodeValue text={data.event_id} what={words.idOfEvent} />
      </Fact>
    </dl>
  )
}

/** What was sent, and what came back. */
function Exchange({ attempt: data }: { attempt: WebhookDeliveryDetail }) {
  return (
    <>
      <h2 class="sub">{words.payload}</h2>
      {data.request_payload === null ? (
        <p class="soft">{words.gone}</p>
      ) : (
        <pre class="code-block">{indented(data.request_payload)}</pre>
      )}
      <details>
        <summary>{words.headers}</summary>
        <pre class="code-block">
          {Object.entries(data.request_headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </pre>
      </details>
      {data.response_status !== 0 && (
        <>
          <h2 class="sub">{words.body}</h2>
          {data.response_body ? (
            <pre class="code-block" dir="auto">
              {data.response_body}
            </pre>
          ) : (
            <p class="soft">{words.withoutBody}</p>
          )}
        </>
      )}
    </>
  )
}

/** JSON as people read it; the text as it is when it is none. */
function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
