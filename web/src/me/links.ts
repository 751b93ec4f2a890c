// The pages of the person, for their sidebar and for the palette.

import { self } from '../api/session.ts'
import type { SideLink } from '../frame/frame.tsx'
import { me as words } from '../words/en/me.ts'
import { ownMailbox } from '../words/en/own-mailbox.ts'

const mailboxLinks = (count: number): SideLink[] =>
  count === 0 ? [] : [{ href: '/me/mailboxes', label: ownMailbox.title(count), icon: 'mailbox' }]

export const personLinks = (): SideLink[] => [
  ...mailboxLinks(self.value?.mailboxes.length ?? 0),
  { href: '/me', label: words.pages.profile, icon: 'user' },
  { href: '/me/sign-in', label: words.pages.signIn, icon: 'fingerprint-pattern' },
  { href: '/me/sessions', label: words.pages.sessions, icon: 'monitor' },
  { href: '/me/asks', label: words.pages.asks, icon: 'stamp' },
  { href: '/me/appearance', label: words.pages.look, icon: 'sun' },
]
