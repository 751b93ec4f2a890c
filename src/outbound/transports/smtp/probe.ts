// Probes whether a server accepts an envelope: sends MAIL and RCPT, but no content.

import { refusesSender } from '../../../reports/sender-refusal.ts'
import type { RemoteReply } from '../../model/records.ts'
import type { Stage } from '../../model/transport.ts'
import type { Connection } from './connection.ts'
import { COMMAND_MS } from './limits.ts'
import { isVerdict, outgoingMessageOf } from './offer.ts'
import { isPermanent, isPositive, type ServerReply } from './reply.ts'
import { mailCommand } from './transfer.ts'
import { SIGN_IN_FIRST } from './verdicts.ts'

export interface EnvelopeRefusal {
  stage: Stage
  reply: RemoteReply
  /** True when the refusal applies to every message with this sender; false for a refused recipient. */
  isOfAccount: boolean
}

/**
 * The next transaction clears the envelope with RSET.
 * @returns null when the server accepts the envelope @throws SmtpError
 */
export async function tryEnvelope(
  connection: Connection,
  mailFrom: string,
  recipient: string,
): Promise<EnvelopeRefusal | null> {
  const { channel } = connection
  const message = outgoingMessageOf({ bytes: new Uint8Array(), mailFrom, recipients: [recipient] })
  if (isVerdict(message)) return { stage: 'sender', reply: message.reply, isOfAccount: true }
  const ask = async (stage: Stage, command: string): Promise<ServerReply> => {
    channel.stage = stage
    channel.send(command)
    return channel.read(COMMAND_MS)
  }
  if (connection.isDirty) await ask('sender', 'RSET')
  connection.isDirty = true
  const sender = await ask('sender', mailCommand(connection, message))
  const said = isPositive(sender) ? await ask('recipient', `RCPT TO:<${recipient}>`) : sender
  if (isPositive(said)) return null
  const reply = channel.storedReply(said)
  if (SIGN_IN_FIRST.has(said.code)) return { stage: 'auth', reply, isOfAccount: true }
  const isOfAccount = isPermanent(said) && (said === sender || refusesSender(reply))
  return { stage: isOfAccount || said === sender ? 'sender' : 'recipient', reply, isOfAccount }
}
