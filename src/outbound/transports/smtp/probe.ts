// Whether a server would take an envelope: MAIL and RCPT are said, and nothing is sent.

import { refusesSender } from '../../../reports/sender-refusal.ts'
import type { Reply } from '../../records.ts'
import type { Stage } from '../transport.ts'
import type { Connection } from './connection.ts'
import { COMMAND_MS } from './limits.ts'
import { isVerdict, letterOf } from './offer.ts'
import { isPermanent, isPositive, type ServerReply } from './reply.ts'
import { mailCommand } from './transfer.ts'
import { SIGN_IN_FIRST } from './verdicts.ts'

export interface EnvelopeRefusal {
  stage: Stage
  reply: Reply
  /** True where the refusal holds for every message with this sender; a recipient that is refused says nothing of it. */
  isOfAccount: boolean
}

/**
 * The server forgets the envelope with the next transaction (RSET).
 * @returns null when it was taken @throws Fault
 */
export async function tryEnvelope(
  connection: Connection,
  mailFrom: string,
  recipient: string,
): Promise<EnvelopeRefusal | null> {
  const { wire } = connection
  const letter = letterOf({ bytes: new Uint8Array(), mailFrom, recipients: [recipient] })
  if (isVerdict(letter)) return { stage: 'sender', reply: letter.reply, isOfAccount: true }
  const ask = async (stage: Stage, command: string): Promise<ServerReply> => {
    wire.stage = stage
    wire.say(command)
    return wire.read(COMMAND_MS)
  }
  if (connection.isDirty) await ask('sender', 'RSET')
  connection.isDirty = true
  const sender = await ask('sender', mailCommand(connection, letter))
  const said = isPositive(sender) ? await ask('recipient', `RCPT TO:<${recipient}>`) : sender
  if (isPositive(said)) return null
  const reply = wire.kept(said)
  if (SIGN_IN_FIRST.has(said.code)) return { stage: 'auth', reply, isOfAccount: true }
  const isOfAccount = isPermanent(said) && (said === sender || refusesSender(reply))
  return { stage: isOfAccount || said === sender ? 'sender' : 'recipient', reply, isOfAccount }
}
