// The spam score of a message: a sum of rules, each with its points and a stable reason name.

import { isIP } from 'node:net'
import { DAY_MS } from '../base/durations.ts'
import { domainOf } from '../mime/address.ts'
import { addressInName, areRelated } from '../mime/display-name.ts'
import type { AuthVerdict, MessageTraits, ParsedMessage } from '../mime/message.ts'

/** One matched rule. */
export interface SpamPart {
  reason: string
  points: number
}

export interface SpamScore {
  /** Sum of the points, with one decimal. */
  score: number
  parts: SpamPart[]
}

/** Input of the score. */
export interface SpamFacts {
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

/** Points of a rule that reaches the default Junk threshold alone. */
const JUNK_POINTS = 5
/** Beyond a slow queue (RFC 5321 §4.5.4.1: 4-5 days of retries) or a wrong time zone. */
const FUTURE_MS = DAY_MS
const PAST_MS = 14 * DAY_MS
const MAX_REPEATED = 2

/**
 * Scores a message. A plain message from a small host without authentication scores about 2, a forwarded or mailing-list
 * message below 4: both stay below the default threshold of 5. Exceeding it takes several unrelated rules, or one that the
 * sender's own domain asks to enforce (DMARC).
 */
export function scoreSpam(facts: SpamFacts): SpamScore {
  const parts = [
    ...authorParts(facts),
    ...authenticationParts(facts),
    ...peerParts(facts),
    ...headerParts(facts),
    ...bodyParts(facts),
  ]
  const sum = parts.reduce((total, part) => total + part.points, 0)
  return { score: Math.round(sum * 10) / 10, parts }
}

function authorParts({ verdict, namesOwnDomain }: SpamFacts): SpamPart[] {
  const parts: SpamPart[] = []
  // Crafted to display one author and authenticate another; no legitimate mailer writes it.
  if (verdict.authorProblem) parts.push({ reason: 'author_unclear', points: JUNK_POINTS })
  // Legitimate messages of a hosted domain are sent through this appliance or authenticate.
  if (namesOwnDomain) parts.push({ reason: 'own_domain_unproven', points: JUNK_POINTS })
  return parts
}

function authenticationParts({ verdict, trustedForwarder }: SpamFacts): SpamPart[] {
  // A DMARC pass or a trusted ARC seal outweighs authentication broken by forwarding.
  if (verdict.dmarc === 'pass' || trustedForwarder) return []
  const parts: SpamPart[] = []
  const add = (reason: string, points: number) => parts.push({ reason, points })
  // The domain states explicitly that this host does not send for it; forwarding has the same effect on legitimate mail.
  if (verdict.spf === 'fail') add('spf_fail', 2)
  // The domain's own policy is undecided.
  if (verdict.spf === 'softfail') add('spf_softfail', 1)
  // An invalid record has no effect.
  if (verdict.spf === 'permerror') add('spf_permerror', 0.5)
  if (verdict.spf === 'none' || verdict.spf === 'neutral') add('spf_none', 0.5)
  // Mailing lists break signatures: low weight.
  if (verdict.dkim === 'fail' || verdict.dkim === 'permerror') add('dkim_fail', 1)
  if (verdict.dkim === 'none') add('dkim_none', 0.5)
  if (verdict.dmarc === 'fail') {
    // The From domain's policy asks for Junk (quarantine) or only for reports (none).
    if (verdict.dmarcPolicy === 'none') add('dmarc_fail', 2)
    else add('dmarc_quarantine', 5)
  }
  return parts
}

function peerParts({ helo, hasReverseName }: SpamFacts): SpamPart[] {
  const parts: SpamPart[] = []
  // RFC 5321 §2.3.5: HELO is a fully qualified name; bots on home machines often send none.
  if (!helo.startsWith('[') && !helo.includes('.')) parts.push({ reason: 'helo_not_a_name', points: 0.5 })
  // Mail hosts have a reverse name; many large receivers refuse mail without one.
  if (!hasReverseName) parts.push({ reason: 'no_reverse_name', points: 0.5 })
  return parts
}

function headerParts({ traits, message }: SpamFacts): SpamPart[] {
  const parts: SpamPart[] = []
  const add = (reason: string, points: number) => parts.push({ reason, points })
  // RFC 5322 §3.6: exactly one From and one Date; every mailer writes both.
  if (traits.fromFields === 0 || traits.fromAddresses === 0) add('from_missing', 2)
  if (traits.fromFields > 1) add('from_repeated', 4)
  else if (traits.fromAddresses > 1) add('from_many', 1.5)
  if (!traits.hasDate) add('date_missing', 1)
  else if (traits.dateSkewMs !== null && traits.dateSkewMs > FUTURE_MS) add('date_future', 1.5)
  else if (traits.dateSkewMs !== null && traits.dateSkewMs < -PAST_MS) add('date_past', 0.5)
  // RFC 5322 §3.6.4 says "should": legitimate scripts omit it.
  if (!traits.hasMessageId) add('message_id_missing', 0.5)
  const repeated = traits.repeatedFields.filter((name) => name !== 'from').length
  if (repeated > 0) add('headers_repeated', Math.min(repeated, MAX_REPEATED))
  // The display name contains an address of another domain than the real one.
  if (namesAnother(message)) add('name_is_other_address', 2)
  if (traits.subjectAllCaps) add('subject_capitals', 0.5)
  // Malformed, on purpose or by a bad program.
  if (!message.parsed) add('not_parsed', 1)
  return parts
}

function bodyParts({ traits }: SpamFacts): SpamPart[] {
  const parts: SpamPart[] = []
  // A bare IP address hides who serves the link; a shortener hides its target.
  if (traits.suspectLinks.some((host) => isAddress(host))) parts.push({ reason: 'url_address', points: 1.5 })
  if (traits.suspectLinks.some((host) => !isAddress(host))) parts.push({ reason: 'url_shortener', points: 1 })
  // The visible text names another host than the target: click-tracking newsletters do this too, hence the low weight.
  if (traits.mismatchedLinks > 0) parts.push({ reason: 'url_mismatch', points: 1 })
  // An image instead of text evades filters.
  if (traits.htmlOnly) parts.push({ reason: 'no_text', points: 1 })
  return parts
}

function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0
}

function namesAnother(message: ParsedMessage): boolean {
  const [from, ...others] = message.from
  if (!from || others.length > 0) return false
  const shown = addressInName(from.name)
  return shown !== null && !areRelated(shown.domain, domainOf(from.email))
}
