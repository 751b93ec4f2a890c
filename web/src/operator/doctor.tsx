// The doctor: every check with its sentence, what to do, and a button that runs it again.

import { operatorApi, take } from '../api/client.ts'
import type { Finding, Health } from '../api/operator.ts'
import { refresh, useAction, useQuery } from '../live/query.ts'
import { Button, ButtonLink } from '../parts/button.tsx'
import { CodeValue } from '../parts/copy.tsx'
import { FilterBar, FilterMenu, useFilters } from '../parts/filters.tsx'
import { Icon, SIGNS } from '../parts/icon.tsx'
import { Badge, Time } from '../parts/marks.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { ServerText } from '../parts/server-text.tsx'
import { operator } from '../words/en/operator.ts'
import { Certificates } from './certificates.tsx'
import { operatorHref } from './pages.ts'

const words = operator.doctor
const TONES = { ok: 'good', warn: 'warn', fail: 'danger' } as const
/** What needs the operator first. */
const ORDER = ['fail', 'warn', 'ok'] as const

export function Doctor() {
  const filters = useFilters()
  const { data, error, refetch } = useQuery(['operator', 'doctor'], () => take(operatorApi.GET('/doctor')))
  const run = useAction(async (outside: boolean) => {
    await take(operatorApi.POST('/doctor', { body: { outside } }))
    refresh('operator', 'doctor')
  })
  const wanted = filters.get('status')
  const shown = (data?.findings ?? []).filter(({ status }) => wanted === undefined || status === wanted)
  return (
    <Page
      title={operator.pages.doctor}
      note={data?.checked_at == null ? words.note : <CheckedAt health={data} />}
      badge={data?.checked_at == null ? undefined : <Summary health={data} />}
      command="mailstead doctor"
      curl={[{ method: 'GET', path: '/doctor', base: '/operator/v1' }]}
      actions={
        <>
          <Button isBusy={run.isBusy} onPress={() => void run.run(true)}>
            {words.outside}
          </Button>
          <Button kind="primary" icon="refresh-cw" isBusy={run.isBusy} onPress={() => void run.run(false)}>
            {data?.checked_at === null ? words.run : words.again}
          </Button>
        </>
      }
    >
      {run.error !== null && <ErrorCard error={run.error} />}
      {error !== null && <ErrorCard error={error} onRetry={refetch} />}
      <Certificates />
      {data === undefined && error === null && <Skeleton />}
      {data !== undefined && data.checked_at === null && (
        <Empty icon="stethoscope" title={words.emptyTitle}>
          {words.empty}
        </Empty>
      )}
      {data != null && data.checked_at !== null && (
        <>
          <FilterBar>
            <FilterMenu filters={filters} name="status" label={words.status} choices={CHOICES} />
          </FilterBar>
          {shown.length === 0 ? <Empty icon="check" title={words.noneOfThese} /> : <Findings findings={shown} />}
        </>
      )}
    </Page>
  )
}

const CHOICES = ORDER.map((value) => ({ value, label: words.statuses[value] }))

/** The name of a setting in a sentence. */
const SETTING = /\b[A-Z]+(?:_[A-Z\d]+)+\b/

/** What mends it: the page with the button, and the command for the machine. */
function Remedy({ command, page, remedy }: Pick<Finding, 'command' | 'page' | 'remedy'>) {
  const setting = page === 'settings' ? SETTING.exec(remedy ?? '')?.[0] : undefined
  return (
    <p class="row wrap remedy">
      {page !== null && (
        <ButtonLink
          size="short"
          href={operatorHref(page) + (setting === undefined ? '' : `?q=${setting}&open=${setting}`)}
        >
          {setting === undefined ? words.open(operator.pages[page]) : words.see(setting)}
        </ButtonLink>
      )}
      {command !== null && <CodeValue text={command} what={words.commandOf} />}
    </p>
  )
}

function CheckedAt({ health: { checked_at, outside } }: { health: Health }) {
  return (
    <>
      {words.checked} <Time at={checked_at!} as="relative" />
      {outside && `, ${words.withOutside}`}
    </>
  )
}

function Summary({ health: { counts } }: { health: Health }) {
  const worst = ORDER.find((status) => counts[status] > 0) ?? 'ok'
  return <Badge tone={TONES[worst]}>{worst === 'ok' ? words.allWell : words.found(counts[worst], worst)}</Badge>
}

function Findings({ findings }: { findings: readonly Finding[] }) {
  const sorted = [...findings].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
  return (
    <ul class="card findings" aria-label={words.list}>
      {sorted.map(({ check, title, status, sentence, remedy, command, page }) => (
        <li key={`${check} ${sentence}`} class="finding">
          <Icon name={SIGNS[TONES[status]]} tone={TONES[status]} />
          <span class="hidden-word">{words.statuses[status]}</span>
          <span class="soft">
            <ServerText>{title}</ServerText>
          </span>
          <div>
            <p class={status === 'ok' ? '' : 'strong'}>
              <ServerText>{sentence}</ServerText>
            </p>
            {remedy !== null && (
              <p class="soft">
                <ServerText>{remedy}</ServerText>
              </p>
            )}
            {(command !== null || page !== null) && <Remedy command={command} page={page} remedy={remedy} />}
          </div>
        </li>
      ))}
    </ul>
  )
}
