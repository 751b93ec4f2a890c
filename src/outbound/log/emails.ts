// The mails that were accepted for sending, and one delivery for each of their recipients.

import type { Tx } from '../../db/db.ts'
import type { OutboundParts } from '../parts.ts'
import type { Carrier, Delivery, Email } from '../records.ts'

/** A mail that is about to be accepted; its id is made before, because Message-ID holds it. */
export interface NewEmail extends Omit<Email, 'n' | 'hash'> {
  hash: Uint8Array
  /** `mdom_…` of the From domain, where it is one of the team's: subscriptions can be narrowed to it. */
  domainId: string | null
  /** Envelope recipients, at least one, each once. */
  recipients: readonly string[]
}

/** The deliveries of one accepted mail, in the order of its recipients. */
export interface Accepted {
  email: Email
  deliveries: { n: number; id: string; to: string }[]
}

export class Emails {
  constructor(_parts: Pick<OutboundParts, 'db'>) {}

  /** Writes a mail and a pending delivery per recipient as part of a unit of work. */
  insert(_tx: Tx, _email: NewEmail): Promise<Accepted> {
    throw new Error('not built')
  }

  /** The mails with these keys; those that are gone are left out. */
  byN(_ns: readonly number[]): Promise<Email[]> {
    throw new Error('not built')
  }

  byId(_id: string): Promise<Email | undefined> {
    throw new Error('not built')
  }

  /** The newest mail with that Message-ID (without angle brackets). */
  byMessageId(_internetMessageId: string): Promise<Email | undefined> {
    throw new Error('not built')
  }

  /** The mail to which a provider gave that id. */
  byRemoteId(_remoteId: string): Promise<Email | undefined> {
    throw new Error('not built')
  }

  /** All deliveries of a mail, in the order of its recipients. */
  deliveriesOf(_emailN: number): Promise<Delivery[]> {
    throw new Error('not built')
  }

  /** Counts a try, before the mail is handed over. */
  noteAttempt(_tx: Tx, _deliveryNs: readonly number[], _carrier: Carrier | null): Promise<void> {
    throw new Error('not built')
  }

  /** Says through whom deliveries are about to go and why (one sentence for the timeline). */
  noteRoute(_tx: Tx, _deliveryNs: readonly number[], _carrier: Carrier | null, _reason: string): Promise<void> {
    throw new Error('not built')
  }

  /** Keeps the ids a provider gave a mail: replies and reports may name them. */
  rememberIds(_tx: Tx, _emailN: number, _remoteIds: readonly string[]): Promise<void> {
    throw new Error('not built')
  }

  /** Those of the hashes whose content is still needed, in hexadecimal. */
  namedBlobs(_hashes: readonly Uint8Array[]): Promise<Set<string>> {
    throw new Error('not built')
  }
}
