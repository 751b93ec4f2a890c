// The out-of-office answer of a mailbox, for its owner and its team.

import type { VacationResponse } from '../api/types.ts'
import { fieldDay, startOfFieldDay } from '../base/dates.ts'
import type { Tagged } from '../live/change.ts'
import { useQuery } from '../live/query.ts'
import { useRecordForm, useRecordSave } from '../live/record-form.ts'
import { Button } from '../parts/button.tsx'
import { Check, TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Section } from '../parts/page.tsx'
import { ErrorCard, SaveTrouble, Skeleton } from '../parts/quiet.tsx'
import { say } from '../parts/toast.tsx'
import { ownMailbox as words } from '../words/en/own-mailbox.ts'
import type { MailboxRequests } from './mailbox-requests.ts'

/** From midnight to a moment of the next day, also where a day is an hour longer or shorter. */
const NEXT_DAY_MS = 36 * 3_600_000

/** What the form shows: the last day is the one before the answers end. */
const fieldsOf = ({ is_enabled: isOn, from_date: from, to_date: to, subject, text_body: text }: VacationResponse) => ({
  isOn,
  from: from === null ? '' : fieldDay(Date.parse(from)),
  to: to === null ? '' : fieldDay(Date.parse(to) - 1),
  subject: subject ?? '',
  text: text ?? '',
})

type Fields = ReturnType<typeof fieldsOf>

const isoOrNull = (time: number) => (Number.isNaN(time) ? null : new Date(time).toISOString())
const beginOf = (day: string) => isoOrNull(startOfFieldDay(day))
const endOf = (day: string) => {
  const next = startOfFieldDay(day) + NEXT_DAY_MS
  return Number.isNaN(next) ? null : beginOf(fieldDay(next))
}

/** The whole response; what the form does not show stays as long as the text does. */
function bodyOf(now: VacationResponse, { isOn, from, to, subject, text }: Fields, changed: Partial<Fields>) {
  return {
    is_enabled: isOn,
    from_date: changed.from === undefined ? now.from_date : beginOf(from),
    to_date: changed.to === undefined ? now.to_date : endOf(to),
    subject: subject.trim() || null,
    text_body: text.trim() === '' ? null : text,
    html_body: changed.text === undefined ? now.html_body : null,
  }
}

export function Away({ mailbox }: { mailbox: MailboxRequests }) {
  const query = useQuery([mailbox.actor, 'vacation', mailbox.id], mailbox.readVacation)
  if (query.failure !== null) return <ErrorCard error={query.failure} onRetry={query.refetch} />
  if (query.data === undefined) return <Skeleton rows={4} />
  return <AwayForm mailbox={mailbox} seen={query.data} />
}

function AwayForm({ mailbox, seen }: { mailbox: MailboxRequests; seen: Tagged<VacationResponse> }) {
  const form = useRecordForm(fieldsOf(seen.value))
  const { fields, changed } = form
  const isBackwards = fields.from !== '' && fields.to !== '' && fields.to < fields.from
  const save = useRecordSave(form, {
    ...{ fieldsOf, seen, key: [mailbox.actor, 'vacation', mailbox.id] as const },
    read: mailbox.readVacation,
    send: (tag) => mailbox.replaceVacation(bodyOf(seen.value, fields, changed), tag),
    onSaved: () => say(words.awaySaved),
  })
  return (
    <Section title={words.away} note={words.awayNote}>
      <Form class="stack loose narrow-form" onSubmit={() => void save.run()}>
        <Check label={words.answers} isOn={fields.isOn} onChange={(isOn) => form.set({ isOn })} />
        <TextField
          label={words.from}
          type="date"
          hint={words.fromHint}
          value={fields.from}
          onValue={(from) => form.set({ from })}
        />
        <TextField
          label={words.to}
          type="date"
          hint={words.toHint}
          value={fields.to}
          onValue={(to) => form.set({ to })}
          error={isBackwards ? words.wrongDays : undefined}
          isOwnError
        />
        <TextField
          label={words.subject}
          hint={words.subjectHint}
          value={fields.subject}
          onValue={(subject) => form.set({ subject })}
          error={save.error?.fieldMessage('subject')}
        />
        <TextField
          label={words.text}
          lines={6}
          value={fields.text}
          onValue={(text) => form.set({ text })}
          error={save.error?.fieldMessage('text_body')}
        />
        <SaveTrouble isOvertaken={form.isOvertaken} error={save.error} />
        <div class="row">
          <Button
            kind="primary"
            submits
            isBusy={save.isBusy}
            isOff={!form.isChanged || isBackwards || !mailbox.mayManage}
          >
            {words.saveAway}
          </Button>
        </div>
      </Form>
    </Section>
  )
}
