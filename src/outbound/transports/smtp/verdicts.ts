// Derives the verdict for each recipient from the replies of a transaction.

import { classifyReply } from '../../../reports/reply-class.ts'
import type { DelayCause, RemoteReply } from '../../model/records.ts'
import type { Stage, Verdict } from '../../model/transport.ts'
import type { Connection } from './connection.ts'
import type { SmtpError } from './errors.ts'
import { isPermanent, isPositive, ownReply, type ServerReply } from './reply.ts'
import type { OutgoingMessage, Transfer } from './transfer.ts'

export type TransferResult =
  /**
   * One verdict per recipient, in order.
   * @property mayBeTaken true when the server has the whole message but sent no reply: another attempt may duplicate it (RFC 1047)
   */
  | { kind: 'answered'; verdicts: Verdict[]; mayBeAccepted?: boolean }
  /** The session ended before any recipient was decided: another server may be tried. */
  | { kind: 'broken'; error: SmtpError }
  /** The server refuses the sender, regardless of the recipients. */
  | { kind: 'sender'; stage: Stage; reply: RemoteReply; cause: DelayCause }

/** Reply codes that require authentication or report its failure (RFC 4954 §6). */
export const SIGN_IN_FIRST = new Set([530, 534, 535, 538])
const TOO_LARGE = 552

export function evaluateTransfer(
  transfer: Transfer,
  message: OutgoingMessage,
  { channel }: Connection,
): TransferResult {
  const { sender, recipients, content, error } = transfer
  const storedReply = (reply: ServerReply) => channel.storedReply(reply)
  if (sender === null) return { kind: 'broken', error: error! }
  if (!isPositive(sender)) return senderRefusal(storedReply(sender), message)
  const refused = recipients.find(({ code }) => SIGN_IN_FIRST.has(code))
  if (refused && !recipients.some(isPositive)) return senderRefusal(storedReply(refused), message)
  const broken = error === null ? null : lateVerdict(transfer, error)
  const whole = content === null ? broken : contentVerdict(content, storedReply(content))
  const verdicts = message.recipients.map((_, index) => {
    const said = recipients[index]
    if (said === undefined) return broken!
    return isPositive(said) ? whole! : recipientVerdict(said, storedReply(said), recipients.slice(0, index))
  })
  const isDecided = verdicts.some((verdict) => verdict !== broken)
  const mayBeAccepted = transfer.isWhole && content === null
  return isDecided || mayBeAccepted ? { kind: 'answered', verdicts, mayBeAccepted } : { kind: 'broken', error: error! }
}

/** A refusal at MAIL concerns the sender, unless it concerns the declared SIZE (RFC 1870 §6). */
function senderRefusal(reply: RemoteReply, message: OutgoingMessage): TransferResult {
  if (reply.smtpCode === TOO_LARGE || reply.enhancedCode === '5.3.4') {
    return { kind: 'answered', verdicts: message.recipients.map(() => ({ kind: 'never', reply, about: 'content' })) }
  }
  const stage = SIGN_IN_FIRST.has(reply.smtpCode!) ? 'auth' : 'sender'
  return { kind: 'sender', stage, reply, cause: classifyReply(reply).cause }
}

function recipientVerdict(said: ServerReply, reply: RemoteReply, before: readonly ServerReply[]): Verdict {
  // RFC 5321 §4.5.3.1.10: 552 after accepted recipients means "too many recipients", which is a temporary failure.
  const isTooMany = said.code === TOO_LARGE && said.enhanced !== '5.2.2' && before.some(isPositive)
  if (isPermanent(said) && !isTooMany) return { kind: 'never', reply, about: 'recipient' }
  return { kind: 'later', reply, cause: classifyReply(reply).cause }
}

function contentVerdict(said: ServerReply, reply: RemoteReply): Verdict {
  if (isPositive(said)) return { kind: 'sent', reply }
  const { about, cause } = classifyReply(reply, 'data')
  return isPermanent(said) ? { kind: 'never', reply, about, stage: 'data' } : { kind: 'later', reply, cause }
}

function lateVerdict({ isWhole }: Transfer, { reply, cause }: SmtpError): Verdict {
  if (!isWhole) return { kind: 'later', reply, cause }
  // RFC 1047: a retry can duplicate the message; without one it could be lost.
  return {
    kind: 'later',
    reply: ownReply(`${reply.text} It had received the whole message and may have accepted it.`),
    cause,
  }
}
