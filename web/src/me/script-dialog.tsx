// The dialog in which a Sieve script is written and checked.

import { useState } from 'preact/hooks'
import { apiAs, done, take, takeTagged } from '../api/client.ts'
import type { SieveProblem, SieveScript, SieveScriptDetail } from '../api/types.ts'
import type { Tagged } from '../live/change.ts'
import { refresh, useAction, useQuery } from '../live/query.ts'
import { useRequestKey } from '../live/request-key.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { State } from '../parts/marks.tsx'
import { ErrorCard, Skeleton } from '../parts/quiet.tsx'
import { ServerText } from '../parts/server-text.tsx'
import { say } from '../parts/toast.tsx'
import { common } from '../words/en/common.ts'
import { ownMailbox as words } from '../words/en/own-mailbox.ts'

const ONE = '/mailbox/sieve-scripts/{script_id}'

interface ScriptDialogProps {
  /** Of the mailbox. */
  id: string
  /** Null for a new one. */
  script: SieveScript | null
  onClose: () => void
}

export function ScriptDialog({ id, script, onClose }: ScriptDialogProps) {
  const query = useQuery(
    [id, 'scripts', id, script?.id],
    () => takeTagged(apiAs(id).GET(ONE, { params: { path: { script_id: script!.id } } })),
    { when: script !== null },
  )
  if (script === null) return <Editor id={id} seen={null} onClose={onClose} />
  if (query.data !== undefined) return <Editor id={id} seen={query.data} onClose={onClose} />
  return (
    <Dialog title={script.name} isWide onClose={onClose} foot={<Button onPress={onClose}>{common.cancel}</Button>}>
      {query.failure === null ? <Skeleton rows={4} /> : <ErrorCard error={query.failure} onRetry={query.refetch} />}
    </Dialog>
  )
}

/** Saves a new script, or replaces the one that was seen. */
function useSave(id: string, seen: Tagged<SieveScriptDetail> | null, onSaved: () => void) {
  const headerOf = useRequestKey()
  const [began] = useState(seen)
  return useAction(async (body: { name: string; content: string }) => {
    if (began === null) {
      await done(apiAs(id).POST('/mailbox/sieve-scripts', { params: { header: headerOf(body) }, body }))
    } else {
      const params = { path: { script_id: began.value.id }, header: { 'If-Match': began.tag } }
      await done(apiAs(id).PUT(ONE, { params, body }))
    }
    refresh(id, 'scripts')
    say(words.scriptSaved(body.name))
    onSaved()
  })
}

function Editor({ id, seen, onClose }: { id: string; seen: Tagged<SieveScriptDetail> | null; onClose: () => void }) {
  const [name, setName] = useState(seen?.value.name ?? '')
  const [content, setContent] = useState(seen?.value.content ?? '')
  const [problems, setProblems] = useState<readonly SieveProblem[] | null>(null)
  const save = useSave(id, seen, onClose)
  const check = useAction(async () => {
    const { errors, warnings } = await take(apiAs(id).POST('/mailbox/sieve-scripts/validate', { body: { content } }))
    setProblems([...errors, ...warnings])
  })
  const foot = (
    <>
      <Button onPress={onClose}>{common.cancel}</Button>
      <Button isBusy={check.isBusy} isOff={content.trim() === ''} onPress={() => void check.run()}>
        {words.check}
      </Button>
      <Button kind="primary" submits isBusy={save.isBusy} isOff={name.trim() === '' || content.trim() === ''}>
        {words.saveScript}
      </Button>
    </>
  )
  return (
    <Dialog
      title={seen?.value.name ?? words.addScript}
      isWide
      foot={foot}
      error={save.error ?? check.error}
      onClose={onClose}
      onSubmit={() => void save.run({ name: name.trim(), content })}
    >
      <TextField label={words.scriptName} value={name} onValue={setName} hasFocus={seen === null} />
      <TextField
        label={words.scriptText}
        hint={words.scriptTextHint}
        lines={14}
        isMono
        value={content}
        onValue={(typed) => {
          setContent(typed)
          setProblems(null)
        }}
      />
      <div role="status" class="stack">
        {problems !== null && <Problems problems={problems} />}
      </div>
    </Dialog>
  )
}

function Problems({ problems }: { problems: readonly SieveProblem[] }) {
  if (problems.length === 0) return <State tone="good">{words.valid}</State>
  return (
    <ul class="stack">
      {problems.map(({ line, column, message }) => (
        <li key={`${line} ${column} ${message}`}>
          <ServerText>{words.problem(line, column, message)}</ServerText>
        </li>
      ))}
    </ul>
  )
}
