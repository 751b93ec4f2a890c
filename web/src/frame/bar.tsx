// The bar: the team, the search for everything, and the person.

import { listApprovals } from '../api/agents.ts'
import { listHeld } from '../api/held.ts'
import { self, signOut } from '../api/session.ts'
import { chooseLook, type Density, look, type Theme } from '../base/look.ts'
import { useQuery } from '../live/query.ts'
import { IconButton } from '../parts/button.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { Person } from '../parts/marks.tsx'
import { Menu, type MenuItem } from '../parts/menu.tsx'
import { common } from '../words/en/common.ts'
import { shell as words } from '../words/en/shell.ts'
import { isPaletteOpen } from './palette.tsx'

const REFRESH_MS = 60_000

interface BarProps {
  room: string
  teamId: string | null
  isMenuShown: boolean
  toggleMenu: () => void
}

export function Bar({ room, teamId, isMenuShown, toggleMenu }: BarProps) {
  return (
    <header class="console-bar">
      <div class="bar-start">
        <span class="side-toggle">
          <IconButton
            icon={isMenuShown ? 'x' : 'menu'}
            label={words.menu}
            isOpen={isMenuShown}
            controls="pages"
            onPress={toggleMenu}
          />
        </span>
        <a href="/console" aria-label={common.product} class="row">
          <Mark />
        </a>
        <TeamMenu teamId={teamId} room={room} />
        {teamId !== null && (
          <>
            <span class="bar-slash" aria-hidden="true">
              /
            </span>
            <span class="bar-room soft">{room}</span>
          </>
        )}
      </div>
      <button type="button" class="bar-search" onClick={() => (isPaletteOpen.value = true)}>
        <Icon name="search" />
        <span class="bar-search-word">{words.search}</span>
        <span class="key-hint" aria-hidden="true">
          {words.searchKey}
        </span>
      </button>
      <div class="bar-end">
        <AsksYou />
        <a class="icon-button bar-help" href="/docs" title={words.help} aria-label={words.help}>
          <Icon name="circle-question-mark" />
        </a>
        <PersonMenu />
      </div>
    </header>
  )
}

/** How much waits for the decision of the person; left out while nothing does. */
function AsksYou() {
  const waiting = useQuery(['approvals'], listApprovals, { every: REFRESH_MS, when: self.value !== null })
  const held = useQuery(['held'], listHeld, { every: REFRESH_MS, when: self.value !== null })
  const count = (waiting.data?.length ?? 0) + (held.data?.length ?? 0)
  if (count === 0) return null
  return (
    <a class="button quiet asks-you" href="/me/asks">
      <Icon name="stamp" />
      <span class="bar-word">{words.asksYou}</span>
      <span class="count">{count}</span>
    </a>
  )
}

function TeamMenu({ teamId, room }: { teamId: string | null; room: string }) {
  const teams = self.value?.teams ?? []
  const current = teams.find(({ id }) => id === teamId)
  const items: MenuItem[] = teams.map(({ id, name }) => ({
    label: name,
    href: `/console/${id}`,
    icon: id === teamId ? 'check' : 'users',
  }))
  if (self.value?.is_operator)
    items.push({ label: words.operator, href: '/operator', icon: 'server', head: words.groups.server })
  return (
    <Menu class="button quiet" label={`${words.switchTeam}: ${current?.name ?? room}`} items={items}>
      <span class="cut">{current?.name ?? room}</span>
      <Icon name="chevrons-up-down" size="small" />
    </Menu>
  )
}

function PersonMenu() {
  const person = self.value
  if (person === null) return null
  const { theme, density } = look.value
  const items: MenuItem[] = [
    { head: person.email, label: words.account, href: '/me', icon: 'user' },
    ...(person.mailboxes.length === 0 ? [] : [{ label: words.mail, href: '/mail/', icon: 'inbox' as const }]),
    ...Object.entries(words.themes).map(([value, label], index) => ({
      ...(index === 0 ? { head: words.theme } : {}),
      label,
      isChosen: theme === value,
      onPress: () => chooseLook({ theme: value as Theme }),
    })),
    ...Object.entries(words.densities).map(([value, label], index) => ({
      ...(index === 0 ? { head: words.density } : {}),
      label,
      isChosen: density === value,
      onPress: () => chooseLook({ density: value as Density }),
    })),
    { label: words.help, href: '/docs', icon: 'circle-question-mark' },
    { label: words.signOut, icon: 'log-out', onPress: () => void signOut() },
  ]
  return (
    <Menu class="icon-button" items={items}>
      <span class="hidden-word">{person.display_name ?? person.email}</span>
      <Person name={person.display_name ?? person.email} isSmall />
    </Menu>
  )
}
