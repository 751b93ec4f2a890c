// The known contacts of a mailbox: addresses that received a message which a person sent or approved.

import type { Reader, Tx } from '../../db/db.ts'
import { inPieces } from '../../db/many-rows.ts'
import type { OutboundDeps } from '../model/deps.ts'

export class KnownContacts {
  readonly #deps: Pick<OutboundDeps, 'clock' | 'directory'>

  constructor(deps: Pick<OutboundDeps, 'clock' | 'directory'>) {
    this.#deps = deps
  }

  /** Notes the recipients of a message that a person sent or approved. */
  note(tx: Tx, mailboxId: string, recipients: readonly string[]): void {
    const now = this.#deps.clock.now()
    const rows = recipients.map((address) => [mailboxId, address.toLowerCase(), now])
    inPieces(rows, (marks, values) =>
      tx.run(`INSERT INTO known_contacts (mailbox_id, address, since) VALUES ${marks} ON CONFLICT DO NOTHING`, values),
    )
  }

  /** The known addresses among some (lower-case): contacts, and mailboxes of the same team. */
  among(
    reader: Reader,
    { mailboxId, teamId }: { mailboxId: string; teamId: string },
    addresses: readonly string[],
  ): Set<string> {
    const rows = reader.all<{ address: string }>(
      'SELECT address FROM known_contacts WHERE mailbox_id = ? AND address IN (SELECT value FROM json_each(?))',
      [mailboxId, JSON.stringify(addresses)],
    )
    const known = new Set(rows.map(({ address }) => address))
    for (const address of addresses) if (!known.has(address) && this.#isOfTeam(teamId, address)) known.add(address)
    return known
  }

  /** Forgets the contacts of a deleted mailbox. */
  eraseOf(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM known_contacts WHERE mailbox_id = ?', [mailboxId])
  }

  /** Addresses that only a pattern matches are not meant: anybody can make one up. */
  #isOfTeam(teamId: string, address: string): boolean {
    const at = address.lastIndexOf('@')
    const receiver = this.#deps.directory.mailboxes.receiver(address.slice(0, at), address.slice(at + 1))
    if (receiver.reason !== null || receiver.mailbox.teamId !== teamId) return false
    return receiver.step === 'address' || receiver.step === 'sub_address'
  }
}
