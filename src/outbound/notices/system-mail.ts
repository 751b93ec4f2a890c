// Messages the appliance itself sends to people: invitations, sign-in links, account notices.

import { newId } from '../../base/ids.ts'
import type { Tx } from '../../db/db.ts'
import { SYSTEM_TEAM_ID } from '../../directory/keys/teams.ts'
import { domainOf } from '../../mime/address.ts'
import { checkRecipient } from '../../mime/compose/draft-rules.ts'
import { plainTextHtml } from '../../mime/compose/plain-html.ts'
import { Composer } from '../../workers/composer.ts'
import type { Emails } from '../log/emails.ts'
import type { OutboundDeps } from '../model/deps.ts'
import { LIFETIME_MS } from '../model/limits.ts'
import type { Queue } from '../queue/queue.ts'
import type { Suppressions } from '../queue/suppressions.ts'

/** A message to one person. Callers reduce untrusted text in it to one line. */
export interface SystemMessage {
  /** Address at one of the appliance's own domains; defaults to its own address. */
  from?: string
  to: string
  subject: string
  /** Empty lines separate paragraphs; a line that is a URL becomes a link in the HTML. */
  text: string
}

/** A composed message whose content is stored. */
export interface PreparedSystemMessage {
  /** Queues it in a unit of work; does nothing when the recipient is suppressed. */
  sendIn(tx: Tx): void
}

interface Deps extends OutboundDeps {
  emails: Pick<Emails, 'insert'>
  queue: Pick<Queue, 'add'>
  suppressions: Pick<Suppressions, 'of'>
}

const NAME = 'Mailstead'

export class SystemMail {
  readonly #deps: Deps
  readonly #composer = new Composer()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The default From address of the appliance. */
  get address(): string {
    return `mailstead@${this.#deps.config.MAIL_HOSTS[0]!}`
  }

  /** Composes a message and stores its content. @throws ProductError validation_error for an invalid address */
  async prepare(message: SystemMessage): Promise<PreparedSystemMessage> {
    const { clock, directory, store } = this.#deps
    const now = clock.now()
    // Our own address is not checked, because a trial runs at `localhost` and the caller cannot fix that.
    const from = { email: message.from ?? this.address, name: NAME }
    const to = checkRecipient('to', { email: message.to, name: '' })
    const host = domainOf(from.email)
    const domain = await directory.domains.system(host)
    const id = newId('email')
    const messageId = `${id}@${host}`
    const written = await this.#composer.compose(
      {
        ...{ from, to: [to], cc: [], bcc: [], replyTo: [], subject: message.subject },
        ...{ textBody: message.text, htmlBody: plainTextHtml(message.text), attachments: [] },
        // RFC 3834 §5: suppresses automatic responses.
        headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
        ...{ messageId, date: now, inReplyTo: null, references: [] },
      },
      false,
    )
    await store.blobs.put(written.hash, written.sizeBytes, written.chunks)
    const email = {
      ...{ id, teamId: SYSTEM_TEAM_ID, mailboxId: null, source: 'system' as const, scope: { type: 'all' as const } },
      ...{ from, returnPath: null, subject: message.subject, internetMessageId: messageId, domainId: domain.id },
      ...{ hash: written.hash, sizeBytes: written.sizeBytes, queuedAt: now, expiresAt: now + LIFETIME_MS },
      recipients: [to.email],
    }
    return { sendIn: (tx) => this.#send(tx, email) }
  }

  /** Prepares a message and queues it in its own unit of work. */
  async send(message: SystemMessage): Promise<void> {
    const prepared = await this.prepare(message)
    await this.#deps.db.write((tx) => prepared.sendIn(tx))
  }

  close(): Promise<void> {
    return this.#composer.close()
  }

  #send(tx: Tx, email: Parameters<Emails['insert']>[1]): void {
    const { emails, queue, suppressions, notifier } = this.#deps
    if (suppressions.of(tx, SYSTEM_TEAM_ID, email.recipients).size > 0) return
    const accepted = emails.insert(tx, email)
    queue.add(tx, accepted.email, accepted.deliveries, email.queuedAt)
    tx.afterCommit(() => notifier.notify('deliver'))
  }
}
