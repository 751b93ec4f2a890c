// Whose mailbox is open, and what the person can do anywhere: other mailboxes, account, console, theme, density, signing out.

import { self, signOut } from '../../api/session.ts'
import { chooseLook, type Density, look, type Theme } from '../../base/look.ts'
import { Icon } from '../../parts/icon.tsx'
import { Person } from '../../parts/marks.tsx'
import { Menu, type MenuItem } from '../../parts/menu.tsx'
import { mail as words } from '../../words/en/mail.ts'
import { shell } from '../../words/en/shell.ts'
import { useMail } from '../mail-context.ts'

function choices<T extends string>(
  head: string,
  labels: Readonly<Record<T, string>>,
  chosen: T,
  choose: (value: T) => void,
): MenuItem[] {
  return (Object.keys(labels) as T[]).map((value, index) => ({
    ...(index === 0 ? { head } : {}),
    label: labels[value],
    isChosen: value === chosen,
    onPress: () => choose(value),
  }))
}

export function AccountMenu() {
  const { data } = useMail()
  const person = self.value
  const { email, display_name: name, id } = data.mailbox
  const { theme, density } = look.value
  const items: MenuItem[] = [
    ...(person?.mailboxes ?? []).map((mailbox, index) => ({
      ...(index === 0 ? { head: words.otherMailboxes } : {}),
      label: mailbox.email,
      href: `/mail/${encodeURIComponent(mailbox.email)}/inbox`,
      icon: mailbox.id === id ? ('check' as const) : ('mailbox' as const),
    })),
    { head: person?.email ?? '', label: words.settings, href: `/me/mailboxes/${id}`, icon: 'sliders-horizontal' },
    { label: shell.account, href: '/me', icon: 'user' },
    ...((person?.teams ?? []).some(({ permissions }) => permissions.length > 0)
      ? [{ label: shell.console, href: '/console', icon: 'layout-dashboard' as const }]
      : []),
    ...choices<Theme>(shell.theme, shell.themes, theme, (chosen) => chooseLook({ theme: chosen })),
    ...choices<Density>(shell.density, shell.densities, density, (chosen) => chooseLook({ density: chosen })),
    { label: shell.help, href: '/docs', icon: 'circle-question-mark' },
    { label: shell.signOut, icon: 'log-out', onPress: () => void signOut() },
  ]
  return (
    <Menu class="account-button" items={items}>
      <Person name={name ?? email} isSmall />
      <span class="account-names word">
        <span class="cut strong">{name ?? email.replace(/@.*$/, '')}</span>
        <span class="cut soft meta">{email}</span>
      </span>
      <span class="word">
        <Icon name="chevrons-up-down" size="small" />
      </span>
    </Menu>
  )
}
