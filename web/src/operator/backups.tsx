// Backups of the whole server: those that are kept, a new one, and how far it is.

import { useEffect, useState } from 'preact/hooks'
import { operatorApi, take, takeList } from '../api/client.ts'
import type { Backup } from '../api/operator.ts'
import { count, percent, size } from '../base/numbers.ts'
import { refresh, useAction, useQuery } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { CodeValue } from '../parts/copy.tsx'
import { FilterBar, SearchField, useFilters } from '../parts/filters.tsx'
import { Bar, State, Time } from '../parts/marks.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { ServerText } from '../parts/server-text.tsx'
import { type Column, NoMatch, Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { backups as words } from '../words/en/backups.ts'
import { operator } from '../words/en/operator.ts'
import { Plan } from './backup-plan.tsx'

const WATCH_MS = 1000

export function Backups() {
  const [isWatching, setWatching] = useState(false)
  const list = useQuery(['operator', 'backups'], () => takeList(operatorApi.GET('/backups')), {
    // While one is being made.
    every: isWatching ? WATCH_MS : undefined,
  })
  const plan = useQuery(['operator', 'backup-plan'], () => take(operatorApi.GET('/backup-plan')))
  const backups = list.data?.items
  const running = backups?.some(({ status }) => status === 'running') === true
  useEffect(() => {
    setWatching(running)
    // One that has ended is the last good one, or says why not.
    refresh('operator', 'backup-plan')
  }, [running])
  const start = useAction(async () => {
    await take(operatorApi.POST('/backups'))
    refresh('operator', 'backups')
    say(words.started)
  })
  const button = (
    <Button
      kind="primary"
      icon="archive"
      isBusy={start.isBusy}
      isOff={running}
      why={words.oneAtATime}
      onPress={() => void start.run()}
    >
      {words.start}
    </Button>
  )
  return (
    <Page
      title={operator.pages.backups}
      note={words.note}
      command={words.command}
      curl={[
        { method: 'GET', path: '/backups', base: '/operator/v1' },
        { method: 'POST', path: '/backups', base: '/operator/v1' },
        { method: 'GET', path: '/backup-plan', base: '/operator/v1' },
      ]}
      actions={button}
    >
      {start.error !== null && <ErrorCard error={start.error} />}
      {plan.error !== null && <ErrorCard error={plan.error} onRetry={plan.refetch} />}
      {plan.data !== undefined && <Plan plan={plan.data} />}
      {list.error !== null && <ErrorCard error={list.error} onRetry={list.refetch} />}
      {backups === undefined && list.error === null && <Skeleton />}
      {backups?.length === 0 && (
        <Empty icon="archive" title={words.emptyTitle}>
          {words.empty}
        </Empty>
      )}
      {backups !== undefined && backups.length > 0 && <Kept backups={backups} />}
      <p class="soft meta measure">
        {words.safety} {words.restore} <code>{words.restoreCommand(exampleOf(plan.data?.folder, backups))}</code>
      </p>
    </Page>
  )
}

/** The path of the newest backup, for the command that restores it. */
function exampleOf(folder: string | undefined, backups: readonly Backup[] | undefined): string {
  const newest = backups?.find(({ status, is_own: isOwn }) => status === 'complete' && isOwn)
  return folder === undefined || newest === undefined ? '<file>' : `${folder}/${newest.name}`
}

function Kept({ backups }: { backups: readonly Backup[] }) {
  const filters = useFilters()
  const wanted = (filters.get('q') ?? '').trim().toLowerCase()
  const shown = backups.filter(({ name }) => name.toLowerCase().includes(wanted))
  return (
    <>
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
      </FilterBar>
      {shown.length === 0 && <NoMatch clear={filters.clear} />}
      {shown.length > 0 && (
        <Table label={operator.pages.backups} rows={shown} columns={COLUMNS} keyOf={({ name }) => name} isNamed />
      )}
    </>
  )
}

const COLUMNS: readonly Column<Backup>[] = [
  { head: words.columns.state, cell: (backup) => <BackupState backup={backup} /> },
  { head: words.columns.name, cell: ({ name }) => <CodeValue text={name} what={words.fileName} /> },
  {
    head: words.columns.started,
    cell: ({ started_at }) => <Time at={started_at} />,
    class: 'soft',
  },
  {
    head: words.columns.messages,
    cell: ({ messages }) => (messages === null ? '–' : count(messages)),
    class: 'number wide-only',
  },
  {
    head: words.columns.size,
    cell: ({ size_bytes }) => (size_bytes === null ? '–' : size(size_bytes)),
    class: 'number',
  },
]

function BackupState({ backup: { status, progress, failure, damage, is_own: isOwn } }: { backup: Backup }) {
  if (status === 'complete' && damage !== null)
    return (
      <State tone="danger">
        <ServerText>{damage}</ServerText>
      </State>
    )
  if (status === 'complete' && !isOwn) return <State>{words.otherServer}</State>
  if (status === 'complete') return <State tone="good">{words.statuses.complete}</State>
  if (status === 'failed')
    return <State tone="danger">{failure === null ? words.statuses.failed : <ServerText>{failure}</ServerText>}</State>
  const share = progress === null || progress.total === null ? null : progress.done / Math.max(1, progress.total)
  return (
    <span class="backup-progress">
      <State icon="refresh-cw">
        {progress === null ? words.statuses.running : <ServerText>{progress.label}</ServerText>}
      </State>
      {share !== null && (
        <>
          <span class="used">
            <Bar share={share} isNeutral />
          </span>
          <span class="soft">{words.percent(percent(share))}</span>
        </>
      )}
    </span>
  )
}
