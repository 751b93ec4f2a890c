// Words of the suppression list.

export const suppressed = {
  title: 'Suppressed',
  note: 'Addresses your team sends nothing to',
  search: 'Address',
  columns: { email: 'Address', reason: 'Reason', note: 'Note', since: 'Since', remove: '' },
  filters: { reason: 'Reason' },
  reasons: { bounce: 'Refused for good', complaint: 'Complained', manual: 'By hand' },
  emptyTitle: 'No address is suppressed',
  empty: 'An address that refuses mail for good, or complains, is added by itself; you can add others.',
  add: 'Suppress an address',
  email: 'Address',
  noteField: 'Note',
  noteHint: 'Why, for your colleagues.',
  added: (email: string) => `Nothing more is sent to ${email}.`,
  free: 'Free',
  freed: (email: string) => `${email} can be written to again.`,
  freeTitle: (email: string) => `Free ${email}?`,
  freeText: {
    bounce:
      'Their server refused this address for good. If it refuses again, your reputation suffers and it is suppressed again.',
    complaint: 'This person marked a message of yours as spam. Write again only when they asked you to.',
    manual: 'Your team can send to this address again.',
  },
  freeVerb: 'Free the address',
}
