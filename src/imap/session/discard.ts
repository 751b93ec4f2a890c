// Reads what remains of a command that will not be carried out: messages that the client sends without waiting.

import { MESSAGE_BYTES } from '../grammar/limits.ts'
import type { CommandSegment, ImapReader } from '../grammar/reader.ts'
import type { SessionDeadlines } from './session-deadlines.ts'

/** The parts of a session that read a command. */
interface ReadingSession {
  readonly reader: ImapReader
  readonly deadlines: SessionDeadlines
  isInContent: boolean
  bye(text: string, code: string): void
}

export async function discardContents(session: ReadingSession, segment: CommandSegment): Promise<void> {
  const { deadlines, reader } = session
  for (let next = segment; next.content !== null && !next.content.isSync; ) {
    if (next.content.bytes > MESSAGE_BYTES) return session.bye('The message is too large.', 'TOOBIG')
    deadlines.contentBegan()
    for await (const { length } of reader.content(next.content.bytes)) deadlines.progress(length)
    deadlines.contentEnded()
    session.isInContent = true
    next = await deadlines.duringRest(reader.segment())
  }
}
