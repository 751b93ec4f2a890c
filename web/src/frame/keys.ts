// Keys that hold on every page with a frame: the palette, and the search of a list.

import { useEffect } from 'preact/hooks'
import { tinykeys } from 'tinykeys'
import { isPaletteOpen } from './palette.tsx'

/** Ctrl-K or Command-K opens the palette, `/` goes to the search of the list. */
export function useFrameKeys(): void {
  useEffect(
    () =>
      tinykeys(window, {
        '$mod+KeyK': (event) => {
          event.preventDefault()
          isPaletteOpen.value = !isPaletteOpen.value
        },
        '/': (event) => {
          const field = document.querySelector<HTMLInputElement>('[data-search]')
          const isTyping = (event.target as Element).closest('input, textarea, select, dialog') !== null
          if (field === null || isTyping) return
          event.preventDefault()
          field.focus()
        },
      }),
    [],
  )
}
