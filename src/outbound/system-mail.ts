// Mail the appliance itself writes to people: invitations, links to sign in, news about their accounts.

import { newId } from '../base/ids.ts'
import type { Tx } from '../db/db.ts'
import { SYSTEM_TEAM_ID } from '../directory/teams.ts'
import { checkRecipient } from '../mime/compose/draft-rules.ts'
import { lettersHtml } from '../mime/compose/plain-html.ts'
import { Composer } from '../workers/composer.ts'
import type { OutboundParts } from './deps.ts'
import type { Emails } from './log/emails.ts'
import type { Queue } from './queue.ts'
import { LIFETIME_MS } from './submit/acceptance.ts'
import type { Suppressions } from './suppressions.ts'

/** A mail to one person. What strangers wrote must stand in it as text on one line. */
export interface Letter {
  /** Address at one of the appliance's own domains; its own address where none is given. */
  from?: string
  to: string
  subject: string
  /** Paragraphs apart by empty lines; a line that is an address becomes a link in the HTML. */
  text: string
}

/** A letter whose content is kept already. */
export interface PreparedLetter {
  /** Puts it in the queue as part of a unit of work; nothing for whom no mail reached before. */
  sendIn(tx: Tx): Promise<void>
}

interface Parts extends OutboundParts {
  emails: Pick<Emails, 'insert'>
  queue: Pick<Queue, 'add'>
  suppressions: Pick<Suppressions, 'of'>
}

const NAME = 'Mailstead'

export class HouseMail {
  readonly #parts: Parts
  readonly #composer = new Composer()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The address of the appliance for everything that has no better one. */
  get address(): string {
    return `mailstead@${this.#parts.config.MAIL_HOSTS[0]!}`
  }

  /** Composes a letter and keeps its content. @throws ProductError validation_error for an address that is none */
  async prepare(letter: Letter): Promise<PreparedLetter> {
    const { clock, directory, store } = this.#parts
    const now = clock.now()
    // Our own address, also at the `localhost` of a trial: whoever asks for a letter cannot mend it.
    const from = { email: letter.from ?? this.address, name: NAME }
    const to = checkRecipient('to', { email: letter.to, name: '' })
    const host = from.email.slice(from.email.lastIndexOf('@') + 1)
    const domain = await directory.domains.system(host)
    const id = newId('email')
    const messageId = `${id}@${host}`
    const written = await this.#composer.write(
      {
        ...{ from, to: [to], cc: [], bcc: [], replyTo: [], subject: letter.subject },
        ...{ textBody: letter.text, htmlBody: lettersHtml(letter.text), attachments: [] },
        // RFC 3834 5: no robot answers it.
        headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
        ...{ messageId, date: now, inReplyTo: null, references: [] },
      },
      false,
    )
    await store.blobs.put(written.hash, written.sizeBytes, written.chunks)
    const email = {
      ...{ id, teamId: SYSTEM_TEAM_ID, mailboxId: null, source: 'system' as const, scope: { type: 'all' as const } },
      ...{ from, returnPath: null, subject: letter.subject, internetMessageId: messageId, domainId: domain.id },
      ...{ hash: written.hash, sizeBytes: written.sizeBytes, queuedAt: now, expiresAt: now + LIFETIME_MS },
      recipients: [to.email],
    }
    return { sendIn: (tx) => this.#send(tx, email) }
  }

  /** Prepares a letter and sends it in a unit of work of its own. */
  async send(letter: Letter): Promise<void> {
    const prepared = await this.prepare(letter)
    await this.#parts.db.write((tx) => prepared.sendIn(tx))
  }

  close(): Promise<void> {
    return this.#composer.close()
  }

  async #send(tx: Tx, email: Parameters<Emails['insert']>[1]): Promise<void> {
    const { emails, queue, suppressions, wake } = this.#parts
    if ((await suppressions.of(tx, SYSTEM_TEAM_ID, email.recipients)).size > 0) return
    const accepted = await emails.insert(tx, email)
    await queue.add(tx, accepted.email, accepted.deliveries, email.queuedAt)
    tx.afterCommit(() => wake.ring('deliver'))
  }
}
