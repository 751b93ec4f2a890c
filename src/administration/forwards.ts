// Forwarding of mailboxes: asks the receiver, records the answer, and writes every change to the log.

import { randomBytes } from 'node:crypto'
import { conflict, invalid, notFound } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/config.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import type { Forward, ForwardAnswer, ForwardStatus } from '../directory/mailboxes/forwards.ts'
import type { Mailbox } from '../directory/mailboxes/mailboxes.ts'
import { bounceDomain } from '../directory/names/domain-name.ts'
import { parseMailbox } from '../mime/address.ts'
import type { PreparedSystemMessage, SystemMessage } from '../outbound/notices/system-mail.ts'
import type { Outbound } from '../outbound/outbound.ts'

export interface ForwardDeps {
  db: Db
  log: Log
  config: Config
  directory: Pick<Directory, 'mailboxes' | 'aliases' | 'forwards'>
  outbound: {
    mail: Pick<Outbound['mail'], 'prepare'>
    queue: { suppressions: Pick<Outbound['queue']['suppressions'], 'of' | 'stopsOwnMail'> }
  }
}

/** What is asked for. */
export interface ForwardInput {
  to: string
  /** An alias of the mailbox; undefined: everything it receives. */
  alias?: string
  keepsCopy: boolean
  /** `usr_…`, `key_…` or `operator`. */
  createdBy: string
}

/** A forward with what else is known of it. */
export interface ForwardState {
  forward: Forward
  /** Whether the team has suppressed its address: nothing is sent there then. */
  isSuppressed: boolean
}

const TOKEN_BYTES = 32

export class ForwardAdministration {
  readonly #deps: ForwardDeps

  constructor(deps: ForwardDeps) {
    this.#deps = deps
  }

  /** Newest first. */
  list(mailbox: Pick<Mailbox, 'id' | 'teamId'>): ForwardState[] {
    return this.#states(mailbox.teamId, this.#deps.directory.forwards.list(mailbox.id))
  }

  /** @throws ProductError not_found */
  get(mailbox: Pick<Mailbox, 'id' | 'teamId'>, id: string): ForwardState {
    const forward = this.#deps.directory.forwards.get(mailbox.id, id)
    if (forward === undefined) throw notFound('forward')
    return this.#states(mailbox.teamId, [forward])[0]!
  }

  /**
   * Adds an address that waits for the confirmation of its owner, and sends the message that asks for it.
   * @throws ProductError not_found, validation_error, conflict (suppressed, refused, exists, too many), rate_limit_exceeded
   */
  async request(teamId: string, mailboxId: string, input: ForwardInput): Promise<ForwardState> {
    const { db, directory } = this.#deps
    const mailbox = this.#usable(db.read, teamId, mailboxId)
    const email = this.#checkAddress(mailbox, input.to)
    const alias = input.alias === undefined ? null : directory.aliases.named(mailboxId, input.alias)
    if (alias === undefined) throw invalid('alias', 'not_found', 'The mailbox has no such alias.')
    const token = newToken()
    const message = await this.#prepare(alias?.email ?? mailbox.email, email, token)
    const forward = await db.write((tx) => {
      const current = this.#usable(tx, teamId, mailboxId)
      this.#refuseSuppressed(tx, teamId, email)
      const { keepsCopy, createdBy } = input
      const added = { alias: alias?.email ?? null, email, keepsCopy, createdBy, token }
      const made = directory.forwards.addIn(tx, current, added)
      message.sendIn(tx)
      this.#note(tx, made, made.status)
      return made
    })
    return this.#states(teamId, [forward])[0]!
  }

  /** Sends the message again, with a new link. @throws ProductError as `request` */
  async resend(teamId: string, mailboxId: string, id: string): Promise<ForwardState> {
    const { db, directory } = this.#deps
    const mailbox = this.#usable(db.read, teamId, mailboxId)
    const { alias, email } = this.get(mailbox, id).forward
    const token = newToken()
    const message = await this.#prepare(alias ?? mailbox.email, email, token)
    const forward = await db.write((tx) => {
      const current = this.#usable(tx, teamId, mailboxId)
      this.#refuseSuppressed(tx, teamId, email)
      const renewed = directory.forwards.renewIn(tx, current, id, token)
      message.sendIn(tx)
      return renewed
    })
    return this.#states(teamId, [forward])[0]!
  }

