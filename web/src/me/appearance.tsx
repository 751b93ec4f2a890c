// How the pages look, how times are written, and whether single keys do something.

import type { Clock } from '../base/dates.ts'
import { chooseLook, type Density, look, type Theme } from '../base/look.ts'
import { shortcutsShown } from '../frame/shortcuts.tsx'
import { Button } from '../parts/button.tsx'
import { Check } from '../parts/field.tsx'
import { Page, Section } from '../parts/page.tsx'
import { me as words } from '../words/en/me.ts'
import { shell } from '../words/en/shell.ts'

interface ChoiceProps<T extends string> {
  title: string
  /** Of the values. */
  labels: Readonly<Record<T, string>>
  chosen: T
  choose: (value: T) => void
}

function Choice<T extends string>({ title, labels, chosen, choose }: ChoiceProps<T>) {
  return (
    <Section title={title}>
      <fieldset class="stack">
        {(Object.keys(labels) as T[]).map((value) => (
          <Check
            key={value}
            group={title}
            label={labels[value]}
            isOn={chosen === value}
            onChange={() => choose(value)}
          />
        ))}
      </fieldset>
    </Section>
  )
}

export function Appearance() {
  const { theme, density, clock, hasKeys } = look.value
  const keysButton = (
    <Button size="short" onPress={() => (shortcutsShown.value = true)}>
      {shell.shortcuts}
    </Button>
  )
  return (
    <Page
      title={words.pages.look}
      note={words.lookNote}
      curl={[{ method: 'GET', path: '/preferences', base: '/me/v1' }]}
    >
      <Choice
        title={shell.theme}
        labels={shell.themes}
        chosen={theme}
        choose={(value: Theme) => chooseLook({ theme: value })}
      />
      <Choice
        title={shell.density}
        labels={shell.densities}
        chosen={density}
        choose={(value: Density) => chooseLook({ density: value })}
      />
      <Choice
        title={words.clock}
        labels={words.clocks}
        chosen={clock}
        choose={(value: Clock) => chooseLook({ clock: value })}
      />
      <Section title={words.keys}>
        <Check
          label={words.keysOn}
          note={words.keysNote}
          isOn={hasKeys}
          onChange={(isOn) => chooseLook({ hasKeys: isOn })}
        />
        <div class="row">{keysButton}</div>
      </Section>
    </Page>
  )
}
