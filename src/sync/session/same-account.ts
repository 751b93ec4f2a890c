// After a change of server or user name: whether it is still the account that the base describes. UIDs mean nothing at another one.

import type { RemoteFolder } from '../ledger/remote-folders.ts'
import { hexOf, messageKey } from '../model/message-key.ts'
import type { RemoteAccount } from '../model/records.ts'
import { type AccountServer, isRefusal, ServerError } from '../model/server.ts'
import { highest } from '../model/uid-spans.ts'
import { takeMoved } from './moved-account.ts'
import type { RoundDeps, SyncSession } from './sync-session.ts'

/** Folders that are compared: the Inbox, and those with the most messages. */
const FOLDERS_COMPARED = 3
/** The newest known messages of each, and how many of those that are still there must be the same ones. */
const SAMPLE = 200
const SAME_SHARE = 0.8

type Deps = Pick<RoundDeps, 'folders' | 'messages'>

/**
 * Refuses an account whose known messages are neither under their UIDs nor, as after a move to another server, there under others: then its
 * folders are read again. Else nothing is changed, neither here nor there.
 * @throws ServerError failed
 */
export async function requireSameAccount(session: SyncSession): Promise<void> {
  const { deps, server, account } = session
  const compared: RemoteFolder[] = []
  for (const folder of candidates(deps, account)) {
    if (compared.length < FOLDERS_COMPARED && (await deps.messages.spans(folder.n)).length > 0) compared.push(folder)
  }
  const isRead = !deps.folders
    .list(account.n)
    .some(({ n, doubt }) => doubt !== null && deps.messages.gone(n, 1).length > 0)
  if (compared.length === 0 && isRead) return
  if (await areNumbersSame(deps, server, compared)) return
  if (!(await takeMoved(session, compared))) throw otherAccount()
}

async function areNumbersSame(deps: Deps, server: AccountServer, compared: readonly RemoteFolder[]): Promise<boolean> {
  let found = 0
  for (const folder of compared) {
    const result = await compare(deps, server, folder)
    if (result === null || result.same < result.asked * SAME_SHARE) return false
    found += result.same
  }
  return found > 0
}

function otherAccount(): ServerError {
  const reason =
    'The server does not have the newest messages of this account: it is another account, or not all of its messages were moved yet. ' +
    'Nothing was changed. Give the former server and user name, or attach it as a new account.'
  return new ServerError('failed', reason, { kind: 'host', isFinal: true })
}

function candidates({ folders }: Deps, account: RemoteAccount): RemoteFolder[] {
  const isComparable = ({ state, uidValidity }: RemoteFolder) => state === 'followed' && uidValidity !== null
  const read = folders.list(account.n).filter(isComparable)
  const weight = ({ role, total }: RemoteFolder) => (role === 'inbox' ? Number.POSITIVE_INFINITY : total)
  return read.sort((a, b) => weight(b) - weight(a))
}

/** @returns how many of the known messages the server gives, and how many of those are the known ones; null: UIDs mean others there */
async function compare(
  { messages }: Deps,
  server: AccountServer,
  folder: RemoteFolder,
): Promise<{ asked: number; same: number } | null> {
  try {
    const opened = await server.select(folder.path, null)
    if (opened.uidValidity !== folder.uidValidity) return null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
  const spans = highest(await messages.spans(folder.n), SAMPLE)
  const keys = new Map(messages.in(folder.n, spans, SAMPLE).map(({ uid, key }) => [uid, hexOf(key)]))
  const heads = (await server.heads(spans)).filter(({ uid }) => keys.has(uid))
  const same = heads.filter((head) => keys.get(head.uid) === hexOf(messageKey(head, server.facts.hasExactSizes))).length
  return { asked: heads.length, same }
}
