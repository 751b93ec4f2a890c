// STARTTLS (RFC 9051 §6.2.1).

import { bad, formatAnswer, ok } from '../session/answers.ts'
import type { CommandOutcome } from '../session/command.ts'
import { command } from '../session/session.ts'

export const starttls = command({
  name: 'STARTTLS',
  in: 'not-authenticated',
  read: () => null,
  async run(_, session, { tag }): Promise<CommandOutcome> {
    if (session.isSecure) throw bad('TLS is active already, or not offered here.')
    // RFC 9051 §11.1: commands that follow in plain text must not be read as if they had come encrypted.
    if (session.reader.buffered > 0) {
      session.bye('Nothing may follow STARTTLS.')
      throw bad('Nothing may follow STARTTLS.')
    }
    session.say(formatAnswer(tag, ok('Begin TLS now.')))
    await session.startTls()
    return 'answered'
  },
})
