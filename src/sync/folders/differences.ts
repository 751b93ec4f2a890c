// What of an outside account is lastingly not as it is at its server, each with a sentence and what a person can do.

import type { Reader } from '../../db/db.ts'
import type { RefusedChanges } from '../ledger/intents.ts'
import { areFlagsUnread, KEYWORDS_STAY, type RemoteFolder, type RemoteFolders } from '../ledger/remote-folders.ts'
import { skippedByFolder, skippedSentence } from '../ledger/skipped-messages.ts'
import type { RemoteDifference } from '../model/records.ts'
import { CROWDED } from '../session/local-changes.ts'
import { isLeftOut } from './ignored-folders.ts'

/** Differences that are told; a server may have thousands of folders. */
const DIFFERENCES_MAX = 50

/** A folder here that the server did not create or rename. */
export interface RefusedFolder {
  /** Here. */
  path: string
  /** What the server answered; null: the name has the character that separates its folders. */
  reason: string | null
}

interface Deps {
  folders: RemoteFolders
  reader: Reader
}

/** What a server does not take. */
interface Refused {
  names: readonly RefusedFolder[]
  changes: readonly RefusedChanges[]
  /** Messages that were deleted here and are still there. */
  removals: number
}

export function differencesOf({ folders, reader }: Deps, remote: number, refused: Refused): RemoteDifference[] {
  const all = folders.list(remote, reader)
  const byNumber = new Map(all.map((folder) => [folder.n, folder]))
  const skipped = skippedByFolder(reader, remote).map((sum): RemoteDifference => {
    const large = sum.messages === sum.tooLarge ? 'Read them at the server, or delete them there.' : null
    return {
      ...{ kind: 'skipped', folder: pathOf(byNumber.get(sum.folder)), sentence: skippedSentence(sum) ?? '' },
      nextStep: large ?? 'They are asked for again by themselves. Look at them at the server if they stay away.',
    }
  })
  const found = [
    ...all.filter(isLeftOut).map(leftOut),
    ...refused.names.map(refusedName),
    ...refused.changes.map(refusedChanges),
    ...(refused.removals > 0 ? [refusedRemovals(refused.removals)] : []),
    ...all.filter(({ isReadOnly, state }) => isReadOnly === 1 && state === 'followed').map(readOnly),
    ...all.filter(({ reason }) => reason === CROWDED).map(crowded),
    ...all.filter((folder) => folder.state === 'followed' && areFlagsUnread(folder)).map(unread),
    ...all.filter(({ reason }) => reason === KEYWORDS_STAY).map(unkept),
    ...skipped,
  ]
  return found.slice(0, DIFFERENCES_MAX)
}

function pathOf(folder: RemoteFolder | undefined): string | null {
  return folder === undefined ? null : (folder.localPath ?? folder.path)
}

function leftOut({ path, reason }: RemoteFolder): RemoteDifference {
  return {
    ...{ kind: 'folder_left_out', folder: path, sentence: `The folder ${path} is not read. ${reason}` },
    nextStep: 'Change it at the server, or read its messages there.',
  }
}

function refusedName({ path, reason }: RefusedFolder): RemoteDifference {
  const why = reason === null ? 'Its name has the character that separates folders there.' : `It answered: ${reason}`
  return {
    kind: 'folder_name',
    folder: path,
    sentence: `The server does not take the folder ${path}: it is only here, with its messages. ${why}`,
    nextStep: 'Give it another name here, without a dot or slash and not with a dot at its beginning.',
  }
}

function refusedChanges({ reason, messages }: RefusedChanges): RemoteDifference {
  const what = messages === 1 ? '1 message was changed here, and is' : `${messages} messages were changed here, and are`
  return {
    ...{ kind: 'changes_refused', folder: null, sentence: `${what} not so at the server. ${reason}` },
    nextStep: 'Changes that the server refuses are sent again by themselves. Look there at its space and your rights.',
  }
}

function refusedRemovals(messages: number): RemoteDifference {
  const what = messages === 1 ? '1 message was' : `${messages} messages were`
  return {
    ...{ kind: 'changes_refused', folder: null, sentence: `${what} deleted here, and not yet at the server.` },
    nextStep: 'The removal is tried again. Delete the messages at the server, or look at your rights there.',
  }
}

function readOnly(folder: RemoteFolder): RemoteDifference {
  const path = pathOf(folder)
  return {
    ...{ kind: 'read_only', folder: path },
    sentence: `The folder ${path} can only be read at the server: what is changed in it here stays here.`,
    nextStep: 'Ask the owner of the folder for the right to change it.',
  }
}

function crowded(folder: RemoteFolder): RemoteDifference {
  return {
    ...{ kind: 'labels', folder: pathOf(folder), sentence: CROWDED },
    nextStep: 'Take labels or copies of those messages away at the server.',
  }
}

function unread(folder: RemoteFolder): RemoteDifference {
  const path = pathOf(folder)
  return {
    ...{ kind: 'skipped', folder: path, sentence: `${path}: ${folder.reason}` },
    nextStep: 'They are asked for again by themselves. Look at the messages at the server if it stays so.',
  }
}

function unkept(folder: RemoteFolder): RemoteDifference {
  const path = pathOf(folder)
  return {
    ...{ kind: 'labels', folder: path, sentence: `${path}: ${KEYWORDS_STAY}` },
    nextStep: 'Use folders for what other programs are to see, or ask the provider to keep keywords.',
  }
}
