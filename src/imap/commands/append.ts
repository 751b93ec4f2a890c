// APPEND and REPLACE (RFC 9051 §6.3.12, RFC 3502, RFC 6855 §4, RFC 8508): messages are spooled, read and stored in one unit of work.

import { readFile } from 'node:fs/promises'
import { DAY_MS } from '../../base/durations.ts'
import { freeBytes } from '../../base/free-bytes.ts'
import { bytesOf } from '../../mime/chunks.ts'
import { type SpooledMessage, SpoolFull } from '../../smtp/spool.ts'
import type { FolderStatus } from '../../store/entries/folders-views.ts'
import { KEYWORDS_MAX } from '../../store/entries/keywords.ts'
import type { MessageReading } from '../../workers/inspection.ts'
import { Cursor, ImapSyntaxError } from '../grammar/cursor.ts'
import { readDateTime } from '../grammar/dates.ts'
import { type FlagSet, readFlagList } from '../grammar/flags.ts'
import { APPEND_BYTES, APPEND_MESSAGES, MESSAGE_BYTES } from '../grammar/limits.ts'
import { readMailboxName } from '../grammar/names.ts'
import { type CommandSegment, ConnectionEnded, type ContentHeader, ReadError } from '../grammar/reader.ts'
import { formatRanges, rangesOf } from '../grammar/sets.ts'
import { bad, no, ok, type TaggedAnswer } from '../session/answers.ts'
import type { Invocation } from '../session/command.ts'
import { discardContents } from '../session/discard.ts'
import { command, type ImapCommand, type ImapSession } from '../session/session.ts'
import { namedFolder } from '../untagged/folder-tree.ts'
import { appendIn } from './append-message.ts'
import { storedKeywords } from './store.ts'

/** What stands before a message. */
interface MessageHeader {
  flags: FlagSet
  /** ms; null: now. */
  date: number | null
  /** In `UTF8 (…)` (RFC 6855). */
  isUtf8: boolean
}

interface SpooledAppend extends MessageHeader {
  spooled: SpooledMessage
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

/** What follows a message: null at the end of the command. */
function readNext({ pieces, content }: CommandSegment, { isUtf8 }: MessageHeader): MessageHeader | null {
  const cursor = new Cursor(pieces, content !== null)
  if (isUtf8) cursor.expect(')')
  if (content === null) {
    cursor.end()
    return null
  }
  cursor.space()
  return readMessageHeader(cursor)
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

/**
 * The messages of one command. They stay in the spool until the command has ended and there is room for all of them: content that no
 * message references would be outside the quota.
 */
class MessageIntake {
  readonly #session: ImapSession
  readonly #most: number
  readonly #received: SpooledAppend[] = []
  #bytes = 0

  constructor(session: ImapSession, most: number) {
    this.#session = session
    this.#most = most
  }

  /** Of all messages together. */
  get bytes(): number {
    return this.#bytes
  }

  get count(): number {
    return this.#received.length
  }

  /**
   * Reads the messages to the end of the command. What the client sends without waiting is consumed also when it fails.
   * @param canTake throws when there is no place for the messages so far
   * @throws CommandFailure
   */
  async receiveAll(first: MessageHeader, segment: CommandSegment, canTake: () => void): Promise<void> {
    let header: MessageHeader | null = first
    let unread: CommandSegment | null = segment
    try {
      while (header !== null) {
        const content: ContentHeader = unread!.content!
        this.#check(content, header)
        canTake()
        unread = null
        const spooled: SpooledMessage = await this.#receive(content)
        this.#received.push({ ...header, spooled })
        unread = await this.#rest()
        header = readNext(unread, header)
      }
    } catch (error) {
      if (!(error instanceof ConnectionEnded || error instanceof ReadError))
        await discardContents(this.#session, unread ?? (await this.#rest()))
      throw error
    }
  }

  #rest(): Promise<CommandSegment> {
    const { deadlines, reader } = this.#session
    return deadlines.duringRest(reader.segment())
  }

  /** Stores the content of all messages. @param canStore throws when there is no room for a message */
  async storeContents(canStore: (reading: MessageReading) => void): Promise<AppendedMessage[]> {
    const stored: AppendedMessage[] = []
    while (this.#received.length > 0) {
      const { spooled, ...header } = this.#received.shift()!
      const { app, signedIn } = this.#session
      const reading = await app.memory.during(spooled.sizeBytes, signedIn.account.mailboxId, async () => {
        const read = await this.#read(spooled)
        canStore(read)
        await app.store.blobs.putAll([read])
        freeBytes(bytesOf(read))
        // Its chunks are not needed any longer.
        return { ...read, chunks: [] }
      })
      stored.push({ ...header, reading })
    }
    return stored
  }

  async #read({ source, sizeBytes, release }: SpooledMessage): Promise<MessageReading> {
    const load = async () => ('bytes' in source ? source.bytes : await readFile(source.file))
    return this.#session.app.inspector.read(sizeBytes, load).finally(release)
  }

  /** Frees the spool. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { spooled } of this.#received) await spooled.release()
  }

  #check({ bytes }: ContentHeader, { isUtf8, flags }: MessageHeader): void {
    if (isUtf8 && !this.#session.utf8) throw bad('Enable UTF8=ACCEPT first.')
    if (bytes > MESSAGE_BYTES || this.#bytes + bytes > APPEND_BYTES) throw no('TOOBIG', 'The message is too large.')
    if (this.count === this.#most) throw no('LIMIT', 'Too many messages in one command.')
    if (storedKeywords(flags).length > KEYWORDS_MAX)
      throw no('LIMIT', `A message has at most ${KEYWORDS_MAX} keywords.`)
    if (bytes === 0) throw no('CANNOT', 'A message must not be empty.')
    this.#bytes += bytes
  }

  /** The content is read to its end also when this fails. */
  async #receive({ bytes, isSync }: ContentHeader): Promise<SpooledMessage> {
    const { app, deadlines, signedIn } = this.#session
    if (isSync) this.#session.requestLiteral()
    deadlines.contentBegan()
    try {
      return await app.appendSpool.receive(this.#pieces(bytes), signedIn.account.n)
    } catch (error) {
      if (error instanceof SpoolFull) throw no('UNAVAILABLE', 'Too many messages are being stored. Try again later.')
      throw error
    } finally {
      deadlines.contentEnded()
    }
  }

  async *#pieces(bytes: number): AsyncGenerator<Buffer> {
    for await (const piece of this.#session.reader.content(bytes)) {
      this.#session.deadlines.progress(piece.length)
      yield piece
    }
  }
}

