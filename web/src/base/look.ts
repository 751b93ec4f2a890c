// The choice of theme and density: kept in this browser, set before the first paint by look/theme.js.

import { signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'
export type Density = 'comfortable' | 'compact'

const KEY = 'mailstead.look'

interface Look {
  theme: Theme
  density: Density
}

function read(): Look {
  const fallback: Look = { theme: 'system', density: 'comfortable' }
  try {
    return { ...fallback, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Look>) }
  } catch {
    return fallback
  }
}

export const look = signal<Look>(read())

/** Applies and keeps a choice. */
export function chooseLook(change: Partial<Look>): void {
  look.value = { ...look.value, ...change }
  const { theme, density } = look.value
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
