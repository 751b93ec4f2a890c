// What a conversation means for each recipient of the mail.

import { classifyReply } from '../../../reports/reply-class.ts'
import type { DelayCause, Reply } from '../../records.ts'
import type { Stage, Verdict } from '../transport.ts'
import type { Connection } from './connection.ts'
import type { Fault } from './errors.ts'
import { isPermanent, isPositive, ownReply, type ServerReply } from './reply.ts'
import type { Letter, Transfer } from './transfer.ts'

export type Judged =
  /**
   * One verdict for each recipient, in their order.
   * @property mayBeTaken true when the server has the whole message and has not answered to it: no other server may get it now
   */
  | { kind: 'answered'; verdicts: Verdict[]; mayBeTaken?: boolean }
  /** Nothing was said of any recipient: another way may do. */
  | { kind: 'broken'; fault: Fault }
  /** Whoever sends is turned away, whoever is written to. */
  | { kind: 'sender'; stage: Stage; reply: Reply; cause: DelayCause }

/** RFC 4954 6: who does not sign in must not send. */
export const SIGN_IN_FIRST = new Set([530, 534, 535, 538])
const TOO_LARGE = 552

export function judge(transfer: Transfer, letter: Letter, { wire }: Connection): Judged {
  const { sender, recipients, content, fault } = transfer
  const kept = (reply: ServerReply) => wire.kept(reply)
  if (sender === null) return { kind: 'broken', fault: fault! }
  if (!isPositive(sender)) return judgeSender(kept(sender), letter)
  const barred = recipients.find(({ code }) => SIGN_IN_FIRST.has(code))
  if (barred && !recipients.some(isPositive)) return judgeSender(kept(barred), letter)
  const broken = fault === null ? null : lateVerdict(transfer, fault)
  const whole = content === null ? broken : contentVerdict(content, kept(content))
  const verdicts = letter.recipients.map((_, index) => {
    const said = recipients[index]
    if (said === undefined) return broken!
    return isPositive(said) ? whole! : recipientVerdict(said, kept(said), recipients.slice(0, index))
  })
  const isDecided = verdicts.some((verdict) => verdict !== broken)
  const mayBeTaken = transfer.isWhole && content === null
  return isDecided || mayBeTaken ? { kind: 'answered', verdicts, mayBeTaken } : { kind: 'broken', fault: fault! }
}

/** A refusal at MAIL is one of the sender, but where it is about the size that was told with it (RFC 1870 6). */
function judgeSender(reply: Reply, letter: Letter): Judged {
  if (reply.smtpCode === TOO_LARGE || reply.enhancedCode === '5.3.4') {
    return { kind: 'answered', verdicts: letter.recipients.map(() => ({ kind: 'never', reply, about: 'content' })) }
  }
  const stage = SIGN_IN_FIRST.has(reply.smtpCode!) ? 'auth' : 'sender'
  return { kind: 'sender', stage, reply, cause: classifyReply(reply).cause }
}

function recipientVerdict(said: ServerReply, reply: Reply, before: readonly ServerReply[]): Verdict {
  // RFC 5321 4.5.3.1.10: for one recipient too many some say 552, and mean "not in this mail".
  const isTooMany = said.code === TOO_LARGE && said.enhanced !== '5.2.2' && before.some(isPositive)
  if (isPermanent(said) && !isTooMany) return { kind: 'never', reply, about: 'recipient' }
  return { kind: 'later', reply, cause: classifyReply(reply).cause }
}

function contentVerdict(said: ServerReply, reply: Reply): Verdict {
  if (isPositive(said)) return { kind: 'sent', reply }
  const { about, cause } = classifyReply(reply, 'data')
  return isPermanent(said) ? { kind: 'never', reply, about, stage: 'data' } : { kind: 'later', reply, cause }
}

function lateVerdict({ isWhole }: Transfer, { reply, cause }: Fault): Verdict {
  if (!isWhole) return { kind: 'later', reply, cause }
  // RFC 1047: it may arrive twice now; not to send it again might lose it.
  return {
    kind: 'later',
    reply: ownReply(`${reply.text} It had got the whole mail and may have taken it.`),
    cause,
  }
}
