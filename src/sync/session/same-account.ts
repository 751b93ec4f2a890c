// After a change of server or user name: whether it is still the account that the base describes. UIDs mean nothing at another one.

import type { RemoteFolder } from '../ledger/remote-folders.ts'
import { hexOf, messageKey } from '../model/message-key.ts'
import type { RemoteAccount } from '../model/records.ts'
import { type AccountServer, ServerError } from '../model/server.ts'
import { highest } from '../model/uid-spans.ts'
import { DOUBTED } from './identity.ts'
import type { RoundDeps } from './sync-session.ts'

/** Folders that are compared: the Inbox, and those with the most messages. */
const FOLDERS_COMPARED = 3
/** The newest known messages of each, and how many of those that are still there must be the same ones. */
const SAMPLE = 200
const SAME_SHARE = 0.8

type Deps = Pick<RoundDeps, 'folders' | 'messages'>

/**
 * Refuses an account whose known messages are not under their UIDs. Nothing is changed, neither here nor there.
 * @throws ServerError failed
 */
export async function requireSameAccount(deps: Deps, server: AccountServer, account: RemoteAccount): Promise<void> {
  const compared: RemoteFolder[] = []
  for (const folder of candidates(deps, account)) {
    if (compared.length < FOLDERS_COMPARED && (await deps.messages.spans(folder.n)).length > 0) compared.push(folder)
  }
  if (compared.length === 0) return
  let found = 0
  for (const folder of compared) {
    const { asked, same } = await compare(deps, server, folder)
    if (same < asked * SAME_SHARE) throw otherAccount()
    found += same
  }
  if (found === 0) throw otherAccount()
}

function otherAccount(): ServerError {
  const reason =
    'The server does not have the messages of this account under their numbers: it is another account, or was moved. ' +
    'Nothing was changed. Give the former server and user name, or attach it as a new account.'
  return new ServerError('failed', reason, { kind: 'host', isFinal: true })
}

function candidates({ folders }: Deps, account: RemoteAccount): RemoteFolder[] {
  const isComparable = ({ state, uidValidity }: RemoteFolder) =>
    state === 'followed' && uidValidity !== null && uidValidity !== DOUBTED
  const read = folders.list(account.n).filter(isComparable)
  const weight = ({ role, total }: RemoteFolder) => (role === 'inbox' ? Number.POSITIVE_INFINITY : total)
  return read.sort((a, b) => weight(b) - weight(a))
}

/** @returns how many of the known messages the server gives, and how many of those are the known ones */
async function compare(
  { messages }: Deps,
  server: AccountServer,
  folder: RemoteFolder,
): Promise<{ asked: number; same: number }> {
  try {
    const opened = await server.select(folder.path, null)
    if (opened.uidValidity !== folder.uidValidity) throw otherAccount()
  } catch (error) {
    throw error instanceof ServerError && error.effect === 'refused' ? otherAccount() : error
  }
  const spans = highest(await messages.spans(folder.n), SAMPLE)
  const keys = new Map(messages.in(folder.n, spans, SAMPLE).map(({ uid, key }) => [uid, hexOf(key)]))
  const heads = (await server.heads(spans)).filter(({ uid }) => keys.has(uid))
  const same = heads.filter((head) => keys.get(head.uid) === hexOf(messageKey(head, server.facts.hasExactSizes))).length
  return { asked: heads.length, same }
}
