// Annotations as mail programs see them (RFC 5464): those of the mailbox and of its folders, and what they are computed from.

import type { AnnotationValues } from '../../store/rows/annotations.ts'
import { formatName } from '../grammar/names.ts'
import { formatAstring, formatNstring, type OutputPart } from '../grammar/writer.ts'
import type { ImapSession } from '../session/session.ts'
import { specialUseOf } from '../views/special-use.ts'
import type { NamedFolder } from './folder-tree.ts'

/** The use of a folder (RFC 6154 §4); computed. */
export const SPECIAL_USE_ENTRY = '/private/specialuse'

/** All entries in ascending order. @param named null for the server: the annotations of the mailbox itself */
export function annotationsOf({ app, signedIn }: ImapSession, named: NamedFolder | null): AnnotationValues {
  const stored = app.store.programs.annotations.list(signedIn.account, named?.folder.n ?? null)
  const use = named === null ? null : specialUseOf(named.folder.role)
  return use === null ? stored : new Map([...stored, [SPECIAL_USE_ENTRY, Buffer.from(use)]])
}

/** `* METADATA` with values; nothing without entries. @param entries pairs of name and value */
export function sayMetadata(
  session: ImapSession,
  path: string,
  entries: readonly (readonly [entry: string, value: Uint8Array | null])[],
): void {
  if (entries.length === 0) return
  const parts = entries.flatMap(([entry, value], index): OutputPart[] => [
    `${index === 0 ? '' : ' '}${formatAstring(entry)} `,
    formatValue(value),
  ])
  const name = path === '' ? '""' : formatName(path, session.utf8)
  session.say('* METADATA ', name, ' (', ...parts, ')\r\n')
}

/** `* METADATA` without values: the entries have changed (RFC 5464 §4.4.2). @param path empty for the server */
export function sayChangedEntries(session: ImapSession, path: string, entries: Iterable<string>): void {
  const parts = [...entries].flatMap((entry): OutputPart[] => [' ', formatAstring(entry)])
  session.say('* METADATA ', path === '' ? '""' : formatName(path, session.utf8), ...parts, '\r\n')
}

/** `value`: literals hold no NUL unless they are literal8. */
function formatValue(value: Uint8Array | null): OutputPart {
  if (value === null || !value.includes(0)) return formatNstring(value)
  return Buffer.concat([Buffer.from(`~{${value.length}}\r\n`), value])
}
