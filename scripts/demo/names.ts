// Who is who in the demo: a boatyard, its domains, and the companies it writes with. Names under .example are reserved (RFC 2606).

export const TEAM = 'Tidewater Boats'
/** The name of the demo's server. */
export const MAIL_HOST = 'mail.tidewater.example'
/** Of the relay that a sending account uses. */
export const RELAY_HOST = 'smtp.relay.example'

export const OWN_DOMAINS = {
  /** Every record is right. */
  main: 'tidewater.example',
  /** Its records differ from what is wanted. */
  shop: 'tidewater-shop.example',
  /** No mailbox yet. */
  next: 'tidewater-charter.example',
} as const

/** The people of the team; the first one is its owner. */
export const PEOPLE = [
  { local: 'ana', name: 'Ana Lindqvist', role: 'owner' },
  { local: 'tom', name: 'Tom Harker', role: 'admin' },
  { local: 'priya', name: 'Priya Nair', role: 'member' },
] as const
/** Mailboxes that several people share. */
export const SHARED = [
  { local: 'orders', name: 'Orders' },
  { local: 'office', name: 'Office' },
] as const

export const at = (local: string, domain: string = OWN_DOMAINS.main) => `${local}@${domain}`
export const OWNER = at(PEOPLE[0].local)

export interface Partner {
  domain: string
  /** What the domain asks others to do with messages that it cannot have sent. */
  policy: 'none' | 'quarantine' | 'reject'
  /** Whether this machine may send for it. */
  mayUseUs: boolean
}

/** Domains of all others. */
export const PARTNERS: readonly Partner[] = [
  ...['seaglass.example', 'fjordmail.example', 'nordtau.example', 'quayside.example', 'solentsails.example'].map(
    (domain) => ({ domain, policy: 'reject' as const, mayUseUs: true }),
  ),
  // A forger writes in their name.
  { domain: 'bluewater.example', policy: 'reject', mayUseUs: false },
  { domain: 'mailgauge.example', policy: 'quarantine', mayUseUs: false },
  { domain: 'bargains.example', policy: 'none', mayUseUs: true },
]
/** A sender that the filter of the domain refuses. */
export const UNWANTED = 'offers@bargains.example'
