// Prepares the inputs to run the Sieve scripts of the recipients of a message.

import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import type { SieveScripts } from '../../directory/mailboxes/sieve-scripts.ts'
import type { ScriptCall } from '../../sieve/outcome.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { Folders } from '../rows/folders.ts'
import { existingFolders } from './delivery-folders.ts'

interface Deps {
  directory: { sieveScripts: SieveScripts }
  store: { accounts: Accounts; read: { folders: Folders } }
}

interface ScriptRecipient {
  mailbox: Pick<Mailbox, 'id' | 'scriptKey'>
  /** Recipient address of the envelope. */
  rcptTo: string
}

/** @returns one entry per recipient in the same order; null for recipients without a script */
export async function scriptCalls(deps: Deps, recipients: readonly ScriptRecipient[]): Promise<(ScriptCall | null)[]> {
  return Promise.all(
    recipients.map(({ mailbox, rcptTo }) => (mailbox.scriptKey === null ? null : callFor(deps, mailbox, rcptTo))),
  )
}

function callFor({ directory, store }: Deps, mailbox: ScriptRecipient['mailbox'], rcptTo: string): ScriptCall | null {
  const script = directory.sieveScripts.active(mailbox)
  if (script === null) return null
  const { content, asksFor, includes } = script
  const account = asksFor.length > 0 ? store.accounts.byMailbox(mailbox.id) : undefined
  return { content, includes, rcptTo, folders: account ? existingFolders(store.read.folders, account, asksFor) : [] }
}
