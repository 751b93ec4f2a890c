// Which events a subscription is sent, of new ones and of those that are replayed.

import type { SqlValue } from '../../db/db.ts'
import type { EventType } from '../event-types.ts'
import type { Webhook } from './records.ts'

/** What is compared of an event. */
export interface MatchedEvent {
  type: EventType
  mailbox_id: string | null
  domain_id: string | null
}

type Subscription = Pick<Webhook, 'eventTypes' | 'mailboxIds' | 'domainIds'>

export function matchesEvent({ eventTypes, mailboxIds, domainIds }: Subscription, event: MatchedEvent): boolean {
  if (!eventTypes.includes('*') && !eventTypes.includes(event.type)) return false
  if (mailboxIds === null && domainIds === null) return true
  // With both filters, one match is enough.
  return (
    (mailboxIds?.includes(event.mailbox_id ?? '') ?? false) || (domainIds?.includes(event.domain_id ?? '') ?? false)
  )
}

/** The same as a condition on rows of `events` named `e`. */
export function matchesEventSql({ eventTypes, mailboxIds, domainIds }: Subscription): {
  condition: string
  values: SqlValue[]
} {
  const isAll = Number(eventTypes.includes('*'))
  const isWhole = Number(mailboxIds === null && domainIds === null)
  const within = (column: string) => `e.${column} IN (SELECT value FROM json_each(?))`
  return {
    condition: `(? = 1 OR ${within('type')}) AND (? = 1 OR ${within('mailbox_id')} OR ${within('domain_id')})`,
    values: [
      isAll,
      JSON.stringify(eventTypes),
      isWhole,
      JSON.stringify(mailboxIds ?? []),
      JSON.stringify(domainIds ?? []),
    ],
  }
}
