// Facts about the sender and the form of a message: authentication, the sending host, header and links.

import { isIP } from 'node:net'
import { DAY_MS } from '../../base/durations.ts'
import { domainOf } from '../../mime/address.ts'
import { addressInName, areRelated } from '../../mime/display-name.ts'
import type { AuthVerdict, MessageTraits, ParsedMessage } from '../../mime/message.ts'
import { type Fact, factOf } from '../catalog.ts'

export interface SenderCircumstances {
  verdict: AuthVerdict
  traits: MessageTraits
  message: ParsedMessage
  helo: string
  /** False only when DNS confirms that the client's address has no valid reverse name. */
  hasReverseName: boolean
  /** ARC-sealed by a trusted forwarder: authentication it broke does not count. */
  trustedForwarder: boolean
  /** The From domain is hosted on this appliance, and no authentication result proves it. */
  namesOwnDomain: boolean
}

/** Beyond a slow queue (RFC 5321 §4.5.4.1: 4-5 days of retries) or a wrong time zone. */
const FUTURE_MS = DAY_MS
const PAST_MS = 14 * DAY_MS
const MAX_REPEATED = 2

/**
 * The facts in the order author, authentication, host, header, body. A plain message from a small host without authentication has about
 * 2 points, a forwarded or mailing-list message less than 4: both stay below the Junk threshold of 5. Exceeding it takes several
 * unrelated facts, or one that the sender's own domain asks to enforce (DMARC).
 */
export function senderFacts(circumstances: SenderCircumstances): Fact[] {
  return [
    ...authorFacts(circumstances),
    ...authenticationFacts(circumstances),
    ...hostFacts(circumstances),
    ...headerFacts(circumstances),
    ...bodyFacts(circumstances),
  ]
}

function authorFacts({ verdict, namesOwnDomain }: SenderCircumstances): Fact[] {
  const facts: Fact[] = []
  if (verdict.authorProblem) facts.push(factOf('author_unclear'))
  if (namesOwnDomain) facts.push(factOf('own_domain_unproven'))
  return facts
}

function authenticationFacts({ verdict, trustedForwarder }: SenderCircumstances): Fact[] {
  // A DMARC pass or a trusted ARC seal outweighs authentication broken by forwarding.
  if (verdict.dmarc === 'pass' || trustedForwarder) return []
  const facts: Fact[] = []
  const { spf, dkim, dmarc, dmarcPolicy } = verdict
  if (spf === 'fail') facts.push(factOf('spf_fail'))
  if (spf === 'softfail') facts.push(factOf('spf_softfail'))
  if (spf === 'permerror') facts.push(factOf('spf_permerror'))
  if (spf === 'none' || spf === 'neutral') facts.push(factOf('spf_none'))
  if (dkim === 'fail' || dkim === 'permerror') facts.push(factOf('dkim_fail'))
  if (dkim === 'none') facts.push(factOf('dkim_none'))
  if (dmarc === 'fail') facts.push(factOf(dmarcPolicy === 'none' ? 'dmarc_fail' : 'dmarc_quarantine'))
  return facts
}

function hostFacts({ helo, hasReverseName }: SenderCircumstances): Fact[] {
  const facts: Fact[] = []
  if (!helo.startsWith('[') && !helo.includes('.')) facts.push(factOf('helo_not_a_name'))
  if (!hasReverseName) facts.push(factOf('no_reverse_name'))
  return facts
}

function headerFacts({ traits, message }: SenderCircumstances): Fact[] {
  const facts: Fact[] = []
  if (traits.fromFields === 0 || traits.fromAddresses === 0) facts.push(factOf('from_missing'))
  if (traits.fromFields > 1) facts.push(factOf('from_repeated'))
  else if (traits.fromAddresses > 1) facts.push(factOf('from_many'))
  if (!traits.hasDate) facts.push(factOf('date_missing'))
  else if (traits.dateSkewMs !== null && traits.dateSkewMs > FUTURE_MS) facts.push(factOf('date_future'))
  else if (traits.dateSkewMs !== null && traits.dateSkewMs < -PAST_MS) facts.push(factOf('date_past'))
  if (!traits.hasMessageId) facts.push(factOf('message_id_missing'))
  const repeated = traits.repeatedFields.filter((name) => name !== 'from').length
  if (repeated > 0) facts.push(factOf('headers_repeated', null, Math.min(repeated, MAX_REPEATED)))
  if (namesAnother(message)) facts.push(factOf('name_is_other_address'))
  if (traits.subjectAllCaps) facts.push(factOf('subject_capitals'))
  if (!message.parsed) facts.push(factOf('not_parsed'))
  return facts
}

function bodyFacts({ traits }: SenderCircumstances): Fact[] {
  const facts: Fact[] = []
  const address = traits.suspectLinks.find((host) => isAddress(host))
  const shortener = traits.suspectLinks.find((host) => !isAddress(host))
  if (address !== undefined) facts.push(factOf('url_address', address))
  if (shortener !== undefined) facts.push(factOf('url_shortener', shortener))
  if (traits.mismatchedLinks > 0) facts.push(factOf('url_mismatch'))
  if (traits.htmlOnly) facts.push(factOf('no_text'))
  return facts
}

function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0
}

/** The display name contains an address of another domain than the real one. */
function namesAnother(message: ParsedMessage): boolean {
  const [from, ...more] = message.from
  if (!from || more.length > 0) return false
  const shown = addressInName(from.name)
  return shown !== null && !areRelated(shown.domain, domainOf(from.email))
}
