// APPEND and REPLACE (RFC 9051 §6.3.12, RFC 3502, RFC 6855 §4, RFC 8508): messages are spooled, read and stored in one unit of work.

import { readFile } from 'node:fs/promises'
import { DAY_MS } from '../../base/durations.ts'
import { type SpooledMessage, SpoolFull } from '../../smtp/spool.ts'
import type { FolderStatus } from '../../store/folders-views.ts'
import type { MessageReading } from '../../workers/inspection.ts'
import { bad, no, ok, type TaggedAnswer } from '../answers.ts'
import { appendIn } from '../append-message.ts'
import type { Invocation } from '../command.ts'
import { namedFolder } from '../folder-tree.ts'
import { Cursor, ImapSyntaxError } from '../grammar/cursor.ts'
import { readDateTime } from '../grammar/dates.ts'
import { type FlagSet, readFlagList } from '../grammar/flags.ts'
import { formatRanges, rangesOf } from '../grammar/sets.ts'
import { APPEND_BYTES, APPEND_MESSAGES, MESSAGE_BYTES } from '../limits.ts'
import { readMailboxName } from '../names.ts'
import type { CommandSegment, ContentHeader } from '../reader.ts'
import { command, type ImapCommand, type ImapSession } from '../session.ts'
import { announceChanges } from '../updates.ts'
import { storedKeywords } from './store.ts'

/** What stands before a message. */
interface MessageHeader {
  flags: FlagSet
  /** ms; null: now. */
  date: number | null
  /** In `UTF8 (…)` (RFC 6855). */
  isUtf8: boolean
}

interface AppendedMessage extends MessageHeader {
  reading: MessageReading
}

/** Flags, date and, for UTF8, the parenthesis before a message literal. */
function readMessageHeader(cursor: Cursor): MessageHeader {
  const header: MessageHeader = { flags: { system: [], keywords: [] }, date: null, isUtf8: false }
  if (cursor.isAtList) {
    header.flags = readFlagList(cursor)
    cursor.space()
  }
  if (cursor.isAt('"')) {
    header.date = readDateTime(cursor)
    cursor.space()
  }
  if (cursor.skipWord('UTF8')) {
    cursor.space()
    cursor.expect('(')
    header.isUtf8 = true
  }
  if (!cursor.isAtContent) throw new ImapSyntaxError('Expected a message.')
  return header
}

interface AppendArguments {
  name: Buffer
  first: MessageHeader
}

function readAppend(cursor: Cursor): AppendArguments {
  cursor.space()
  const name = readMailboxName(cursor)
  cursor.space()
  return { name, first: readMessageHeader(cursor) }
}

/** Reads the messages of one command. The segments of the command are consumed also when it fails. */
class MessageIntake {
  readonly messages: AppendedMessage[] = []
  readonly #session: ImapSession
  readonly #most: number
  #bytes = 0

  constructor(session: ImapSession, most: number) {
    this.#session = session
    this.#most = most
  }

  /** @throws CommandFailure */
  async takeAll(first: MessageHeader, segment: CommandSegment, canTake: (bytes: number) => void): Promise<void> {
    let header = first
    let current = segment
    for (;;) {
      await this.#check(current, header, canTake)
      const taken = { ...header, reading: await this.#take(current.content!) }
      current = await this.#session.reader.segment()
      const next = await this.#readNext(current, taken)
      // Only now: the content of a command that is BAD is not stored.
      await this.#session.app.store.blobs.putAll([taken.reading])
      // Its chunks are not needed any longer.
      this.messages.push({ ...taken, reading: { ...taken.reading, chunks: [] } })
      if (next === null) return
      header = next
    }
  }

  /** What follows a message: null at the end of the command. */
  async #readNext(segment: CommandSegment, { isUtf8 }: MessageHeader): Promise<MessageHeader | null> {
    try {
      const cursor = new Cursor(segment.pieces, segment.content !== null)
      if (isUtf8) cursor.expect(')')
      if (segment.content !== null) {
        cursor.space()
        return readMessageHeader(cursor)
      }
      cursor.end()
      return null
    } catch (error) {
      await this.#session.discard(segment)
      throw error
    }
  }

