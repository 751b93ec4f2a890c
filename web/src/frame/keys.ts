// Keys that hold on every page with a frame: the palette, the search of a list, the list of keys.

import { useEffect } from 'preact/hooks'
import { tinykeys } from 'tinykeys'
import { look } from '../base/look.ts'
import { isPaletteOpen } from './palette.tsx'
import { shortcutsShown } from './shortcuts.tsx'

/** Whether a key of one character is meant for a field or a dialog, or is turned off. */
const isTaken = (event: KeyboardEvent) =>
  !look.value.hasKeys || (event.target as Element).closest('input, textarea, select, dialog') !== null

/** A dialog has the keys for itself; the palette is closed by the key that opened it. */
const isDialogOpen = () => document.querySelector('dialog[open]:not(.palette)') !== null

function togglePalette(event: KeyboardEvent): void {
  event.preventDefault()
  if (!isDialogOpen()) isPaletteOpen.value = !isPaletteOpen.value
}

function goToSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('[data-search]')
  if (field === null || isTaken(event)) return
  event.preventDefault()
  field.focus()
}

function showShortcuts(event: KeyboardEvent): void {
  if (!isTaken(event)) shortcutsShown.value = true
}

/** Keys of one character look after fields themselves; Ctrl-K works in them too. */
const isIgnored = (event: KeyboardEvent) => event.repeat || event.isComposing

/** Ctrl-K or Command-K opens the palette, `/` goes to the search of the list, `?` lists the keys: on some keyboards with Shift. */
export function useFrameKeys(): void {
  useEffect(() => {
    const keys = {
      '$mod+KeyK': togglePalette,
      '/': goToSearch,
      'Shift+/': goToSearch,
      '?': showShortcuts,
      'Shift+?': showShortcuts,
    }
    return tinykeys(window, keys, { ignore: isIgnored })
  }, [])
}
