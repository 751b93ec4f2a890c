// ENABLE (RFC 5161, RFC 9051 §6.3.1).

import type { Cursor } from '../grammar/cursor.ts'
import { formatEnabled, isEnableable } from '../session/capabilities.ts'
import { command } from '../session/session.ts'

function readNames(cursor: Cursor): string[] {
  const names: string[] = []
  do {
    cursor.space()
    names.push(cursor.word())
  } while (cursor.isAt(' '))
  return names
}

export const enable = command({
  name: 'ENABLE',
  in: 'authenticated',
  read: readNames,
  run(names, session) {
    const fresh = names.filter(isEnableable).filter((name) => !session.enabled.has(name))
    for (const name of fresh) session.enabled.add(name)
    // RFC 7162 §3.2.3: QRESYNC enables CONDSTORE.
    if (fresh.includes('QRESYNC')) session.enabled.add('CONDSTORE')
    session.say(`* ENABLED${fresh.map((name) => ` ${formatEnabled(name)}`).join('')}\r\n`)
    return undefined
  },
})
