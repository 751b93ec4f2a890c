// Prepares messages that mailboxes forward for their next server: our mark, and an ARC seal with our results.

import { forwardedBytes, ownResults, withoutOwnResults } from '../../mime/forward.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { forwardMark } from '../model/forward-mark.ts'
import type { Email } from '../model/records.ts'
import type { Signer } from './sign.ts'

interface SealerDeps extends Pick<OutboundDeps, 'clock' | 'config' | 'vault'> {
  signer: Pick<Signer, 'keysOf'>
}

export class Sealer {
  readonly #deps: SealerDeps

  constructor(deps: SealerDeps) {
    this.#deps = deps
  }

  /**
   * The bytes to send. Signatures of the author stay, and the domain of the mailbox seals what we found (RFC 8617). It adds no DKIM
   * signature: that would claim that it stands for a message of others. A message that a script has changed gets no seal: our results
   * are those of other bytes.
   * @param stored the message as the mailbox received it
   */
  async seal(
    email: Pick<Email, 'teamId' | 'mailboxId' | 'from' | 'isChanged'>,
    stored: Uint8Array,
  ): Promise<Uint8Array> {
    const { clock, config, vault, signer } = this.#deps
    const bytes = forwardedBytes(stored, forwardMark(vault, email.mailboxId ?? ''))
    if (email.isChanged === true) return withoutOwnResults(bytes, config.MAIL_HOSTS[0]!)
    // RFC 8617 §4.1.2 names rsa-sha256; few verifiers know the others.
    const key = signer.keysOf(email).find(({ algorithm }) => algorithm === 'rsa-sha256')
    const results = ownResults(stored, config.MAIL_HOSTS[0]!)
    if (key === undefined || results === null) return bytes
    // Loaded with the first forwarded message: mailauth takes some megabytes.
    const { arcSeal } = await import('../../auth/arc-seal.ts')
    const fields = await arcSeal(bytes, { ...key, results, now: clock.now() })
    return Buffer.concat([Buffer.from(fields, 'latin1'), bytes])
  }
}
