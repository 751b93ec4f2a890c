// Offers a message over a ready connection: first checks it against the server's extensions, then runs the transaction.

import type { Clock } from '../../../base/clock.ts'
import type { Handover, Verdict } from '../transport.ts'
import type { Connection } from './connection.ts'
import { contentOf } from './content.ts'
import { ownReply } from './reply.ts'
import { type OutgoingMessage, transfer } from './transfer.ts'
import { evaluateTransfer, type TransferResult } from './verdicts.ts'

/** @returns a refusal if the bytes or addresses would break the SMTP framing */
export function outgoingMessageOf({
  bytes,
  mailFrom,
  recipients,
}: Pick<Handover, 'bytes' | 'mailFrom' | 'recipients'>): OutgoingMessage | Verdict {
  const content = contentOf(bytes)
  if (content === null) return never('The mail has a line break that is not CRLF.', '5.6.0', 'content')
  if ([mailFrom, ...recipients].some(isNoLine)) {
    return never('An address holds a control character.', '5.1.3', 'content')
  }
  return { mailFrom, recipients, content }
}

export function isVerdict(value: OutgoingMessage | Verdict): value is Verdict {
  return 'kind' in value
}

/** Never throws for failures of the server. */
export async function offer(
  connection: Connection,
  letter: OutgoingMessage,
  deps: { clock: Clock; signal: AbortSignal },
): Promise<TransferResult> {
  const whole = obstacle(connection, letter)
  const { extensions, wire } = connection
  const barred = letter.recipients.map((address) => {
    if (whole !== null || extensions.smtpUtf8 || !isBeyondAscii(address)) return whole
    return never(`${wire.peer} does not take addresses beyond ASCII (SMTPUTF8).`, '5.6.7', 'recipient')
  })
  const recipients = letter.recipients.filter((_, index) => barred[index] === null)
  if (recipients.length === 0) return { kind: 'answered', verdicts: barred as Verdict[] }
  const deaf = wire.failOn(deps.signal)
  const rest = { ...letter, recipients }
  const judged = evaluateTransfer(await transfer(connection, rest, deps.clock).finally(deaf), rest, connection)
  if (judged.kind !== 'answered') return judged
  const said = judged.verdicts.values()
  return { ...judged, verdicts: barred.map((verdict) => verdict ?? said.next().value!) }
}

/** Why this server cannot accept the message for any recipient; null if it can. */
function obstacle({ extensions, wire }: Connection, { content, mailFrom }: OutgoingMessage): Verdict | null {
  const { sizeMax, smtpUtf8, eightBitMime } = extensions
  // RFC 1870 §6.1.
  if (sizeMax !== null && content.sizeBytes > sizeMax) {
    const sentence = `${wire.peer} takes mails of up to ${sizeMax} bytes; this one has ${content.sizeBytes}.`
    return never(sentence, '5.3.4', 'content')
  }
  if (!smtpUtf8 && (content.utf8Header || isBeyondAscii(mailFrom))) {
    return never(`${wire.peer} does not take senders and fields beyond ASCII (SMTPUTF8).`, '5.6.7', 'content')
  }
  if (!eightBitMime && content.eightBit) {
    return never(`${wire.peer} does not take octets beyond ASCII (8BITMIME).`, '5.6.3', 'content')
  }
  return null
}

function never(sentence: string, code: string, about: 'recipient' | 'content'): Verdict {
  return { kind: 'never', reply: ownReply(sentence, code), about }
}

export function isBeyondAscii(text: string): boolean {
  return /[^\x00-\x7f]/.test(text)
}

function isNoLine(address: string): boolean {
  return /[\x00-\x1f\x7f]/.test(address)
}
