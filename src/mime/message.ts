// The values a mail is turned into: what the rest of the house knows of it once its bytes have been read.

/** An address with its display name; `name` is "" when there is none. */
export interface Address {
  email: string
  name: string
}

/** One MIME part, found once at delivery. Offsets are bytes from the start of the stored mail. */
export interface Part {
  /** IMAP part number ("1", "2.1"); the part whose body is the whole mail is "1", or "TEXT" when it is a multipart. */
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
  /** Line breaks in the body: IMAP's BODYSTRUCTURE asks for it. */
  lines: number
  /** Parts inside a multipart or message/rfc822. */
  parts: Part[]
}

/** What a part a person may save is called and where it lies. */
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
  /** True when it is shown inside the HTML body (referenced by Content-ID), so that it is no attachment to a reader. */
  inline: boolean
}

/** A mail, read once. Every list and text is bounded (see parse.ts). */
export interface ParsedMail {
  /** False when a bound was broken or the bytes are no mail: everything else is then a best effort and the raw mail is kept. */
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
  /** Id of the part shown as text and of the part shown as HTML, null when there is none. */
  textPart: string | null
  htmlPart: string | null
  attachments: AttachmentPart[]
  /** True when at least one attachment is not inline. */
  hasAttachments: boolean
}

/** Results of RFC 8601; anything a check did not say explicitly is "permerror". */
export type AuthResult = 'pass' | 'fail' | 'softfail' | 'neutral' | 'none' | 'temperror' | 'permerror'

/** One DKIM signature and what became of it. */
export interface SignatureVerdict {
  domain: string
  selector: string
  algorithm: string
  result: AuthResult
  reason: string
  /** True when its domain is aligned with the From domain. */
  aligned: boolean
}

/** One question asked of DNS during the check and its answer, in short. */
export interface DnsEvidence {
  name: string
  type: string
  answer: string
}

/** What authentication says of a mail, with its reasons (decisions §10.3 "authentication", §6.4 "evidence"). */
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
  /** Domain the DMARC result is about: the author's, or of several that with the strictest policy; "" when there is none. */
  fromDomain: string
  /** Why it is not clear who the author is, one sentence; "" when it is clear. */
  authorProblem: string
  /** True only when the author is clear and DMARC (or aligned DKIM/SPF where no record is) passes. */
  fromAligned: boolean
  dns: DnsEvidence[]
}

/** Who handed the mail in and how: known before its first byte. */
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
  /** True when it came to an address of ours for reports: then it is read as one. */
  isForReports: boolean
}

/** A mail that was sent from this appliance to a mailbox of it. */
export interface OwnMail {
  /** Envelope sender, "" for the null sender. */
  mailFrom: string
  /** Our name and the id of the mail, for the Received header. */
  hostName: string
  queueId: string
  /** The one recipient, where there is only one. */
  rcptTo: string | null
  receivedAt: number
}

/** One stretch of a mail as it is stored: at most 1 MiB of content, compressed where that shrinks it. */
export interface Chunk {
  start: number
  sizeBytes: number
  zstd: boolean
  data: Uint8Array
}

/** Facts about a mail's form that a spam score can use; each is a plain observation. */
export interface MailTraits {
  fromFields: number
  fromAddresses: number
  hasDate: boolean
  hasMessageId: boolean
  /** Date header minus time of arrival in ms, null without a readable date. */
  dateSkewMs: number | null
  receivedCount: number
  /** Header fields that may stand once (RFC 5322 3.6) but stand more often. */
  repeatedFields: string[]
  subjectAllCaps: boolean
  /** Link hosts that are IP addresses or known URL shorteners. */
  suspectLinks: string[]
  /** HTML without any text a reader could see. */
  htmlOnly: boolean
  /** Links whose visible text names another host than their target. */
  mismatchedLinks: number
  isList: boolean
  autoSubmitted: boolean
  /** It is sent to many, reports something, or asks answering machines to keep silent. */
  wantsNoAnswer: boolean
}
