// The attempts of one webhook: what was sent, what came back, and delivering it again.

import { done, take, takeList } from '../../api/client.ts'
import type { WebhookDelivery, WebhookDeliveryDetail } from '../../api/types.ts'
import { count } from '../../base/numbers.ts'
import { LIVE_MS, refresh, useAction, usePages, useQuery } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import { choicesOf, FilterBar, FilterMenu, useFilters } from '../../parts/filters.tsx'
import { Foreign, State, Time } from '../../parts/marks.tsx'
import { Empty, ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { say } from '../../parts/toast.tsx'
import { webhooks } from '../../words/en/webhooks.ts'
import { useTeam } from '../team.ts'

const words = webhooks.attempts
const TONES = { success: 'good', retrying: 'warn', failed: 'danger', permanent_failure: 'danger' } as const

export function Attempts({ webhookId }: { webhookId: string }) {
  const team = useTeam()
  const filters = useFilters()
  const query = {
    result: filters.get('result') as WebhookDelivery['result'] | undefined,
    event_type: filters.get('type') as WebhookDelivery['event_type'] | undefined,
  }
  const path = { webhook_id: webhookId }
  const pages = usePages(
    [team.id, 'webhooks', webhookId, 'attempts', query],
    (cursor) =>
      takeList(team.api.GET('/webhooks/{webhook_id}/deliveries', { params: { path, query: { ...query, cursor } } })),
    { every: LIVE_MS },
  )
  return (
    <>
      <FilterBar>
        <FilterMenu filters={filters} name="result" label={words.result} choices={choicesOf(words.results)} />
        <FilterMenu filters={filters} name="type" label={words.type} choices={choicesOf(webhooks.types)} />
      </FilterBar>
      <List
        pages={pages}
        label={words.label}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: ({ id }) => <Attempt webhookId={webhookId} id={id} />,
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
  { head: words.columns.time, cell: ({ created_at: at }) => <Time at={at} />, class: 'soft corner' },
]

function answerOf({ response_status: status, response_ms: ms }: WebhookDelivery): string {
  return status === 0 ? words.noAnswer : words.took(status, count(ms))
}

function Attempt({ webhookId, id }: { webhookId: string; id: string }) {
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
      <dl class="facts small">
        <Fact name={words.eventId}>
          <CodeValue text={data.event_id} what={words.idOfEvent} />
        </Fact>
        {data.error_message !== null && (
          <Fact name={words.error}>
            <Foreign>{data.error_message}</Foreign>
          </Fact>
        )}
        {data.next_retry_at !== null && (
          <Fact name={words.next}>
            <Time at={data.next_retry_at} as="relative" />
          </Fact>
        )}
      </dl>
      <Exchange attempt={data} />
      {replay.error !== null && <ErrorCard error={replay.error} />}
      {team.may('webhook.manage') && data.payload_available && (
        <div class="row">
          <Button isBusy={replay.isBusy} onPress={() => void replay.run()}>
            {words.replay}
          </Button>
        </div>
      )}
    </div>
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
      {data.response_body !== null && (
        <>
          <h2 class="sub">{words.body}</h2>
          <pre class="code-block" dir="auto">
            {data.response_body}
          </pre>
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
