// How wide the window is: three panes, two in turn, or a phone.

import { useEffect, useState } from 'preact/hooks'
import type { Theme } from '../base/look.ts'

/** List and reader stand side by side. */
const WIDE = '(min-width: 1100px)'
const PHONE = '(max-width: 699px)'

export const isWide = () => matchMedia(WIDE).matches

function useMatches(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const onChange = () => setMatches(media.matches)
    media.addEventListener('change', onChange)
    onChange()
    return () => media.removeEventListener('change', onChange)
  }, [query])
  return matches
}

const DARK = '(prefers-color-scheme: dark)'

/** Whether the pages are dark, by the choice of the person or of the device. */
export function useIsDark(theme: Theme): boolean {
  const isDeviceDark = useMatches(DARK)
  return theme === 'system' ? isDeviceDark : theme === 'dark'
}

export const useIsPhone = () => useMatches(PHONE)
export const useIsWide = () => useMatches(WIDE)