  /** Refuses a message before it is sent where the client waits, and after having read it otherwise. */
  async #check(segment: CommandSegment, header: MessageHeader, canTake: (bytes: number) => void): Promise<void> {
    const { bytes } = segment.content!
    try {
      canTake(this.#bytes + bytes)
      if (header.isUtf8 && !this.#session.utf8) throw bad('Enable UTF8=ACCEPT first.')
      if (bytes > MESSAGE_BYTES || this.#bytes + bytes > APPEND_BYTES) throw no('TOOBIG', 'The message is too large.')
      if (this.messages.length === this.#most) throw no('LIMIT', 'Too many messages in one command.')
      if (bytes === 0) throw no('CANNOT', 'A message must not be empty.')
    } catch (error) {
      await this.#session.discard(segment)
      throw error
    }
    this.#bytes += bytes
  }

  async #take({ bytes, isSync }: ContentHeader): Promise<MessageReading> {
    const { app, deadlines } = this.#session
    if (isSync) this.#session.requestLiteral()
    deadlines.contentBegan()
    let spooled: SpooledMessage
    try {
      spooled = await app.appendSpool.receive(this.#pieces(bytes))
    } catch (error) {
      if (error instanceof SpoolFull) throw no('UNAVAILABLE', 'Too many messages are being stored. Try again later.')
      throw error
    } finally {
      deadlines.contentEnded()
    }
    try {
      const { source, sizeBytes } = spooled
      const load = async () => ('bytes' in source ? source.bytes : await readFile(source.file))
      return await app.inspector.read(sizeBytes, load)
    } finally {
      await spooled.release()
    }
  }

  async *#pieces(bytes: number): AsyncGenerator<Buffer> {
    for await (const piece of this.#session.reader.content(bytes)) {
      this.#session.deadlines.progress(piece.length)
      yield piece
    }
  }
}

/** The time a message gets: a time more than a day ahead means now (decisions-imap §3.3). */
function receivedAt(date: number | null, now: number): number {
  return date === null || date < 0 || date > now + DAY_MS ? now : date
}

function targetOf(session: ImapSession, name: Buffer): FolderStatus {
  return namedFolder(session, name, 'TRYCREATE').folder
}

/** Refuses what cannot fit before it is sent. @param bytes of the messages so far */
function assertRoom({ app, signedIn }: ImapSession, bytes: number): void {
  const { mailboxId } = signedIn.account
  const used = app.store.accounts.byMailbox(mailboxId)?.usedBytes ?? 0
  const quota = app.directory.mailboxes.byId(mailboxId)?.quotaBytes ?? 0
  if (used + bytes > quota) throw no('OVERQUOTA', 'The mailbox is full.')
}

/** Stores all messages in one unit of work. @returns their UIDs */
async function storeAll(
  session: ImapSession,
  target: FolderStatus,
  messages: readonly AppendedMessage[],
): Promise<number[]> {
  const { app } = session
  const now = app.clock.now()
  const stored = messages.map(({ reading, flags, date }) => ({
    message: { reading, target, keywords: storedKeywords(flags), receivedAt: receivedAt(date, now) },
    isDeleted: flags.system.includes('deleted'),
  }))
  return app.db.write((tx) => {
    const uids = stored.map(({ message }) => appendIn(session, tx, message))
    const deleted = uids.filter((_, index) => stored[index]!.isDeleted)
    if (deleted.length > 0)
      app.store.flags.changeIn(tx, session.signedIn.account, { folder: target.n, uids: deleted }, { deleted: true })
    return uids
  })
}

async function append(
  session: ImapSession,
  { name, first }: AppendArguments,
  segment: CommandSegment,
): Promise<TaggedAnswer> {
  const intake = new MessageIntake(session, APPEND_MESSAGES)
  await intake.takeAll(first, segment, (bytes) => {
    targetOf(session, name)
    assertRoom(session, bytes)
  })
  const target = targetOf(session, name)
  const uids = await storeAll(session, target, intake.messages)
  return ok('Stored.', `APPENDUID ${target.uidValidity} ${formatRanges(rangesOf(uids))}`)
}

export const appendCommand = command({
  name: 'APPEND',
  in: 'authenticated',
  needs: 'write',
  takesContent: true,
  read: readAppend,
  run: (args, session, { segment }) => append(session, args, segment),
})

interface ReplaceArguments extends AppendArguments {
  /** Sequence number, or UID. */
  number: number
}

function readReplace(cursor: Cursor): ReplaceArguments {
  cursor.space()
  const number = cursor.nzNumber()
  return { number, ...readAppend(cursor) }
}

async function replace(
  session: ImapSession,
  args: ReplaceArguments,
  { segment, isUid }: Invocation,
): Promise<TaggedAnswer> {
  const { app, folder, signedIn } = session
  const uid = () => {
    if (folder.isReadOnly) throw no('READ-ONLY', 'The mailbox was opened read-only.')
    if (isUid) return folder.view.sequenceOf(args.number) === 0 ? null : args.number
    if (args.number > folder.view.count) throw bad('There is no message with this number.')
    return folder.view.uidAt(args.number)
  }
  const intake = new MessageIntake(session, 1)
  await intake.takeAll(args.first, segment, (bytes) => {
    targetOf(session, args.name)
    assertRoom(session, bytes)
    if (uid() === null) throw no('NONEXISTENT', 'There is no such message.')
  })
  const target = targetOf(session, args.name)
  const [appended] = intake.messages
  const old = uid()!
  const now = app.clock.now()
  const added = await app.db.write((tx) => {
    const message = { reading: appended!.reading, target, keywords: storedKeywords(appended!.flags) }
    const newUid = appendIn(session, tx, { ...message, receivedAt: receivedAt(appended!.date, now) })
    const { account } = signedIn
    app.store.flags.changeIn(tx, account, { folder: folder.n, uids: [old] }, { deleted: true })
    app.store.moves.expungeIn(tx, account, folder.n, [old])
    return newUid
  })
  session.say(`* OK [APPENDUID ${target.uidValidity} ${added}] Replaced.\r\n`)
  await announceChanges(session, { mayRemove: true, withUid: isUid })
  return ok('Replaced.')
}

export const replaceCommand: ImapCommand = command({
  name: 'REPLACE',
  in: 'selected',
  needs: 'write',
  uid: true,
  takesContent: true,
  read: readReplace,
  run: (args, session, invocation) => replace(session, args, invocation),
})
