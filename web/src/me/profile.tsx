// What is known of the person, and their teams.

import { useState } from 'preact/hooks'
import { updateSelf } from '../api/person.ts'
import { self } from '../api/session.ts'
import type { OwnMailbox } from '../api/types.ts'
import { setLocale, setTimeZone } from '../base/dates.ts'
import { useAction } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { SelectField, TextField } from '../parts/field.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Form } from '../parts/form.tsx'
import { Badge } from '../parts/marks.tsx'
import { Page, Section } from '../parts/page.tsx'
import { ErrorCard } from '../parts/quiet.tsx'
import { say } from '../parts/toast.tsx'
import { mailboxes as mailboxWords } from '../words/en/mailboxes.ts'
import { me as words } from '../words/en/me.ts'
import { people } from '../words/en/people.ts'

/** The names that the browser knows, and the present one. */
function zoneChoices(present: string) {
  const known = Intl.supportedValuesOf('timeZone')
  const names = present === '' || known.includes(present) ? known : [present, ...known]
  return [
    { value: '', label: words.ofBrowser },
    ...names.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
  ]
}

export function Profile() {
  const person = self.value!
  const [name, setName] = useState(person.display_name ?? '')
  const [locale, setChosen] = useState(person.locale ?? '')
  const [zone, setZone] = useState(person.time_zone ?? '')
  const save = useAction(async () => {
    const change = { display_name: name.trim() || null, locale: locale || null, time_zone: zone || null }
    self.value = await updateSelf(change)
    setLocale(locale)
    setTimeZone(zone)
    say(words.saved)
  })
  const locales = Object.entries(words.locales).map(([value, label]) => ({ value, label }))
  return (
    <Page title={words.pages.profile} note={person.email} curl={[{ method: 'GET', path: '/self', base: '/me/v1' }]}>
      <Form class="stack loose narrow-form" onSubmit={() => void save.run()}>
        <TextField label={words.name} hint={words.nameHint} autoComplete="name" value={name} onValue={setName} />
        <SelectField label={words.locale} value={locale} choices={locales} onValue={setChosen} />
        <SelectField
          label={words.timeZone}
          hint={words.timeZoneHint}
          value={zone}
          choices={zoneChoices(zone)}
          onValue={setZone}
        />
        {save.error !== null && <ErrorCard error={save.error} />}
        <div class="row">
          <Button kind="primary" submits isBusy={save.isBusy}>
            {words.save}
          </Button>
        </div>
      </Form>
      {person.mailboxes.length > 0 && <OwnMailboxes mailboxes={person.mailboxes} />}
      <Section title={words.teams}>
        {person.teams.length === 0 ? (
          <p class="soft">{words.noTeams}</p>
        ) : (
          <ul class="stack">
            {person.teams.map(({ id, name: team, role }) => (
              <li key={id} class="row">
                <a href={`/console/${id}`}>{team}</a>
                <Badge>{people.shortRoles[role] ?? role}</Badge>
              </li>
            ))}
          </ul>
        )}
      </Section>
    </Page>
  )
}

/** The mailboxes that were granted to the person, with what waits in each to be read. */
function OwnMailboxes({ mailboxes }: { mailboxes: readonly OwnMailbox[] }) {
  return (
    <Section title={words.mailboxes}>
      <ul class="stack">
        {mailboxes.map(({ id, email, access, unread_threads: unread }) => (
          <li key={id} class="row wrap">
            <a href={`/me/mailboxes/${id}`}>
              <Foreign>{email}</Foreign>
            </a>
            <Badge>{mailboxWords.shortLevels[access]}</Badge>
            {unread !== null && <span class="soft meta">{words.unread(unread)}</span>}
          </li>
        ))}
      </ul>
    </Section>
  )
}
