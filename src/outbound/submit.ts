// Takes mails for sending: one path for every API, from the wish to rows that survive a crash.

import type { Tx } from '../db/db.ts'
import type { OutboundParts } from './parts.ts'
import type { NewMail, Sender, Submitted } from './submit/new-mail.ts'

export type { NewAttachment, NewMail, Sender, Submitted, Text } from './submit/new-mail.ts'

export class Submitter {
  constructor(_parts: OutboundParts) {}

  /**
   * Checks, composes and accepts mails; one that is wrong does not hinder the others. Everything that is written is one unit
   * of work: queue, delivery log, copies in Sent, submissions, and what `extra` adds.
   * @param extra runs inside the unit of work when at least one mail was accepted, or when none needs one
   * @returns what became of each, in their order, once it is durable
   */
  submit(
    _sender: Sender,
    _mails: readonly NewMail[],
    _extra?: (tx: Tx, submitted: readonly Submitted[]) => Promise<void>,
  ): Promise<Submitted[]> {
    throw new Error('not built')
  }

  /** Ends the threads that compose large mails. */
  async close(): Promise<void> {}
}
