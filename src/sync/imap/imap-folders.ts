// The folders of an account: LIST, STATUS, SELECT with QRESYNC, CREATE, RENAME and DELETE.

import { joinRanges } from '../../base/number-ranges.ts'
import {
  type LastSelected,
  type ListedFolder,
  type OpenedFolder,
  type RemoteFlags,
  type RemoteFolderStatus,
  ServerError,
  type UidSpan,
} from '../model/server.ts'
import { type RemoteSession, SPANS_MAX } from './imap-session.ts'
import {
  atom,
  type CommandValue,
  codeOf,
  fetchedItems,
  flagsIn,
  type ImapResponse,
  listedIn,
  numberOf,
  quoted,
  type ResponseCode,
  type StatusRow,
  spansOf,
  statusIn,
  textOf,
  textsOf,
  uidOf,
} from './imap-values.ts'

/** Folders of one account. */
const FOLDERS_MAX = 5000
/** LIST responses that are read: some servers name a folder once for each namespace. */
const LISTED_MAX = 10_000
const KEYWORDS_MAX = 1000
/** Responses to SELECT: with QRESYNC one for each message that changed. */
const CHANGES_MAX = 1_000_000

export async function listFolders(session: RemoteSession): Promise<ListedFolder[]> {
  const { channel, facts } = session
  const listed = new Map<string, ListedFolder>()
  const statuses = new Map<string, StatusRow>()
  let count = 0
  const onList = (response: ImapResponse) => {
    if (++count > LISTED_MAX) return channel.violate(`lists more than ${LISTED_MAX} folders`)
    const folder = listedIn(response, session.decode, facts.hasLabels)
    if (folder !== null && (listed.has(folder.path) || listed.size < FOLDERS_MAX)) listed.set(folder.path, folder)
  }
  const onStatus = (response: ImapResponse) => {
    const row = statusIn(response, session.decode)
    if (row !== null && statuses.size < FOLDERS_MAX) statuses.set(row.path, row)
  }
  const all = [quoted(''), quoted('*')]
  if (session.has('LIST-EXTENDED')) {
    const options = [...(session.has('SPECIAL-USE') ? [atom('SPECIAL-USE')] : []), atom('SUBSCRIBED')]
    if (session.has('LIST-STATUS')) options.push(atom('STATUS'), statusItems(session))
    const handlers = { LIST: onList, STATUS: onStatus }
    await channel.run('LIST', [...all, atom('RETURN'), options], handlers, { most: 2 * LISTED_MAX })
  } else {
    await channel.run('LIST', all, { LIST: onList }, { most: LISTED_MAX })
    await markSubscribed(session, listed)
  }
  for (const [path, row] of statuses) {
    const folder = listed.get(path)
    if (folder !== undefined) Object.assign(folder, { status: row.status, objectId: row.objectId })
  }
  return [...listed.values()]
}

async function markSubscribed(session: RemoteSession, listed: Map<string, ListedFolder>): Promise<void> {
  const onLsub = (response: ImapResponse) => {
    const folder = listedIn(response, session.decode, session.facts.hasLabels)
    const known = folder === null ? undefined : listed.get(folder.path)
    if (known !== undefined) known.isSubscribed = true
  }
  await session.channel.run('LSUB', [quoted(''), quoted('*')], { LSUB: onLsub, LIST: onLsub })
}

function statusItems({ facts, quirks }: RemoteSession): CommandValue[] {
  const items = ['MESSAGES', 'UIDNEXT', 'UIDVALIDITY']
  if (facts.hasCondstore) items.push('HIGHESTMODSEQ')
  if (quirks.hasMailboxIds) items.push('MAILBOXID')
  return items.map(atom)
}

/** @throws ServerError refused when the server gives no numbers */
export async function statusOf(session: RemoteSession, path: string): Promise<RemoteFolderStatus> {
  let found: RemoteFolderStatus | null = null
  await session.channel.run('STATUS', [session.path(path), statusItems(session)], {
    STATUS: (response) => {
      found = statusIn(response, session.decode)?.status ?? found
    },
  })
  if (found === null) throw new ServerError('refused', `${session.channel.host} gives no state of the folder.`)
  return found
}

/** Collects what SELECT says. */
class SelectReader {
  exists = 0
  readonly numbers = new Map<string, number>()
  flags: string[] | null = null
  permanent: string[] | null = null
  hasModSeq = true
  vanished: UidSpan[] = []
  changed = new Map<number, RemoteFlags>()
  readonly #session: RemoteSession

  constructor(session: RemoteSession) {
    this.#session = session
  }

  readonly handlers = {
    EXISTS: (response: ImapResponse) => {
      this.exists = numberOf({ type: 'ATOM', value: response.command }) ?? 0
    },
    OK: (response: ImapResponse) => this.#code(codeOf(response)),
    FLAGS: (response: ImapResponse) => {
      this.flags = textsOf(response.attributes?.[0])
    },
    VANISHED: (response: ImapResponse) => {
      const spans = spansOf(textOf(response.attributes?.at(-1)), SPANS_MAX)
      if (spans === null || this.vanished.length > SPANS_MAX)
        this.#session.channel.violate('sent a VANISHED that cannot be read')
      else this.vanished.push(...spans)
    },
    FETCH: (response: ImapResponse) => {
      const fetched = fetchedItems(response)
      const flags = fetched === null ? null : flagsIn(fetched.uid, fetched.items, this.#session.decode)
      if (flags !== null) this.changed.set(flags.uid, flags)
    },
  }

  #code({ name, values }: ResponseCode): void {
    if (name === 'PERMANENTFLAGS') this.permanent = textsOf(values[0])
    else if (name === 'NOMODSEQ') this.hasModSeq = false
    else if (name === 'CLOSED') {
      // What came before is of the folder that was selected until now (RFC 7162 §3.2.11).
      this.vanished = []
      this.changed.clear()
    } else if (name !== null) {
      const number = numberOf(values[0])
      if (number !== null) this.numbers.set(name, number)
    }
  }
}

