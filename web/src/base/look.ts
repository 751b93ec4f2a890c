// What a person chose of the look, the clock and the keys: kept in this browser; theme and density are set before the first paint by look/theme.js.

import { signal } from '@preact/signals'
import { type Clock, setClock } from './dates.ts'

export type Theme = 'system' | 'light' | 'dark'
export type Density = 'comfortable' | 'compact'

const KEY = 'mailstead.look'

interface Look {
  theme: Theme
  density: Density
  clock: Clock
  /** Whether keys of one character do something (WCAG 2.1.4). */
  hasKeys: boolean
}

function read(): Look {
  const fallback: Look = { theme: 'system', density: 'comfortable', clock: '24', hasKeys: true }
  try {
    return { ...fallback, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Look>) }
  } catch {
    return fallback
  }
}

export const look = signal<Look>(read())
setClock(look.value.clock)

/** Applies and keeps a choice. */
export function chooseLook(change: Partial<Look>): void {
  look.value = { ...look.value, ...change }
  const { theme, density, clock } = look.value
  setClock(clock)
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset.theme
  else dataset.theme = theme
  if (density === 'comfortable') delete dataset.density
  else dataset.density = density
  try {
    localStorage.setItem(KEY, JSON.stringify(look.value))
  } catch {
    // Storage is off: the choice holds until the page is left.
  }
}
