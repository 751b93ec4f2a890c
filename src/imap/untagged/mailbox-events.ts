// Events of mailboxes that are not selected (RFC 5465 §5): what changed since the last look is sent as STATUS and LIST.

import type { FolderStatus } from '../../store/entries/folders-views.ts'
import { CHANGED_ENTRIES } from '../grammar/limits.ts'
import { formatName } from '../grammar/names.ts'
import type { NotifyEvent } from '../grammar/notify-request.ts'
import type { NotifySettings } from '../session/notify-settings.ts'
import type { ImapSession } from '../session/session.ts'
import type { AnnotationChange } from '../views/annotation-changes.ts'
import { listAttributes } from '../views/special-use.ts'
import { FolderTree } from './folder-tree.ts'
import { sayChangedEntries } from './metadata.ts'

/** A folder as of the last look. */
interface KnownMailbox extends FolderStatus {
  /** As the session names it. */
  name: string
}

const MESSAGE_EVENTS = ['MessageNew', 'MessageExpunge', 'FlagChange'] as const

/** The mailboxes of a session as it was notified of them. */
export class MailboxEvents {
  readonly #session: ImapSession
  readonly #settings: NotifySettings
  /** By number of the folder. */
  #known: ReadonlyMap<number, KnownMailbox>
  /** Subscribed names without a folder. */
  #names: ReadonlySet<string>
  /** Changed annotations since the last look, and how many entries they have. */
  #annotated: AnnotationChange[] = []
  #entries = 0

  constructor(session: ImapSession, settings: NotifySettings) {
    this.#session = session
    this.#settings = settings
    this.#known = this.#readFolders()
    this.#names = this.#readNames()
  }