/** The time a message gets: a time more than a day ahead means now (docs/design/mail-programs.md §2.2). */
function receivedAt(date: number | null, now: number): number {
  return date === null || date < 0 || date > now + DAY_MS ? now : date
}

function targetOf(session: ImapSession, name: Buffer): FolderStatus {
  return namedFolder(session, name, 'TRYCREATE').folder
}

/** @throws CommandFailure OVERQUOTA @param bytes of all messages @param freed what they replace */
function assertRoom({ app, signedIn }: ImapSession, bytes: number, freed = 0): void {
  const { mailboxId } = signedIn.account
  const used = app.store.accounts.byMailbox(mailboxId)?.usedBytes ?? 0
  const quota = app.directory.mailboxes.byId(mailboxId)?.quotaBytes ?? 0
  if (used - freed + bytes > quota) throw no('OVERQUOTA', 'The mailbox is full.')
}

/** Refuses what cannot fit before it is sent: but for one message in Sent, which may replace its copy. */
function assertFits(session: ImapSession, name: Buffer, { bytes, count }: MessageIntake): void {
  if (targetOf(session, name).role !== 'sent' || count > 0) assertRoom(session, bytes)
}

/** The content of all messages of a command, stored once they are known to fit. */
function storeContents(session: ImapSession, target: FolderStatus, intake: MessageIntake): Promise<AppendedMessage[]> {
  const { app, signedIn } = session
  const isAlone = target.role === 'sent' && intake.count === 1
  if (!isAlone) assertRoom(session, intake.bytes)
  return intake.storeContents(({ message }) => {
    if (!isAlone) return
    const freed = app.store.programs.sentLinks.replacedBytes(app.db.read, signedIn.account, message.messageId)
    assertRoom(session, intake.bytes, freed)
  })
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
      app.store.programs.flags.changeIn(
        tx,
        session.signedIn.account,
        { folder: target.n, uids: deleted },
        { deleted: true },
      )
    return uids
  })
}

async function append(
  session: ImapSession,
  { name, first }: AppendArguments,
  segment: CommandSegment,
): Promise<TaggedAnswer> {
  await using intake = new MessageIntake(session, APPEND_MESSAGES)
  await intake.receiveAll(first, segment, () => assertFits(session, name, intake))
  const messages = await storeContents(session, targetOf(session, name), intake)
  const target = targetOf(session, name)
  const uids = await storeAll(session, target, messages)
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
  await using intake = new MessageIntake(session, 1)
  await intake.receiveAll(args.first, segment, () => {
    assertFits(session, args.name, intake)
    if (uid() === null) throw no('NONEXISTENT', 'There is no such message.')
  })
  const [appended] = await storeContents(session, targetOf(session, args.name), intake)
  const target = targetOf(session, args.name)
  const old = uid()!
  const now = app.clock.now()
  const added = await app.db.write((tx) => {
    const message = { reading: appended!.reading, target, keywords: storedKeywords(appended!.flags) }
    const newUid = appendIn(session, tx, { ...message, receivedAt: receivedAt(appended!.date, now) })
    const { account } = signedIn
    app.store.programs.flags.changeIn(tx, account, { folder: folder.n, uids: [old] }, { deleted: true })
    app.store.programs.moves.expungeIn(tx, account, folder.n, [old])
    return newUid
  })
  session.say(`* OK [APPENDUID ${target.uidValidity} ${added}] Replaced.\r\n`)
  await session.changes.announceOwn([old], isUid)
  return ok('Replaced.')
}

export const replaceCommand: ImapCommand = command({
  name: 'REPLACE',
  in: 'selected',
  needs: 'write',
  uid: true,
  usesNumbers: true,
  takesContent: true,
  read: readReplace,
  run: (args, session, invocation) => replace(session, args, invocation),
})
