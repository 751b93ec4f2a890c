// Theme and density follow the person: read from their preferences at the start, kept there when they choose.

import { effect } from '@preact/signals'
import { type Preferences, readPreferences, replacePreferences } from '../api/preferences.ts'
import { chooseLook, look } from '../base/look.ts'

const SAVE_MS = 600

/** What the server has; null before it answered. */
let kept: Preferences | null = null
let timer: ReturnType<typeof setTimeout> | undefined

/** `cosy` is a density of the mail pages; here it is the comfortable one. */
const densityOf = ({ density }: Preferences) => (density === 'compact' ? 'compact' : 'comfortable')

const isSame = (one: Preferences) =>
  (one.theme ?? 'system') === look.value.theme && densityOf(one) === look.value.density

/** Takes the choice of the person, and saves what they choose from now on. Without an answer, the choice of this browser holds. */
export async function followPreferences(): Promise<void> {
  const answer = await readPreferences().catch(() => null)
  if (answer === null) return
  kept = answer.value
  if (kept.theme !== undefined || kept.density !== undefined)
    chooseLook({ theme: kept.theme ?? 'system', density: densityOf(kept) })
  effect(() => {
    const { theme, density } = look.value
    clearTimeout(timer)
    if (kept !== null && !isSame(kept)) timer = setTimeout(() => void save({ theme, density }), SAVE_MS)
  })
}

/** Read before, because other pages keep other choices there. A choice that was not saved holds in this browser. */
async function save(choice: Pick<Preferences, 'theme' | 'density'>): Promise<void> {
  try {
    const { value, tag } = await readPreferences()
    kept = await replacePreferences({ ...value, ...choice }, tag)
  } catch {
    // Saved with the next choice.
  }
}
