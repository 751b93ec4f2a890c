// COMPRESS=DEFLATE (RFC 4978).

import { ImapSyntaxError } from '../grammar/cursor.ts'
import { bad, formatAnswer, no, ok } from '../session/answers.ts'
import type { CommandOutcome } from '../session/command.ts'
import { Compressor } from '../session/compressor.ts'
import { command } from '../session/session.ts'

export const compress = command({
  name: 'COMPRESS',
  in: 'authenticated',
  read(cursor) {
    cursor.space()
    if (cursor.word() !== 'DEFLATE') throw new ImapSyntaxError('Unknown compression.')
    return null
  },
  run(_, session, { tag }): CommandOutcome {
    if (session.isCompressed) throw no('COMPRESSIONACTIVE', 'Compression is active.')
    // What follows was not compressed.
    if (session.reader.buffered > 0) {
      session.bye('Nothing may follow COMPRESS.')
      throw bad('Nothing may follow COMPRESS.')
    }
    const release = session.app.compression.take()
    if (release === null) throw no('LIMIT', 'Too many connections are compressed.')
    session.say(formatAnswer(tag, ok('Compression is active.')))
    session.writer.flush()
    const compressed = new Compressor(session.stream)
    compressed.once('close', release)
    session.isCompressed = true
    session.replaceStream(compressed)
    return 'answered'
  },
})
