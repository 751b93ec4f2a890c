// The values a message is parsed into, shared by all modules that work with messages.

import type { EnvelopeFields } from './envelope.ts'
import type { HeaderKeys } from './header-keys.ts'
import type { ParameterPair } from './parameters.ts'

/** An address with its display name; `name` is "" when there is none. */
export interface Address {
  email: string
  name: string
}

/** One MIME part, located once at delivery. Offsets are bytes from the start of the stored message. */
export interface Part {
  /** IMAP part number ("1", "2.1"); the part whose body is the whole message is "1", or "TEXT" when it is a multipart. */
  id: string
  /** Lower-case type/subtype. */
  type: string
  charset: string | null
  /** Content-Transfer-Encoding, lower-case ("7bit", "base64", "quoted-printable"…). */
  encoding: string
  disposition: 'attachment' | 'inline' | null
  filename: string | null
  /** Content-ID without angle brackets. */
  contentId: string | null
  /** Where the part's own header starts. */
  headerStart: number
  /** Where its body starts and ends (end is exclusive, the line break before a boundary is outside). */
  bodyStart: number
  bodyEnd: number
  /** Line breaks in the body, for IMAP's BODYSTRUCTURE. */
  lines: number
  /** Parts inside a multipart or message/rfc822. */
  parts: Part[]
  /** Message without NUL bytes: false. On the root only, absent from structures stored before version 2, which have none of the following either. */
  hasNul?: boolean
  /**
   * Size of the decoded body in bytes; null for an unknown encoding, absent on a multipart. With bare LF, it is the size of
   * the decoded form of the repaired body (see `bodyLf`).
   */
  decodedBytes?: number | null
  /** Bare LF (without CR) in the part's header and body, each served as CRLF; absent when there is none. */
  headerLf?: number
  bodyLf?: number
  /** Subtype and disposition as written, absent when `type` and `disposition` say the same. */
  subtypeWritten?: string
  dispositionWritten?: string
  /** Parameters of Content-Type and Content-Disposition as written; RFC 2231 pieces are not joined. Absent when there is none. */
  params?: ParameterPair[]
  dispositionParams?: ParameterPair[]
  /** Text of Content-Description, Content-MD5, Content-Language and Content-Location, encoded words not decoded. */
  description?: string
  md5?: string
  language?: string
  location?: string
  /** Header of the message in a message/rfc822 part, as far as IMAP's ENVELOPE needs it. */
  envelope?: EnvelopeFields
}

/** An attachment: a part that can be saved, with its file name, size and hash. */
export interface AttachmentPart {
  partId: string
  filename: string
  contentType: string
  /** Decoded size in bytes. */
  sizeBytes: number
  /** SHA-256 of the decoded bytes. */
  sha256: Uint8Array
  disposition: 'attachment' | 'inline'
  contentId: string | null
  /** True when the HTML body references it by Content-ID, so that it is displayed inside the body. */
  inline: boolean
}

/** A parsed message. Every list and text is bounded (see parse.ts). */
export interface ParsedMessage {
  /** False when a limit was exceeded or the bytes are not a message: the other members are then best effort; the raw message is stored. */
  parsed: boolean
  /** Why it was not parsed, one short sentence; null otherwise. */
  problem: string | null
  subject: string
  from: Address[]
  sender: Address | null
  to: Address[]
  cc: Address[]
  bcc: Address[]
  replyTo: Address[]
  /** Message-ID without angle brackets. */
  messageId: string | null
  /** Without angle brackets, in the order of the header. */
  inReplyTo: string[]
  references: string[]
  /** Date header in ms, null when missing or unreadable. */
  sentAt: number | null
  /** At most 256 characters of cleaned text, white space folded. */
  preview: string
  /** Plain text for the index: body (HTML as text where there is no text part), bounded. */
  searchText: string
  structure: Part | null
  /** The header fields that mail programs list messages by, packed (see message-headers.ts). */
  keptHeaders: Uint8Array
  headerKeys: HeaderKeys
  /** Id of the part shown as text and of the part shown as HTML, null when there is none. */
  textPart: string | null
  htmlPart: string | null
  attachments: AttachmentPart[]
  /** True when at least one attachment is not inline. */
  hasAttachments: boolean
}

