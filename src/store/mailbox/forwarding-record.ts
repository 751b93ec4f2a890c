// To whom a received message is forwarded and was, and how the inbound log shows it.

/** Addresses that get what a mailbox or an alias receives. */
export interface ForwardingSetting {
  to: readonly string[]
  /** False: the mailbox gets no copy of its own, unless the message cannot be forwarded. */
  keepsCopy: boolean
}

/** What was forwarded of a message (outbound/receive/deliver-received.ts). */
export interface ForwardingRecord {
  /** `eml_…` of the forwarded message; null when nothing was queued. */
  emailId: string | null
  to: readonly string[]
  /** Addresses that got nothing, each with a sentence that says why. */
  refused: readonly { to: string; reason: string }[]
}

/** The same in the evidence of the inbound log. */
export interface ForwardingEvidence {
  message_id: string | null
  to: readonly string[]
  refused: readonly { to: string; reason: string }[]
}

export function forwardingEvidence(forwarding: ForwardingRecord | null): ForwardingEvidence | null {
  if (forwarding === null) return null
  const { emailId, to, refused } = forwarding
  return { message_id: emailId, to, refused }
}

/** Whether a copy left for other addresses, and none was kept. */
export function isForwardedOnly({ outcome, forwarding }: ForwardedCopy): boolean {
  return outcome === 'discarded' && forwarding !== null && forwarding.to.length > 0
}

interface ForwardedCopy {
  outcome: string
  forwarding: ForwardingRecord | null
}
