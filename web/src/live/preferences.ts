// Theme, density, clock and keys follow the person: read from their preferences at the start, kept there when they choose.

import { effect, signal } from '@preact/signals'
import { type Preferences, readPreferences, replacePreferences } from '../api/preferences.ts'
import { self } from '../api/session.ts'
import { chooseLook, type Density, look } from '../base/look.ts'

const SAVE_MS = 600
/** Names the person whose choice is not saved yet: the page was left before. */
const UNSAVED = 'mailstead.look.unsaved'

/** What the server has; null before it answered. */
export const preferences = signal<Preferences | null>(null)
let timer: ReturnType<typeof setTimeout> | undefined

/** `cosy` is a density of the mail pages; here it is the comfortable one. */
const densityOf = ({ density }: Preferences): Density => (density === 'compact' ? 'compact' : 'comfortable')

const chosenIn = (one: Preferences) => ({
  theme: one.theme ?? ('system' as const),
  density: densityOf(one),
  clock: one.clock ?? ('24' as const),
  hasKeys: one.keys?.enabled ?? true,
})

const isSame = (one: Preferences) => JSON.stringify(chosenIn(one)) === JSON.stringify(chosenIn(asPreferences()))

/** What is chosen here, as the server keeps it. */
const asPreferences = (): Preferences => {
  const { theme, density, clock, hasKeys } = look.value
  return { theme, density, clock, keys: { map: preferences.peek()?.keys?.map ?? {}, enabled: hasKeys } }
}

function markUnsaved(isUnsaved: boolean): void {
  try {
    if (isUnsaved) localStorage.setItem(UNSAVED, self.value?.email ?? '')
    else localStorage.removeItem(UNSAVED)
  } catch {
    // Storage is off: the choice holds until the page is left.
  }
}

function isUnsaved(): boolean {
  try {
    return localStorage.getItem(UNSAVED) === self.value?.email
  } catch {
    return false
  }
}

/** Takes the choice of the person, and saves what they choose from now on. Without an answer, the choice of this browser holds. */
export async function followPreferences(): Promise<void> {
  const answer = await readPreferences().catch(() => null)
  if (answer === null) return
  preferences.value = answer.value
  const { theme, density, clock, keys } = answer.value
  const isAnyKept = [theme, density, clock, keys].some((one) => one !== undefined)
  if (isAnyKept && !isUnsaved()) chooseLook(chosenIn(answer.value))
  effect(() => {
    const choice = asPreferences()
    clearTimeout(timer)
    const kept = preferences.peek()
    if (kept === null || isSame(kept)) return
    markUnsaved(true)
    timer = setTimeout(() => void save(choice), SAVE_MS)
  })
}

/** Read before, because other pages keep other choices there. A choice that was not saved holds in this browser. */
async function save(choice: Preferences): Promise<void> {
  try {
    const { value, tag } = await readPreferences()
    preferences.value = await replacePreferences({ ...value, ...choice }, tag)
    markUnsaved(false)
  } catch {
    // Saved with the next choice.
  }
}
