// What is known of the person, and their teams.

import { useState } from 'preact/hooks'
import { updateSelf } from '../api/person.ts'
import { self } from '../api/session.ts'
import { setLocale } from '../base/dates.ts'
import { useAction } from '../live/query.ts'
import { Button } from '../parts/button.tsx'
import { SelectField, TextField } from '../parts/field.tsx'
import { Badge } from '../parts/marks.tsx'
import { Page, Section } from '../parts/page.tsx'
import { ErrorCard } from '../parts/quiet.tsx'
import { say } from '../parts/toast.tsx'
import { me as words } from '../words/en/me.ts'
import { people } from '../words/en/people.ts'

export function Profile() {
  const person = self.value!
  const [name, setName] = useState(person.display_name ?? '')
  const [locale, setChosen] = useState(person.locale ?? '')
  const save = useAction(async () => {
    self.value = await updateSelf({ display_name: name.trim() || null, locale: locale || null })
    setLocale(locale)
    say(words.saved)
  })
  const locales = Object.entries(words.locales).map(([value, label]) => ({ value, label }))
  return (
    <Page title={words.pages.profile} note={person.email}>
      <form
        class="stack loose narrow-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void save.run()
        }}
      >
        <TextField label={words.name} hint={words.nameHint} autoComplete="name" value={name} onValue={setName} />
        <SelectField label={words.locale} value={locale} choices={locales} onValue={setChosen} />
        {save.error !== null && <ErrorCard error={save.error} />}
        <div class="row">
          <Button kind="primary" submits isBusy={save.isBusy}>
            {words.save}
          </Button>
        </div>
      </form>
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
