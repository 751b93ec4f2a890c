// One mail over one connection: MAIL, RCPT and DATA (RFC 5321 3.3), in one go where the server takes it so (RFC 2920).

import { isAscii } from 'node:buffer'
import type { Clock } from '../../../base/clock.ts'
import { classifyReply } from '../../../reports/reply-class.ts'
import type { Stage } from '../transport.ts'
import type { Wire } from './channel.ts'
import type { Connection } from './connection.ts'
import type { Content } from './content.ts'
import { babble, Fault, lost, tooSlow } from './errors.ts'
import { COMMAND_MS, CONTENT_BYTES_PER_S, CONTENT_MS, ENVELOPE_MS, STRETCH_MS } from './limits.ts'
import { isPositive, type ServerReply } from './reply.ts'

export interface Letter {
  /** "" for the null sender. */
  mailFrom: string
  recipients: readonly string[]
  content: Content
}

/** What was said of a mail, as far as the conversation came. */
export interface Transfer {
  /** Reply to MAIL. */
  sender: ServerReply | null
  /** Replies to RCPT, in the order of the recipients; fewer when the conversation broke off. */
  recipients: ServerReply[]
  /** Reply to DATA when it refused, or to the whole mail. */
  content: ServerReply | null
  /** True once the end of the mail went out: the server may have taken it even where its answer never came. */
  isWhole: boolean
  fault: Fault | null
}

const CLOSING = 421
const GO_ON = 354

/** Never throws for what the other side does. */
export async function transfer(connection: Connection, letter: Letter, clock: Clock): Promise<Transfer> {
  const state: Transfer = { sender: null, recipients: [], content: null, isWhole: false, fault: null }
  const { wire } = connection
  const ms = ENVELOPE_MS + (letter.content.sizeBytes / CONTENT_BYTES_PER_S) * 1000
  // Each reply has its own time; a server that uses up all of them is too slow all the same.
  const limit = clock.after(ms, () => wire.fail(tooSlow(wire.peer, wire.stage, ms)))
  try {
    if (await envelope(connection, letter, state)) {
      await pour(connection, letter.content, state)
      limit.cancel()
      if (state.isWhole) state.content = await wire.read(CONTENT_MS)
      connection.isDirty = false
    }
  } catch (error) {
    if (!(error instanceof Fault)) {
      // A fault of ours: nobody may go on where it stopped.
      wire.fail(lost(wire.peer, wire.stage))
      throw error
    }
    state.fault = error
  } finally {
    limit.cancel()
  }
  // It was an answer, and the last one (RFC 5321 3.8).
  if (state.content?.code === CLOSING) wire.fail(lost(wire.peer, 'data'))
  return state
}

/** @returns true when the server waits for the mail, and somebody is to get it */
async function envelope(connection: Connection, letter: Letter, state: Transfer): Promise<boolean> {
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

export function mailCommand({ extensions }: Connection, { mailFrom, recipients, content }: Letter): string {
  // RFC 6531 3.4: asked for only where it is needed, because the next server may not have it.
  const utf8 = content.utf8Header || [mailFrom, ...recipients].some((address) => !isAscii(Buffer.from(address)))
  const size = extensions.size ? ` SIZE=${content.sizeBytes}` : ''
  const body = content.eightBit && extensions.eightBitMime ? ' BODY=8BITMIME' : ''
  const utf = utf8 && extensions.smtpUtf8 ? ' SMTPUTF8' : ''
  return `MAIL FROM:<${mailFrom}>${size}${body}${utf}`
}

/** Gives the replies to commands one by one; the commands go ahead of them where that is allowed. */
function asker({ wire }: Connection, commands: readonly string[], pipelining: boolean) {
  let next = 0
  if (pipelining) wire.say(...commands)
  return async (stage: Stage): Promise<ServerReply> => {
    wire.stage = stage
    if (!pipelining) wire.say(commands[next++]!)
    const reply = await wire.read(COMMAND_MS)
    // A reply was left out: nobody knows any more what answers what.
    if (reply.code === GO_ON && stage !== 'data')
      throw broken(wire, 'wants a mail before it answered to all recipients')
    if (reply.code !== CLOSING) return reply
    const kept = wire.kept(reply)
    const fault = new Fault('refused', stage, kept, classifyReply(kept).cause)
    wire.fail(fault)
    throw fault
  }
}

/** RFC 2920 3.1: DATA went out before all recipients were refused, and the server waits for a mail. */
async function empty(connection: Connection, state: Transfer): Promise<void> {
  const { wire } = connection
  // With the sender refused it must not: whoever takes a mail then may take an empty one, too.
  if (!isPositive(state.sender!)) throw broken(wire, 'wants a mail although it refused the sender')
  wire.say('.')
  await wire.read(COMMAND_MS)
  connection.isDirty = false
}

async function pour({ wire }: Connection, content: Content, state: Transfer): Promise<void> {
  wire.stage = 'data'
  wire.expect(1)
  const last = content.pieces.length - 1
  for (const [index, piece] of content.pieces.entries()) {
    if (index === last) state.isWhole = wire.isOpen
    if (await wire.pour(piece, STRETCH_MS)) continue
    // Some refuse in the middle of a mail and close: nobody may write commands behind half a mail.
    state.isWhole = false
    state.content = await wire.read(COMMAND_MS)
    wire.fail(lost(wire.peer, 'data'))
    if (isPositive(state.content)) throw babble(wire.peer, 'data', 'took a mail before it was there')
    return
  }
}

function broken(wire: Wire, what: string): Fault {
  const fault = babble(wire.peer, wire.stage, what)
  wire.fail(fault)
  return fault
}