/** @throws ServerError refused when the folder cannot be selected, or has no UIDVALIDITY */
export async function selectFolder(
  session: RemoteSession,
  path: string,
  known: LastSelected | null,
): Promise<OpenedFolder> {
  const { channel, facts } = session
  const isQuick = facts.hasQresync && known !== null && known.modSeq !== null && known.modSeq > 0
  const parameters: CommandValue[] = isQuick
    ? [[atom('QRESYNC'), [atom(String(known.uidValidity)), atom(String(known.modSeq))]]]
    : facts.hasCondstore && !facts.hasQresync
      ? [[atom('CONDSTORE')]]
      : []
  session.selected = null
  const reader = new SelectReader(session)
  const { name } = await channel.run('SELECT', [session.path(path), ...parameters], reader.handlers, {
    most: CHANGES_MAX,
  })
  const uidValidity = uidOf({ type: 'ATOM', value: String(reader.numbers.get('UIDVALIDITY') ?? 0) })
  if (uidValidity === null) throw new ServerError('refused', `${channel.host} gives no UIDVALIDITY of the folder.`)
  const modSeq = facts.hasCondstore && reader.hasModSeq ? (reader.numbers.get('HIGHESTMODSEQ') ?? null) : null
  session.selected = { path, exists: reader.exists, hasModSeq: modSeq !== null && modSeq > 0, isChanged: false }
  const isDifference = isQuick && uidValidity === known.uidValidity && session.selected.hasModSeq
  return {
    uidValidity,
    uidNext: reader.numbers.get('UIDNEXT') ?? (await statusOf(session, path)).uidNext,
    modSeq: session.selected.hasModSeq ? modSeq : null,
    messages: reader.exists,
    keywords: keywordsOf(reader.permanent),
    isWritable: name !== 'READ-ONLY',
    difference: isDifference ? { vanished: joinRanges(reader.vanished), changed: [...reader.changed.values()] } : null,
  }
}

/** Without PERMANENTFLAGS every flag is kept (RFC 9051 §6.3.2). */
function keywordsOf(permanent: readonly string[] | null): string[] | null {
  if (permanent === null || permanent.includes('\\*')) return null
  return permanent.filter((flag) => !flag.startsWith('\\')).slice(0, KEYWORDS_MAX)
}

/** Creates and subscribes it; one that is there is not an error. @throws ServerError */
export async function createFolder(session: RemoteSession, path: string): Promise<void> {
  const { channel } = session
  try {
    await channel.run('CREATE', [session.path(path)])
  } catch (error) {
    if (!(await isThere(session, path, error))) throw error
  }
  await ignoreRefusal(channel.run('SUBSCRIBE', [session.path(path)]))
}

export async function renameFolder(session: RemoteSession, path: string, to: string): Promise<void> {
  const { channel } = session
  await leave(session, path)
  await channel.run('RENAME', [session.path(path), session.path(to)])
  await ignoreRefusal(channel.run('UNSUBSCRIBE', [session.path(path)]))
  await ignoreRefusal(channel.run('SUBSCRIBE', [session.path(to)]))
}

/** One that is gone is not an error. @throws ServerError */
export async function deleteFolder(session: RemoteSession, path: string): Promise<void> {
  const { channel } = session
  await leave(session, path)
  try {
    await channel.run('DELETE', [session.path(path)])
  } catch (error) {
    if (!(error instanceof ServerError) || error.effect !== 'refused' || (await isThere(session, path, error)))
      throw error
  }
  await ignoreRefusal(channel.run('UNSUBSCRIBE', [session.path(path)]))
}

/** Whether the folder is there although, or because, the server refused. */
async function isThere(session: RemoteSession, path: string, error: unknown): Promise<boolean> {
  return error instanceof ServerError && error.effect === 'refused' && isListed(session, path)
}

/** A name with a wildcard has others listed as well. */
export async function isListed(session: RemoteSession, path: string): Promise<boolean> {
  let isThere = false
  await session.channel.run('LIST', [quoted(''), session.path(path)], {
    LIST: (response) => {
      const listed = listedIn(response, session.decode, session.facts.hasLabels)
      isThere ||= listed?.path === path && listed.canSelect
    },
  })
  return isThere
}

/** A selected folder is not renamed or deleted: some servers then end the connection. */
async function leave(session: RemoteSession, path: string): Promise<void> {
  if (session.selected?.path !== path) return
  session.selected = null
  if (session.has('UNSELECT')) await session.channel.run('UNSELECT')
  else await session.channel.run('EXAMINE', [quoted('INBOX')])
}

async function ignoreRefusal(command: Promise<unknown>): Promise<void> {
  try {
    await command
  } catch (error) {
    if (!(error instanceof ServerError) || error.effect !== 'refused') throw error
  }
}
