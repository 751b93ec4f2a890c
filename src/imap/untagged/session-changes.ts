// Announces changes of a session: with its commands, and between them while it idles or has asked for it by NOTIFY.

import { rangesOf } from '../grammar/sets.ts'
import { formatAnswer } from '../session/answers.ts'
import { NotifySettings } from '../session/notify-settings.ts'
import type { ImapSession } from '../session/session.ts'
import type { AnnounceOptions } from '../session/session-owner.ts'
import { fetchNew } from './fetch-new.ts'
import { MailboxEvents } from './mailbox-events.ts'
import { announceChanges, announceRemoved } from './updates.ts'

export class SessionChanges {
  readonly #session: ImapSession
  /** Null before NOTIFY: the selected mailbox, with commands and in IDLE (RFC 9051 §5.2). */
  #settings: NotifySettings | null = null
  #mailboxes: MailboxEvents | null = null
  #unfollow: (() => void) | null = null
  #running: Promise<void> | null = null
  #isDue = false
  #since: number | null = null

  constructor(session: ImapSession) {
    this.#session = session
  }

  /** Announcements are being written, between commands. */
  get isRunning(): boolean {
    return this.#running !== null
  }

  /** Replaces what NOTIFY wants. @returns the watch of other mailboxes, null when none is watched */
  notify(settings: NotifySettings): MailboxEvents | null {
    this.#settings = settings
    this.#mailboxes = settings.isSelectedOnly ? null : new MailboxEvents(this.#session, settings)
    this.#follow()
    return this.#mailboxes
  }

  whenSilent(run: () => void): void {
    if (this.#running === null) run()
    else void this.#running.then(run)
  }

  /** IDLE begins: what changed before is announced at once. */
  idleBegan(): void {
    this.#follow()
    this.#changed()
  }

  /** IDLE has ended. Resolves when nothing more is written. */
  async idleEnded(): Promise<void> {
    this.#follow()
    await this.#running
  }

  /** A command begins. Resolves when nothing more is written; nothing will be until {@link commandEnded}. */
  async commandBegan(): Promise<void> {
    await this.#running
  }

  /** What changed during the command is announced, as far as it did not do so itself. */
  commandEnded(): void {
    if (this.#isDue) this.#changed()
  }

  close(): void {
    this.#unfollow?.()
    this.#unfollow = null
    this.#settings = NotifySettings.NONE
  }

  /** Announces the selected folder with a command. */
  async announce({ mayRemove, withUid }: AnnounceOptions): Promise<void> {
    const session = this.#session
    const wanted = this.#settings === null ? null : this.#settings.selected
    const isQuiet = this.#settings !== null && wanted === null
    const fresh = await announceChanges(session, { mayRemove, withUid, isQuiet, withFlags: wanted?.flags ?? true })
    if (wanted?.items != null && fresh.length > 0) await fetchNew(session, fresh, wanted.items)
  }

  /** Announces messages that the session itself removed: also when NOTIFY wants nothing. */
  async announceOwn(uids: readonly number[], withUid: boolean): Promise<void> {
    await this.announce({ mayRemove: true, withUid })
    const { selected } = this.#session
    const left = selected === null ? [] : selected.view.within(rangesOf(uids.toSorted((a, b) => a - b)))
    if (left.length > 0) await announceRemoved(this.#session, left)
  }

  /** Follows the mailbox while there is something to announce between commands. */
  #follow(): void {
    const session = this.#session
    const isWanted = session.isIdle || (this.#settings !== null && this.#settings !== NotifySettings.NONE)
    if (!isWanted) {
      this.#isDue = false
      this.#unfollow?.()
      this.#unfollow = null
    } else {
      this.#unfollow ??= this.#subscribe()
    }
  }

  #subscribe(): () => void {
    const session = this.#session
    const { account } = session.signedIn
    const unfollow = session.app.following.subscribe(account, {
      accountChanged: (_account, _received, since) => this.#changed(since),
      closing: () => session.retire(),
    })
    const unwatch = session.app.annotationChanges.subscribe(account, (change) => {
      if (change.by === session || this.#mailboxes === null) return
      this.#mailboxes.annotated(change)
      this.#changed()
    })
    return () => {
      unfollow()
      unwatch()
    }
  }

  /** @param since when the change was notified, ms of the monotonic clock; null when that is not known */
  #changed(since: number | null = null): void {
    this.#isDue = true
    this.#since ??= since
    if (this.#running !== null || this.#session.isBusy) return
    this.#running = this.#announceAll().finally(() => {
      this.#running = null
      this.#session.endExpired()
    })
  }

  async #announceAll(): Promise<void> {
    const session = this.#session
    while (this.#isDue && !session.isBusy && !session.isClosed) {
      this.#isDue = false
      const since = this.#since
      this.#since = null
      const before = session.writer.written
      try {
        const isImmediate = this.#settings?.selected?.isImmediate === true
        if (session.selected !== null) await this.announce({ mayRemove: session.isIdle || isImmediate, withUid: false })
        await this.#mailboxes?.sayChanges()
        session.writer.flush()
        if (since !== null && session.writer.written > before)
          session.app.meters.notified((session.app.clock.monotonic() - since) / 1000)
        await session.writer.ready()
      } catch (error) {
        this.#overflow(error)
      }
    }
  }

  /** Events are lost: the client has to look itself, and is notified of nothing more (RFC 5465 §5.8). */
  #overflow(error: unknown): void {
    const session = this.#session
    if (session.isClosed) return
    session.logError(error, 'NOTIFY')
    if (this.#settings === null) return
    this.notify(NotifySettings.NONE)
    const text = 'Changes could not be announced.'
    session.say(formatAnswer('*', { condition: 'OK', code: 'NOTIFICATIONOVERFLOW', text }))
  }
}
