// Connecting a sending account: what kind, then the form of SMTP or the page of the provider; tested at once.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { take } from '../../api/client.ts'
import { refresh, useAction } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Check, SelectField, TextField } from '../../parts/field.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { sending as words } from '../../words/en/sending.ts'
import { useTeam } from '../team.ts'
import { ServerFields, UseFields } from './account-fields.tsx'
import { type AccountForm, commonBody, EMPTY_FORM, smtpBody } from './account-form.ts'
import { PRESETS } from './presets.ts'

type Kind = keyof typeof words.kinds

const KINDS = Object.keys(words.kinds) as Kind[]
const FIELDS = [
  'name',
  'smtp_host',
  'smtp_port',
  'smtp_username',
  'smtp_password',
  'from_email',
  'percentage',
  'quotas',
]

export function Connect({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState<Kind>('smtp')
  const choice = (
    <fieldset class="stack">
      <legend class="label-line">{words.how}</legend>
      {KINDS.map((name) => (
        <Check
          key={name}
          group="kind"
          label={words.kinds[name].name}
          note={words.kinds[name].note}
          isOn={kind === name}
          onChange={() => setKind(name)}
        />
      ))}
    </fieldset>
  )
  return kind === 'smtp' ? (
    <ConnectSmtp choice={choice} onClose={onClose} />
  ) : (
    <ConnectByConsent key={kind} kind={kind} choice={choice} onClose={onClose} />
  )
}

interface ConnectProps {
  choice: ComponentChildren
  onClose: () => void
}

function ConnectSmtp({ choice, onClose }: ConnectProps) {
  const team = useTeam()
  const { route } = useLocation()
  const headerOf = useRequestKey()
  const [preset, setPreset] = useState('other')
  const [form, setForm] = useState<AccountForm>(EMPTY_FORM)
  const set = (change: Partial<AccountForm>) => setForm({ ...form, ...change })
  const choose = (name: string) => {
    setPreset(name)
    const found = PRESETS.find((one) => one.name === name)
    if (found !== undefined)
      set({ host: found.host, port: String(found.port), security: found.security, name: form.name || found.name })
  }
  const action = useAction(async () => {
    const body = { ...commonBody(form), ...smtpBody(form), smtp_password: form.password }
    const provider = await take(team.api.POST('/providers', { params: { header: headerOf(body) }, body }))
    refresh(team.id, 'providers')
    say(words.connected)
    route(`${team.href('sending', provider.id)}?test=1`)
  })
  const isInForm = FIELDS.some((field) => action.error?.fieldMessage(field) !== undefined)
  const presets = [
    { value: 'other', label: words.presets.other! },
    ...PRESETS.map(({ name }) => ({ value: name, label: name })),
  ]
  return (
    <Dialog
      title={words.connectTitle}
      isWide
      foot={<Foot verb={words.connect} isBusy={action.isBusy} onClose={onClose} />}
      error={isInForm ? null : action.error}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      {choice}
      <div class="form-grid">
        <SelectField label={words.preset} value={preset} choices={presets} onValue={choose} />
        <TextField
          label={words.name}
          value={form.name}
          onValue={(name) => set({ name })}
          error={action.error?.fieldMessage('name')}
        />
      </div>
      <ServerFields form={form} set={set} error={action.error} hasPassword={false} />
      <UseFields form={form} set={set} error={action.error} />
    </Dialog>
  )
}

function ConnectByConsent({ kind, choice, onClose }: ConnectProps & { kind: 'gmail_api' | 'outlook_api' }) {
  const team = useTeam()
  const company = words.kinds[kind].name
  const [name, setName] = useState(company)
  const action = useAction(async () => {
    const body = { type: kind, name: name.trim(), redirect_after: team.href('sending') }
    const { authorization_url } = await take(team.api.POST('/providers/oauth/authorize', { body }))
    location.assign(authorization_url)
  })
  return (
    <Dialog
      title={words.connectTitle}
      isWide
      foot={<Foot verb={words.goTo(company)} isBusy={action.isBusy} onClose={onClose} />}
      error={action.error}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      {choice}
      <TextField label={words.name} hint={words.nameHint} value={name} onValue={setName} />
      <p class="soft">{words.consent(company)}</p>
    </Dialog>
  )
}

function Foot({ verb, isBusy, onClose }: { verb: string; isBusy: boolean; onClose: () => void }) {
  return (
    <>
      <Button onPress={onClose}>{common.cancel}</Button>
      <Button kind="primary" submits isBusy={isBusy}>
        {verb}
      </Button>
    </>
  )
}
