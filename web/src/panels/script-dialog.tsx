// The dialog in which a Sieve script is written and checked.

import { useState } from 'preact/hooks'
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
import type { MailboxRequests } from './mailbox-requests.ts'

interface ScriptDialogProps {
  mailbox: MailboxRequests
  /** Null for a new one. */
  script: SieveScript | null
  onClose: () => void
}

export function ScriptDialog({ mailbox, script, onClose }: ScriptDialogProps) {
  const query = useQuery([mailbox.actor, 'scripts', mailbox.id, script?.id], () => mailbox.readScript(script!.id), {
    when: script !== null,
  })
  if (script === null) return <Editor mailbox={mailbox} seen={null} onClose={onClose} />
  if (query.data !== undefined) return <Editor mailbox={mailbox} seen={query.data} onClose={onClose} />
  return (
    <Dialog title={script.name} isWide onClose={onClose} foot={<Button onPress={onClose}>{common.cancel}</Button>}>
      {query.failure === null ? <Skeleton rows={4} /> : <ErrorCard error={query.failure} onRetry={query.refetch} />}
    </Dialog>
  )
}

/** Saves a new script, or replaces the one that was seen. */
function useSave(mailbox: MailboxRequests, seen: Tagged<SieveScriptDetail> | null, onSaved: () => void) {
  const headerOf = useRequestKey()
  const [began] = useState(seen)
  return useAction(async (body: { name: string; content: string }) => {
    if (began === null) await mailbox.createScript(body, headerOf(body))
    else await mailbox.replaceScript(began.value.id, body, began.tag)
    refresh(mailbox.actor, 'scripts')
    say(words.scriptSaved(body.name))
    onSaved()
  })
}

interface EditorProps {
  mailbox: MailboxRequests
  /** Null for a new script. */
  seen: Tagged<SieveScriptDetail> | null
  onClose: () => void
}

function Editor({ mailbox, seen, onClose }: EditorProps) {
  const [name, setName] = useState(seen?.value.name ?? '')
  const [content, setContent] = useState(seen?.value.content ?? '')
  const [problems, setProblems] = useState<readonly SieveProblem[] | null>(null)
  const save = useSave(mailbox, seen, onClose)
  const check = useAction(async () => setProblems(await mailbox.checkScript(content)))
  const foot = (
    <>
      <Button onPress={onClose}>{common.cancel}</Button>
      <Button isBusy={check.isBusy} isOff={content.trim() === ''} onPress={() => void check.run()}>
        {words.check}
      </Button>
      {mailbox.mayManage && (
        <Button kind="primary" submits isBusy={save.isBusy} isOff={name.trim() === '' || content.trim() === ''}>
          {words.saveScript}
        </Button>
      )}
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
