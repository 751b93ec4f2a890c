// What a session wants to be notified of (RFC 5465), and the folders that its filters select: NOTIFY SET replaces all of it, NOTIFY NONE leaves nothing.

import type { FetchItem } from '../grammar/fetch-items.ts'
import type { MailboxSpecifier } from '../grammar/mailbox-filters.ts'
import { DELIMITER, decodeName } from '../grammar/names.ts'
import { type EventGroup, isSelectedFilter, type NotifyEvent } from '../grammar/notify-request.ts'

/** A mailbox, as far as a filter asks. */
interface FilteredMailbox {
  path: string
  isSubscribed: boolean
}

/** Whether a mailbox is meant. Not for the filters that mean the selected one. */
type MailboxTest = (mailbox: FilteredMailbox) => boolean

/**
 * The test of a filter. Sieve scripts can file into any folder, so that all of them are inboxes (RFC 5465 §6.4).
 * @param utf8 the encoding of names in the session; a name that is no valid form of it means no mailbox
 */
export function testOf(filter: MailboxSpecifier, utf8: boolean): MailboxTest {
  if (!('names' in filter)) return filter.kind === 'subscribed' ? ({ isSubscribed }) => isSubscribed : () => true
  const paths = filter.names.flatMap((name) => decodeName(name, utf8) ?? []).map((path) => path.replace(/\/$/, ''))
  const named = new Set(paths)
  if (filter.kind === 'mailboxes') return ({ path }) => named.has(path)
  const isBelow = (path: string, parent: string) => path.startsWith(`${parent}${DELIMITER}`)
  const isChild = (path: string, parent: string) =>
    isBelow(path, parent) && !path.includes(DELIMITER, parent.length + DELIMITER.length)
  const within = filter.kind === 'subtree' ? isBelow : isChild
  return ({ path }) => named.has(path) || paths.some((parent) => within(path, parent))
}

/** What is wanted of the selected mailbox. */
interface SelectedEvents {
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
