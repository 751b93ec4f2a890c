// Threads of real mailing lists, and the graph of their references.

import type { ParsedMessage } from '../../src/mime/message.ts'
import { fixtureBytes, fixtureNames } from './fixtures.ts'

/** The messages of an mbox: lines that begin with "From " start one (RFC 4155). */
export function messagesOf(path: string): Uint8Array[] {
  const bytes = fixtureBytes(path)
  if (!path.endsWith('.mbox')) return [bytes]
  return bytes
    .toString('latin1')
    .split(/^From .*\r?\n/m)
    .filter((text) => text.trim() !== '')
    .map((text) => Buffer.from(text, 'latin1'))
}

/** Real mailing lists: name and files of each. */
export const lists: [string, string[]][] = [
  ['jwz-messages', fixtureNames('threading/jwz-messages').map((name) => `threading/jwz-messages/${name}`)],
  ...fixtureNames('threading/ponymail', '.mbox').map((name): [string, string[]] => [
    name,
    [`threading/ponymail/${name}`],
  ]),
]

/** Connected components by any id: the largest possible threads of these messages. */
export function connected(mails: readonly ParsedMessage[]): number[] {
  const parent = new Map<string, string>()
  const root = (id: string): string => {
    let at = id
    while (parent.get(at) !== at) at = parent.get(at)!
    return at
  }
  const names = mails.map((mail, index) => {
    const ids = [mail.messageId ?? `none-${index}`, ...mail.inReplyTo, ...mail.references]
    for (const id of ids) if (!parent.has(id)) parent.set(id, id)
    for (const id of ids) parent.set(root(id), root(ids[0]!))
    return ids[0]!
  })
  const numbers = new Map<string, number>()
  return names.map((name) => {
    const at = root(name)
    if (!numbers.has(at)) numbers.set(at, numbers.size)
    return numbers.get(at)!
  })
}
