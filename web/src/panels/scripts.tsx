// The Sieve scripts of a mailbox: written, checked, activated and deleted.

import { useState } from 'preact/hooks'
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
import type { MailboxRequests } from './mailbox-requests.ts'
import { ScriptDialog } from './script-dialog.tsx'

/** What is done with a script: one at a time. */
function useChanges(mailbox: MailboxRequests, onRemoved: () => void) {
  const action = useAction(async (work: () => Promise<void>) => {
    await work()
    refresh(mailbox.actor, 'scripts')
  })
  return {
    ...action,
    activate: ({ id }: SieveScript) => void action.run(() => mailbox.activateScript(id)),
    deactivate: ({ id }: SieveScript) => void action.run(() => mailbox.deactivateScript(id)),
    remove: (script: SieveScript) =>
      void action.run(async () => {
        if (script.is_active) await mailbox.deactivateScript(script.id)
        await mailbox.deleteScript(script.id)
        onRemoved()
        say(words.removed(script.name))
      }),
  }
}

export function Scripts({ mailbox }: { mailbox: MailboxRequests }) {
  const { actor, id, mayManage } = mailbox
  const [edited, setEdited] = useState<SieveScript | 'new' | null>(null)
  const [leaving, setLeaving] = useState<SieveScript | null>(null)
  const pages = usePages([actor, 'scripts', id], mailbox.listScripts)
  const changes = useChanges(mailbox, () => setLeaving(null))
  const addButton = mayManage && (
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
        columns={columnsOf(mayManage, changes, setEdited, setLeaving)}
        keyOf={(script) => script.id}
        empty={
          <Empty icon="split" title={words.noScripts} action={addButton}>
            {words.noScriptsText}
          </Empty>
        }
      />
      {edited !== null && (
        <ScriptDialog mailbox={mailbox} script={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
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
  mayManage: boolean,
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
      cell: (script) => <Ways {...{ script, mayManage, changes, edit, askToRemove }} />,
      class: 'number',
    },
  ]
}

interface WaysProps {
  script: SieveScript
  mayManage: boolean
  changes: ReturnType<typeof useChanges>
  edit: (script: SieveScript) => void
  askToRemove: (script: SieveScript) => void
}

/** What can be done with a script: reading its text alone, where the person may change nothing. */
function Ways({ script, mayManage, changes, edit, askToRemove }: WaysProps) {
  const { name } = script
  if (!mayManage)
    return (
      <Button size="short" label={words.showLabel(name)} onPress={() => edit(script)}>
        {words.show}
      </Button>
    )
  return (
    <span class="row end-row">
      <Button size="short" label={words.editLabel(name)} onPress={() => edit(script)}>
        {words.edit}
      </Button>
      {script.is_active ? (
        <Button size="short" label={words.deactivateLabel(name)} onPress={() => changes.deactivate(script)}>
          {words.deactivate}
        </Button>
      ) : (
        <Button size="short" label={words.activateLabel(name)} onPress={() => changes.activate(script)}>
          {words.activate}
        </Button>
      )}
      <IconButton icon="trash-2" label={words.removeLabel(name)} onPress={() => askToRemove(script)} />
    </span>
  )
}
