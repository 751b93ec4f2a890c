// The frame of every page but those that stand alone: the bar, the sidebar with its groups, and the page beside them.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { isSignOutUnsure, self, signOut } from '../api/session.ts'
import { chooseLook, type Density, type Theme } from '../base/look.ts'
import { isOutdated } from '../live/state.ts'
import type { IconName } from '../look/icons.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { ToneLine } from '../parts/marks.tsx'
import { Toasts } from '../parts/toast.tsx'
import { common } from '../words/en/common.ts'
import { shell as words } from '../words/en/shell.ts'
import { Bar } from './bar.tsx'
import { useFrameKeys } from './keys.ts'
import { Palette, type PaletteEntry } from './palette.tsx'
import { Shortcuts, shortcutsShown } from './shortcuts.tsx'

export interface SideLink {
  href: string
  label: string
  icon: IconName
  /** A number or a sign at the end. */
  end?: ComponentChildren
}

export interface SideGroup {
  head: string | null
  links: readonly SideLink[]
}

interface FrameProps {
  groups: readonly SideGroup[]
  /** Which part of the product this is, in the bar. */
  room: string
  teamId: string | null
  /** The page of a record, by its id. */
  openId?: (id: string) => PaletteEntry | null
  /** Records by their names. */
  findRecords?: (text: string) => Promise<PaletteEntry[]>
  /** What can be made on the pages. */
  creates?: readonly PaletteEntry[]
  children: ComponentChildren
}

/** What the palette offers: the pages of the sidebar with what can be made on them, and what the person may do anywhere. */
function entriesOf(groups: readonly SideGroup[], creates: readonly PaletteEntry[]): PaletteEntry[] {
  const person = self.value
  const pages = groups.flatMap(({ head, links }) =>
    links.map(({ href, label, icon }) => ({ href, label, icon, note: head ?? '' })),
  )
  const others: PaletteEntry[] = [
    ...(person?.teams ?? []).map(({ id, name }) => ({
      href: `/console/${id}`,
      label: name,
      icon: 'users' as const,
      note: words.switchTeam,
    })),
    ...(person?.is_operator
      ? [{ href: '/operator', label: words.operator, icon: 'server' as const, note: words.groups.server }]
      : []),
    { href: '/me', label: words.account, icon: 'user', note: '' },
  ]
  return [...pages, ...creates, ...others, ...commands()]
}

/** What changes the pages themselves. */
function commands(): PaletteEntry[] {
  const themes = Object.entries(words.themes).map(([theme, label]) => ({
    ...{ label, note: words.theme, icon: 'sun' as const },
    run: () => chooseLook({ theme: theme as Theme }),
  }))
  const densities = Object.entries(words.densities).map(([density, label]) => ({
    ...{ label, note: words.density, icon: 'list' as const },
    run: () => chooseLook({ density: density as Density }),
  }))
  return [
    ...themes,
    ...densities,
    { label: words.shortcuts, note: '?', icon: 'info', run: () => (shortcutsShown.value = true) },
    { label: words.help, note: '', icon: 'circle-question-mark', href: '/docs' },
    { label: words.signOut, note: '', icon: 'log-out', run: () => void signOut() },
  ]
}

const findNothing = async () => []

export function Frame({
  groups,
  room,
  teamId,
  openId = () => null,
  findRecords = findNothing,
  creates = [],
  children,
}: FrameProps) {
  const { path } = useLocation()
  const [isMenuShown, setMenuShown] = useState(false)
  useEffect(() => setMenuShown(false), [path])
  useFrameKeys()
  return (
    <div class="console">
      <a class="skip" href="#page">
        {words.skip}
      </a>
      <Bar room={room} teamId={teamId} isMenuShown={isMenuShown} toggleMenu={() => setMenuShown(!isMenuShown)} />
      <nav id="pages" class={`console-side ${isMenuShown ? 'shown' : ''}`} aria-label={words.navigation}>
        {groups.map((group) => (
          <Group key={group.head ?? ''} group={group} path={path} />
        ))}
        <p class="side-foot">
          {location.host}
          <br />
          {common.product} {self.value?.version}
        </p>
      </nav>
      <main id="page" class="page" tabIndex={-1}>
        <SignOutUnsure />
        {isOutdated.value && (
          <ToneLine icon="refresh-cw">
            {words.outdated}{' '}
            <Button kind="link" onPress={() => location.reload()}>
              {words.reload}
            </Button>
          </ToneLine>
        )}
        {children}
      </main>
      <Toasts />
      <Palette entries={entriesOf(groups, creates)} openId={openId} findRecords={findRecords} />
      <Shortcuts />
    </div>
  )
}

/** Who leaves a machine of others has to know that they have not left. */
function SignOutUnsure() {
  if (!isSignOutUnsure.value) return null
  return (
    <div role="alert">
      <ToneLine tone="danger">
        {words.signOutUnsure}{' '}
        <Button kind="link" onPress={() => void signOut()}>
          {common.tryAgain}
        </Button>
      </ToneLine>
    </div>
  )
}

/** A page is current for everything below its address; the first one only for itself. */
function isCurrent(href: string, path: string): boolean {
  return path === href || (href.split('/').length > 3 && path.startsWith(`${href}/`))
}

function Group({ group, path }: { group: SideGroup; path: string }) {
  return (
    <div class="side-group">
      {group.head !== null && <p class="side-head">{group.head}</p>}
      <ul>
        {group.links.map(({ href, label, icon, end }) => (
          <li key={href}>
            <a class="side-link" href={href} title={label} aria-current={isCurrent(href, path) ? 'page' : undefined}>
              <Icon name={icon} />
              <span class="word">{label}</span>
              {end !== undefined && <span class="end">{end}</span>}
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}
