// The folders of a mailbox by the names mail programs use: the Inbox is INBOX, and its folders are INBOX/….

import type { Reader } from '../../db/db.ts'
import type { FolderStatus } from '../../store/entries/folders-views.ts'
import { DELIMITER, decodeName, INBOX } from '../grammar/names.ts'
import { no } from '../session/answers.ts'
import type { ImapSession } from '../session/session.ts'

export interface NamedFolder {
  path: string
  folder: FolderStatus
}

/** As of when it was read: one command. */
export class FolderTree {
  /** In display order. */
  readonly folders: readonly NamedFolder[]
  readonly #byPath: Map<string, NamedFolder>

  constructor(statuses: readonly FolderStatus[]) {
    const inbox = statuses.find(({ role }) => role === 'inbox')?.path
    this.folders = statuses.map((folder) => ({
      path: inbox === undefined ? folder.path : renamed(folder.path, inbox),
      folder,
    }))
    this.#byPath = new Map(this.folders.map((named) => [named.path, named]))
  }

  find(path: string): NamedFolder | undefined {
    return this.#byPath.get(path)
  }
}

function renamed(path: string, inbox: string): string {
  if (path === inbox) return INBOX
  return path.startsWith(`${inbox}${DELIMITER}`) ? `${INBOX}${path.slice(inbox.length)}` : path
}

/** The current folders of the session's mailbox. */
export function readTree(session: ImapSession, reader?: Reader): FolderTree {
  return new FolderTree(session.app.store.programs.views.statuses(session.signedIn.account, reader))
}

/** The path of a name as the client wrote it. @throws CommandFailure when it is no valid form of the session's encoding */
export function pathOfName(session: ImapSession, name: Buffer): string {
  const path = decodeName(name, session.utf8)
  if (path === null) throw no('CANNOT', `The name is not valid ${session.utf8 ? 'UTF-8' : 'modified UTF-7'}.`)
  return path
}

/** The folder of a name. @param missing response code when there is none */
export function namedFolder(
  session: ImapSession,
  name: Buffer,
  missing: 'NONEXISTENT' | 'TRYCREATE' = 'NONEXISTENT',
): NamedFolder {
  const found = readTree(session).find(pathOfName(session, name))
  if (found === undefined) throw no(missing, 'There is no such mailbox.')
  return found
}
