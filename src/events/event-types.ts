// The types of events, in the order in which they are listed (docs/design/contract.md §6).

export const EVENT_TYPES = [
  'message.delivered',
  'message.bounced',
  'message.complained',
  'message.rejected',
  'message.held',
  'message.approved',
  'message.delivery_delayed',
  'message.received',
  'message.received.spam',
  'remote_account.imported',
  'remote_account.failed',
  'remote_account.recovered',
  'service.test',
] as const

export type EventType = (typeof EVENT_TYPES)[number]
