// Conversations of generated and real mailing lists, and the graph of their references.

import type { ParsedMessage } from '../../src/mime/message.ts'
import { parseMessage } from '../../src/mime/parse.ts'
import { fixtureBytes, fixtureNames, fixtures } from './fixtures.ts'
import { mailOf, person } from './mailbox.ts'
import { Random } from './random.ts'

/** The messages of an mbox: lines that begin with "From " start one (RFC 4155). */
function messagesOf(path: string): Uint8Array[] {
  const bytes = fixtureBytes(path)
  if (!path.endsWith('.mbox')) return [bytes]
  return bytes
    .toString('latin1')
    .split(/^From .*\r?\n/m)
    .filter((text) => text.trim() !== '')
    .map((text) => Buffer.from(text, 'latin1'))
}

/** Generated conversations: each message replies to another one, and refers to some of its ancestors, or only to the one it replies to. */
function generated(): ParsedMessage[] {
  const random = new Random(5)
  return Array.from({ length: 8 }, (_, topic) => {
    const lines: string[][] = []
    return Array.from({ length: 12 }, (_, at) => {
      const line = at === 0 ? [] : random.pick(lines)
      const id = `${topic}.${at}@made.test`
      lines.push([...line, id])
      const references = random.chance(0.3) ? [] : random.some(line, 0.6)
      const from = [person(`p${topic}.${at}@made.test`)]
      return mailOf({
        messageId: id,
        inReplyTo: line.slice(-1),
        references,
        from,
        subject: 'Re: it',
        sentAt: at * 1000,
      })
    })
  }).flat()
}

const read = (files: string[]) => () => files.flatMap(messagesOf).map((bytes) => parseMessage(bytes))
const realLists: [string, () => ParsedMessage[]][] = [
  ['jwz-messages', read(fixtureNames('threading/jwz-messages').map((name) => `threading/jwz-messages/${name}`))],
  ...fixtureNames('threading/ponymail', '.mbox').map((name): [string, () => ParsedMessage[]] => [
    name,
    read([`threading/ponymail/${name}`]),
  ]),
]

/** Mailing lists by name: a generated one, and real ones where the fixtures are. */
export const lists: [string, () => ParsedMessage[]][] = [
  ['generated', generated],
  ...(fixtures('threading') === null ? [] : realLists),
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
