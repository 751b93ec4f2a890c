// Detects the marks of mail programs in HTML for quoted messages and signatures.

const CLASSES_MAX = 16

/** What an element calls itself. */
export interface Named {
  tag: string
  id: string
  classes: readonly string[]
}

/** The classes of a class attribute. */
export function classesOf(attribute: string | null): string[] {
  return attribute === null ? [] : attribute.trim().split(/\s+/, CLASSES_MAX)
}

const words = (text: string): Set<string> => new Set(text.toLowerCase().split(' '))

/** Elements that contain an earlier message. */
const QUOTE_CLASSES = words(
  'gmail_quote gmail_quote_container gmail_extra_quote yahoo_quoted protonmail_quote moz-cite-prefix zmail_extra OutlookMessageHeader ' +
    'tutanota_quote mailbird-quote rm-quote front-blockquote quote-header freebirdMessageQuote airmail_quote spark_quote',
)
const QUOTE_IDS = words(
  'OLK_SRC_BODY_SECTION yahoo_quoted mail-editor-reference-message-container x_mail-editor-reference-message-container isForwardContent ' +
    'oriMsgHtmlSeperator replyBody',
)
/** Elements after which everything is an earlier message. */
const FROM_HERE_IDS = words('divRplyFwdMsg x_divRplyFwdMsg appendonsend x_appendonsend stopSpelling reply-intro')

const SIGNATURE_CLASSES = words(
  'gmail_signature moz-signature protonmail_signature_block tutanota_signature mailbird-signature airmail_signature',
)
const SIGNATURE_IDS = words(
  'Signature x_Signature AppleMailSignature ms-outlook-mobile-signature yahoo_signature divtagdefaultwrapper_signature',
)

export type Mark = 'quote' | 'from here' | 'signature' | null

/** @param type of a blockquote: "cite" is how Apple Mail and Thunderbird mark what they quote */
export function markOf({ tag, id, classes }: Named, type: string | null): Mark {
  if (tag === 'blockquote' && type?.trim().toLowerCase() === 'cite') return 'quote'
  const name = id.toLowerCase()
  if (FROM_HERE_IDS.has(name)) return 'from here'
  if (QUOTE_IDS.has(name) || /^yahoo_quoted_\d/.test(name)) return 'quote'
  if (SIGNATURE_IDS.has(name)) return 'signature'
  for (const each of classes) {
    const word = each.toLowerCase()
    if (QUOTE_CLASSES.has(word)) return 'quote'
    if (SIGNATURE_CLASSES.has(word)) return 'signature'
  }
  return null
}
