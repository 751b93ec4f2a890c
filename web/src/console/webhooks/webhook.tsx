// One webhook: its attempts and its settings.

import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { done, take, takeTagged } from '../../api/client.ts'
import type { Webhook as WebhookJson } from '../../api/types.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { ToneLine } from '../../parts/marks.tsx'
import { Page, RecordError, Tabs } from '../../parts/page.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { webhooks as words } from '../../words/en/webhooks.ts'
import { useTeam } from '../team.ts'
import { Attempts } from './attempts.tsx'
import { ShownSecret } from './secret.tsx'
import { Settings } from './settings.tsx'
import { WebhookState } from './webhooks.tsx'

type TabName = keyof typeof words.tabs

export function Webhook() {
  const team = useTeam()
  const { params } = useRoute()
  const id = params.id!
  const { data, error, refetch } = useQuery([team.id, 'webhooks', id], () =>
    takeTagged(team.api.GET('/webhooks/{webhook_id}', { params: { path: { webhook_id: id } } })),
  )
  const crumb = { href: team.href('webhooks'), label: words.title }
  if (error !== null) return <RecordError error={error} crumb={crumb} onRetry={refetch} />
  if (data === undefined) return <Skeleton />
  return <OpenWebhook key={id} webhook={data.value} tag={data.tag} tab={(params.tab ?? 'attempts') as TabName} />
}

function OpenWebhook({ webhook, tag, tab }: { webhook: WebhookJson; tag: string; tab: TabName }) {
  const team = useTeam()
  const tabs = (Object.keys(words.tabs) as TabName[]).map((name) => ({
    name,
    label: words.tabs[name],
    href: team.href('webhooks', webhook.id, name),
  }))
  return (
    <Page
      title={webhook.url}
      note={webhook.description}
      badge={<WebhookState webhook={webhook} />}
      crumb={{ href: team.href('webhooks'), label: words.title }}
      actions={<Actions webhook={webhook} />}
      curl={[{ method: 'GET', path: `/webhooks/${webhook.id}` }]}
    >
      {webhook.disabled_reason !== null && <ToneLine tone="warn">{words.reasons[webhook.disabled_reason]}</ToneLine>}
      <Tabs label={webhook.url} tabs={tabs} current={tab} />
      {tab === 'attempts' && <Attempts webhookId={webhook.id} />}
      {tab === 'settings' && <Settings key={tag} webhook={webhook} tag={tag} />}
    </Page>
  )
}

function Actions({ webhook }: { webhook: WebhookJson }) {
  const team = useTeam()
  const path = { webhook_id: webhook.id }
  const test = useAction(async () => {
    const { delivery } = await take(team.api.POST('/webhooks/{webhook_id}/test', { params: { path } }))
    refresh(team.id, 'webhooks', webhook.id)
    say(words.tested(words.attempts.results[delivery.result]))
  })
  return (
    <>
      {test.error !== null && <ErrorCard error={test.error} />}
      {team.may('webhook.manage') && (
        <>
          <Button isBusy={test.isBusy} onPress={() => void test.run()}>
            {words.test}
          </Button>
          <RotateButton id={webhook.id} />
        </>
      )}
      {team.may('webhook.delete') && <DeleteButton webhook={webhook} />}
    </>
  )
}

function RotateButton({ id }: { id: string }) {
  const team = useTeam()
  const headerOf = useRequestKey()
  const [isAsking, setAsking] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const rotate = useAction(async () => {
    const params = { path: { webhook_id: id }, header: headerOf({}) }
    const made = await take(team.api.POST('/webhooks/{webhook_id}/rotate-secret', { params, body: {} }))
    setAsking(false)
    refresh(team.id, 'webhooks')
    setSecret(made.signing_secret)
  })
  return (
    <>
      <Button onPress={() => setAsking(true)}>{words.rotate}</Button>
      {isAsking && (
        <Confirm
          title={words.rotateTitle}
          verb={words.rotate}
          isBusy={rotate.isBusy}
          error={rotate.error}
          onConfirm={() => void rotate.run()}
          onClose={() => setAsking(false)}
        >
          {words.rotateText}
        </Confirm>
      )}
      {secret !== null && <ShownSecret secret={secret} onClose={() => setSecret(null)} />}
    </>
  )
}

function DeleteButton({ webhook }: { webhook: WebhookJson }) {
  const team = useTeam()
  const { route } = useLocation()
  const [isAsking, setAsking] = useState(false)
  const remove = useAction(async () => {
    await done(team.api.DELETE('/webhooks/{webhook_id}', { params: { path: { webhook_id: webhook.id } } }))
    route(team.href('webhooks'))
    refresh(team.id, 'webhooks')
    say(words.removed)
  })
  return (
    <>
      <Button kind="danger" onPress={() => setAsking(true)}>
        {words.remove}
      </Button>
      {isAsking && (
        <Confirm
          title={words.removeTitle(webhook.url)}
          verb={words.remove}
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run()}
          onClose={() => setAsking(false)}
        >
          {words.removeText}
        </Confirm>
      )}
    </>
  )
}
