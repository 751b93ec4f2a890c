// Offers a message over a ready connection: first checks it against the server's extensions, then runs the transaction.

import type { Clock } from '../../../base/clock.ts'
import type { Handover, Verdict } from '../../model/transport.ts'
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
  if (content === null) return never('The message has a line break that is not CRLF.', '5.6.0', 'content')
  if ([mailFrom, ...recipients].some(hasControlCharacter)) {
    return never('An address contains a control character.', '5.1.3', 'content')
  }
  return { mailFrom, recipients, content }
}

export function isVerdict(value: OutgoingMessage | Verdict): value is Verdict {
  return 'kind' in value
}

/** Never throws for failures of the server. */
export async function offer(
  connection: Connection,
  message: OutgoingMessage,
  deps: { clock: Clock; signal: AbortSignal },
): Promise<TransferResult> {
  const refusal = obstacle(connection, message)
  const { extensions, channel } = connection
  const refusals = message.recipients.map((address) => {
    if (refusal !== null || extensions.smtpUtf8 || !isBeyondAscii(address)) return refusal
    return never(`${channel.peer} does not accept non-ASCII addresses (SMTPUTF8).`, '5.6.7', 'recipient')
  })
  const recipients = message.recipients.filter((_, index) => refusals[index] === null)
  if (recipients.length === 0) return { kind: 'answered', verdicts: refusals as Verdict[] }
  const unlisten = channel.failOn(deps.signal)
  const rest = { ...message, recipients }
  const result = evaluateTransfer(await transfer(connection, rest, deps.clock).finally(unlisten), rest, connection)
  if (result.kind !== 'answered') return result
  const said = result.verdicts.values()
  return { ...result, verdicts: refusals.map((verdict) => verdict ?? said.next().value!) }
}

/** Why this server cannot accept the message for any recipient; null if it can. */
function obstacle({ extensions, channel }: Connection, { content, mailFrom }: OutgoingMessage): Verdict | null {
  const { sizeMax, smtpUtf8, eightBitMime } = extensions
  // RFC 1870 §6.1.
  if (sizeMax !== null && content.sizeBytes > sizeMax) {
    const sentence = `${channel.peer} accepts messages of up to ${sizeMax} bytes; this one has ${content.sizeBytes}.`
    return never(sentence, '5.3.4', 'content')
  }
  if (!smtpUtf8 && (content.utf8Header || isBeyondAscii(mailFrom))) {
    return never(`${channel.peer} does not accept non-ASCII senders and header fields (SMTPUTF8).`, '5.6.7', 'content')
  }
  if (!eightBitMime && content.eightBit) {
    return never(`${channel.peer} does not accept non-ASCII octets (8BITMIME).`, '5.6.3', 'content')
  }
  return null
}

function never(sentence: string, code: string, about: 'recipient' | 'content'): Verdict {
  return { kind: 'never', reply: ownReply(sentence, code), about }
}

function isBeyondAscii(text: string): boolean {
  return /[^\x00-\x7f]/.test(text)
}

function hasControlCharacter(address: string): boolean {
  return /[\x00-\x1f\x7f]/.test(address)
}
