// What needs a person: records that are missing, accounts in error, webhooks that were turned off.

import { takeList } from '../../api/client.ts'
import { useQuery } from '../../live/query.ts'
import { ButtonLink } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { overview as words } from '../../words/en/overview.ts'
import { type OpenTeam, useTeam } from '../team.ts'

interface Need {
  key: string
  title: string
  note: string
  href: string
  verb: string
}

const REFRESH_MS = 30_000
const MOST_SHOWN = 5

async function findNeeds(team: OpenTeam): Promise<Need[]> {
  const { api } = team
  const limit = MOST_SHOWN
  const [failed, pending, accounts, webhooks] = await Promise.all([
    takeList(api.GET('/domains', { params: { query: { verification_status: 'failed', limit } } })),
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
    ...accounts.items.map(({ id, name, status_reason }) => ({
      key: id,
      title: words.accountFailed(name),
      note: status_reason ?? '',
      href: team.href('sending', id),
      verb: words.showAccount,
    })),
    ...webhooks.items.flatMap(({ id, url, status }) =>
      status === 'disabled'
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
    ...pending.items.map((domain) => ofDomain(domain, words.domainPending, words.domainPendingNote)),
  ].slice(0, MOST_SHOWN)
}

export function Needs() {
  const team = useTeam()
  const needs = useQuery([team.id, 'needs'], () => findNeeds(team), { every: REFRESH_MS })
  if (needs.data === undefined || needs.data.length === 0) return null
  return (
    <section class="card" aria-label={words.needs}>
      {needs.data.map(({ key, title, note, href, verb }) => (
        <div key={key} class="needs-row">
          <Icon name="triangle-alert" tone="warn" />
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
