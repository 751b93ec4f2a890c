// The public name of stored content: the same for the same content in one mailbox, and telling nothing about other mailboxes.

import type { Vault } from '../../../base/secrets.ts'

const LENGTH = 24
// A SHA-256 has at most this many digits in base 36.
const DIGITS = 50

/** Decisions §1.1: base 36 of HMAC-SHA-256(key of the mailbox, SHA-256 of the content), its first 24 characters. */
export function blobId(vault: Vault, mailboxId: string, hash: Uint8Array): string {
  return blobNames(vault, mailboxId)(hash)
}

/** The same for many contents of one mailbox. */
export function blobNames(vault: Vault, mailboxId: string): (hash: Uint8Array) => string {
  const mac = vault.macer(`blob id/${mailboxId}`)
  return (hash) => {
    const number = BigInt(`0x${mac(hash).toString('hex')}`)
    return `blob_${number.toString(36).padStart(DIGITS, '0').slice(0, LENGTH)}`
  }
}
