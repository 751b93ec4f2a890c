// The sender of a request: its scope, identities and domains, and the checks of a message that depend on them.

import { conflict, invalid, notFound, ProductError } from '../../base/errors.ts'
import type { DnsRecord } from '../../directory/domains/dns-records.ts'
import type { DomainStatus } from '../../directory/domains/domains.ts'
import type { SendScope } from '../../directory/mailboxes/mailbox-input.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { domainName } from '../../directory/names/domain-name.ts'
import { domainOf } from '../../mime/address.ts'
import { checkEmail, checkRecipient } from '../../mime/compose/draft-rules.ts'
import { LIKE_ADDRESS, looksLikeAddress } from '../../mime/display-name.ts'
import type { Address } from '../../mime/message.ts'
import { clean } from '../../mime/one-line.ts'
import { namedAddresses, type OwnAddresses } from '../../mime/own-addresses.ts'
import { type Identity, identityFor } from '../../store/mailbox/identities.ts'
import type { OriginalMessage } from '../../store/messages/original.ts'
import type { Account } from '../../store/rows/records.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { NewMail, Sender } from '../model/new-message.ts'
import type { Router } from '../routing/router.ts'

/** A sending mailbox with its store account. */
export interface SendingMailbox {
  mailbox: Mailbox
  account: Account
}

/** From, and the defaults that depend on it. */
export interface From {
  from: Address
  /** Where replies go. */
  replyTo: Address[]
  /** Additional recipients. */
  bcc: Address[]
  /** `idn_…`; null for root keys. */
  identityId: string | null
}

type Deps = OutboundDeps & { router: Pick<Router, 'defaultFrom' | 'sharedFullUntil' | 'hasAccountFor'> }

const PROVISIONING_RETRY_SECONDS = 10
/** Characters of the list of allowed addresses in an error. */
const NAMED_MAX = 300

export class SenderContext {
  readonly sender: Sender
  /** Null for root keys. */
  readonly box: SendingMailbox | null
  readonly #deps: Deps
  /** Caches for the request, because a batch repeats few senders and domains. */
  #identities: Identity[] | undefined
  readonly #full = new Map<string, number | null>()
  readonly #known = new Set<string>()
  readonly #domains = new Map<string, DomainStatus | undefined>()

  private constructor(deps: Deps, sender: Sender, box: SendingMailbox | null) {
    this.#deps = deps
    this.sender = sender
    this.box = box
  }

  /** @throws ProductError conflict for a mailbox that may not send now, service_unavailable while it is being set up */
  static open(deps: Deps, sender: Sender): SenderContext {
    if (sender.kind === 'team') return new SenderContext(deps, sender, null)
    const mailbox = deps.directory.mailboxes.byId(sender.mailboxId)
    if (mailbox === undefined) throw notFound('mailbox')
    if (mailbox.status !== 'active') throw conflict(`The mailbox is ${mailbox.status} and cannot send.`)
    const account = deps.store.accounts.byMailbox(mailbox.id)
    if (account !== undefined) return new SenderContext(deps, sender, { mailbox, account })
    throw new ProductError('service_unavailable', 'The mailbox is still being set up.', {
      retryAfter: PROVISIONING_RETRY_SECONDS,
    })
  }

