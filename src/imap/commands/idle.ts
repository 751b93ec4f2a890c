// IDLE (RFC 2177, RFC 9051 §6.3.13): changes are announced as they happen, by the notifier of the event stream.

import { bad } from '../answers.ts'
import { command, type ImapSession } from '../session.ts'
import { announceChanges } from '../updates.ts'

// DONE, with some room for what is not DONE.
const DONE_BYTES = 64

/** Announces until the client ends it: one at a time, and again when something changed meanwhile. */
class IdleAnnouncer {
  readonly #session: ImapSession
  #running: Promise<void> | null = null
  #isDue = false
  #isOver = false

  constructor(session: ImapSession) {
    this.#session = session
  }

  changed(): void {
    this.#isDue = true
    this.#running ??= this.#announce().finally(() => {
      this.#running = null
    })
  }

  /** Ends it, and waits for the running announcement. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  async #announce(): Promise<void> {
    while (this.#isDue && !this.#isOver && this.#session.selected !== null) {
      this.#isDue = false
      try {
        await announceChanges(this.#session, { mayRemove: true, withUid: false })
        this.#session.writer.flush()
        await this.#session.writer.ready()
      } catch (error) {
        this.#session.logError(error, 'IDLE')
        return
      }
    }
  }
}

export const idle = command({
  name: 'IDLE',
  in: 'authenticated',
  needs: 'read',
  read: () => null,
  async run(_, session) {
    const { app, signedIn } = session
    const announcer = new IdleAnnouncer(session)
    const unsubscribe = app.following.subscribe(signedIn.account, {
      accountChanged: () => announcer.changed(),
      closing: () => session.retire(),
    })
    session.isIdle = true
    try {
      session.requestLiteral('idling')
      // What changed before the subscription.
      announcer.changed()
      const line = (await session.reader.line(DONE_BYTES)).toString('latin1')
      if (line.toUpperCase() !== 'DONE') throw bad('Expected DONE.')
    } finally {
      session.isIdle = false
      unsubscribe()
      await announcer.end()
    }
    return undefined
  },
})
