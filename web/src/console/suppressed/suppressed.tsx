// Addresses the team sends nothing to: why, since when, and the way back.

import { useState } from 'preact/hooks'
import { done, take, takeList } from '../../api/client.ts'
import type { Suppression } from '../../api/types.ts'
import { refresh, useAction, usePages } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { choicesOf, FilterBar, FilterMenu, SearchField, useFilters } from '../../parts/filters.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { State, Time } from '../../parts/marks.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/quiet.tsx'
import { CSV_PART, SaveCsv } from '../../parts/save-csv.tsx'
import { type Column, List } from '../../parts/table.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { suppressed as words } from '../../words/en/suppressed.ts'
import { useTeam } from '../team.ts'
import { SuppressionDetail } from './detail.tsx'
import { ImportDialog } from './import.tsx'

const TONES = { bounce: 'danger', complaint: 'warn', manual: '' } as const

export function Suppressed() {
  const team = useTeam()
  const filters = useFilters()
  const [isAdding, setAdding] = useState(false)
  const [isImporting, setImporting] = useState(false)
  const query = { q: filters.get('q'), reason: filters.get('reason') as Suppression['reason'] | undefined }
  const pages = usePages([team.id, 'suppressed', query], (cursor) =>
    takeList(team.api.GET('/suppressions', { params: { query: { ...query, cursor } } })),
  )
  const mayChange = team.may('suppression.manage')
  const actions = (
    <>
      <SaveCsv
        name="suppressed"
        ask={(cursor) =>
          takeList(team.api.GET('/suppressions', { params: { query: { ...query, limit: CSV_PART, cursor } } }))
        }
        columns={CSV}
      />
      {mayChange && <Button onPress={() => setImporting(true)}>{words.import.button}</Button>}
      {mayChange && (
        <Button kind="primary" onPress={() => setAdding(true)}>
          {words.add}
        </Button>
      )}
    </>
  )
  return (
    <Page
      title={words.title}
      note={words.note}
      actions={actions}
      curl={[{ method: 'GET', path: '/suppressions', query }]}
    >
      <FilterBar>
        <SearchField filters={filters} label={words.search} />
        <FilterMenu filters={filters} name="reason" label={words.filters.reason} choices={choicesOf(words.reasons)} />
      </FilterBar>
      <List
        pages={pages}
        label={words.title}
        columns={mayChange ? [...COLUMNS, FREE] : COLUMNS}
        keyOf={({ id }) => id}
        opened={{
          id: filters.get('open') ?? null,
          toggle: (id) => filters.set('open', id),
          detail: (row) => <SuppressionDetail row={row} />,
        }}
        empty={
          <Empty icon="ban" title={words.emptyTitle}>
            {words.empty}
          </Empty>
        }
        clearFilters={filters.isAnySet ? filters.clear : undefined}
      />
      {isAdding && <AddAddress onClose={() => setAdding(false)} />}
      {isImporting && <ImportDialog onClose={() => setImporting(false)} />}
    </Page>
  )
}

const COLUMNS: readonly Column<Suppression>[] = [
  { head: words.columns.email, cell: ({ email }) => <Foreign>{email}</Foreign>, class: 'cut' },
  {
    head: words.columns.reason,
    cell: ({ reason }) => <State tone={TONES[reason]}>{words.reasons[reason]}</State>,
  },
  { head: words.columns.note, cell: ({ note }) => note !== null && <Foreign>{note}</Foreign>, class: 'cut soft line' },
  { head: words.columns.since, cell: ({ created_at: at }) => <Time at={at} />, class: 'soft' },
]

const CSV: Readonly<Record<string, (row: Suppression) => string | null>> = {
  email: ({ email }) => email,
  reason: ({ reason }) => reason,
  note: ({ note }) => note,
  source_message_id: (row) => row.source_message_id,
  created_at: (row) => row.created_at,
}

const FREE: Column<Suppression> = {
  head: words.columns.remove,
  cell: (row) => <FreeButton row={row} />,
  class: 'number',
}

function FreeButton({ row }: { row: Suppression }) {
  const team = useTeam()
  const [isAsking, setAsking] = useState(false)
  const free = useAction(async () => {
    await done(team.api.DELETE('/suppressions/{suppression_id}', { params: { path: { suppression_id: row.id } } }))
    setAsking(false)
    refresh(team.id, 'suppressed')
    say(words.freed(row.email))
  })
  return (
    <>
      <Button size="short" onPress={() => setAsking(true)} label={words.freeTitle(row.email)}>
        {words.free}
      </Button>
      {isAsking && (
        <Confirm
          title={words.freeTitle(row.email)}
          verb={words.freeVerb}
          isBusy={free.isBusy}
          error={free.error}
          onConfirm={() => void free.run()}
          onClose={() => setAsking(false)}
        >
          {words.freeText[row.reason]}
        </Confirm>
      )}
    </>
  )
}

function AddAddress({ onClose }: { onClose: () => void }) {
  const team = useTeam()
  const [email, setEmail] = useState('')
  const [note, setNote] = useState('')
  const add = useAction(async () => {
    const body = { email: email.trim(), note: note.trim() === '' ? null : note.trim() }
    await take(team.api.POST('/suppressions', { body }))
    refresh(team.id, 'suppressed')
    say(words.added(body.email))
    onClose()
  })
  const isInForm = ['email', 'note'].some((field) => add.error?.fieldMessage(field) !== undefined)
  const foot = (
    <>
      <Button onPress={onClose}>{common.cancel}</Button>
      <Button kind="primary" submits isBusy={add.isBusy}>
        {words.add}
      </Button>
    </>
  )
  return (
    <Dialog
      title={words.add}
      foot={foot}
      error={isInForm ? null : add.error}
      onClose={onClose}
      onSubmit={() => void add.run()}
    >
      <TextField
        label={words.email}
        type="email"
        value={email}
        onValue={setEmail}
        error={add.error?.fieldMessage('email')}
        isRequired
        hasFocus
      />
      <TextField
        label={words.noteField}
        hint={words.noteHint}
        value={note}
        onValue={setNote}
        error={add.error?.fieldMessage('note')}
      />
    </Dialog>
  )
}
