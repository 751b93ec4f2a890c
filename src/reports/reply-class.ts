// Classifies the reply of a remote server: permanent or transient, the cause, and whether to suppress the recipient.

import { findPhrase, type RefusalCause, VAGUE } from './phrases.ts'

/** The outcome of one delivery in words: the SMTP reply of a server, or the text of a report. */
export interface RemoteReply {
  smtpCode: number | null
  /** RFC 3463, as "5.1.1"; null when none was given. */
  enhancedCode: string | null
  /** The original text, one line, at most 300 characters, without secrets. */
  text: string
  /** The server that replied, when it is known. */
  server?: RemoteServer
}

/** A server: its host name, and the IP address of the connection. */
export interface RemoteServer {
  host: string
  address: string | null
}

/** docs/design/events.md §4 `delay.type`. */
export type DelayCause =
  | 'mailbox_full'
  | 'throttled'
  | 'greylisted'
  | 'network'
  | 'dns'
  | 'provider_quota'
  /** The mail server does not meet the TLS policy of the domain. */
  | 'tls_policy'
  | 'transient'
/** docs/design/events.md §4 `bounce.type`: the address is invalid, another message or a later attempt may succeed, or the reason is unknown. */
export type BounceType = 'permanent' | 'transient' | 'undetermined'
/** docs/design/events.md §4 `bounce.sub_type`. */
export type BounceSubType =
  | 'general'
  | 'no_such_user'
  | 'mailbox_full'
  | 'domain_not_found'
  | 'content_rejected'
  | 'policy'
  | 'expired'
  | 'suppressed_by_provider'

/** The stage of the transaction when the reply was not to RCPT: the content, or unknown for reports. */
export type ReplyStage = 'data' | 'unknown'

export interface ReplyClass {
  /** True when trying again cannot help: a reply of 5yz; without a reply code, an enhanced code that begins with 5. */
  permanent: boolean
  type: BounceType
  subType: BounceSubType
  /** For transient replies; 'transient' when nothing more is known. */
  cause: DelayCause
  /** True when nothing more may be sent to the recipient (docs/design/sending.md §8). */
  suppress: boolean
  /** Whether the message was rejected or its recipient: relevant only for replies to the content. */
  about: 'recipient' | 'content'
}

/** Causes by subject and detail of the enhanced code (RFC 3463 and its registry); other codes say no more than their class. */
const CODES: ReadonlyMap<string, RefusalCause> = new Map([
  ['1.1', 'no_such_user'],
  ['1.2', 'no_such_domain'],
  ['1.3', 'no_such_user'],
  ['1.4', 'no_such_user'],
  ['1.6', 'no_such_user'],
  ['1.7', 'policy'],
  ['1.8', 'policy'],
  ['2.1', 'disabled'],
  ['2.2', 'mailbox_full'],
  ['2.3', 'too_large'],
  ['3.1', 'server'],
  ['3.2', 'server'],
  ['3.3', 'server'],
  ['3.4', 'too_large'],
  ['3.5', 'server'],
  ['4.1', 'network'],
  ['4.2', 'network'],
  ['4.3', 'dns'],
  ['4.4', 'no_such_domain'],
  ['4.5', 'throttled'],
  ['4.6', 'server'],
  ['4.7', 'expired'],
  ['5.3', 'throttled'],
])

/** docs/design/sending.md §8: codes for addresses that do not exist. */
const HARD_CODES = new Set(['5.1.1', '5.1.2', '5.1.10', '5.2.1'])

/** Reply codes that say more than their class: RFC 5321 4.2.3, RFC 7504, RFC 7505, and 511 of some servers. */
const REPLY_CODES: ReadonlyMap<number, RefusalCause> = new Map([
  [511, 'no_such_user'],
  [521, 'no_mail_taken'],
  [530, 'policy'],
  [551, 'no_such_user'],
  [556, 'no_mail_taken'],
])

/** RFC 3463 X.1.7 and X.1.8: the sender's address, whatever the text. */
const OF_SENDER = /^[45]\.1\.[78]$/
/** Yahoo: mailboxes with this text stay disabled. */
const DISABLED_FOR_GOOD = /\bmailbox is disabled\b(?! temporar)/i
/** Microsoft's directory-based edge blocking: the address does not exist. */
const EDGE_BLOCKED = /recipient address(?:es)? rejected ?: ?access denied/i

/** Causes that concern the address itself and are permanent. */
const DEAD: ReadonlySet<RefusalCause> = new Set(['no_such_user', 'no_such_domain', 'no_mail_taken'])
/** Unambiguous texts: docs/design/sending.md §8 names codes, but many servers give none. */
const PLAINLY_DEAD =
  /(?:user|recipient|mailbox|account|local ?part|addressee|alias)s?\b.{0,48}(?:unknown|not (?:be )?found|not known|do(?:es)? ?n.t exist|not exist)|(?:no such|unknown|non-?existent) (?:\S+ )?(?:user|recipient|mailbox|account|local ?part|addressee|alias|domain|host)|unroute?able address|(?:host|domain)(?: name)? (?:unknown|not found)|domain does not exist|nxdomain/i

