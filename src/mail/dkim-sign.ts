// DKIM signatures over exactly the bytes that leave: rsa-sha256 and ed25519-sha256, relaxed/relaxed (RFC 6376, RFC 8463).

import type { KeyObject } from 'node:crypto'

export interface DkimSigningKey {
  domain: string
  selector: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  privateKey: KeyObject
}

/**
 * The DKIM-Signature fields of a mail, one per key, each with its line break, to be put in front of it.
 * The signing itself runs on Node's threads.
 * @param bytes a whole mail with CRLF line ends
 * @param now ms, told as `t=`
 */
export async function dkimSignatures(
  _bytes: Uint8Array,
  _keys: readonly DkimSigningKey[],
  _now: number,
): Promise<string> {
  throw new Error('not built')
}
