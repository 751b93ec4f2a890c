// Folders of outside accounts as last seen, and how far each is synchronised.

import type { Db, Reader, Row, SqlValue, Tx } from '../../db/db.ts'
import type { FolderRole } from '../../store/rows/records.ts'
import type { FolderDoubt } from '../model/removal-weight.ts'

/** `ignored`: its messages are not synchronised, for the reason given. */
export type RemoteFolderState = 'followed' | 'ignored'

export interface RemoteFolder {
  n: number
  /** Number of the outside account. */
  remote: number
  /** As the server writes it. */
  path: string
  objectId: string | null
  /** Number of the folder here; null: none. */
  folder: number | null
  /** Path of the folder here when both sides were last equal. */
  localPath: string | null
  role: FolderRole | null
  state: RemoteFolderState
  /** One sentence. */
  reason: string | null
  uidValidity: number | null
  /** Messages below are known, as far as they are not below `lowest`. */
  uidNext: number | null
  /** Flags and removals are known up to this one. */
  modSeq: number | null
  /** The import has come down to this UID; 1: done. Null: not begun. */
  lowest: number | null
  /** Messages at the server. */
  total: number
  /** Messages of it that are known. */
  done: number
  /** When all flags were last compared, ms: for servers without modification numbers. */
  flagsAt: number | null
  lookedAt: number | null
  /** Since when many of its messages are gone, or it is missing in the list, ms. */
  suspectAt: number | null
  /** Messages deleted here that were removed there since `erasedAt` (ms). */
  erased: number
  erasedAt: number | null
  /** The messages here above this UID are to be compared, as the server has the folder now; null: none. */
  compareAfter: number | null
  /** While messages are gone that the server may have lost. */
  doubt: FolderDoubt | null
  /** 1: the server lets nothing be changed in it. */
  isReadOnly: 0 | 1
}

/** What is written of a folder. */
export type RemoteFolderChange = Partial<Omit<RemoteFolder, 'n' | 'remote'>>

const COLUMNS: Record<keyof RemoteFolderChange, string> = {
  path: 'path',
  objectId: 'object_id',
  folder: 'folder',
  localPath: 'local_path',
  role: 'role',
  state: 'state',
  reason: 'reason',
  uidValidity: 'uid_validity',
  uidNext: 'uid_next',
  modSeq: 'mod_seq',
  lowest: 'lowest',
  total: 'total',
  done: 'done',
  flagsAt: 'flags_at',
  lookedAt: 'looked_at',
  suspectAt: 'suspect_at',
  erased: 'erased',
  erasedAt: 'erased_at',
  compareAfter: 'compare_after',
  doubt: 'doubt',
  isReadOnly: 'read_only',
}

/** ... keywords that were set here are not there. */
export const KEYWORDS_STAY = 'The server does not keep all keywords that are set here: they stay here.'
const FLAGS_UNREAD = 'The server does not give the flags of '

/** Why flags in a folder that is followed may differ: those of some messages could not be read. */
export function flagsUnread(messages: number): string {
  return `${FLAGS_UNREAD}${messages === 1 ? '1 message' : `${messages} messages`}: changes of them are not seen.`
}

export function areFlagsUnread({ reason }: Pick<RemoteFolder, 'reason'>): boolean {
  return reason?.startsWith(FLAGS_UNREAD) ?? false
}

const ALL = ['n', 'remote', ...Object.entries(COLUMNS).map(([name, column]) => `${column} AS ${name}`)].join(', ')

export class RemoteFolders {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** By path. */
  list(remote: number, reader: Reader = this.#db.read): RemoteFolder[] {
    return reader.all<RemoteFolder>(`SELECT ${ALL} FROM remote_folders WHERE remote = ? ORDER BY path`, [remote])
  }

  /** Numbers of the accounts that have folders, also those that were deleted. */
  remotes(): number[] {
    return this.#db.read
      .all<{ remote: number }>('SELECT DISTINCT remote FROM remote_folders')
      .map(({ remote }) => remote)
  }

  get(n: number, reader: Reader = this.#db.read): RemoteFolder | undefined {
    return reader.get<RemoteFolder>(`SELECT ${ALL} FROM remote_folders WHERE n = ?`, [n])
  }

  /** @returns its number */
  add(tx: Tx, remote: number, folder: Pick<RemoteFolder, 'path' | 'state'> & RemoteFolderChange): number {
    const row: Row = { remote, total: 0, done: 0 }
    for (const [name, value] of Object.entries(folder)) row[COLUMNS[name as keyof RemoteFolderChange]] = value
    return tx.insert('remote_folders', row)
  }

  set(tx: Tx, n: number, change: RemoteFolderChange): void {
    const members = Object.entries(change) as [keyof RemoteFolderChange, SqlValue][]
    const marks = members.map(([name]) => `${COLUMNS[name]} = ?`).join(', ')
    tx.run(`UPDATE remote_folders SET ${marks} WHERE n = ?`, [...members.map(([, value]) => value), n])
  }

  /** A folder whose messages are forgotten already. */
  remove(tx: Tx, n: number): void {
    tx.run('DELETE FROM remote_folders WHERE n = ?', [n])
  }
}
