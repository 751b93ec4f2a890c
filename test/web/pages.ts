// The pages that are opened in light, dark and on a phone, and checked by axe. `{team}`, `{domain}` … stand for ids of the test data.

export const CONSOLE_PAGES = [
  '/console/{team}',
  '/console/{team}/domains',
  '/console/{team}/domains?q=nothing-has-this-name',
  '/console/{team}/domains/{domain}',
  '/console/{team}/domains/{domain}/filters',
  '/console/{team}/domains/{domain}/keys',
  '/console/{team}/domains/{domain}/settings',
  '/console/{team}/mailboxes',
  '/console/{team}/mailboxes/{mailbox}',
  '/console/{team}/mailboxes/{mailbox}/people',
  '/console/{team}/mailboxes/{mailbox}/aliases',
  '/console/{team}/mailboxes/{mailbox}/forwards',
  '/console/{team}/mailboxes/{mailbox}/filters',
  '/console/{team}/mailboxes/{mailbox}/settings',
  '/console/{team}/people',
  '/console/{team}/sending',
  '/console/{team}/sending/in/groups',
  '/console/{team}/sending/{provider}',
  '/console/{team}/keys',
  '/console/{team}/limits',
  '/me',
  '/me/sign-in',
  '/me/sessions',
  '/me/appearance',
  '/me/asks',
  '/console/{team}/delivery',
  '/console/{team}/inbound',
  '/console/{team}/suppressed',
  '/console/{team}/metrics',
  '/console/{team}/metrics?days=90&by=mailbox',
  '/console/{team}/webhooks',
  '/console/{team}/webhooks/{webhook}',
  '/console/{team}/webhooks/{webhook}/settings',
  '/console/{team}/agents',
  '/console/{team}/requests',
  '/console/{team}/billing',
  '/console/{team}/audit',
]

export const OPERATOR_PAGES = [
  '/operator',
  '/operator/machine',
  '/operator/queue',
  '/operator/teams',
  '/operator/settings',
  '/operator/backups',
  '/operator/changes',
]

/** Pages without a session. */
export const OPEN_PAGES = ['/sign-in']
