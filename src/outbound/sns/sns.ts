// What Amazon tells of mail it took: notifications over SNS, believed by their signature alone.

import type { Tx } from '../../db/db.ts'
import type { OutboundParts } from '../parts.ts'
import type { Carrier, Delivery, Email, Outcome } from '../records.ts'

export interface SnsParts extends OutboundParts {
  emails: {
    byId(id: string): Promise<Email | undefined>
    byRemoteId(remoteId: string): Promise<Email | undefined>
    deliveriesOf(emailN: number): Promise<Delivery[]>
  }
  fate: { apply(tx: Tx, deliveryN: number, outcome: Outcome, carrier: Carrier | null): Promise<boolean> }
}

export class Sns {
  constructor(_parts: SnsParts) {}

  /**
   * Takes one message as SNS posts it.
   * @returns how many deliveries moved
   * @throws ProductError validation_error (not of SNS), insufficient_permissions (another topic, or a signature that does not
   * fit), service_unavailable (the certificate cannot be had now)
   */
  receive(_message: Readonly<Record<string, unknown>>): Promise<number> {
    throw new Error('not built')
  }

  async close(): Promise<void> {}
}
