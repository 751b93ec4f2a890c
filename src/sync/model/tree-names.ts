// Names of folders at a server as names here, and back.

import type { FolderRole } from '../../store/rows/records.ts'
import type { ListedFolder } from './server.ts'

const NAME_MAX = 255
/** Stands for a slash in a name (U+2215), which separates names here. */
const SLASH = '∕'
const INBOX = 'inbox'

/** What folders are commonly called whose role a server does not name. */
const NAMES_OF_ROLES: Partial<Record<FolderRole, readonly string[]>> = {
  sent: ['sent', 'sent messages', 'sent items', 'sent mail'],
  drafts: ['drafts', 'draft'],
  junk: ['junk', 'spam', 'junk e-mail', 'junk mail', 'bulk mail'],
  trash: ['trash', 'deleted messages', 'deleted items'],
  archive: ['archive', 'archives'],
}

/** A folder as listed, with its here in the tree here. */
export interface PlannedFolder extends ListedFolder {
  /** Names from the top level down, as they are here. */
  names: string[]
  role: FolderRole | null
}

function isInbox(path: string): boolean {
  return path.toLowerCase() === INBOX
}

/** What all folders but the Inbox begin with (`INBOX.` on some servers); empty: nothing. */
export function prefixOf(listed: readonly ListedFolder[]): string {
  const others = listed.filter(({ path }) => !isInbox(path))
  const delimiter = listed.find((folder) => folder.delimiter !== null)?.delimiter
  if (delimiter == null || others.length === 0) return ''
  const isBelow = ({ path }: ListedFolder) => path.slice(0, INBOX.length + 1).toLowerCase() === INBOX + delimiter
  return others.every(isBelow) ? others[0]!.path.slice(0, INBOX.length + 1) : ''
}

/** Listed folders with names and roles as here, parents first. Each role once. */
export function nameFolders(listed: readonly ListedFolder[], prefix: string): PlannedFolder[] {
  const sorted = [...listed].sort((a, b) => (a.path < b.path ? -1 : 1))
  const taken = new Set(sorted.flatMap(({ role }) => role ?? []))
  const seen = new Set<FolderRole>()
  return sorted
    .map((folder): PlannedFolder => {
      const below = !isInbox(folder.path) && prefix !== '' ? folder.path.slice(prefix.length) : folder.path
      const names = (folder.delimiter === null ? [below] : below.split(folder.delimiter)).map(nameHere)
      const guessed = names.length === 1 && !isInbox(folder.path) ? roleByName(names[0]!, taken) : null
      const role = isInbox(folder.path) ? 'inbox' : folder.role === 'inbox' ? null : (folder.role ?? guessed)
      const isFirst = role !== null && folder.canSelect && !seen.has(role)
      if (isFirst) seen.add(role)
      return { ...folder, names, role: isFirst ? role : null }
    })
    .sort((a, b) => a.names.length - b.names.length)
}

function roleByName(name: string, taken: ReadonlySet<FolderRole>): FolderRole | null {
  for (const [role, names] of Object.entries(NAMES_OF_ROLES) as [FolderRole, readonly string[]][]) {
    if (!taken.has(role) && names.includes(name.toLowerCase())) return role
  }
  return null
}

/** A name that folders here may have. */
function nameHere(name: string): string {
  const clean = name
    .normalize('NFC')
    .toWellFormed()
    .replaceAll('/', SLASH)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '�')
    .slice(0, NAME_MAX)
    .toWellFormed()
  return clean === '' || /^\.+$/.test(clean) ? `_${clean}` : clean
}

/** The path at the server of a folder here. @returns null when a name cannot be written there */
export function pathThere(names: readonly string[], delimiter: string | null, parentPath: string): string | null {
  const written = names.map((name) => name.replaceAll(SLASH, delimiter === '/' ? SLASH : '/'))
  if (delimiter === null) return written.length === 1 && parentPath === '' ? written[0]! : null
  if (written.some((name) => name.includes(delimiter))) return null
  return parentPath + written.join(delimiter)
}
