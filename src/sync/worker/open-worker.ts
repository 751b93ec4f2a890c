// The worker that follows outside accounts, with what it keeps: the ledger, and bounds on memory for all accounts.

import type { Inspector } from '../../workers/inspector.ts'
import type { AccessTokens } from '../accounts/access-tokens.ts'
import { AccountStates } from '../accounts/accounts-state.ts'
import { serverOpener } from '../imap/connect.ts'
import { ResponseMemory } from '../imap/response-memory.ts'
import { Intents } from '../ledger/intents.ts'
import { RemoteFolders } from '../ledger/remote-folders.ts'
import { RemoteMessages } from '../ledger/remote-messages.ts'
import type { Announcements } from '../model/announcements.ts'
import type { SyncDeps } from '../model/deps.ts'
import type { OpenServer } from '../model/server.ts'
import { ContentMemory } from '../session/content-memory.ts'
import { FetchBreaks } from '../session/fetch-breaks.ts'
import { appendDue } from '../session/sent-copy.ts'
import { SyncWorker } from './worker.ts'

interface SyncWorkerDeps extends SyncDeps {
  tokens: AccessTokens
  announcements: Announcements
  inspector: Pick<Inspector, 'readAll'>
  /** Connects to the server of an account; the real one unless given. */
  open: OpenServer | undefined
}

export function openSyncWorker({ open, ...deps }: SyncWorkerDeps): SyncWorker {
  const { db, clock, config, announcements } = deps
  return new SyncWorker({
    ...deps,
    connectionsMax: config.REMOTE_CONNECTIONS,
    open: open ?? serverOpener({ ...deps, responses: new ResponseMemory(clock) }),
    states: new AccountStates({ db, clock, announcements }),
    folders: new RemoteFolders(db),
    messages: new RemoteMessages(db),
    intents: new Intents(db, clock),
    memory: new ContentMemory(clock),
    breaks: new FetchBreaks(),
    headBreaks: new FetchBreaks(),
    pieceBreaks: new FetchBreaks(),
    mayAppend: (account, message) => appendDue(deps, account, message),
  })
}