  /** The owner of domains and accounts. */
  get #who() {
    return { teamId: this.sender.teamId, mailboxId: this.box?.mailbox.id ?? null }
  }

  /** The accounts that may carry its messages. */
  get scope(): SendScope {
    return this.box?.mailbox.sendScope ?? { type: 'all' }
  }

  /** @throws ProductError missing_parameter (none is given and no account has one), validation_error */
  async from(given: Address | null, identityId: string | null = null): Promise<From> {
    const checked = given && checkRecipient('from', given)
    if (this.box !== null) return this.#ownFrom(this.box, checked, identityId)
    if (checked !== null) return { from: checked, replyTo: [], bcc: [], identityId: null }
    const provider = this.#deps.router.defaultFrom(this.sender.teamId)
    const email = provider?.oauthEmail ?? provider?.fromEmail
    if (!provider || !email) {
      const message = 'A `from` address is required: no active sending account of the team has its own address.'
      throw new ProductError('missing_parameter', message, { issues: [{ field: 'from', code: 'required', message }] })
    }
    const { fromName, replyToEmail, replyToName } = provider
    return {
      from: checkRecipient('from', { email, name: fromName }),
      replyTo: replyToEmail === null ? [] : [{ email: replyToEmail, name: replyToName ?? '' }],
      ...{ bcc: [], identityId: null },
    }
  }

  /** A mailbox sends from any of its addresses (docs/design/mailbox.md §8); an identity gives the name and the defaults. */
  async #ownFrom(
    { mailbox, account }: SendingMailbox,
    given: Address | null,
    identityId: string | null,
  ): Promise<From> {
    const { directory, store, db } = this.#deps
    this.#identities ??= store.sending.identities.list(account)
    const identities = this.#identities
    const identity =
      identityId === null
        ? identityFor(identities, given?.email.toLowerCase() ?? identities[0]!.email)
        : identities.find(({ id }) => id === identityId)
    const email = given?.email.toLowerCase() ?? identity?.email
    if (!identity || !email || !directory.aliases.mayWriteAs(db.read, mailbox, email)) {
      throw foreignSender(directory.aliases.ownAddresses(db.read, mailbox))
    }
    const name = given?.name || identity.name || mailbox.displayName || ''
    return {
      from: { email, name },
      replyTo: identity.replyTo ?? [],
      bcc: identity.bcc ?? [],
      identityId: identity.id,
    }
  }

  /**
   * @param field the API's name of `replyTo`
   * @throws ProductError validation_error for display names with which an agent would impersonate an address
   */
  checkNames(from: Address, replyTo: readonly Address[], field: string): void {
    if (this.box?.mailbox.isAgent !== true) return
    if (looksLikeAddress(from.name)) throw invalid('from.name', 'forbidden_value', LIKE_ADDRESS)
    const named = replyTo.some(({ name }) => looksLikeAddress(name))
    if (named) throw invalid(field, 'forbidden_value', LIKE_ADDRESS)
  }

  /** @throws ProductError rate_limit_exceeded while only the shared account could carry it and its daily limit is reached */
  async requireRoom(from: Address, sendAt: number): Promise<void> {
    const { router, clock } = this.#deps
    const known = this.#full.get(from.email)
    const until = known === undefined ? router.sharedFullUntil({ ...this.#who, scope: this.scope, from }) : known
    this.#full.set(from.email, until)
    if (until === null || sendAt >= until) return
    throw new ProductError('rate_limit_exceeded', 'The daily limit of the shared Amazon SES account is reached.', {
      retryAfter: Math.ceil((until - clock.now()) / 1000),
    })
  }

  /** The team's own row for the domain of an address. */
  domainOf(email: string): DomainStatus | undefined {
    if (this.#domains.has(email)) return this.#domains.get(email)
    const { directory, db } = this.#deps
    const status = directory.domains.statusFor(db.read, this.#who, email)
    this.#domains.set(email, status)
    return status
  }

  /**
   * A message whose sender domain is not verified can only leave through an account that may use the address.
   * @throws ProductError validation_error on `from.email` with the domain and its missing record
   */
  requireSendable(from: Address): void {
    const email = from.email.toLowerCase()
    if (this.#known.has(email)) return
    const domain = this.domainOf(from.email)
    const { router, directory } = this.#deps
    const isVerified = domain?.verificationStatus === 'verified'
    if (!isVerified && !router.hasAccountFor({ ...this.#who, scope: this.scope, from })) {
      const record = domain && directory.domains.get(domain.teamId, domain.id)?.records.verification
      throw invalid(
        'from.email',
        'unverified_domain',
        unverified(domainName(domainOf(email)) ?? domainOf(email), record),
      )
    }
    this.#known.add(email)
  }

  /** The return path must be at a verified domain of the team. @throws ProductError validation_error on `return_path` */
  returnPath(given: string): string {
    const email = checkEmail('return_path', given)
    const domain = this.domainOf(email)
    if (domain?.verificationStatus === 'verified') return email
    const message = 'The return_path must be at a verified domain of the team.'
    throw invalid('return_path', 'unverified_domain', message)
  }

  /** The message that this one replies to. @throws ProductError validation_error on `in_reply_to_message_id` */
  original({ inReplyTo }: NewMail): OriginalMessage | null {
    if (inReplyTo === null) return null
    const found = this.box && this.#deps.store.read.messages.original(this.box.account, inReplyTo)
    if (found) return found
    throw invalid('in_reply_to_message_id', 'not_found', 'There is no such message in this mailbox.')
  }
}

function unverified(domain: string, record: DnsRecord | undefined): string {
  const other = 'or connect a sending account that may use the address.'
  if (record === undefined) return `The domain ${domain} is not one of the team. Add it with POST /domains, ${other}`
  const missing = `Its TXT record ${record.name} with the value ${record.value} is missing`
  return `The domain ${domain} is not verified. ${missing}: publish it and verify the domain, ${other}`
}

/** The error for a From address that is none of the mailbox's addresses, or for an identity that was deleted. */
export function foreignSender(own: OwnAddresses): ProductError {
  const allowed = clean(namedAddresses(own), NAMED_MAX)
  return invalid(
    'from.email',
    'forbidden_value',
    `The mailbox cannot write as this address. It can write as: ${allowed}.`,
  )
}
