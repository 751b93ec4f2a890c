// One sending account: its state, a test by stages, and its settings.

import { useEffect, useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { done, take, takeTagged } from '../../api/client.ts'
import type { Provider, ProviderTest } from '../../api/types.ts'
import { count } from '../../base/numbers.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { useRecordForm, useRecordSave } from '../../live/record-form.ts'
import { Button } from '../../parts/button.tsx'
import { CodeValue } from '../../parts/copy.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { State, Time, ToneLine } from '../../parts/marks.tsx'
import { Page, RecordError, Section } from '../../parts/page.tsx'
import { ErrorCard, SaveTrouble, Skeleton } from '../../parts/quiet.tsx'
import { ServerText } from '../../parts/server-text.tsx'
import { say } from '../../parts/toast.tsx'
import { sending as words } from '../../words/en/sending.ts'
import { useTeam } from '../team.ts'
import { ServerFields, UseFields } from './account-fields.tsx'
import { changedBody, formOf } from './account-form.ts'
import { AccountState } from './sending.tsx'
import { UseNow, UseOverTime } from './use.tsx'

const STAGES = ['dns', 'connect', 'tls', 'greeting', 'auth'] as const

export function Account() {
  const team = useTeam()
  const { params } = useRoute()
  const id = params.id!
  const query = useQuery([team.id, 'providers', id], () =>
    takeTagged(team.api.GET('/providers/{provider_id}', { params: { path: { provider_id: id } } })),
  )
  const crumb = { href: team.href('sending'), label: words.title }
  if (query.failure !== null) return <RecordError error={query.failure} crumb={crumb} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton />
  return <OpenAccount key={id} provider={query.data.value} tag={query.data.tag} />
}

function OpenAccount({ provider, tag }: { provider: Provider; tag: string }) {
  const team = useTeam()
  const { query } = useLocation()
  const path = { provider_id: provider.id }
  const test = useAction(async () => {
    const result = await take(team.api.POST('/providers/{provider_id}/test', { params: { path }, body: {} }))
    refresh(team.id, 'providers')
    return result
  })
  const [result, setResult] = useState<ProviderTest | null>(null)
  const run = () => void test.run().then((found) => setResult(found ?? null))
  useEffect(() => {
    if (query.test === '1') run()
  }, [])
  const testButton = provider.allowed_actions.test && team.may('provider.manage') && (
    <Button icon="activity" isBusy={test.isBusy} onPress={run}>
      {words.test}
    </Button>
  )
  return (
    <Page
      title={provider.name}
      crumb={{ href: team.href('sending'), label: words.title }}
      badge={<AccountState status={provider.status} />}
      note={words.types[provider.type]}
      actions={testButton}
      record={provider}
      curl={[
        { method: 'GET', path: `/providers/${provider.id}` },
        { method: 'GET', path: `/providers/${provider.id}/usage` },
        { method: 'POST', path: `/providers/${provider.id}/test`, body: {} },
      ]}
    >
      {provider.status === 'error' && result === null && (
        <ToneLine tone="danger">
          {provider.status_reason === null ? words.statuses.error : <ServerText>{provider.status_reason}</ServerText>}
        </ToneLine>
      )}
      {test.error !== null && <ErrorCard error={test.error} onRetry={run} />}
      {(test.isBusy || result !== null) && <TestResult result={test.isBusy ? null : result} />}
      <div class="columns">
        <UseOverTime provider={provider} />
        <div class="stack loose">
          <UseNow provider={provider} />
          <Facts provider={provider} />
        </div>
      </div>
      {provider.is_editable && <Settings provider={provider} tag={tag} />}
      <Ending provider={provider} />
    </Page>
  )
}

/** The stages of a test; those after the failed one were not reached. @param result null while it is under way */
function TestResult({ result }: { result: ProviderTest | null }) {
  const stages =
    result === null || STAGES.some((stage) => stage === result.stage) ? STAGES : ([...STAGES, result.stage] as const)
  const failedAt = result === null || result.success ? -1 : stages.indexOf(result.stage as (typeof STAGES)[number])
  return (
    <section class="card" aria-live="polite">
      {stages.map((stage, index) => {
        const isFailed = index === failedAt
        const isDone = result !== null && (result.success || index < failedAt)
        return (
          <div key={stage} class="check-row">
            {result === null ? (
              <span class="spinner soft" />
            ) : (
              <Icon
                name={isFailed ? 'circle-x' : isDone ? 'check' : 'clock'}
                tone={isFailed ? 'danger' : isDone ? 'good' : 'soft'}
              />
            )}
            <div>
              <b>{words.stages[stage]}</b>
              {isFailed && <p class="soft">{words.stageAdvice[stage]}</p>}
              {isFailed && (
                <p class="mono">
                  <ServerText>{[result!.smtp_code, result!.message].filter(Boolean).join(' ')}</ServerText>
                </p>
              )}
            </div>
            <span />
          </div>
        )
      })}
      <div class="card-foot">
        {result === null ? (
          words.testing
        ) : (
          <State tone={result.success ? 'good' : 'danger'}>
            {result.success
              ? words.testOk(`${count(result.latency_ms)} ms`)
              : words.testFailed(words.stages[result.stage])}
          </State>
        )}
      </div>
    </section>
  )
}

function Facts({ provider }: { provider: Provider }) {
  return (
    <dl class="facts">
      <dt>{words.tested}</dt>
      <dd>
        {provider.last_tested_at === null ? words.testedNever : <Time at={provider.last_tested_at} as="relative" />}
      </dd>
      <dt>{words.lastUsed}</dt>
      <dd>{provider.last_used_at === null ? '–' : <Time at={provider.last_used_at} as="relative" />}</dd>
      <dt>{words.id}</dt>
      <dd>
        <CodeValue text={provider.id} what={words.id} />
      </dd>
    </dl>
  )
}

function Settings({ provider, tag }: { provider: Provider; tag: string }) {
  const team = useTeam()
  const mayUpdate = provider.allowed_actions.update && team.may('provider.update')
  const entries = useRecordForm(formOf(provider))
  const { fields: form, set } = entries
  const params = { path: { provider_id: provider.id } }
  const body = changedBody(form, entries.changed)
  const save = useRecordSave(entries, {
    ...{ fieldsOf: formOf, key: [team.id, 'providers', provider.id], seen: { value: provider, tag } },
    read: () => takeTagged(team.api.GET('/providers/{provider_id}', { params })),
    send: (version) =>
      takeTagged(
        team.api.PATCH('/providers/{provider_id}', { params: { ...params, header: { 'If-Match': version } }, body }),
      ),
    onSaved: () => say(words.saved),
  })
  return (
    <Section title={words.settings}>
      <Form class="stack loose form-column" onSubmit={() => void save.run()}>
        <TextField
          label={words.name}
          value={form.name}
          onValue={(name) => set({ name })}
          isOff={!mayUpdate}
          error={save.error?.fieldMessage('name')}
        />
        {provider.type === 'smtp' && (
          <ServerFields
            form={form}
            set={set}
            error={save.error}
            isOff={!mayUpdate}
            hasPassword={provider.has_smtp_password}
          />
        )}
        <UseFields form={form} set={set} error={save.error} isOff={!mayUpdate} />
        <SaveTrouble isOvertaken={entries.isOvertaken} error={save.error} />
        {mayUpdate && (
          <div class="row">
            <Button kind="primary" submits isBusy={save.isBusy} isOff={!entries.isChanged}>
              {words.save}
            </Button>
          </div>
        )}
      </Form>
    </Section>
  )
}

/** Pausing, using again and deleting. */
function Ending({ provider }: { provider: Provider }) {
  const team = useTeam()
  const { route } = useLocation()
  const [isAsking, setAsking] = useState(false)
  const params = { path: { provider_id: provider.id } }
  const toggle = useAction(async () => {
    if (provider.is_active) await done(team.api.POST('/providers/{provider_id}/deactivate', { params }))
    else await done(team.api.POST('/providers/{provider_id}/activate', { params }))
    refresh(team.id, 'providers')
  })
  const remove = useAction(async () => {
    await done(team.api.DELETE('/providers/{provider_id}', { params }))
    refresh(team.id, 'providers')
    say(words.deleted(provider.name))
    route(team.href('sending'))
  })
  const { activate, deactivate, delete: mayBeDeleted } = provider.allowed_actions
  return (
    <div class="row wrap">
      {(activate || deactivate) && team.may('provider.manage') && (
        <Button icon={provider.is_active ? 'pause' : 'play'} isBusy={toggle.isBusy} onPress={() => void toggle.run()}>
          {provider.is_active ? words.pause : words.resume}
        </Button>
      )}
      {mayBeDeleted && team.may('provider.delete') && (
        <Button kind="danger" icon="trash-2" onPress={() => setAsking(true)}>
          {words.delete}
        </Button>
      )}
      {toggle.error !== null && <ErrorCard error={toggle.error} />}
      {isAsking && (
        <Confirm
          title={words.deleteTitle(provider.name)}
          verb={words.delete}
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run()}
          onClose={() => setAsking(false)}
        >
          {words.deleteText}
        </Confirm>
      )}
    </div>
  )
}
