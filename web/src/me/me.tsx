// The pages of the person: profile, ways to sign in, sessions, appearance.

import type { FunctionComponent } from 'preact'
import { useRoute } from 'preact-iso'
import { self } from '../api/session.ts'
import { Frame, type SideGroup } from '../frame/frame.tsx'
import { me as words } from '../words/en/me.ts'
import { Appearance } from './appearance.tsx'
import { Asks } from './asks.tsx'
import { personLinks } from './links.ts'
import { Mailboxes } from './mailboxes.tsx'
import { Profile } from './profile.tsx'
import { Sessions } from './sessions.tsx'
import { SignInWays } from './sign-in-ways.tsx'

const PAGES: Readonly<Record<string, FunctionComponent>> = {
  '': Profile,
  mailboxes: Mailboxes,
  'sign-in': SignInWays,
  sessions: Sessions,
  appearance: Appearance,
  asks: Asks,
}

function groups(): SideGroup[] {
  const teams = self.value?.teams ?? []
  return [
    {
      head: words.groups.you,
      links: personLinks(),
    },
    {
      head: words.groups.back,
      links: teams.map(({ id, name }) => ({ href: `/console/${id}`, label: name, icon: 'layout-dashboard' as const })),
    },
  ].filter(({ links }) => links.length > 0) as SideGroup[]
}

/** The page of the person that the address names. */
export function Me() {
  const { params } = useRoute()
  const Shown = params.id === undefined ? (PAGES[params.page ?? ''] ?? Profile) : Mailboxes
  return (
    <Frame groups={groups()} room={words.title} teamId={null}>
      <Shown />
    </Frame>
  )
}
