// What the server announces (docs/design/mail-programs.md §2.1): a capability stands here only when its tests pass.

import { MESSAGE_BYTES } from '../grammar/limits.ts'

export interface SessionSecurity {
  /** Encrypted, here or by a proxy in front. */
  isSecure: boolean
  /** STARTTLS can be used. */
  canStartTls: boolean
}

const REVISIONS = ['IMAP4rev2', 'IMAP4rev1']
const COMPRESSION = 'COMPRESS=DEFLATE'

const AFTER_LOGIN = [
  ...REVISIONS,
  ...['LITERAL+', 'ID', 'ENABLE', 'NAMESPACE', 'IDLE', 'CHILDREN', 'UNSELECT', 'UIDPLUS', 'MOVE', 'MULTIAPPEND'],
  ...['CONDSTORE', 'QRESYNC', 'ESEARCH', 'SEARCHRES', 'WITHIN', 'LIST-EXTENDED', 'LIST-STATUS', 'STATUS=SIZE'],
  ...['SPECIAL-USE', 'BINARY', 'UTF8=ACCEPT', `APPENDLIMIT=${MESSAGE_BYTES}`, 'OBJECTID', 'SAVEDATE', 'PREVIEW'],
  ...['QUOTA', 'QUOTA=RES-STORAGE', 'REPLACE', COMPRESSION, 'SORT', 'SORT=DISPLAY', 'ESORT', 'PARTIAL'],
  ...['UIDONLY', 'INPROGRESS', 'THREAD=ORDEREDSUBJECT', 'THREAD=REFERENCES', 'SEARCH=FUZZY', 'METADATA'],
  ...['LIST-METADATA', 'NOTIFY', 'MULTISEARCH'],
]

/** Capabilities before login. @param mechanisms SASL mechanisms that can be used on this connection */
export function capabilitiesBeforeLogin(security: SessionSecurity, mechanisms: readonly string[]): string[] {
  const common = [...REVISIONS, 'SASL-IR', 'LITERAL-', 'ID', 'ENABLE']
  if (!security.isSecure) return [...common, ...(security.canStartTls ? ['STARTTLS'] : []), 'LOGINDISABLED']
  return [...common, ...mechanisms.map((mechanism) => `AUTH=${mechanism}`)]
}

/**
 * Capabilities after login.
 * @param isLocal the client is on this machine: compressing takes time of both and saves nothing (docs/design/mail-programs.md §7)
 */
export function capabilitiesAfterLogin(isLocal: boolean): readonly string[] {
  return isLocal ? AFTER_LOGIN.filter((name) => name !== COMPRESSION) : AFTER_LOGIN
}

/** What ENABLE accepts (RFC 5161). */
export type Enableable = 'IMAP4REV2' | 'UTF8=ACCEPT' | 'CONDSTORE' | 'QRESYNC' | 'UIDONLY'

const ENABLEABLE = new Map<string, string>([
  ['IMAP4REV2', 'IMAP4rev2'],
  ['UTF8=ACCEPT', 'UTF8=ACCEPT'],
  ['CONDSTORE', 'CONDSTORE'],
  ['QRESYNC', 'QRESYNC'],
  ['UIDONLY', 'UIDONLY'],
])

export function isEnableable(name: string): name is Enableable {
  return ENABLEABLE.has(name)
}

/** The spelling of the registry. */
export function formatEnabled(name: Enableable): string {
  return ENABLEABLE.get(name)!
}