  #readFolders(): Map<number, KnownMailbox> {
    const { app, signedIn } = this.#session
    const { folders } = new FolderTree(app.store.programs.views.statuses(signedIn.account))
    return new Map(folders.map(({ path, folder }) => [folder.n, { ...folder, name: path }]))
  }

  #readNames(): Set<string> {
    const { app, signedIn } = this.#session
    const paths = new Set([...this.#known.values()].map(({ name }) => name))
    return new Set(app.store.programs.names.list(signedIn.account).filter((path) => !paths.has(path)))
  }

  /** STATUS of the mailboxes whose messages are watched (NOTIFY SET STATUS). */
  async sayAll(): Promise<void> {
    await this.#session.app.db.durable(this.#session.signedIn.account.n)
    for (const mailbox of this.#known.values()) {
      if (this.#isSelected(mailbox)) continue
      const events = this.#settings.eventsOf({ path: mailbox.name, isSubscribed: mailbox.isSubscribed })
      // RFC 5465 §3.1: with FlagChange the first STATUS has HIGHESTMODSEQ where the server supports CONDSTORE, enabled or not. Later
      // ones have it once CONDSTORE or QRESYNC is enabled (§5.1 to §5.3), and it is nothing that enables them (RFC 7162 §3.1).
      if (MESSAGE_EVENTS.some((event) => events.has(event))) await this.#sayStatus(mailbox, events.has('FlagChange'))
    }
  }

  /** Keeps what {@link sayChanges} says of annotations. */
  annotated(change: AnnotationChange): void {
    this.#entries += change.entries.length
    if (this.#entries <= CHANGED_ENTRIES) this.#annotated.push(change)
  }

  /** @throws Error when too many have changed: the client does not read */
  #sayAnnotated(): void {
    const [changes, entries] = [this.#annotated, this.#entries]
    this.#annotated = []
    this.#entries = 0
    if (entries > CHANGED_ENTRIES) throw new Error('Too many annotations have changed.')
    for (const [folder, all] of Map.groupBy(changes, (change) => change.folder)) {
      const mailbox = folder === null ? undefined : this.#known.get(folder)
      const isWanted =
        folder === null ? this.#settings.isServerWatched : this.#eventsOf(mailbox).has('MailboxMetadataChange')
      if (isWanted) sayChangedEntries(this.#session, mailbox?.name ?? '', new Set(all.flatMap((one) => one.entries)))
    }
  }

  /** Says what changed since the last look. */
  async sayChanges(): Promise<void> {
    // Sessions of one mailbox have their turns one after another.
    await new Promise((resolve) => setImmediate(resolve))
    const [before, names] = [this.#known, this.#names]
    this.#known = this.#readFolders()
    this.#names = this.#readNames()
    // Numbers that a power failure could take back are not shown.
    await this.#session.app.db.durable(this.#session.signedIn.account.n)
    for (const mailbox of before.values()) if (!this.#known.has(mailbox.n)) this.#sayGone(mailbox)
    for (const mailbox of this.#known.values()) await this.#sayChange(before.get(mailbox.n), mailbox)
    this.#sayAnnotated()
    this.#sayNames(names, new Set([...before.values()].flatMap((one) => (one.isSubscribed ? one.name : []))))
  }

  #isSelected({ n }: KnownMailbox): boolean {
    return this.#session.selected?.n === n
  }

  #eventsOf(...mailboxes: (KnownMailbox | undefined)[]): ReadonlySet<NotifyEvent> {
    const wanted = new Set<NotifyEvent>()
    for (const mailbox of mailboxes) {
      if (mailbox === undefined) continue
      const { name: path, isSubscribed } = mailbox
      for (const event of this.#settings.eventsOf({ path, isSubscribed })) wanted.add(event)
    }
    return wanted
  }

  #sayGone(mailbox: KnownMailbox): void {
    if (this.#eventsOf(mailbox).has('MailboxName')) this.#sayName(mailbox.name, ['\\NonExistent'])
  }

  async #sayChange(before: KnownMailbox | undefined, mailbox: KnownMailbox): Promise<void> {
    if (before !== undefined && isSame(before, mailbox)) return
    // A mailbox that was subscribed or named so before is meant as well.
    const events = this.#eventsOf(before, mailbox)
    if (events.size === 0) return
    const isNamed = before === undefined || before.name !== mailbox.name
    if (isNamed && events.has('MailboxName')) this.#sayMailbox(mailbox, before?.name)
    else if (before?.isSubscribed !== mailbox.isSubscribed && events.has('SubscriptionChange'))
      this.#sayMailbox(mailbox)
    if (this.#isSelected(mailbox)) return
    const wanted = changeOf(before, mailbox)
    if (wanted !== null && events.has(wanted)) await this.#sayStatus(mailbox)
  }

  #sayMailbox(mailbox: KnownMailbox, oldName?: string): void {
    this.#sayName(mailbox.name, listAttributes(mailbox), oldName)
  }

  #sayName(name: string, attributes: readonly string[], oldName?: string): void {
    const { utf8 } = this.#session
    const old = oldName === undefined ? [] : [' ("OLDNAME" (', formatName(oldName, utf8), '))']
    this.#session.say(`* LIST (${attributes.join(' ')}) "/" `, formatName(name, utf8), ...old, '\r\n')
  }

  /** Subscriptions to names without a folder. @param subscribed folders that were subscribed, and may be gone */
  #sayNames(before: ReadonlySet<string>, subscribed: ReadonlySet<string>): void {
    const say = (path: string, attributes: string[]) => {
      if (this.#settings.eventsOf({ path, isSubscribed: true }).has('SubscriptionChange'))
        this.#sayName(path, attributes)
    }
    for (const path of this.#names)
      if (!before.has(path) && !subscribed.has(path)) say(path, ['\\NonExistent', '\\Subscribed'])
    const folders = new Set([...this.#known.values()].map(({ name }) => name))
    for (const path of before) if (!this.#names.has(path) && !folders.has(path)) say(path, ['\\NonExistent'])
  }

  async #sayStatus(
    { name, messages, uidNext, uidValidity, unread, modSeq }: KnownMailbox,
    withModSeq = this.#session.usesCondstore,
  ): Promise<void> {
    const session = this.#session
    const highest = withModSeq || session.usesCondstore ? ` HIGHESTMODSEQ ${modSeq}` : ''
    const items = `MESSAGES ${messages} UIDNEXT ${uidNext} UIDVALIDITY ${uidValidity} UNSEEN ${unread}${highest}`
    session.say('* STATUS ', formatName(name, session.utf8), ` (${items})\r\n`)
    await session.writer.ready()
  }
}

function isSame(a: KnownMailbox, b: KnownMailbox): boolean {
  return a.modSeq === b.modSeq && a.uidNext === b.uidNext && a.name === b.name && a.isSubscribed === b.isSubscribed
}

/** What happened to the messages of a mailbox; null for nothing. */
function changeOf(before: KnownMailbox | undefined, now: KnownMailbox): NotifyEvent | null {
  if (before === undefined) return now.messages > 0 ? 'MessageNew' : null
  if (now.uidNext !== before.uidNext || now.uidValidity !== before.uidValidity) return 'MessageNew'
  if (now.messages !== before.messages) return 'MessageExpunge'
  return now.modSeq !== before.modSeq ? 'FlagChange' : null
}
