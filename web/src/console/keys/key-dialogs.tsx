// Making, rotating and revoking a key; a new secret is shown once.

import { useState } from 'preact/hooks'
import { done, take } from '../../api/client.ts'
import type { ApiKey, NewApiKey } from '../../api/types.ts'
import { curlOf } from '../../base/curl.ts'
import { refresh, useAction } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button } from '../../parts/button.tsx'
import { Secret } from '../../parts/copy.tsx'
import { Confirm, Dialog, FormFoot } from '../../parts/dialog.tsx'
import { Check, SelectField, TextField } from '../../parts/field.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { keys as words } from '../../words/en/keys.ts'
import { useTeam } from '../team.ts'

type RoleChoice = keyof typeof words.roles
type Expiry = keyof typeof words.expiries
type Grace = keyof typeof words.graces

const DAY_MS = 86_400_000
/** What a form offers: reading and all of each subject. */
const SUBJECTS = Object.keys(words.permissionNotes).filter((subject) => subject !== 'mailbox')

const choices = <T extends string>(texts: Record<T, string>) =>
  (Object.keys(texts) as T[]).map((value) => ({ value, label: texts[value] }))

/** Whether the key reads events, which have the beginning of received messages. */
const seesPreviews = (role: RoleChoice, chosen: readonly string[]) =>
  role !== 'chosen' || chosen.some((permission) => permission.startsWith('webhook.'))

const expiresAt = (choice: Expiry) =>
  choice === 'never' ? undefined : new Date(Date.now() + Number(choice) * DAY_MS).toISOString()

interface MadeProps {
  onMade: (key: NewApiKey) => void
  onClose: () => void
}

export function NewKey({ onMade, onClose }: MadeProps) {
  const team = useTeam()
  const headerOf = useRequestKey()
  const [name, setName] = useState('')
  const [role, setRole] = useState<RoleChoice>('root:full')
  const [expiry, setExpiry] = useState<Expiry>('never')
  const [chosen, setChosen] = useState<readonly string[]>([])
  const action = useAction(async () => {
    const rights = role === 'chosen' ? { permissions: [...chosen] } : { role }
    const body = { name: name.trim(), expires_at: expiresAt(expiry), ...rights }
    const key = await take(
      team.api.POST('/api-keys', { params: { header: headerOf({ ...body, expires_at: expiry }) }, body }),
    )
    refresh(team.id, 'keys')
    onMade(key)
  })
  const error = action.error?.fieldMessage('name')
  const foot = (
    <FormFoot verb={words.add} action={action} isOff={role === 'chosen' && chosen.length === 0} onClose={onClose} />
  )
  return (
    <Dialog
      title={words.add}
      isWide
      foot={foot}
      error={error === undefined ? action.error : null}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <TextField label={words.name} hint={words.nameHint} value={name} onValue={setName} error={error} hasFocus />
      <div class="form-grid">
        <SelectField label={words.role} value={role} choices={choices(words.roles)} onValue={setRole} />
        <SelectField label={words.expiry} value={expiry} choices={choices(words.expiries)} onValue={setExpiry} />
      </div>
      {seesPreviews(role, chosen) && <p class="soft">{words.seesPreviews}</p>}
      {role === 'chosen' && <Permissions chosen={chosen} onChosen={setChosen} />}
    </Dialog>
  )
}

interface PermissionsProps {
  chosen: readonly string[]
  onChosen: (chosen: readonly string[]) => void
}

function Permissions({ chosen, onChosen }: PermissionsProps) {
  const toggle = (permission: string, isOn: boolean) =>
    onChosen(isOn ? [...chosen, permission] : chosen.filter((one) => one !== permission))
  return (
    <fieldset class="form-grid">
      {SUBJECTS.map((subject) => (
        <div key={subject} class="stack">
          <h3>{words.permissionNotes[subject]}</h3>
          {subject !== 'email' && (
            <Check
              label={words.verbs.read}
              isOn={chosen.includes(`${subject}.read`)}
              onChange={(isOn) => toggle(`${subject}.read`, isOn)}
            />
          )}
          <Check
            label={subject === 'email' ? words.verbs.send : words.all}
            isOn={chosen.includes(`${subject}.*`)}
            onChange={(isOn) => toggle(`${subject}.*`, isOn)}
          />
        </div>
      ))}
    </fieldset>
  )
}

export function ShownKey({ apiKey, onClose }: { apiKey: NewApiKey; onClose: () => void }) {
  return (
    <Dialog
      title={words.shownTitle(apiKey.name)}
      isWide
      onClose={onClose}
      foot={<Button onPress={onClose}>{common.done}</Button>}
    >
      <p class="soft">{common.shownOnce}</p>
      <Secret text={apiKey.key} />
      <h3>{words.usage}</h3>
      <pre class="code-block">{curlOf({ method: 'GET', path: '/domains' }, location.origin)}</pre>
    </Dialog>
  )
}

export function RotateKey({ apiKey, onMade, onClose }: MadeProps & { apiKey: ApiKey }) {
  const team = useTeam()
  const headerOf = useRequestKey()
  const [grace, setGrace] = useState<Grace>('86400')
  const action = useAction(async () => {
    const body = { grace_seconds: Number(grace) }
    const params = { path: { key_id: apiKey.id }, header: headerOf(body) }
    const key = await take(team.api.POST('/api-keys/{key_id}/rotate', { params, body }))
    refresh(team.id, 'keys')
    onMade(key)
  })
  const foot = <FormFoot verb={words.rotate} action={action} onClose={onClose} />
  return (
    <Dialog
      title={words.rotateTitle(apiKey.name)}
      foot={foot}
      error={action.error}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      <p>{words.rotateText}</p>
      <SelectField label={words.grace} value={grace} choices={choices(words.graces)} onValue={setGrace} />
    </Dialog>
  )
}

export function RevokeKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const team = useTeam()
  const action = useAction(async () => {
    await done(team.api.DELETE('/api-keys/{key_id}', { params: { path: { key_id: apiKey.id } } }))
    refresh(team.id, 'keys')
    say(words.revoked(apiKey.name))
    onClose()
  })
  return (
    <Confirm
      title={words.revokeTitle(apiKey.name)}
      verb={words.revoke}
      isBusy={action.isBusy}
      error={action.error}
      onConfirm={() => void action.run()}
      onClose={onClose}
    >
      {words.revokeText}
    </Confirm>
  )
}
