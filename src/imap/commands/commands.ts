// All IMAP commands by name.

import type { CommandTable, ImapCommand } from '../session/session.ts'
import { appendCommand, replaceCommand } from './append.ts'
import { capability } from './capability.ts'
import { compress } from './compress.ts'
import { copy, move } from './copy.ts'
import { create } from './create.ts'
import { deleteCommand } from './delete.ts'
import { enable } from './enable.ts'
import { esearch } from './esearch.ts'
import { expunge } from './expunge.ts'
import { fetchCommand } from './fetch.ts'
import { id } from './id.ts'
import { idle } from './idle.ts'
import { listCommand, lsubCommand } from './list.ts'
import { authenticate, login } from './login.ts'
import { logout } from './logout.ts'
import { getMetadataCommand, setMetadataCommand } from './metadata.ts'
import { namespace } from './namespace.ts'
import { check, noop } from './noop.ts'
import { notify } from './notify.ts'
import { getQuota, getQuotaRoot } from './quota.ts'
import { rename } from './rename.ts'
import { searchCommand } from './search.ts'
import { close, examine, select, unselect } from './select.ts'
import { sort, thread } from './sort.ts'
import { starttls } from './starttls.ts'
import { status } from './status.ts'
import { store } from './store.ts'
import { subscribe, unsubscribe } from './subscribe.ts'

const ALL: readonly ImapCommand[] = [
  ...[capability, noop, check, logout, id, namespace, enable, starttls, login, authenticate],
  ...[
    select,
    examine,
    unselect,
    close,
    create,
    deleteCommand,
    rename,
    subscribe,
    unsubscribe,
    listCommand,
    lsubCommand,
  ],
  ...[
    status,
    appendCommand,
    replaceCommand,
    store,
    fetchCommand,
    searchCommand,
    esearch,
    sort,
    thread,
    compress,
    copy,
    move,
    expunge,
    idle,
    notify,
    getQuota,
    getQuotaRoot,
    getMetadataCommand,
    setMetadataCommand,
  ],
]

/** Every command, by its name in upper case. */
export const COMMANDS: CommandTable = new Map(ALL.map((one) => [one.name, one]))
