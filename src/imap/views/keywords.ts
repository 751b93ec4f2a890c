// Flags as they are shown: system flags, and keywords in their registered spelling (RFC 9051 §2.3.2, IANA "IMAP and JMAP Keywords").

/** Registered keywords, and those of Thunderbird and Apple Mail, in the spelling that their clients compare. */
const SPELLINGS = [
  ...['$Forwarded', '$MDNSent', '$Junk', '$NotJunk', '$Phishing', '$SubmitPending', '$Submitted', '$Important'],
  ...['$MailFlagBit0', '$MailFlagBit1', '$MailFlagBit2', 'Junk', 'NonJunk', 'Forwarded', 'Redirected'],
]
const SPELLING = new Map(SPELLINGS.map((keyword) => [keyword.toLowerCase(), keyword]))

/** The system flags in the order of RFC 9051. */
export const SYSTEM_FLAG_NAMES: readonly string[] = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft']

/** A keyword, lower-case in the store, as it is shown. */
export function formatKeyword(keyword: string): string {
  return SPELLING.get(keyword) ?? keyword
}

/** Whether a keyword can be shown: REST takes some that are no atoms. */
export function isShownKeyword(keyword: string): boolean {
  return /^[!#$&'+,\-./0-9:;<=>?@A-Z[^_`a-z|}~]+$/.test(keyword)
}
