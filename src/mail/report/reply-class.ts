// What a server's reply means for the mail it refused: for good or for now, whose fault it is, and whether to write there again.

/** What somebody said of one delivery: the reply of a server, or the words of a report. */
export interface Reply {
  smtpCode: number | null
  /** RFC 3463, as "5.1.1"; null when none was given. */
  enhancedCode: string | null
  /** As it was said, one line, at most 300 characters, without secrets. */
  text: string
}

/** Decisions §9.4 `delay.type`. */
export type DelayCause =
  | 'mailbox_full'
  | 'throttled'
  | 'greylisted'
  | 'network'
  | 'dns'
  | 'provider_quota'
  | 'transient'
/** Decisions §9.4 `bounce.type` and `bounce.sub_type`. */
export type BounceType = 'permanent' | 'transient' | 'undetermined'
export type BounceSubType =
  | 'general'
  | 'no_such_user'
  | 'mailbox_full'
  | 'domain_not_found'
  | 'content_rejected'
  | 'policy'
  | 'expired'
  | 'suppressed_by_provider'

export interface ReplyClass {
  /** True when trying again cannot help: the reply was a 5yz, or its enhanced code begins with 5. */
  permanent: boolean
  type: BounceType
  subType: BounceSubType
  /** For a reply that only puts off; 'transient' where nothing more is known. */
  cause: DelayCause
  /** True when nothing more may be sent to the recipient (decisions §6.3). */
  suppress: boolean
  /** Whether the mail itself was refused rather than its recipient; of use for a reply to the whole content only. */
  about: 'recipient' | 'content'
}

/** Never throws. Linear in the text, of which only the first REPLY_TEXT_MAX characters are looked at. */
export function classifyReply(_reply: Reply): ReplyClass {
  throw new Error('not built')
}
