// What needs a person: requests of agents, records that are missing, accounts in error, webhooks that were turned off.

import { useRef } from 'preact/hooks'
import { listApprovals } from '../../api/agents.ts'
import { operatorApi, take, takeList } from '../../api/client.ts'
import { type ApiError, toApiError } from '../../api/errors.ts'
import { self } from '../../api/session.ts'
import { exact } from '../../base/dates.ts'
import { count } from '../../base/numbers.ts'
import { useQuery } from '../../live/query.ts'
import { ButtonLink } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ErrorCard } from '../../parts/quiet.tsx'
import { ServerText } from '../../parts/server-text.tsx'
import { approvals } from '../../words/en/approvals.ts'
import { backups as backupWords } from '../../words/en/backups.ts'
import { limits } from '../../words/en/limits.ts'
import { overview as words } from '../../words/en/overview.ts'
import { type OpenTeam, useTeam } from '../team.ts'

interface Need {
  key: string
  /** A request, not a fault. */
  isRequest?: boolean
  title: string
  note: string
  /** The server wrote the note. */
  isServerNote?: boolean
  href: string
  verb: string
}

const REFRESH_MS = 30_000
const MOST_SHOWN = 5

/** What agents and teams wait for. */
async function findRequests(): Promise<Need[]> {
  const waiting = await listApprovals()
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

/** Domains by the state of their records: missing, different from what is wanted, and not published yet. */
async function findDomains(team: OpenTeam): Promise<{ wrong: Need[]; pending: Need[] }> {
  const { api } = team
  const limit = MOST_SHOWN
  const [failed, verified, pending] = await Promise.all([
    takeList(api.GET('/domains', { params: { query: { verification_status: 'failed', limit } } })),
    takeList(api.GET('/domains', { params: { query: { verification_status: 'verified', limit: 100 } } })),
    takeList(api.GET('/domains', { params: { query: { verification_status: 'pending', limit } } })),
  ])
  const ofDomain = (
    { id, domain }: { id: string; domain: string },
    title: (domain: string) => string,
    note: string,
  ): Need => ({ key: id, title: title(domain), note, href: team.href('domains', id), verb: words.showRecords })
  return {
    wrong: [
      ...failed.items.map((domain) => ofDomain(domain, words.domainFailed, words.domainFailedNote)),
      ...verified.items
        .filter(({ checks_ok }) => checks_ok === false)
        .map((domain) => ofDomain(domain, words.domainDiffers, words.domainDiffersNote)),
    ],
    pending: pending.items.map((domain) => ofDomain(domain, words.domainPending, words.domainPendingNote)),
  }
}

async function findAccounts(team: OpenTeam): Promise<Need[]> {
  const query = { status: 'error' as const, limit: MOST_SHOWN }
  const { items } = await takeList(team.api.GET('/providers', { params: { query } }))
  return items.map(({ id, name, status_reason }) => ({
    key: id,
    title: words.accountFailed(name),
    note: status_reason ?? '',
    isServerNote: true,
    href: team.href('sending', id),
    verb: words.showAccount,
  }))
}

async function findWebhooks(team: OpenTeam): Promise<Need[]> {
  const { items } = await takeList(team.api.GET('/webhooks', { params: { query: { limit: 50 } } }))
  return items
    .filter(({ disabled_reason: reason }) => reason !== null && reason !== 'by_user')
    .map(({ id, url }) => ({
      key: id,
      title: words.webhookOff(url),
      note: words.webhookOffNote,
      href: team.href('webhooks', id),
      verb: words.showWebhook,
    }))
}

/** For operators, whichever team they look at. */
async function findBackups(): Promise<Need[]> {
  if (self.value?.is_operator !== true) return []
  const plan = await take(operatorApi.GET('/backup-plan'))
  if (!plan.is_late) return []
  const isNone = plan.last_good_at === null
  return [
    {
      key: 'backups',
      title: isNone ? backupWords.needNone : backupWords.needLate,
      note: plan.last_good_at === null ? '' : exact(plan.last_good_at),
      href: '/operator/backups',
      verb: backupWords.needShow,
    },
  ]
}

interface Parts {
  domains: { wrong: Need[]; pending: Need[] }
  accounts: Need[]
  webhooks: Need[]
  requests: Need[]
  full: Need[]
  backups: Need[]
}

const NOTHING: Parts = {
  domains: { wrong: [], pending: [] },
  ...{ accounts: [], webhooks: [], requests: [], full: [], backups: [] },
}

/** A part that does not load hides no other, and stays as it was: what is known is shown, with the first error. */
async function findNeeds(team: OpenTeam, before: Parts): Promise<{ parts: Parts; error: ApiError | null }> {
  const errors: ApiError[] = []
  const known = async <T,>(part: Promise<T>, otherwise: T) =>
    part.catch((error: unknown) => {
      errors.push(toApiError(error))
      return otherwise
    })
  const [domains, accounts, webhooks, requests, full, backups] = await Promise.all([
    known(findDomains(team), before.domains),
    known(findAccounts(team), before.accounts),
    known(findWebhooks(team), before.webhooks),
    known(findRequests(), before.requests),
    known(findFull(team), before.full),
    known(findBackups(), before.backups),
  ])
  return { parts: { domains, accounts, webhooks, requests, full, backups }, error: errors[0] ?? null }
}

function needsOf({ domains, accounts, webhooks, requests, full, backups }: Parts): Need[] {
  const first = [...domains.wrong, ...backups, ...accounts, ...webhooks, ...requests]
  return [...first, ...full, ...domains.pending].slice(0, MOST_SHOWN)
}

export function Needs() {
  const team = useTeam()
  const before = useRef({ team: team.id, parts: NOTHING })
  const find = async () => {
    const { team: former, parts } = before.current
    const found = await findNeeds(team, former === team.id ? parts : NOTHING)
    before.current = { team: team.id, parts: found.parts }
    return found
  }
  const { data, refetch } = useQuery([team.id, 'needs'], find, { every: REFRESH_MS })
  if (data === undefined) return null
  const { parts, error } = data
  const needs = needsOf(parts)
  return (
    <>
      {error !== null && <ErrorCard error={error} title={words.needsMissing} onRetry={refetch} />}
      {needs.length > 0 && (
        <section class="card" aria-label={words.needs}>
          {needs.map((need) => (
            <NeedRow key={need.key} need={need} />
          ))}
        </section>
      )}
    </>
  )
}

function NeedRow({ need: { isRequest = false, isServerNote = false, title, note, href, verb } }: { need: Need }) {
  return (
    <div class="needs-row">
      {isRequest ? <Icon name="bot" tone="accent" /> : <Icon name="triangle-alert" tone="warn" />}
      <p>
        <b>{title}</b> <span class="soft">{isServerNote ? <ServerText>{note}</ServerText> : note}</span>
      </p>
      <span class="end">
        <ButtonLink size="short" href={href}>
          {verb}
        </ButtonLink>
      </span>
    </div>
  )
}