const SUB_TYPES: ReadonlyMap<RefusalCause, BounceSubType> = new Map([
  ['suppressed', 'suppressed_by_provider'],
  ['mailbox_full', 'mailbox_full'],
  ['policy', 'policy'],
  ['refused', 'policy'],
  ['greylisted', 'policy'],
  ['content', 'content_rejected'],
  ['too_large', 'content_rejected'],
  ['no_such_user', 'no_such_user'],
  ['no_such_domain', 'domain_not_found'],
  ['no_mail_taken', 'domain_not_found'],
  ['expired', 'expired'],
])

const CAUSES: ReadonlyMap<RefusalCause, DelayCause> = new Map([
  ['mailbox_full', 'mailbox_full'],
  ['throttled', 'throttled'],
  ['greylisted', 'greylisted'],
  ['network', 'network'],
  ['dns', 'dns'],
  ['no_such_domain', 'dns'],
])

/**
 * Enhanced codes count first, then reply codes, then words. Never throws; linear in the text, of which PHRASE_TEXT_MAX
 * characters count.
 * @param stage a server that took the recipient and only then calls it unknown may be a filter
 */
export function classifyReply(reply: RemoteReply, stage: ReplyStage | null = null): ReplyClass {
  const { smtpCode, enhancedCode } = reply
  const finding = findingOf(reply)
  const type = typeOf(finding, reply, stage)
  return {
    permanent: smtpCode === null ? (enhancedCode?.startsWith('5') ?? false) : smtpCode >= 500,
    type,
    subType: (finding && SUB_TYPES.get(finding)) ?? 'general',
    cause: (finding && CAUSES.get(finding)) ?? 'transient',
    suppress: type === 'permanent' && isHard(finding, reply),
    about: isAboutContent(finding, reply) ? 'content' : 'recipient',
  }
}

function findingOf({ smtpCode, enhancedCode, text }: RemoteReply): RefusalCause | null {
  const said = findPhrase(text)
  const coded = codeFinding(enhancedCode ?? '') ?? REPLY_CODES.get(smtpCode ?? 0) ?? null
  if (OF_SENDER.test(enhancedCode ?? '')) return 'policy'
  if (coded === null) return said ?? (HARD_CODES.has(enhancedCode ?? '') ? 'no_such_user' : null)
  if (said === null || VAGUE.has(said) || coded === 'mailbox_full') return coded
  // When code and text both mean an invalid address, the code is more specific. Any other clear text overrides the code: servers
  // send 5.1.1 for full mailboxes, 5.2.1 for rate limits, and 5.7.1 for unknown users.
  return (DEAD.has(coded) || coded === 'disabled') && DEAD.has(said) ? coded : said
}

function codeFinding(code: string): RefusalCause | undefined {
  const [, subject, detail] = code.split('.')
  if (subject === '6') return 'content'
  return CODES.get(`${subject}.${detail}`) ?? (subject === '7' ? 'policy' : undefined)
}

function typeOf(finding: RefusalCause | null, reply: RemoteReply, stage: ReplyStage | null): BounceType {
  const { smtpCode, enhancedCode, text } = reply
  if (enhancedCode?.startsWith('4') || (smtpCode !== null && smtpCode < 500)) return 'transient'
  if (HARD_CODES.has(enhancedCode ?? '') && (finding === 'disabled' || finding === 'no_such_user')) return 'permanent'
  if (finding === null) return 'undetermined'
  if (finding === 'no_such_user' && mayBeFilter(reply, stage)) return 'undetermined'
  if (finding === 'disabled' && DISABLED_FOR_GOOD.test(text)) return 'permanent'
  // Without a code a disabled mailbox may be enabled again (RFC 3463 3.3).
  return DEAD.has(finding) || finding === 'suppressed' ? 'permanent' : 'transient'
}

/** Codes for an unknown user are trusted at any stage, and so is the text of the reporting server itself. */
function mayBeFilter({ smtpCode, enhancedCode }: RemoteReply, stage: ReplyStage | null): boolean {
  if (stage === 'data') return (enhancedCode ?? '5.0.0').endsWith('.0')
  return stage === 'unknown' && enhancedCode === null && smtpCode !== null
}

/** Whether the recipient has to be suppressed. */
function isHard(finding: RefusalCause | null, { enhancedCode, text }: RemoteReply): boolean {
  if (finding === 'disabled' && DISABLED_FOR_GOOD.test(text)) return true
  if (enhancedCode === '5.4.1' && EDGE_BLOCKED.test(text)) return true
  if (!/^5\.[015]\.0$/.test(enhancedCode ?? '5.0.0')) return HARD_CODES.has(enhancedCode!)
  return (finding === 'no_such_user' || finding === 'no_such_domain') && PLAINLY_DEAD.test(text)
}

function isAboutContent(finding: RefusalCause | null, { smtpCode, enhancedCode }: RemoteReply): boolean {
  if (finding === 'content' || finding === 'too_large') return true
  if (finding === 'mailbox_full' || (finding !== null && DEAD.has(finding))) return false
  return smtpCode === 552 || /^\d\.[67]\./.test(enhancedCode ?? '')
}
