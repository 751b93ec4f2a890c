// The pages of the console in the order of the sidebar: one line for each, loaded on first use.

import type { ComponentType } from 'preact'
import type { IconName } from '../look/icons.ts'
import type { pageNames } from '../words/en/pages.ts'

export interface ConsolePage {
  /** Its part of the address, and its name in words/en/pages.ts. */
  name: keyof typeof pageNames
  icon: IconName
  group: 'addresses' | 'traffic' | 'programs' | 'team' | null
  /** Routes below /console/{team}, with the component that shows each; an export of the module of that name. */
  routes: Readonly<Record<string, () => Promise<ComponentType>>>
  /** Without it the page is not offered. */
  permission: string
}

export const CONSOLE_PAGES: readonly ConsolePage[] = [
  {
    name: 'overview',
    icon: 'layout-dashboard',
    group: null,
    permission: 'team.read',
    routes: { '': () => import('./overview/overview.tsx').then((module) => module.Overview) },
  },
  {
    name: 'domains',
    icon: 'globe',
    group: 'addresses',
    permission: 'domain.read',
    routes: {
      domains: () => import('./domains/domains.tsx').then((module) => module.Domains),
      'domains/:id/:tab?': () => import('./domains/domain.tsx').then((module) => module.Domain),
    },
  },
  {
    name: 'mailboxes',
    icon: 'mailbox',
    group: 'addresses',
    permission: 'mailbox.admin.read',
    routes: {
      mailboxes: () => import('./mailboxes/mailboxes.tsx').then((module) => module.Mailboxes),
      'mailboxes/:id/:tab?': () => import('./mailboxes/mailbox.tsx').then((module) => module.Mailbox),
    },
  },
  {
    name: 'people',
    icon: 'users',
    group: 'addresses',
    permission: 'team.read',
    routes: { people: () => import('./people/people.tsx').then((module) => module.People) },
  },
  {
    name: 'sending',
    icon: 'route',
    group: 'traffic',
    permission: 'provider.read',
    routes: {
      sending: () => import('./sending/sending.tsx').then((module) => module.Sending),
      'sending/in/:tab': () => import('./sending/sending.tsx').then((module) => module.Sending),
      'sending/:id': () => import('./sending/account.tsx').then((module) => module.Account),
    },
  },
  {
    name: 'delivery',
    icon: 'send',
    group: 'traffic',
    permission: 'logs.read',
    routes: { delivery: () => import('./delivery/delivery.tsx').then((module) => module.Delivery) },
  },
  {
    name: 'inbound',
    icon: 'inbox',
    group: 'traffic',
    permission: 'logs.read',
    routes: { inbound: () => import('./inbound/inbound.tsx').then((module) => module.Inbound) },
  },
  {
    name: 'spam',
    icon: 'shield-check',
    group: 'traffic',
    permission: 'logs.read',
    routes: { spam: () => import('./spam/spam.tsx').then((module) => module.Spam) },
  },
  {
    name: 'suppressed',
    icon: 'ban',
    group: 'traffic',
    permission: 'suppression.read',
    routes: { suppressed: () => import('./suppressed/suppressed.tsx').then((module) => module.Suppressed) },
  },
  {
    name: 'metrics',
    icon: 'chart-line',
    group: 'traffic',
    permission: 'analytics.read',
    routes: { metrics: () => import('./metrics/metrics.tsx').then((module) => module.Metrics) },
  },
  {
    name: 'agents',
    icon: 'bot',
    group: 'programs',
    permission: 'team.read',
    routes: {
      agents: () => import('./agents/agents.tsx').then((module) => module.Agents),
      'agents/:id': () => import('./agents/agent.tsx').then((module) => module.Agent),
    },
  },
  {
    name: 'webhooks',
    icon: 'webhook',
    group: 'programs',
    permission: 'webhook.read',
    routes: {
      webhooks: () => import('./webhooks/webhooks.tsx').then((module) => module.Webhooks),
      'webhooks/:id/:tab?': () => import('./webhooks/webhook.tsx').then((module) => module.Webhook),
    },
  },
  {
    name: 'keys',
    icon: 'key-round',
    group: 'programs',
    permission: 'apikey.read',
    routes: { keys: () => import('./keys/keys.tsx').then((module) => module.Keys) },
  },
  {
    name: 'requests',
    icon: 'braces',
    group: 'programs',
    permission: 'logs.read',
    routes: { requests: () => import('./requests/requests.tsx').then((module) => module.Requests) },
  },
  {
    name: 'team',
    icon: 'users',
    group: 'team',
    permission: 'team.read',
    routes: { team: () => import('./team-settings/team-settings.tsx').then((module) => module.TeamSettings) },
  },
  {
    name: 'limits',
    icon: 'gauge',
    group: 'team',
    permission: 'team.read',
    routes: { limits: () => import('./limits/limits.tsx').then((module) => module.Limits) },
  },
  {
    name: 'billing',
    icon: 'receipt-text',
    group: 'team',
    permission: 'billing.read',
    routes: { billing: () => import('./billing/billing.tsx').then((module) => module.Billing) },
  },
  {
    name: 'audit',
    icon: 'scroll-text',
    group: 'team',
    permission: 'audit.read',
    routes: { audit: () => import('./audit/audit.tsx').then((module) => module.Audit) },
  },
]
