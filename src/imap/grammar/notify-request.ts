// Arguments of NOTIFY (RFC 5465 §8).

import { type Cursor, ImapSyntaxError } from './cursor.ts'
import { type FetchItem, readFetchItems } from './fetch-items.ts'
import { NOTIFY_EVENTS, NOTIFY_GROUPS } from './limits.ts'
import { type MailboxSpecifier, readMailboxFilter } from './mailbox-filters.ts'

/** Events that can be requested, as RFC 5465 spells them. */
export const NOTIFY_EVENT_NAMES = [
  'MessageNew',
  'MessageExpunge',
  'FlagChange',
  'MailboxName',
  'SubscriptionChange',
  'MailboxMetadataChange',
  'ServerMetadataChange',
] as const

export type NotifyEvent = (typeof NOTIFY_EVENT_NAMES)[number]

const MESSAGE_EVENTS = new Set<NotifyEvent>(['MessageNew', 'MessageExpunge', 'FlagChange'])
const BY_NAME = new Map<string, NotifyEvent>(NOTIFY_EVENT_NAMES.map((name) => [name.toUpperCase(), name]))

/** What is wanted of some mailboxes. */
export interface EventGroup {
  filter: MailboxSpecifier
  /** Empty for NONE. */
  events: ReadonlySet<NotifyEvent>
  /** Items of MessageNew; null without. */
  items: FetchItem[] | null
  /** Names of events that are not supported. */
  unknown: string[]
}

export interface NotifyRequest {
  /** Null for NOTIFY NONE. */
  groups: EventGroup[] | null
  /** STATUS of the mailboxes is sent first. */
  withStatus: boolean
}

export function readNotifyRequest(cursor: Cursor): NotifyRequest {
  const word = cursor.word()
  if (word === 'NONE') return { groups: null, withStatus: false }
  if (word !== 'SET') throw new ImapSyntaxError('Expected SET or NONE.')
  cursor.space()
  const withStatus = cursor.skipWord('STATUS')
  if (withStatus) cursor.space()
  const groups: EventGroup[] = []
  do {
    if (groups.length === NOTIFY_GROUPS) throw new ImapSyntaxError('Too many event groups.')
    groups.push(readGroup(cursor))
  } while (cursor.skip(' '))
  if (groups.filter(({ filter }) => isSelectedFilter(filter)).length > 1)
    throw new ImapSyntaxError('The selected mailbox is named twice.')
  return { groups, withStatus }
}

export function isSelectedFilter({ kind }: MailboxSpecifier): boolean {
  return kind === 'selected' || kind === 'selected-delayed'
}

function isMessageEvent(event: NotifyEvent): boolean {
  return MESSAGE_EVENTS.has(event)
}

function readGroup(cursor: Cursor): EventGroup {
  cursor.expect('(')
  const filter = readMailboxFilter(cursor)
  cursor.space()
  const group: EventGroup = { filter, events: new Set(), items: null, unknown: [] }
  if (!cursor.skipWord('NONE')) readEvents(cursor, group)
  cursor.expect(')')
  checkEvents(group)
  return group
}

function readEvents(cursor: Cursor, group: EventGroup): void {
  const events = new Set<NotifyEvent>()
  cursor.expect('(')
  for (let count = 0; ; count++) {
    if (count === NOTIFY_EVENTS) throw new ImapSyntaxError('Too many events.')
    const name = cursor.word()
    const event = BY_NAME.get(name)
    if (event === undefined) group.unknown.push(name)
    else events.add(event)
    if (cursor.skip(')')) break
    cursor.space()
    if (!cursor.isAtList) continue
    if (event !== 'MessageNew') throw new ImapSyntaxError('Only MessageNew has data items.')
    group.items = readFetchItems(cursor)
    if (cursor.skip(')')) break
    cursor.space()
  }
  group.events = events
}

/** RFC 5465 §5: new and expunged messages are wanted together, and flags only with them. */
function checkEvents({ filter, events, items, unknown }: EventGroup): void {
  if (events.has('MessageNew') !== events.has('MessageExpunge'))
    throw new ImapSyntaxError('MessageNew and MessageExpunge need each other.')
  if (events.has('FlagChange') && !events.has('MessageNew'))
    throw new ImapSyntaxError('FlagChange needs MessageNew and MessageExpunge.')
  if (!isSelectedFilter(filter)) {
    if (items !== null) throw new ImapSyntaxError('Data items are for the selected mailbox only.')
    return
  }
  if (unknown.length === 0 && ![...events].every(isMessageEvent))
    throw new ImapSyntaxError('The selected mailbox has message events only.')
}
