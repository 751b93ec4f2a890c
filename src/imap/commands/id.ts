// ID (RFC 2971): what the program says of itself, for the list of sign-ins; and what this server is.

import { PROGRAM_VERSION } from '../../config/version.ts'
import { type Cursor, ImapSyntaxError } from '../grammar/cursor.ts'
import { ID_FIELD_BYTES, ID_PAIRS, ID_VALUE_BYTES } from '../grammar/limits.ts'
import { readNstring, readString } from '../grammar/strings.ts'
import { formatString } from '../grammar/writer.ts'
import { command, type ImapSession } from '../session/session.ts'

function readPairs(cursor: Cursor): Map<string, string> {
  cursor.space()
  const pairs = new Map<string, string>()
  if (cursor.skipWord('NIL')) return pairs
  cursor.list(
    () => {
      const name = readString(cursor)
      cursor.space()
      const value = readNstring(cursor)
      if (name.length > ID_FIELD_BYTES || (value?.length ?? 0) > ID_VALUE_BYTES)
        throw new ImapSyntaxError('The value is too long.')
      if (value !== null) pairs.set(name.toString('latin1').toLowerCase(), value.toString())
    },
    { most: ID_PAIRS, least: 0 },
  )
  return pairs
}

function serverPairs(session: ImapSession): string[] {
  if (session.user === null) return ['name', 'Mailstead']
  const { config } = session.app
  return ['name', 'Mailstead', 'version', PROGRAM_VERSION, 'support-url', `${config.APP_ORIGIN}/docs`]
}

export const id = command({
  name: 'ID',
  in: 'any',
  read: readPairs,
  run(pairs, session) {
    const client = [pairs.get('name'), pairs.get('version')].filter((text) => text !== undefined).join(' ')
    if (client !== '') session.named(client)
    session.say(
      `* ID (${serverPairs(session)
        .map((text) => formatString(text))
        .join(' ')})\r\n`,
    )
    return undefined
  },
})
