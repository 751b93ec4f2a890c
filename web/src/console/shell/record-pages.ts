// Which page shows a record, by the prefix of its id.

import type { PaletteEntry } from '../../frame/palette.tsx'
import type { IconName } from '../../look/icons.ts'
import { shell as words } from '../../words/en/shell.ts'
import type { OpenTeam } from '../team.ts'

/** The part of the address before the id, or before `?open=` and the id where the record is a row that opens. */
const PAGES: Readonly<Record<string, { path: string; isRow?: boolean; icon: IconName }>> = {
  mdom: { path: 'domains', icon: 'globe' },
  mbx: { path: 'mailboxes', icon: 'mailbox' },
  dprov: { path: 'sending', icon: 'route' },
  dlog: { path: 'delivery', isRow: true, icon: 'send' },
  ilog: { path: 'inbound', isRow: true, icon: 'inbox' },
  whk: { path: 'webhooks', icon: 'webhook' },
  areg: { path: 'agents', icon: 'bot' },
  req: { path: 'requests', isRow: true, icon: 'braces' },
  key: { path: 'keys', isRow: true, icon: 'key-round' },
  usr: { path: 'people', isRow: true, icon: 'users' },
}

/** The entry that opens the record of an id; null for a text that is no id of a record with a page. */
export function pageOfId(id: string, team: OpenTeam): PaletteEntry | null {
  const [, prefix] = /^([a-z]+)_[a-z0-9]{8,}$/.exec(id) ?? []
  const page = prefix === undefined ? undefined : PAGES[prefix]
  if (page === undefined) return null
  const href = page.isRow ? `${team.href(page.path)}?open=${id}` : team.href(page.path, id)
  return { label: words.opens(id), note: '', href, icon: page.icon }
}
