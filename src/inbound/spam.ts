// The spam score of a mail: a sum of parts, each with its points and the reason it is named by.

import { isIP } from 'node:net'
import type { AuthVerdict, MailTraits, ParsedMail } from '../mime/message.ts'

/** One thing that speaks for spam. */
export interface SpamPart {
  reason: string
  points: number
}

export interface SpamScore {
  /** Sum of the parts with one decimal. */
  score: number
  parts: SpamPart[]
}

/** What the score is made of beside the mail itself. */
export interface SpamFacts {
  verdict: AuthVerdict
  traits: MailTraits
  mail: ParsedMail
  helo: string
  /** False only when DNS says that the peer's address has no name of its own. */
  hasReverseName: boolean
  /** Sealed by a forwarder the operator trusts: what it broke on the way is not held against the mail. */
  trustedForwarder: boolean
  /** A stranger's message that names a domain of this appliance as its author's, and nothing proves it. */
  namesOwnDomain: boolean
}

/** Points of what goes to Junk whatever else is said of it; the usual threshold alone. */
const JUNK_POINTS = 5
const DAY_MS = 24 * 60 * 60 * 1000
/** A Date field this far ahead or behind is not a slow queue or a wrong time zone (RFC 5321 4.5.4.1: 4-5 days of trying). */
const FUTURE_MS = DAY_MS
const PAST_MS = 14 * DAY_MS
const MAX_REPEATED = 2

/**
 * Weighs a mail. Plain mail from a small host without any authentication stays near 2 and a forwarded or mailing-list mail
 * below 4, so that both reach the Inbox at the usual threshold of 5; it takes several unlike faults, or one that the
 * sender's own domain asks to act on, to get above it.
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
  // A form made to show one author and authenticate another: no mailer writes it.
  if (verdict.authorProblem) parts.push({ reason: 'author_unclear', points: JUNK_POINTS })
  // Messages of an own domain are sent from here, or prove where they come from.
  if (namesOwnDomain) parts.push({ reason: 'own_domain_unproven', points: JUNK_POINTS })
  return parts
}

function authenticationParts({ verdict, trustedForwarder }: SpamFacts): SpamPart[] {
  // A domain that vouches for the mail outweighs what forwarding broke on the way.
  if (verdict.dmarc === 'pass' || trustedForwarder) return []
  const parts: SpamPart[] = []
  const add = (reason: string, points: number) => parts.push({ reason, points })
  // The domain says in so many words that this host does not send for it; forwarding does the same to honest mail.
  if (verdict.spf === 'fail') add('spf_fail', 2)
  // The domain is not sure itself.
  if (verdict.spf === 'softfail') add('spf_softfail', 1)
  // A broken record protects nobody.
  if (verdict.spf === 'permerror') add('spf_permerror', 0.5)
  if (verdict.spf === 'none' || verdict.spf === 'neutral') add('spf_none', 0.5)
  // Mailing lists change what was signed: little weight.
  if (verdict.dkim === 'fail' || verdict.dkim === 'permerror') add('dkim_fail', 1)
  if (verdict.dkim === 'none') add('dkim_none', 0.5)
  if (verdict.dmarc === 'fail') {
    // The owner of the From domain asks for Junk ("quarantine"), or only watches ("none").
    if (verdict.dmarcPolicy === 'none') add('dmarc_fail', 2)
    else add('dmarc_quarantine', 5)
  }
  return parts
}

function peerParts({ helo, hasReverseName }: SpamFacts): SpamPart[] {
  const parts: SpamPart[] = []
  // RFC 5321 2.3.5: a host names itself by a name with a domain; home machines that were taken over do not.
  if (!helo.startsWith('[') && !helo.includes('.')) parts.push({ reason: 'helo_not_a_name', points: 0.5 })
  // Mail hosts have a reverse name; many large receivers refuse mail without one.
  if (!hasReverseName) parts.push({ reason: 'no_reverse_name', points: 0.5 })
  return parts
}

function headerParts({ traits, mail }: SpamFacts): SpamPart[] {
  const parts: SpamPart[] = []
  const add = (reason: string, points: number) => parts.push({ reason, points })
  // RFC 5322 3.6: exactly one From and one Date; every mail program writes both.
  if (traits.fromFields === 0 || traits.fromAddresses === 0) add('from_missing', 2)
  if (traits.fromFields > 1) add('from_repeated', 4)
  else if (traits.fromAddresses > 1) add('from_many', 1.5)
  if (!traits.hasDate) add('date_missing', 1)
  else if (traits.dateSkewMs !== null && traits.dateSkewMs > FUTURE_MS) add('date_future', 1.5)
  else if (traits.dateSkewMs !== null && traits.dateSkewMs < -PAST_MS) add('date_past', 0.5)
  // RFC 5322 3.6.4 "should": scripts of honest people leave it out.
  if (!traits.hasMessageId) add('message_id_missing', 0.5)
  const repeated = traits.repeatedFields.filter((name) => name !== 'from').length
  if (repeated > 0) add('headers_repeated', Math.min(repeated, MAX_REPEATED))
  // The name shown is an address of another domain than the real one.
  if (namesAnother(mail)) add('name_is_other_address', 2)
  if (traits.subjectAllCaps) add('subject_capitals', 0.5)
  // Broken on purpose or by a bad program: nothing further can be said of it.
  if (!mail.parsed) add('not_parsed', 1)
  return parts
}

function bodyParts({ traits }: SpamFacts): SpamPart[] {
  const parts: SpamPart[] = []
  // A link to a bare address hides who serves it; a shortener hides where it leads.
  if (traits.suspectLinks.some((host) => isAddress(host))) parts.push({ reason: 'url_address', points: 1.5 })
  if (traits.suspectLinks.some((host) => !isAddress(host))) parts.push({ reason: 'url_shortener', points: 1 })
  // The text says one host and the link goes to another: newsletters that count clicks do it too, hence not more.
  if (traits.mismatchedLinks > 0) parts.push({ reason: 'url_mismatch', points: 1 })
  // A picture instead of text is written for a filter, not for a person.
  if (traits.htmlOnly) parts.push({ reason: 'no_text', points: 1 })
  return parts
}

function isAddress(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0
}

function namesAnother(mail: ParsedMail): boolean {
  const [from, ...others] = mail.from
  if (!from || others.length > 0) return false
  const shown = /@([a-z0-9.-]+\.[a-z]{2,})/i.exec(from.name)?.[1]?.toLowerCase()
  const real = from.email.slice(from.email.lastIndexOf('@') + 1).toLowerCase()
  return shown !== undefined && shown !== real && !shown.endsWith(`.${real}`) && !real.endsWith(`.${shown}`)
}
