// One mail transaction: MAIL, RCPT and DATA (RFC 5321 §3.3), pipelined if the server allows it (RFC 2920).

import { isAscii } from 'node:buffer'
import type { Clock } from '../../../base/clock.ts'
import { classifyReply } from '../../../reports/reply-class.ts'
import type { Stage } from '../../model/transport.ts'
import type { SmtpChannel } from './channel.ts'
import type { Connection } from './connection.ts'
import type { DataContent } from './content.ts'
import { lost, protocolError, SmtpError, timedOut } from './errors.ts'
import { CHUNK_MS, COMMAND_MS, CONTENT_BYTES_PER_S, CONTENT_MS, ENVELOPE_MS } from './limits.ts'
import { isPositive, type ServerReply } from './reply.ts'

export interface OutgoingMessage {
  /** "" for the null sender. */
  mailFrom: string
  recipients: readonly string[]
  content: DataContent
  /** Called when the end of data has been sent and the bytes are needed no more: the reply may take ten minutes. */
  onSent?(): void
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
  error: SmtpError | null
}

const CLOSING = 421
const START_INPUT = 354

/** Never throws for failures of the server. */
export async function transfer(connection: Connection, message: OutgoingMessage, clock: Clock): Promise<Transfer> {
  const state: Transfer = { sender: null, recipients: [], content: null, isWhole: false, error: null }
  const { channel } = connection
  const ms = ENVELOPE_MS + (message.content.sizeBytes / CONTENT_BYTES_PER_S) * 1000
  // Each reply has its own timeout; this one limits their sum.
  const limit = clock.after(ms, () => channel.fail(timedOut(channel.peer, channel.stage, ms)))
  try {
    if (await envelope(connection, message, state)) {
      await writeContent(connection, message.content, state)
      limit.cancel()
      if (state.isWhole) {
        // Nothing may keep the bytes in memory while the server works.
        message.content.pieces = []
        message.onSent?.()
        state.content = await channel.read(CONTENT_MS)
      }
      connection.isDirty = false
    }
  } catch (error) {
    if (!(error instanceof SmtpError)) {
      // An internal error: the connection must not be reused in this state.
      channel.fail(lost(channel.peer, channel.stage))
      throw error
    }
    state.error = error
  } finally {
    limit.cancel()
  }
  // 421 is a valid reply, but the server closes the connection after it (RFC 5321 §3.8).
  if (state.content?.code === CLOSING) channel.fail(lost(channel.peer, 'data'))
  return state
}

/** @returns true when the server accepted a recipient and waits for the content */
async function envelope(connection: Connection, message: OutgoingMessage, state: Transfer): Promise<boolean> {
  const { channel, extensions, isDirty } = connection
  const commands = [
    mailCommand(connection, message),
    ...message.recipients.map((address) => `RCPT TO:<${address}>`),
    'DATA',
  ]
  const next = replyReader(connection, isDirty ? ['RSET', ...commands] : commands, extensions.pipelining)
  connection.transactions++
  connection.isDirty = true
  if (isDirty) await next('sender')
  state.sender = await next('sender')
  if (!isPositive(state.sender) && !extensions.pipelining) return false
  for (const _ of message.recipients) state.recipients.push(await next('recipient'))
  const isAccepted = isPositive(state.sender) && state.recipients.some(isPositive)
  if (!isAccepted && !extensions.pipelining) return false
  const reply = await next('data')
  if (reply.code === START_INPUT && isAccepted) return true
  if (!isAccepted) channel.stage = isPositive(state.sender) ? 'recipient' : 'sender'
  if (reply.code === START_INPUT) await sendEmptyContent(connection, state)
  else if (isPositive(reply)) throw violation(channel, 'accepted a message before its content was sent')
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
function replyReader({ channel }: Connection, commands: readonly string[], pipelining: boolean) {
  let next = 0
  if (pipelining) channel.send(...commands)
  return async (stage: Stage): Promise<ServerReply> => {
    channel.stage = stage
    if (!pipelining) channel.send(commands[next++]!)
    const reply = await channel.read(COMMAND_MS)
    // The server skipped a reply, so replies no longer match commands.
    if (reply.code === START_INPUT && stage !== 'data')
      throw violation(channel, 'requested content before it replied to all recipients')
    if (reply.code !== CLOSING) return reply
    const storedReply = channel.storedReply(reply)
    const error = new SmtpError('refused', stage, storedReply, classifyReply(storedReply).cause)
    channel.fail(error)
    throw error
  }
}

/** RFC 2920 §3.1: pipelined DATA was accepted although all recipients were refused; ends it with empty content. */
async function sendEmptyContent(connection: Connection, state: Transfer): Promise<void> {
  const { channel } = connection
  // After a refused sender 354 is a violation: such a server might deliver the empty message.
  if (!isPositive(state.sender!)) throw violation(channel, 'requested content although it refused the sender')
  channel.send('.')
  await channel.read(COMMAND_MS)
  connection.isDirty = false
}

async function writeContent({ channel }: Connection, content: DataContent, state: Transfer): Promise<void> {
  channel.stage = 'data'
  channel.expect(1)
  const last = content.pieces.length - 1
  for (const [index, piece] of content.pieces.entries()) {
    if (index === last) state.isWhole = channel.isOpen
    if (await channel.writeContent(piece, CHUNK_MS)) continue
    // Some servers reply early and close; commands after partial content would be read as content.
    state.isWhole = false
    state.content = await channel.read(COMMAND_MS)
    channel.fail(lost(channel.peer, 'data'))
    if (isPositive(state.content))
      throw protocolError(channel.peer, 'data', 'accepted a message before its content was sent')
    return
  }
}

function violation(channel: SmtpChannel, what: string): SmtpError {
  const error = protocolError(channel.peer, channel.stage, what)
  channel.fail(error)
  return error
}
