// Theme and density of this browser.

import { chooseLook, type Density, look, type Theme } from '../base/look.ts'
import { Check } from '../parts/field.tsx'
import { Page, Section } from '../parts/page.tsx'
import { me as words } from '../words/en/me.ts'
import { shell } from '../words/en/shell.ts'

export function Appearance() {
  const { theme, density } = look.value
  return (
    <Page title={words.pages.look} note={words.lookNote}>
      <Section title={shell.theme}>
        <fieldset class="stack">
          {(Object.keys(shell.themes) as Theme[]).map((name) => (
            <Check
              key={name}
              group="theme"
              label={shell.themes[name]}
              isOn={theme === name}
              onChange={() => chooseLook({ theme: name })}
            />
          ))}
        </fieldset>
      </Section>
      <Section title={shell.density}>
        <fieldset class="stack">
          {(Object.keys(shell.densities) as Density[]).map((name) => (
            <Check
              key={name}
              group="density"
              label={shell.densities[name]}
              isOn={density === name}
              onChange={() => chooseLook({ density: name })}
            />
          ))}
        </fieldset>
      </Section>
    </Page>
  )
}
