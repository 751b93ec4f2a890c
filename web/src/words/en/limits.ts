// Words of the page of limits.

export const limits = {
  title: 'Limits',
  note: 'What this team may use, and how much of it is used',
  resource: 'Of what',
  used: 'Used',
  most: 'At most',
  share: 'Share',
  noLimit: 'no limit',
  unknown: 'not counted',
  near: 'Nearly used up',
  full: 'Used up',
  ask: 'The operator of this server sets these limits.',
  resources: {
    domains: 'Domains',
    mailboxes: 'Mailboxes',
    members: 'People',
    api_keys: 'API keys',
    providers: 'Sending accounts',
    remote_accounts: 'Outside accounts',
    webhooks: 'Webhooks',
    requests_per_minute: 'API requests a minute, for each key',
  },
}
