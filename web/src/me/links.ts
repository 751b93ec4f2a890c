// The pages of the person, for their sidebar and for the palette.

import type { SideLink } from '../frame/frame.tsx'
import { me as words } from '../words/en/me.ts'

export const personLinks = (): SideLink[] => [
  { href: '/me', label: words.pages.profile, icon: 'user' },
  { href: '/me/sign-in', label: words.pages.signIn, icon: 'fingerprint-pattern' },
  { href: '/me/sessions', label: words.pages.sessions, icon: 'monitor' },
  { href: '/me/asks', label: words.pages.asks, icon: 'stamp' },
  { href: '/me/appearance', label: words.pages.look, icon: 'sun' },
]
