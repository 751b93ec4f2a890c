// What a session wants to be notified of (RFC 5465): NOTIFY SET replaces all of it, NOTIFY NONE leaves nothing.

import type { FetchItem } from '../grammar/fetch-items.ts'
import { type EventGroup, isSelectedFilter, type NotifyEvent } from '../grammar/notify-request.ts'
import { type FilteredMailbox, type MailboxTest, testOf } from './mailbox-filter.ts'

/** What is wanted of the selected mailbox. */
export interface SelectedEvents {
  flags: boolean
  /** EXPUNGE at any time, not only with commands that allow it. */
  isImmediate: boolean
  /** What is sent of new messages; null for EXISTS alone. */
  items: readonly FetchItem[] | null
}

export class NotifySettings {
  /** Null when nothing is wanted. */
  readonly selected: SelectedEvents | null
  readonly #others: { test: MailboxTest; events: ReadonlySet<NotifyEvent> }[]

  /** @param utf8 the encoding of names in the session */
  constructor(groups: readonly EventGroup[], utf8: boolean) {
    const selected = groups.find(({ filter }) => isSelectedFilter(filter))
    this.selected = selected === undefined || selected.events.size === 0 ? null : selectedEvents(selected)
    this.#others = groups
      .filter(({ filter }) => !isSelectedFilter(filter))
      .map(({ filter, events }) => ({ test: testOf(filter, utf8), events }))
  }

  /** Nothing at all: NOTIFY NONE. */
  static readonly NONE = new NotifySettings([], true)

  /** Nothing is wanted of mailboxes other than the selected one. */
  get isSelectedOnly(): boolean {
    return this.#others.every(({ events }) => events.size === 0)
  }

  /** ServerMetadataChange is wanted: it is of no mailbox, whatever the filter (RFC 5465 §5.7). */
  get isServerWatched(): boolean {
    return this.#others.some(({ events }) => events.has('ServerMetadataChange'))
  }

  /** The events of a mailbox: those of all groups that name it, up to one with NONE. */
  eventsOf(mailbox: FilteredMailbox): ReadonlySet<NotifyEvent> {
    const wanted = new Set<NotifyEvent>()
    for (const { test, events } of this.#others) {
      if (!test(mailbox)) continue
      if (events.size === 0) break
      for (const event of events) wanted.add(event)
    }
    return wanted
  }
}

function selectedEvents({ filter, events, items }: EventGroup): SelectedEvents {
  return { flags: events.has('FlagChange'), isImmediate: filter.kind === 'selected', items }
}