  /** Ends a forward at once. @throws ProductError not_found */
  async remove(mailboxId: string, id: string): Promise<void> {
    const { db, directory } = this.#deps
    await db.write((tx) => this.#note(tx, directory.forwards.removeIn(tx, mailboxId, id), 'removed'))
  }

  /** Records what the receiver decides. @throws ProductError not_found, conflict (the mailbox has too many) */
  async answer(token: string, answer: ForwardAnswer): Promise<void> {
    const { db, directory } = this.#deps
    await db.write((tx) => {
      const { forward, changed } = directory.forwards.answerIn(tx, token, answer)
      if (changed) this.#note(tx, forward, forward.status)
    })
  }

  #states(teamId: string, forwards: readonly Forward[]): ForwardState[] {
    const { db, outbound } = this.#deps
    const addresses = forwards.map(({ email }) => email)
    const suppressed = outbound.queue.suppressions.of(db.read, teamId, addresses)
    return forwards.map((forward) => ({ forward, isSuppressed: suppressed.has(forward.email.toLowerCase()) }))
  }

  #usable(reader: Reader, teamId: string, id: string): Mailbox {
    const mailbox = this.#deps.directory.mailboxes.getIn(reader, teamId, id)
    if (mailbox === undefined) throw notFound('mailbox')
    if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
    if (mailbox.isAgent) throw conflict('The inbox of an agent forwards nothing.')
    if (mailbox.domainId === null) throw conflict('The mailbox is an outside account: its provider forwards its mail.')
    return mailbox
  }

  /** @returns its normal form */
  #checkAddress(mailbox: Mailbox, written: string): string {
    const parsed = parseMailbox(written)
    if (parsed === null) throw invalid('to', 'invalid_format', 'The address must be a single email address.')
    const { config, directory } = this.#deps
    const own = [config.AGENT_MAILBOX_DOMAIN, ...config.MAIL_HOSTS, ...config.MAIL_HOSTS.map(bounceDomain)]
    const found = directory.mailboxes.receiver(parsed.local, parsed.domain)
    const isOwn = 'mailbox' in found && found.mailbox.id === mailbox.id
    if (!isOwn && !own.includes(parsed.domain)) return parsed.email
    throw invalid('to', 'forbidden_value', 'A mailbox cannot forward to itself or to the appliance.')
  }

  /** Nothing would be sent there, neither the question nor the messages. */
  #refuseSuppressed(reader: Reader, teamId: string, email: string): void {
    const { suppressions } = this.#deps.outbound.queue
    if (suppressions.of(reader, teamId, [email]).size === 0 && !suppressions.stopsOwnMail(email)) return
    throw conflict('The address is suppressed: it bounced or complained, or was added to the list.', 'to')
  }

  #prepare(from: string, to: string, token: string): Promise<PreparedSystemMessage> {
    const { config, outbound } = this.#deps
    return outbound.mail.prepare(requestMessage(from, to, `${config.APP_ORIGIN}/forwards/${token}`))
  }

  #note(tx: Tx, forward: Forward, status: ForwardStatus | 'removed'): void {
    const { id, mailboxId: mailbox, createdBy } = forward
    tx.afterCommit(() => {
      const fields = { event: 'forward.changed', forward: id, mailbox, status, created_by: createdBy }
      this.#deps.log.info(fields, 'Forward changed')
    })
  }
}

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** @param from the mailbox or alias @param link opens the page where the receiver decides, now and later */
function requestMessage(from: string, to: string, link: string): SystemMessage {
  const text = [
    `${from} wants to forward its mail to ${to}.`,
    '',
    'If you expected this, open the page below within 7 days and confirm:',
    link,
    '',
    'If you did not expect this, choose "Decline" on that page or ignore this mail. Nothing is forwarded unless you confirm.',
    '',
    'Keep this mail: the same page ends the forwarding at any time.',
    '',
  ].join('\n')
  return { to, subject: `Forward mail of ${from} to you?`, text }
}
