// What it takes to run the scripts of the recipients of a mail.

import type { Mailbox } from '../directory/mailboxes.ts'
import type { SieveScripts } from '../directory/sieve-scripts.ts'
import type { ScriptCall } from '../sieve/outcome.ts'
import type { Accounts } from './accounts.ts'
import { existing } from './filing.ts'
import type { Folders } from './folders.ts'

interface Deps {
  directory: { sieveScripts: SieveScripts }
  store: { accounts: Accounts; folders: Folders }
}

/** Who is to get a mail. */
interface Addressee {
  mailbox: Pick<Mailbox, 'id' | 'scriptKey'>
  /** As the envelope has it. */
  rcptTo: string
}

/** @returns one for each recipient, in their order, null for those without a script: they cost nothing */
export async function scriptCalls(deps: Deps, recipients: readonly Addressee[]): Promise<(ScriptCall | null)[]> {
  return Promise.all(
    recipients.map(({ mailbox, rcptTo }) => (mailbox.scriptKey === null ? null : callFor(deps, mailbox, rcptTo))),
  )
}

async function callFor(
  { directory, store }: Deps,
  mailbox: Addressee['mailbox'],
  rcptTo: string,
): Promise<ScriptCall | null> {
  const script = await directory.sieveScripts.active(mailbox)
  if (script === null) return null
  const { content, asksFor } = script
  const account = asksFor.length > 0 ? await store.accounts.byMailbox(mailbox.id) : undefined
  return { content, rcptTo, folders: account ? await existing(store.folders, account, asksFor) : [] }
}
