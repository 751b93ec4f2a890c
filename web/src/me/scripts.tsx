// The Sieve scripts of a mailbox: written, checked, activated and deleted.

import { useState } from 'preact/hooks'
import { apiAs, done, takeList } from '../api/client.ts'
import type { SieveScript } from '../api/types.ts'
import { refresh, useAction, usePages } from '../live/query.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Badge, State, Time } from '../parts/marks.tsx'
import { Section } from '../parts/page.tsx'
import { Empty, ErrorCard } from '../parts/quiet.tsx'
import { SearchedList } from '../parts/searched-list.tsx'
import type { Column } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { ownMailbox as words } from '../words/en/own-mailbox.ts'
import { ScriptDialog } from './script-dialog.tsx'

const at = (script: SieveScript) => ({ params: { path: { script_id: script.id } } })

/** What is done with a script: one at a time. */
function useChanges(id: string, onRemoved: () => void) {
  const api = apiAs(id)
  const action = useAction(async (work: () => Promise<void>) => {
    await work()
    refresh(id, 'scripts')
  })
  return {
    ...action,
    activate: (script: SieveScript) =>
      void action.run(() => done(api.POST('/mailbox/sieve-scripts/{script_id}/activate', at(script)))),
    deactivate: (script: SieveScript) =>
      void action.run(() => done(api.POST('/mailbox/sieve-scripts/{script_id}/deactivate', at(script)))),
    remove: (script: SieveScript) =>
      void action.run(async () => {
        if (script.is_active) await done(api.POST('/mailbox/sieve-scripts/{script_id}/deactivate', at(script)))
        await done(api.DELETE('/mailbox/sieve-scripts/{script_id}', at(script)))
        onRemoved()
        say(words.removed(script.name))
      }),
  }
}

export function Scripts({ id }: { id: string }) {
  const [edited, setEdited] = useState<SieveScript | 'new' | null>(null)
  const [leaving, setLeaving] = useState<SieveScript | null>(null)
  const pages = usePages([id, 'scripts', id], (cursor) =>
    takeList(apiAs(id).GET('/mailbox/sieve-scripts', { params: { query: { cursor } } })),
  )
  const changes = useChanges(id, () => setLeaving(null))
  const addButton = (
    <Button kind="primary" icon="plus" onPress={() => setEdited('new')}>
      {words.addScript}
    </Button>
  )
  return (
    <Section title={words.scripts} note={words.scriptsNote} actions={pages.items.length > 0 && addButton}>
      {changes.error !== null && leaving === null && <ErrorCard error={changes.error} />}
      <SearchedList
        label={words.scripts}
        pages={pages}
        textOf={({ name }) => name}
        columns={columnsOf(changes, setEdited, setLeaving)}
        keyOf={(script) => script.id}
        empty={
          <Empty icon="split" title={words.noScripts} action={addButton}>
            {words.noScriptsText}
          </Empty>
        }
      />
      {edited !== null && (
        <ScriptDialog id={id} script={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
      {leaving !== null && (
        <Confirm
          title={words.removeTitle(leaving.name)}
          verb={words.remove}
          isBusy={changes.isBusy}
          error={changes.error}
          onConfirm={() => changes.remove(leaving)}
          onClose={() => setLeaving(null)}
        >
          {words.removeText}
        </Confirm>
      )}
    </Section>
  )
}

function columnsOf(
  changes: ReturnType<typeof useChanges>,
  edit: (script: SieveScript) => void,
  askToRemove: (script: SieveScript) => void,
): Column<SieveScript>[] {
  return [
    {
      head: words.scriptName,
      cell: ({ name }) => (
        <span class="strong">
          <Foreign>{name}</Foreign>
        </span>
      ),
    },
    {
      head: words.state,
      cell: (script) =>
        script.is_active ? <State tone="good">{words.active}</State> : <Badge>{words.inactive}</Badge>,
    },
    { head: words.changed, cell: ({ updated_at }) => <Time at={updated_at} />, class: 'soft' },
    {
      head: '',
      cell: (script) => (
        <span class="row end-row">
          <Button size="short" label={words.editLabel(script.name)} onPress={() => edit(script)}>
            {words.edit}
          </Button>
          {script.is_active ? (
            <Button size="short" label={words.deactivateLabel(script.name)} onPress={() => changes.deactivate(script)}>
              {words.deactivate}
            </Button>
          ) : (
            <Button size="short" label={words.activateLabel(script.name)} onPress={() => changes.activate(script)}>
              {words.activate}
            </Button>
          )}
          <IconButton icon="trash-2" label={words.removeLabel(script.name)} onPress={() => askToRemove(script)} />
        </span>
      ),
      class: 'number',
    },
  ]
}
