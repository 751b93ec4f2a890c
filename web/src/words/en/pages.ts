// Names of the pages, as the sidebar and the palette show them.

export const pageNames = {
  overview: 'Overview',
  domains: 'Domains',
  mailboxes: 'Mailboxes',
  people: 'People',
  sending: 'Sending',
  delivery: 'Delivery',
  inbound: 'Inbound',
  spam: 'Spam',
  suppressed: 'Suppressed',
  metrics: 'Metrics',
  agents: 'Agents',
  webhooks: 'Webhooks',
  keys: 'Keys',
  limits: 'Limits',
  billing: 'Billing',
  audit: 'Audit',
  requests: 'Requests',
  team: 'Team',
} as const
