// The other recipients of the same message, with the outcome of each copy.

import { takeList } from '../../api/client.ts'
import type { DeliveryLog } from '../../api/types.ts'
import { plural } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import type { Filters } from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { State } from '../../parts/marks.tsx'
import { ErrorCard } from '../../parts/quiet.tsx'
import { delivery } from '../../words/en/delivery.ts'
import { useTeam } from '../team.ts'

const words = delivery.copies
/** A message has at most 50 recipients. */
const COPIES_MAX = 50
const SHOWN = 5

export const DELIVERY_TONES = { pending: 'warn', sent: 'good', failed: 'danger', rejected: 'danger' } as const

interface CopiesProps {
  row: Pick<DeliveryLog, 'id' | 'message_id'>
  filters: Filters
}

export function Copies({ row: { id, message_id: message }, filters }: CopiesProps) {
  const team = useTeam()
  const { data, error, refetch } = useQuery([team.id, 'delivery', 'copies', message], () =>
    takeList(team.api.GET('/emails/logs', { params: { query: { message_id: message, limit: COPIES_MAX } } })),
  )
  if (error !== null) return <ErrorCard error={error} onRetry={refetch} />
  const others = (data?.items ?? []).filter((one) => one.id !== id)
  if (others.length === 0) return null
  return (
    <div class="card-part delivery-head stack">
      <h3 class="small soft">{words.title(plural(others.length, words.one, words.many))}</h3>
      <ul class="copies">
        {others.slice(0, SHOWN).map((copy) => (
          <li key={copy.id} class="row wrap">
            <State tone={DELIVERY_TONES[copy.status]}>{delivery.status[copy.status]}</State>
            <a href={`?${new URLSearchParams({ ...filters.values, open: copy.id })}`}>
              <Foreign>{copy.to_email}</Foreign>
            </a>
          </li>
        ))}
      </ul>
      {(others.length > SHOWN || filters.get('message') !== message) && (
        <div class="row">
          <Button kind="link" onPress={() => filters.set('message', message)}>
            {words.all}
          </Button>
        </div>
      )}
    </div>
  )
}
