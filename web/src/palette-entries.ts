// What the palette offers of applications that are not loaded yet: the pages of the person and those of the operator.

import { self } from './api/session.ts'
import type { PaletteEntry } from './frame/palette.tsx'
import { personLinks } from './me/links.ts'
import { OPERATOR_PAGES, operatorHref } from './operator/pages.ts'
import { operator } from './words/en/operator.ts'
import { shell } from './words/en/shell.ts'

export function paletteEntries(): PaletteEntry[] {
  const person = personLinks().map(({ href, label, icon }) => ({ href, label, icon, note: shell.account }))
  if (self.value?.is_operator !== true) return person
  const pages = OPERATOR_PAGES.map(({ name, icon }) => ({
    ...{ href: operatorHref(name), label: operator.pages[name], icon, note: shell.operator },
  }))
  return [...person, ...pages]
}
