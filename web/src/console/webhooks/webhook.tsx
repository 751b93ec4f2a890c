// One webhook: its attempts, the code for its signatures, and its settings.

import { useRoute } from 'preact-iso'
import { takeTagged } from '../../api/client.ts'
import type { Webhook as WebhookJson } from '../../api/types.ts'
import { exact } from '../../base/dates.ts'
import { useQuery } from '../../live/query.ts'
import { ToneLine } from '../../parts/marks.tsx'
import { Page, RecordError, Tabs, tabOf } from '../../parts/page.tsx'
import { Skeleton } from '../../parts/quiet.tsx'
import { webhooks as words } from '../../words/en/webhooks.ts'
import { useTeam } from '../team.ts'
import { Actions, EnableButton } from './actions.tsx'
import { Attempts } from './attempts.tsx'
import { Settings } from './settings.tsx'
import { Verify } from './verify.tsx'
import { WebhookState } from './webhooks.tsx'

type TabName = keyof typeof words.tabs

export function Webhook() {
  const team = useTeam()
  const { params } = useRoute()
  const id = params.id!
  const { data, failure, refetch } = useQuery([team.id, 'webhooks', id], () =>
    takeTagged(team.api.GET('/webhooks/{webhook_id}', { params: { path: { webhook_id: id } } })),
  )
  const crumb = { href: team.href('webhooks'), label: words.title }
  if (failure !== null) return <RecordError error={failure} crumb={crumb} onRetry={refetch} />
  if (data === undefined) return <Skeleton />
  return <OpenWebhook key={id} webhook={data.value} tag={data.tag} tab={tabOf(words.tabs, params.tab)} />
}

function OpenWebhook({ webhook, tag, tab }: { webhook: WebhookJson; tag: string; tab: TabName }) {
  const team = useTeam()
  const tabs = (Object.keys(words.tabs) as TabName[]).map((name) => ({
    name,
    label: words.tabs[name],
    href: team.href('webhooks', webhook.id, name),
  }))
  const until = webhook.previous_secret_until
  return (
    <Page
      title={webhook.url}
      note={webhook.description}
      badge={<WebhookState webhook={webhook} />}
      crumb={{ href: team.href('webhooks'), label: words.title }}
      actions={<Actions webhook={webhook} />}
      record={webhook}
      curl={[
        { method: 'GET', path: `/webhooks/${webhook.id}` },
        { method: 'GET', path: `/webhooks/${webhook.id}/deliveries` },
      ]}
    >
      {until !== null && Date.parse(until) > Date.now() && (
        <ToneLine tone="warn">{words.inGrace(exact(until))}</ToneLine>
      )}
      {webhook.disabled_reason !== null && (
        <ToneLine tone="warn">
          {words.reasons[webhook.disabled_reason]} <EnableButton id={webhook.id} tag={tag} />
        </ToneLine>
      )}
      <Tabs label={webhook.url} tabs={tabs} current={tab} />
      {tab === 'attempts' && <Attempts webhookId={webhook.id} />}
      {tab === 'verify' && <Verify webhook={webhook} />}
      {tab === 'settings' && <Settings webhook={webhook} tag={tag} />}
    </Page>
  )
}
