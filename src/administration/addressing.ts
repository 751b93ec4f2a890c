// The address rules of a domain, and the identities that end with them.

import type { Db, Tx } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import type { AddressRules } from '../directory/mailboxes/addressing.ts'
import type { Mailbox } from '../directory/mailboxes/mailboxes.ts'
import type { Identities } from '../store/mailbox/identities.ts'
import type { Store } from '../store/store.ts'

export interface AddressingDeps {
  db: Db
  directory: Pick<Directory, 'addressing' | 'aliases' | 'mailboxes'>
  store: {
    accounts: Pick<Store['accounts'], 'byMailbox'>
    sending: { identities: Pick<Identities, 'removeAddressesIn'> }
  }
}

export class AddressingAdministration {
  readonly #deps: AddressingDeps

  constructor(deps: AddressingDeps) {
    this.#deps = deps
  }

  /**
   * Replaces the rules of a domain. Identities whose address leads elsewhere from then on are removed.
   * @param check receives the current rules inside the unit of work; throws to refuse
   * @throws ProductError not_found, validation_error
   */
  async put(
    teamId: string,
    domainId: string,
    rules: AddressRules,
    check?: (current: AddressRules) => void,
  ): Promise<AddressRules> {
    const { db, directory } = this.#deps
    const before = directory.addressing.get(teamId, domainId)
    const after = await db.write((tx) => directory.addressing.putIn(tx, teamId, domainId, rules, check))
    const ids = new Set(before.patterns.map(({ mailboxId }) => mailboxId))
    // Whether an address leads to a mailbox is asked of what is committed. A crash in between leaves identities that nothing can be sent as:
    // each sending asks again.
    await db.write((tx) => {
      for (const id of ids) {
        const mailbox = directory.mailboxes.byId(id, tx)
        if (mailbox !== undefined && mailbox.status !== 'deleted') removeForeignIdentities(this.#deps, tx, mailbox)
      }
    })
    return after
  }
}

/** Removes the identities of addresses that a mailbox does not have. */
export function removeForeignIdentities(
  { directory, store }: Pick<AddressingDeps, 'store'> & { directory: Pick<Directory, 'aliases'> },
  tx: Tx,
  mailbox: Mailbox,
): void {
  const account = store.accounts.byMailbox(mailbox.id, tx)
  if (account === undefined) return
  const has = (email: string) => directory.aliases.mayWriteAs(tx, mailbox, email)
  store.sending.identities.removeAddressesIn(tx, account, mailbox.email, has)
}
