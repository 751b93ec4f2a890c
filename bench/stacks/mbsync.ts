// mbsync of Debian, which synchronises a Maildir with an IMAP server.

import { existsSync } from 'node:fs'

export const MBSYNC = '/usr/bin/mbsync'

/** @returns whether it is installed; says what is left out otherwise */
export function hasMbsync(): boolean {
  const isThere = existsSync(MBSYNC)
  if (!isThere) console.log('  mbsync: left out, install isync')
  return isThere
}
