// The fields of a sending account, for a new one and for its settings.

import type { ApiError } from '../../api/errors.ts'
import { SelectField, TextField } from '../../parts/field.tsx'
import { sending as words } from '../../words/en/sending.ts'
import type { AccountForm } from './account-form.ts'

interface FieldsProps {
  form: AccountForm
  set: (change: Partial<AccountForm>) => void
  error: ApiError | null
  isOff?: boolean
}

const securities = (Object.keys(words.securities) as AccountForm['security'][]).map((value) => ({
  value,
  label: words.securities[value],
}))

/** Server and credentials. */
export function ServerFields({ form, set, error, isOff, hasPassword }: FieldsProps & { hasPassword: boolean }) {
  return (
    <>
      <div class="server-fields">
        <TextField
          label={words.host}
          value={form.host}
          onValue={(host) => set({ host })}
          isOff={isOff}
          error={error?.fieldMessage('smtp_host')}
        />
        <TextField
          label={words.port}
          inputMode="numeric"
          value={form.port}
          onValue={(port) => set({ port })}
          isOff={isOff}
          error={error?.fieldMessage('smtp_port')}
        />
        <SelectField
          label={words.security}
          value={form.security}
          choices={securities}
          onValue={(security) => set({ security })}
          isOff={isOff}
        />
      </div>
      <div class="form-grid">
        <TextField
          label={words.user}
          value={form.user}
          onValue={(user) => set({ user })}
          isOff={isOff}
          error={error?.fieldMessage('smtp_username')}
        />
        <TextField
          label={words.password}
          type="password"
          autoComplete="new-password"
          value={form.password}
          onValue={(password) => set({ password })}
          isOff={isOff}
          hint={hasPassword ? words.passwordKept : undefined}
          error={error?.fieldMessage('smtp_password')}
        />
      </div>
    </>
  )
}

/** Sender, share and limits. */
export function UseFields({ form, set, error, isOff }: FieldsProps) {
  const limits = [
    ['perMinute', words.perMinute],
    ['perHour', words.perHour],
    ['perDay', words.perDay],
  ] as const
  return (
    <>
      <div class="form-grid">
        <TextField
          label={words.from}
          type="email"
          hint={words.fromHint}
          value={form.from}
          onValue={(from) => set({ from })}
          isOff={isOff}
          error={error?.fieldMessage('from_email')}
        />
        <TextField
          label={words.weight}
          inputMode="numeric"
          hint={words.weightHint}
          value={form.share}
          onValue={(share) => set({ share })}
          isOff={isOff}
          error={error?.fieldMessage('percentage')}
        />
      </div>
      <div class="form-grid thirds">
        {limits.map(([name, label]) => (
          <TextField
            key={name}
            label={label}
            inputMode="numeric"
            placeholder={words.noLimit}
            value={form[name]}
            onValue={(value) => set({ [name]: value })}
            isOff={isOff}
          />
        ))}
      </div>
      {error?.fieldMessage('quotas') !== undefined && <p class="hint wrong">{error.fieldMessage('quotas')}</p>}
    </>
  )
}
