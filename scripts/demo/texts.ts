// What the boatyard of the demo and its customers write.

/** Messages that a shop sends; `#` stands for a number. */
export const SHOP_MAIL = [
  { subject: 'Your order 4#', text: 'Thank you. Your order is packed and leaves with the next van.' },
  { subject: 'Invoice 2030-#', text: 'Please find below the amount for May. It is due within 14 days.' },
  {
    subject: 'Crane booking confirmed, berth #',
    text: 'We lift you on the morning tide. Please be there half an hour before.',
  },
  { subject: 'Your mooring, part #', text: 'The chain was renewed and the riser is 12 mm now.' },
  { subject: 'Survey report #', text: 'The hull is dry. Two stanchions want new bolts.' },
  { subject: 'Sail # is ready', text: 'The loft has finished your sail. Collect it whenever the yard is open.' },
] as const

export const CUSTOMERS = [
  'kenji.mori@seaglass.example',
  'ingrid@fjordmail.example',
  'orders@nordtau.example',
  'harbourmaster@quayside.example',
  'marta@seaglass.example',
  'loft@solentsails.example',
  'olu.adeyemi@fjordmail.example',
  'crew@quayside.example',
] as const

/** Addresses that answer with a refusal, in the order in which the shop tries them. */
export const REFUSING = [
  'lars@fjordmail.example',
  'no-reply@seaglass.example',
  'mats@quayside.example',
  'scans@solentsails.example',
  'lars@quayside.example',
  'no-reply@nordtau.example',
  'mats@fjordmail.example',
  'scans@nordtau.example',
  'lars@seaglass.example',
  'no-reply@fjordmail.example',
] as const
/** Takes messages later, perhaps. */
export const FULL = 'accounts@quayside.example'

export interface Incoming {
  from: string
  to: readonly string[]
  subject: string
  text: string
  attached?: { filename: string; bytes: number }
}

/** What arrives every day; the local parts are those of the team. */
export const INCOMING: readonly Incoming[] = [
  {
    from: 'Kenji Mori <kenji.mori@seaglass.example>',
    to: ['orders'],
    subject: 'Rope for a 38-foot ketch',
    text: 'Which diameter do you advise for the mainsheet?',
  },
  {
    from: 'Nordtau Ropes <orders@nordtau.example>',
    to: ['orders', 'office'],
    subject: 'Order 2030-#: delivery note',
    text: 'Three coils leave Bremen today.',
    attached: { filename: 'delivery-note.pdf', bytes: 64_000 },
  },
  {
    from: 'Quayside Harbour <harbourmaster@quayside.example>',
    to: ['office', 'tom'],
    subject: 'Berths for week #',
    text: 'Berths 4 and 9 are free from Monday on.',
  },
  {
    from: 'Solent Sails <loft@solentsails.example>',
    to: ['ana', 'tom', 'office'],
    attached: { filename: 'luff.pdf', bytes: 40_000 },
    subject: 'Measurements of sail #',
    text: 'Could you measure the luff again, please?',
  },
  {
    from: 'Fjordmail Weekly <news@fjordmail.example>',
    to: ['ana', 'tom', 'priya', 'office', 'orders'],
    subject: 'Boats of the week #',
    text: 'A cutter of 1934, two dinghies and a mast.',
  },
  {
    from: 'Olu Adeyemi <olu.adeyemi@fjordmail.example>',
    to: ['priya'],
    subject: 'Receipt # for the survey',
    text: 'As you asked: the receipt. It was worth every penny.',
  },
]

/** Unwanted messages: refused, or filed into Junk. */
export const TROUBLE = [
  { from: 'Bluewater Bank <security@bluewater.example>', to: 'ana', subject: 'Your account is locked' },
  { from: 'Mail Gauge <report@mailgauge.example>', to: 'office', subject: 'Your mailbox is almost full' },
  { from: 'Offers <offers@bargains.example>', to: 'orders', subject: 'LAST CHANCE!!!' },
  { from: 'Marta <marta@seaglass.example>', to: 'anna', subject: 'Is this still your address?' },
] as const

/** Conversations: the customer begins, then both sides take turns. Hours count back from now. */
export interface Conversation {
  customer: string
  local: string
  subject: string
  turns: readonly { hoursAgo: number; text: string }[]
}

export const CONVERSATIONS: readonly Conversation[] = [
  {
    customer: 'Ingrid Halvorsen <ingrid@fjordmail.example>',
    local: 'ana',
    subject: 'Launch date for Solveig',
    turns: [
      { hoursAgo: 50, text: 'Hello Ana,\n\nthe varnish is dry. When can Solveig go into the water?\n\nIngrid' },
      { hoursAgo: 46, text: 'Hello Ingrid,\n\nThursday at 7:30 or at 9:00; the tide is better at nine.\n\nAna' },
      { hoursAgo: 27, text: 'Nine it is. I will bring the crew and the cake.' },
      { hoursAgo: 21, text: 'Noted. The crane is booked.' },
      { hoursAgo: 2, text: 'One more thing: could you look at the seacock before?' },
    ],
  },
  {
    customer: 'Kenji Mori <kenji.mori@seaglass.example>',
    local: 'orders',
    subject: 'Survey report for Kittiwake',
    turns: [
      { hoursAgo: 70, text: 'The insurer asks for the survey of last year. Could you send it?' },
      { hoursAgo: 68, text: 'Of course. It follows this afternoon.' },
      { hoursAgo: 45, text: 'Perfect, the insurer has everything now. Thank you!' },
    ],
  },
  {
    customer: 'Harbourmaster <harbourmaster@quayside.example>',
    local: 'tom',
    subject: 'Crane on Thursday, 7:30 or 9:00?',
    turns: [
      { hoursAgo: 25, text: 'We can give you either. Which one do you want?' },
      { hoursAgo: 23, text: 'Nine o’clock, please. It is for Solveig, 11 tons.' },
    ],
  },
]
