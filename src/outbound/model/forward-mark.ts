// The mark of a mailbox in the messages it has forwarded: a MAC, which others cannot compute, and which reveals nothing.

import type { Vault } from '../../base/secrets.ts'

const PURPOSE = 'forward-mark'
const MARK_BYTES = 12

export function forwardMark(vault: Vault, mailboxId: string): string {
  return vault.mac(PURPOSE, mailboxId).subarray(0, MARK_BYTES).toString('base64url')
}
