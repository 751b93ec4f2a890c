// All IMAP commands by name.

import { appendCommand, replaceCommand } from './commands/append.ts'
import { capability } from './commands/capability.ts'
import { compress } from './commands/compress.ts'
import { copy, move } from './commands/copy.ts'
import { create } from './commands/create.ts'
import { deleteCommand } from './commands/delete.ts'
import { enable } from './commands/enable.ts'
import { esearch } from './commands/esearch.ts'
import { expunge } from './commands/expunge.ts'
import { fetchCommand } from './commands/fetch.ts'
import { id } from './commands/id.ts'
import { idle } from './commands/idle.ts'
import { listCommand, lsubCommand } from './commands/list.ts'
import { authenticate, login } from './commands/login.ts'
import { logout } from './commands/logout.ts'
import { getMetadataCommand, setMetadataCommand } from './commands/metadata.ts'
import { namespace } from './commands/namespace.ts'
import { check, noop } from './commands/noop.ts'
import { notify } from './commands/notify.ts'
import { getQuota, getQuotaRoot } from './commands/quota.ts'
import { rename } from './commands/rename.ts'
import { searchCommand } from './commands/search.ts'
import { close, examine, select, unselect } from './commands/select.ts'
import { sort, thread } from './commands/sort.ts'
import { starttls } from './commands/starttls.ts'
import { status } from './commands/status.ts'
import { store } from './commands/store.ts'
import { subscribe, unsubscribe } from './commands/subscribe.ts'
import type { CommandTable, ImapCommand } from './session.ts'

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
