// The first step: the owner with a passkey or a password, and the team.

import { useState } from 'preact/hooks'
import { ApiError } from '../api/errors.ts'
import { becomeOwnerByPasskey, becomeOwnerByPassword, type FirstOwner } from '../api/first-run.ts'
import { hasPasskeys } from '../api/person.ts'
import { useAction } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { ToneLine } from '../parts/marks.tsx'
import { ErrorCard } from '../parts/quiet.tsx'
import { firstRun as words } from '../words/en/first-run.ts'

interface OwnerStepProps {
  token: string
  /** Ways to sign in. */
  allowed: readonly string[]
  onDone: () => void
}

interface OwnerForm {
  email: string
  name: string
  team: string
  password: string
}

const FIELDS = ['email', 'display_name', 'team_name', 'password']

/** A passkey is made in the device before the server sees the whole form, so what is missing is said before. */
function checkComplete({ email, team_name: team }: FirstOwner): void {
  const errors = [
    ...(email === '' ? [{ field: 'email', message: words.emailMissing }] : []),
    ...(team === '' ? [{ field: 'team_name', message: words.teamMissing }] : []),
  ]
  if (errors.length > 0) throw new ApiError(422, { code: 'validation_failed', message: '', errors }, null)
}

export function OwnerStep({ token, allowed, onDone }: OwnerStepProps) {
  const mayUsePassword = allowed.includes('password')
  const [isByPassword, setByPassword] = useState(mayUsePassword && !hasPasskeys())
  const [form, setForm] = useState<OwnerForm>({ email: '', name: '', team: '', password: '' })
  const set = (change: Partial<OwnerForm>) => setForm({ ...form, ...change })
  const act = useAction(async () => {
    const owner = {
      token,
      email: form.email.trim(),
      display_name: form.name.trim() || null,
      team_name: form.team.trim(),
    }
    checkComplete(owner)
    await (isByPassword ? becomeOwnerByPassword(owner, form.password) : becomeOwnerByPasskey(owner))
    onDone()
  })
  const isCancelled = act.error?.code === 'cancelled'
  const isInForm = FIELDS.some((field) => act.error?.fieldMessage(field) !== undefined)
  return (
    <>
      <div>
        <h1>{words.ownerTitle}</h1>
        <p class="lead">{words.ownerLead}</p>
      </div>
      {token === '' && <ToneLine tone="warn">{words.noToken}</ToneLine>}
      {!isByPassword && !hasPasskeys() && <ToneLine tone="warn">{words.noPasskeys}</ToneLine>}
      <Form class="stack loose" onSubmit={() => void act.run()}>
        <OwnerFields form={form} set={set} error={act.error} hasPassword={isByPassword} />
        {isCancelled && <ToneLine tone="warn">{words.cancelled}</ToneLine>}
        {act.error !== null && !isCancelled && !isInForm && <ErrorCard error={act.error} />}
        <div class="row wrap">
          <Button
            kind="primary"
            size="form"
            submits
            isBusy={act.isBusy}
            isOff={!isByPassword && !hasPasskeys()}
            icon={isByPassword ? undefined : 'fingerprint-pattern'}
          >
            {isByPassword ? words.byPassword : words.byPasskey}
          </Button>
          {mayUsePassword && hasPasskeys() && (
            <Button kind="quiet" size="form" onPress={() => setByPassword(!isByPassword)}>
              {isByPassword ? words.usePasskey : words.usePassword}
            </Button>
          )}
        </div>
        {!isByPassword && hasPasskeys() && <p class="soft">{words.passkeyNote}</p>}
      </Form>
    </>
  )
}

interface OwnerFieldsProps {
  form: OwnerForm
  set: (change: Partial<OwnerForm>) => void
  error: ApiError | null
  hasPassword: boolean
}

function OwnerFields({ form, set, error, hasPassword }: OwnerFieldsProps) {
  const errorOf = (field: string) => error?.fieldMessage(field)
  // Nothing was sent: the errors are texts of the page.
  const isOwnError = error?.requestId === null
  return (
    <>
      <TextField
        label={words.email}
        hint={words.emailHint}
        type="email"
        autoComplete="username"
        isLarge
        value={form.email}
        onValue={(email) => set({ email })}
        error={errorOf('email')}
        isOwnError={isOwnError}
      />
      <TextField
        label={words.name}
        autoComplete="name"
        isLarge
        value={form.name}
        onValue={(name) => set({ name })}
        error={errorOf('display_name')}
      />
      <TextField
        label={words.team}
        hint={words.teamHint}
        isLarge
        value={form.team}
        onValue={(team) => set({ team })}
        error={errorOf('team_name')}
        isOwnError={isOwnError}
      />
      {hasPassword && (
        <TextField
          label={words.password}
          hint={words.passwordHint}
          type="password"
          autoComplete="new-password"
          isLarge
          value={form.password}
          onValue={(password) => set({ password })}
          error={errorOf('password')}
        />
      )}
    </>
  )
}
