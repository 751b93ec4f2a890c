// The form of a new mailbox: an address at one of the domains of the team, for a person, for several, or for a program.

import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { take, takeList } from '../../api/client.ts'
import { refresh, useAction, useQuery } from '../../live/query.ts'
import { useRequestKey } from '../../live/request-key.ts'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import { Check, SelectField, TextField } from '../../parts/field.tsx'
import { ToneLine } from '../../parts/marks.tsx'
import { mailboxes as words } from '../../words/en/mailboxes.ts'
import { useTeam } from '../team.ts'
import { Made, type MadeMailbox, useInvitation } from './made-mailbox.tsx'

const GB = 1_000_000_000
const DOMAINS_SHOWN = 100

const USES = ['person', 'shared', 'program'] as const
type MailboxUse = (typeof USES)[number]

interface MailboxForm {
  use: MailboxUse
  local: string
  domain: string
  /** Of the name of a domain, where the team has many. */
  part: string
  name: string
  quota: string
}

export function NewMailbox({ onClose }: { onClose: () => void }) {
  const team = useTeam()
  const { route } = useLocation()
  const headerOf = useRequestKey()
  const invite = useInvitation()
  const [made, setMade] = useState<MadeMailbox | null>(null)
  const [form, setForm] = useState<MailboxForm>({
    ...{ local: '', domain: '', part: '', name: '', quota: '5' },
    use: 'shared',
  })
  const set = (change: Partial<MailboxForm>) => setForm({ ...form, ...change })
  const all = useDomains('')
  const found = useDomains(form.part.trim())
  const names = (found.data?.items ?? []).map(({ domain }) => domain)
  const domain = names.includes(form.domain) ? form.domain : (names[0] ?? '')
  const action = useAction(async () => {
    const body = {
      email: `${form.local.trim()}@${domain}`,
      display_name: form.name.trim() || undefined,
      quota_bytes: Math.round(Number(form.quota) * GB),
      create_api_key: form.use === 'program',
    }
    const mailbox = await take(team.api.POST('/mailboxes', { params: { header: headerOf(body) }, body }))
    refresh(team.id, 'mailboxes')
    if (form.use === 'shared') route(team.href('mailboxes', mailbox.id))
    else if (form.use === 'program') setMade({ mailbox, key: mailbox.api_key?.key ?? null, member: null })
    else setMade({ mailbox, key: null, member: await invite(mailbox.email) })
  })
  if (made !== null) return <Made made={made} onClose={() => route(team.href('mailboxes', made.mailbox.id))} />
  const errorOf = (field: string) => action.error?.fieldMessage(field)
  const isInForm = ['email', 'quota_bytes', 'display_name'].some((field) => errorOf(field) !== undefined)
  const foot = <FormFoot verb={words.add} action={action} isOff={names.length === 0} onClose={onClose} />
  return (
    <Dialog
      title={words.addTitle}
      foot={foot}
      error={isInForm ? null : action.error}
      onClose={onClose}
      onSubmit={() => void action.run()}
    >
      {all.data?.items.length === 0 && <ToneLine tone="warn">{words.noDomains}</ToneLine>}
      <UseField use={form.use} onUse={(use) => set({ use })} />
      {all.data?.next != null && (
        <TextField
          label={words.findDomain}
          hint={found.data !== undefined && names.length === 0 ? words.noDomainFound : words.findDomainHint}
          value={form.part}
          onValue={(part) => set({ part })}
        />
      )}
      <AddressFields form={form} domain={domain} names={names} set={set} error={errorOf('email')} />
      <DetailFields form={form} set={set} errorOf={errorOf} />
    </Dialog>
  )
}

/** Verified domains with a part in their names, as many as a list to choose from can hold. */
function useDomains(part: string) {
  const team = useTeam()
  const query = { limit: DOMAINS_SHOWN, verification_status: 'verified' as const, ...(part === '' ? {} : { q: part }) }
  return useQuery([team.id, 'domains', query], () => takeList(team.api.GET('/domains', { params: { query } })))
}

interface DetailFieldsProps {
  form: MailboxForm
  set: (change: Partial<MailboxForm>) => void
  errorOf: (field: string) => string | undefined
}

function DetailFields({ form, set, errorOf }: DetailFieldsProps) {
  return (
    <>
      <TextField
        label={words.name}
        hint={words.nameHint}
        value={form.name}
        onValue={(name) => set({ name })}
        error={errorOf('display_name')}
      />
      <TextField
        label={words.quota}
        hint={words.quotaHint}
        type="number"
        min={0}
        value={form.quota}
        onValue={(quota) => set({ quota })}
        error={errorOf('quota_bytes')}
      />
    </>
  )
}

/** Whose mailbox it is. Only those who invite people make one for a person. */
function UseField({ use, onUse }: { use: MailboxUse; onUse: (use: MailboxUse) => void }) {
  const team = useTeam()
  const uses = USES.filter((one) => one !== 'person' || team.may('team.manage'))
  return (
    <fieldset class="stack">
      <legend class="strong">{words.use}</legend>
      {uses.map((one) => (
        <Check
          key={one}
          group="use"
          label={words.uses[one]}
          note={words.useNotes[one]}
          isOn={use === one}
          onChange={() => onUse(one)}
        />
      ))}
    </fieldset>
  )
}

interface AddressFieldsProps {
  form: MailboxForm
  domain: string
  names: readonly string[]
  set: (change: Partial<MailboxForm>) => void
  error: string | undefined
}

function AddressFields({ form, domain, names, set, error }: AddressFieldsProps) {
  const choices = names.map((name) => ({ value: name, label: `@${name}` }))
  return (
    <div class="address-field">
      <TextField
        label={words.localPart}
        value={form.local}
        onValue={(local) => set({ local })}
        error={error}
        hasFocus
      />
      <SelectField label={words.domain} value={domain} choices={choices} onValue={(value) => set({ domain: value })} />
    </div>
  )
}
