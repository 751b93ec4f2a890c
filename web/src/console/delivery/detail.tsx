// One row of the delivery log, opened: what happened in a sentence, step by step, and what the other server answered.

import { take } from '../../api/client.ts'
import type { DeliveryLogDetail } from '../../api/types.ts'
import { useQuery } from '../../live/query.ts'
import { CodeValue } from '../../parts/copy.tsx'
import { Fact } from '../../parts/facts.tsx'
import type { Filters } from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { RawJson } from '../../parts/raw-json.tsx'
import { delivery as words } from '../../words/en/delivery.ts'
import { answerOf, inWords, isNoMailbox, outcomeOf } from '../../words/en/replies.ts'
import { useTeam } from '../team.ts'
import { Actions } from './actions.tsx'
import { Copies } from './copies.tsx'
import { History } from './history.tsx'

export function DeliveryDetail({ id, filters }: { id: string; filters: Filters }) {
  const team = useTeam()
  const { data, error, refetch } = useQuery([team.id, 'delivery', 'one', id], () =>
    take(team.api.GET('/emails/logs/{log_id}', { params: { path: { log_id: id } } })),
  )
  if (error !== null) return <ErrorCard error={error} onRetry={refetch} />
  if (data === undefined) return <Skeleton rows={4} />
  return (
    <div class="card">
      <Head row={data} filters={filters} />
      <div class="delivery-parts">
        <History row={data} />
        <Server row={data} filters={filters} />
      </div>
      <Copies row={data} filters={filters} />
      <div class="card-part delivery-head">
        <RawJson record={data} />
      </div>
    </div>
  )
}

function Head({ row, filters }: { row: DeliveryLogDetail; filters: Filters }) {
  const { status, status_reason: reason } = row
  const meaning = reason === null ? null : (words.rejections[outcomeOf(reason)] ?? inWords(reason))
  const isLost = status === 'failed' || status === 'rejected'
  return (
    <div class="card-part delivery-head row wide wrap">
      <div class="measure">
        <h2 class="sub">{headline(row)}</h2>
        {meaning !== null && <p>{meaning}</p>}
        {reason !== null && meaning === null && answerOf(reason) !== reason && (
          <p class="soft meta">
            <Foreign>{answerOf(reason)}</Foreign>
          </p>
        )}
        {isLost && reason !== 'cancelled' && !row.content_available && row.resent_as === null && (
          <p class="soft meta">{words.noContent}</p>
        )}
      </div>
      <div class="row end wrap">
        <Actions row={row} filters={filters} />
      </div>
    </div>
  )
}

function headline({ status, status_reason: reason, to_email: email, timeline, attempts }: DeliveryLogDetail): string {
  if (status === 'sent')
    return words.headline.sent(timeline.findLast(({ type }) => type === 'sent')?.remote_host ?? null)
  if (status === 'rejected' && attempts > 0) return words.headline.refused
  if (status !== 'failed') return words.headline[status]
  if (reason === 'cancelled') return words.headline.cancelled
  if (outcomeOf(reason ?? '') === 'expired') return words.headline.expired(email)
  return isNoMailbox(reason) ? words.headline.noMailbox(email) : words.headline.failed(email)
}

function Server({ row, filters }: { row: DeliveryLogDetail; filters: Filters }) {
  const last = row.timeline.findLast(({ remote_host: host, smtp_code: code }) => host !== null || code !== null)
  const { server } = words
  const tags = Object.entries(row.tags ?? {})
  const hrefOf = (id: string) => `?${new URLSearchParams({ ...filters.values, open: id })}`
  return (
    <section>
      <h3 class="small soft">{server.title}</h3>
      {last === undefined ? (
        <p class="soft">
          {row.status === 'sent' ? server.here : row.status === 'pending' ? server.none : server.silent}
        </p>
      ) : (
        <p class="code-block">
          <Foreign>{last.detail}</Foreign>
        </p>
      )}
      <dl class="facts small">
        <Fact name={server.status}>
          <code>{[row.status, ...(row.status_reason === null ? [] : [outcomeOf(row.status_reason)])].join(' / ')}</code>
        </Fact>
        {last?.remote_host != null && (
          <Fact name={server.name}>
            {last.remote_host}
            {last.remote_address !== null && `, ${last.remote_address}`}
          </Fact>
        )}
        <Fact name={server.route}>{row.provider_name ?? words.direct}</Fact>
        <Fact name={server.from}>
          <Foreign>{row.sent_from_email}</Foreign>
        </Fact>
        <Fact name={server.attempts}>{String(row.attempts)}</Fact>
        {row.resent_from !== null && (
          <Fact name={server.resentFrom}>
            <a href={hrefOf(row.resent_from)}>{row.resent_from}</a>
          </Fact>
        )}
        {row.resent_as !== null && (
          <Fact name={server.resentAs}>
            <a href={hrefOf(row.resent_as)}>{row.resent_as}</a>
          </Fact>
        )}
        <Fact name={server.delivery}>
          <CodeValue text={row.id} what={server.idOfDelivery} />
        </Fact>
        <Fact name={server.message}>
          <CodeValue text={row.message_id} what={server.idOfMessage} />
        </Fact>
        {tags.length > 0 && <Tags tags={tags} />}
      </dl>
    </section>
  )
}

function Tags({ tags }: { tags: readonly [name: string, value: string][] }) {
  return (
    <Fact name={words.server.tags}>
      {tags.map(([name, value]) => (
        <a key={name} class="tag-link" href={`?${new URLSearchParams({ tag: `${name}:${value}` })}`}>
          {`${name}: ${value}`}
        </a>
      ))}
    </Fact>
  )
}
