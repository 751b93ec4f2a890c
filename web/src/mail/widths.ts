// How wide the window is: three panes, two in turn, or a phone.

import { useEffect, useState } from 'preact/hooks'

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

export const useIsPhone = () => useMatches(PHONE)
export const useIsWide = () => useMatches(WIDE)
