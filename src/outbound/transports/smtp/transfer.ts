// One mail transaction: MAIL, RCPT and DATA (RFC 5321 §3.3), pipelined if the server allows it (RFC 2920).

import { isAscii } from 'node:buffer'
import type { Clock } from '../../../base/clock.ts'
import { classifyReply } from '../../../reports/reply-class.ts'
import type { Stage } from '../transport.ts'
import type { SmtpChannel } from './channel.ts'
import type { Connection } from './connection.ts'
import type { DataContent } from './content.ts'
import { lost, protocolError, SmtpError, tooSlow } from './errors.ts'
import { COMMAND_MS, CONTENT_BYTES_PER_S, CONTENT_MS, ENVELOPE_MS, STRETCH_MS } from './limits.ts'
import { isPositive, type ServerReply } from './reply.ts'

export interface OutgoingMessage {
  /** "" for the null sender. */
  mailFrom: string
  recipients: readonly string[]
  content: DataContent
}

/** The replies of a transaction, as far as it got. */
export interface Transfer {
  /** Reply to MAIL. */
  sender: ServerReply | null
  /** Replies to RCPT, in the order of the recipients; fewer if the session broke. */
  recipients: ServerReply[]
  /** The negative reply to DATA, or the reply to the end of data. */
  content: ServerReply | null
  /** True once the end of data was sent: the server may have accepted the message even without a reply. */
  isWhole: boolean
  fault: SmtpError | null
}

const CLOSING = 421
const GO_ON = 354

/** Never throws for failures of the server. */
export async function transfer(connection: Connection, letter: OutgoingMessage, clock: Clock): Promise<Transfer> {
  const state: Transfer = { sender: null, recipients: [], content: null, isWhole: false, fault: null }
  const { wire } = connection
  const ms = ENVELOPE_MS + (letter.content.sizeBytes / CONTENT_BYTES_PER_S) * 1000
  // Each reply has its own timeout; this one limits their sum.
  const limit = clock.after(ms, () => wire.fail(tooSlow(wire.peer, wire.stage, ms)))
  try {
    if (await envelope(connection, letter, state)) {
      await pour(connection, letter.content, state)
      limit.cancel()
      if (state.isWhole) state.content = await wire.read(CONTENT_MS)
      connection.isDirty = false
    }
  } catch (error) {
    if (!(error instanceof SmtpError)) {
      // An internal error: the connection must not be reused in this state.
      wire.fail(lost(wire.peer, wire.stage))
      throw error
    }
    state.fault = error
  } finally {
    limit.cancel()
  }
  // 421 is a valid reply, but the server closes the connection after it (RFC 5321 §3.8).
  if (state.content?.code === CLOSING) wire.fail(lost(wire.peer, 'data'))
  return state
}

/** @returns true when the server accepted a recipient and waits for the content */
async function envelope(connection: Connection, letter: OutgoingMessage, state: Transfer): Promise<boolean> {
  const { wire, extensions, isDirty } = connection
  const commands = [
    mailCommand(connection, letter),
    ...letter.recipients.map((address) => `RCPT TO:<${address}>`),
    'DATA',
  ]
  const ask = asker(connection, isDirty ? ['RSET', ...commands] : commands, extensions.pipelining)
  connection.mails++
  connection.isDirty = true
  if (isDirty) await ask('sender')
  state.sender = await ask('sender')
  if (!isPositive(state.sender) && !extensions.pipelining) return false
  for (const _ of letter.recipients) state.recipients.push(await ask('recipient'))
  const isTaken = isPositive(state.sender) && state.recipients.some(isPositive)
  if (!isTaken && !extensions.pipelining) return false
  const reply = await ask('data')
  if (reply.code === GO_ON && isTaken) return true
  if (!isTaken) wire.stage = isPositive(state.sender) ? 'recipient' : 'sender'
  if (reply.code === GO_ON) await empty(connection, state)
  else if (isPositive(reply)) throw broken(wire, 'took a mail before it was there')
  else state.content = reply
  return false
}

export function mailCommand({ extensions }: Connection, { mailFrom, recipients, content }: OutgoingMessage): string {
  // RFC 6531 §3.4: request SMTPUTF8 only when needed, because the next hop may not support it.
  const utf8 = content.utf8Header || [mailFrom, ...recipients].some((address) => !isAscii(Buffer.from(address)))
  const size = extensions.size ? ` SIZE=${content.sizeBytes}` : ''
  const body = content.eightBit && extensions.eightBitMime ? ' BODY=8BITMIME' : ''
  const utf = utf8 && extensions.smtpUtf8 ? ' SMTPUTF8' : ''
  return `MAIL FROM:<${mailFrom}>${size}${body}${utf}`
}

/** Returns a function that reads the replies one by one; with pipelining all commands are sent first. */
function asker({ wire }: Connection, commands: readonly string[], pipelining: boolean) {
  let next = 0
  if (pipelining) wire.say(...commands)
  return async (stage: Stage): Promise<ServerReply> => {
    wire.stage = stage
    if (!pipelining) wire.say(commands[next++]!)
    const reply = await wire.read(COMMAND_MS)
    // The server skipped a reply, so replies no longer match commands.
    if (reply.code === GO_ON && stage !== 'data')
      throw broken(wire, 'wants a mail before it answered to all recipients')
    if (reply.code !== CLOSING) return reply
    const kept = wire.kept(reply)
    const fault = new SmtpError('refused', stage, kept, classifyReply(kept).cause)
    wire.fail(fault)
    throw fault
  }
}

/** RFC 2920 §3.1: pipelined DATA was accepted although all recipients were refused; ends it with empty content. */
async function empty(connection: Connection, state: Transfer): Promise<void> {
  const { wire } = connection
  // After a refused sender 354 is a violation: such a server might deliver the empty message.
  if (!isPositive(state.sender!)) throw broken(wire, 'wants a mail although it refused the sender')
  wire.say('.')
  await wire.read(COMMAND_MS)
  connection.isDirty = false
}

async function pour({ wire }: Connection, content: DataContent, state: Transfer): Promise<void> {
  wire.stage = 'data'
  wire.expect(1)
  const last = content.pieces.length - 1
  for (const [index, piece] of content.pieces.entries()) {
    if (index === last) state.isWhole = wire.isOpen
    if (await wire.pour(piece, STRETCH_MS)) continue
    // Some servers reply early and close; commands after partial content would be read as content.
    state.isWhole = false
    state.content = await wire.read(COMMAND_MS)
    wire.fail(lost(wire.peer, 'data'))
    if (isPositive(state.content)) throw protocolError(wire.peer, 'data', 'took a mail before it was there')
    return
  }
}

function broken(wire: SmtpChannel, what: string): SmtpError {
  const fault = protocolError(wire.peer, wire.stage, what)
  wire.fail(fault)
  return fault
}
