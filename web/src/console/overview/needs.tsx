// What needs a person: requests of agents, records that are missing, accounts in error, webhooks that were turned off.

import { listApprovals } from '../../api/agents.ts'
import { take, takeList } from '../../api/client.ts'
import { count } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { ButtonLink } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { approvals } from '../../words/en/approvals.ts'
import { limits } from '../../words/en/limits.ts'
import { overview as words } from '../../words/en/overview.ts'
import { type OpenTeam, useTeam } from '../team.ts'

interface Need {
  key: string
  /** A request, not a fault. */
  isRequest?: boolean
  title: string
  note: string
  href: string
  verb: string
}

const REFRESH_MS = 30_000
const MOST_SHOWN = 5

/** What agents and teams wait for; an answer that is missing hides nothing else. */
async function findRequests(): Promise<Need[]> {
  const waiting = await listApprovals().catch(() => [])
  return waiting.map(({ id, kind, subject }) => ({
    key: id,
    isRequest: true,
    title: approvals.headlines[kind](subject),
    note: '',
    href: '/me/asks',
    verb: approvals.read,
  }))
}

const NEAR = 0.8

/** Limits of the team, and accounts whose day is nearly used up. */
async function findFull(team: OpenTeam): Promise<Need[]> {
  const { api } = team
  const [usage, accounts] = await Promise.all([
    take(api.GET('/team/usage')),
    takeList(api.GET('/providers', { params: { query: { status: 'active', limit: MOST_SHOWN } } })),
  ])
  const limited = accounts.items.filter(({ quotas }) => quotas.per_day !== null)
  const days = await Promise.all(
    limited.map(async ({ id, name }) => {
      const use = await take(api.GET('/providers/{provider_id}/usage', { params: { path: { provider_id: id } } }))
      return { id, name, day: use.windows.find(({ window }) => window === 'day') }
    }),
  )
  return [
    ...usage.limits.flatMap(({ resource, used, most }) =>
      used === null || most === null || most === 0 || used / most < NEAR
        ? []
        : [
            {
              key: resource,
              title: words.limitNear(limits.resources[resource]),
              note: words.limitNearNote(count(used), count(most)),
              href: team.href('limits'),
              verb: words.showLimits,
            },
          ],
    ),
    ...days.flatMap(({ id, name, day }) =>
      day === undefined || day.used < day.most * NEAR
        ? []
        : [
            {
              key: id,
              title: words.accountFull(name),
              note: words.accountFullNote(count(day.used), count(day.most)),
              href: team.href('sending', id),
              verb: words.showAccount,
            },
          ],
    ),
  ]
}

async function findNeeds(team: OpenTeam): Promise<Need[]> {
  const { api } = team
  const limit = MOST_SHOWN
  const [requests, full, failed, verified, pending, accounts, webhooks] = await Promise.all([
    findRequests(),
    findFull(team).catch(() => []),
    takeList(api.GET('/domains', { params: { query: { verification_status: 'failed', limit } } })),
    takeList(api.GET('/domains', { params: { query: { verification_status: 'verified', limit: 100 } } })),
    takeList(api.GET('/domains', { params: { query: { verification_status: 'pending', limit } } })),
    takeList(api.GET('/providers', { params: { query: { status: 'error', limit } } })),
    takeList(api.GET('/webhooks', { params: { query: { limit: 50 } } })),
  ])
  const ofDomain = (
    { id, domain }: { id: string; domain: string },
    title: (domain: string) => string,
    note: string,
  ): Need => ({
    key: id,
    title: title(domain),
    note,
    href: team.href('domains', id),
    verb: words.showRecords,
  })
  return [
    ...failed.items.map((domain) => ofDomain(domain, words.domainFailed, words.domainFailedNote)),
    ...verified.items.flatMap((domain) =>
      domain.checks_ok === false ? [ofDomain(domain, words.domainDiffers, words.domainDiffersNote)] : [],
    ),
    ...accounts.items.map(({ id, name, status_reason }) => ({
      key: id,
      title: words.accountFailed(name),
      note: status_reason ?? '',
      href: team.href('sending', id),
      verb: words.showAccount,
    })),
    ...webhooks.items.flatMap(({ id, url, disabled_reason }) =>
      disabled_reason !== null && disabled_reason !== 'by_user'
        ? [
            {
              key: id,
              title: words.webhookOff(url),
              note: words.webhookOffNote,
              href: team.href('webhooks', id),
              verb: words.showWebhook,
            },
          ]
        : [],
    ),
    ...requests,
    ...full,
    ...pending.items.map((domain) => ofDomain(domain, words.domainPending, words.domainPendingNote)),
  ].slice(0, MOST_SHOWN)
}

export function Needs() {
  const team = useTeam()
  const needs = useQuery([team.id, 'needs'], () => findNeeds(team), { every: REFRESH_MS })
  if (needs.data === undefined || needs.data.length === 0) return null
  return (
    <section class="card" aria-label={words.needs}>
      {needs.data.map(({ key, isRequest = false, title, note, href, verb }) => (
        <div key={key} class="needs-row">
          {isRequest ? <Icon name="bot" tone="accent" /> : <Icon name="triangle-alert" tone="warn" />}
          <p>
            <b>{title}</b> <span class="soft">{note}</span>
          </p>
          <span class="end">
            <ButtonLink size="short" href={href}>
              {verb}
            </ButtonLink>
          </span>
        </div>
      ))}
    </section>
  )
}