/** Results of RFC 8601; anything else is "permerror". */
export type AuthResult = 'pass' | 'fail' | 'softfail' | 'neutral' | 'none' | 'temperror' | 'permerror'

/** One DKIM signature and its result. */
export interface SignatureVerdict {
  domain: string
  selector: string
  algorithm: string
  result: AuthResult
  reason: string
  /** True when its domain is aligned with the From domain. */
  aligned: boolean
}

/** One DNS query made during authentication and its answer, abbreviated. */
export interface DnsEvidence {
  name: string
  type: string
  answer: string
}

/** The authentication results of a message, with reasons (docs/design/mailbox.md §3 "authentication", §6.4 "evidence"). */
export interface AuthVerdict {
  spf: AuthResult
  spfDomain: string
  spfReason: string
  /** pass when at least one signature passes; else the best of what was found, or none. */
  dkim: AuthResult
  signatures: SignatureVerdict[]
  dmarc: AuthResult
  /** Policy of the record found: none, quarantine, reject; "" when there is none. */
  dmarcPolicy: string
  dmarcReason: string
  arc: AuthResult
  /** Domain of the newest ARC seal, "" when there is none. */
  arcDomain: string
  /** Domain the DMARC result is about: the author's, or of several the one with the strictest policy; "" for none. */
  fromDomain: string
  /** Why the author is ambiguous, one sentence; "" when it is clear. */
  authorProblem: string
  /** True only when the author is clear and DMARC (or aligned DKIM/SPF where no record is) passes. */
  fromAligned: boolean
  dns: DnsEvidence[]
}

/** The SMTP transaction a message arrives in. */
export interface Arrival {
  remoteAddress: string
  remoteName: string | null
  helo: string
  /** Address of MAIL FROM, "" for the null sender. */
  mailFrom: string
  /** "TLSv1.3 TLS_AES_256_GCM_SHA384" or null for plain text. */
  tls: string | null
  /** ESMTP, ESMTPS, UTF8SMTP, UTF8SMTPS… of RFC 3848 and RFC 6531. */
  protocol: string
  receivedAt: number
  /** Our name and the id of this transaction, for the Received header. */
  hostName: string
  queueId: string
  /** The one recipient, where there is only one: RFC 5321 4.4 lets Received name it then. */
  rcptTo: string | null
  /** The same where the address is not one that mail programs know: a Delivered-To field names it (RFC 9228). */
  deliveredTo?: string | null
  /** True for a bounce or feedback address, and for a message from the null sender to one mailbox: it is parsed as a report. */
  isForReports: boolean
}

/** A message sent from this appliance to one of its own mailboxes. */
export interface OwnMessage {
  /** Envelope sender, "" for the null sender. */
  mailFrom: string
  /** Our host name and the id of the message, for the Received field. */
  hostName: string
  queueId: string
  /** The one recipient, where there is only one. */
  rcptTo: string | null
  receivedAt: number
  /** The From address that the sender was authorised for when the message was accepted. */
  author: string
}

/** One stored chunk of a message: at most 1 MiB of content, compressed where that saves space. */
export interface Chunk {
  start: number
  sizeBytes: number
  zstd: boolean
  data: Uint8Array
  /** SHA-256 of its bytes, where the content has several chunks: the SHA-256 of the content verifies a single one. */
  digest?: Uint8Array
}

/** Facts about a message's form, the input of the spam score. */
export interface MessageTraits {
  fromFields: number
  fromAddresses: number
  hasDate: boolean
  hasMessageId: boolean
  /** Date header minus time of arrival in ms, null without a readable date. */
  dateSkewMs: number | null
  receivedCount: number
  /** Header fields that may occur once (RFC 5322 §3.6) but occur more often. */
  repeatedFields: string[]
  subjectAllCaps: boolean
  /** Link hosts that are IP addresses or known URL shorteners. */
  suspectLinks: string[]
  /** HTML without visible text. */
  htmlOnly: boolean
  /** Links whose visible text names another host than their target. */
  mismatchedLinks: number
  isList: boolean
  autoSubmitted: boolean
  /** It is a bulk message or a report, or asks for no automatic replies. */
  wantsNoAnswer: boolean
}
