// Messages of which FETCH answers other than Dovecot, and why.

type Difference = readonly [name: string, reason: string, only?: 'extended']

const NO_HEADER =
  'The first line is no field: for us the message has no header and is all body, for Dovecot all up to an empty line is header.'
const BLANK_RUNS =
  'Dovecot folds runs of white space into one space; ours are as the message has them (RFC 5322 §2.2.3).'
const TRIMMED = 'White space around the value is left out; Dovecot keeps it.'
const LATIN = 'Raw 8-bit text that is not UTF-8: Dovecot sends the bytes, which RFC 9051 §4.3 forbids; ours are UTF-8.'
const NAME_WITH_AT =
  'A display name with an "@" that is not quoted, in front of `<address>`: for Dovecot it is the address.'
const AFTER_BOUNDARY =
  'The line break in front of a boundary belongs to it (RFC 2046 §5.1.1), also behind a closing boundary; Dovecot counts it to the part.'
const EMPTY_PART =
  'A part without a body: its header ends with the empty line, which Dovecot counts to the boundary behind it.'
const BOUNDARY =
  'A boundary that Dovecot does not find (written wrongly, too long, or in the form of RFC 2231); its parts are missing there.'
const NO_EMPTY_LINE =
  'A boundary directly behind the header of a multipart, without an empty line: Dovecot takes the parts for further ones of the outer multipart.'
const SCRAMBLED = 'A message cut to pieces: which lines are headers and which are bodies is a guess.'
const NO_TYPE =
  'A Content-Type that cannot be read is text/plain (RFC 2045 §5.2); Dovecot answers with two empty strings.'
const PARAMETERS = 'A parameter without quotes or with a missing separator, which we read as its author meant.'

export const ENVELOPE_DIFFERS: readonly Difference[] = [
  ['flanker/enclosed-broken-body.eml', NO_HEADER],
  ['flanker/enclosed-global.eml', NO_HEADER],
  ['flanker/from-encoding.eml', LATIN],
  ['flanker/mailgun-pic.eml', NO_HEADER],
  ['flanker/spam/broken-headers.eml', BLANK_RUNS],
  ['flanker/torture-part.eml', BLANK_RUNS],
  ['mail-parser/malformed/019.eml', SCRAMBLED],
  ['mailcore2/summary/input/1641-no-charset.eml', LATIN],
  [
    'mailcore2/summary/output/6094-japanese-2.txt',
    'A name with "(" that is not quoted; Dovecot reads a comment to the end.',
  ],
  ['mailcore2/summary/output/emoji1.txt', NAME_WITH_AT],
  ['mime4j-mimetools-testmsgs/frag.msg', BLANK_RUNS],
  ['mime4j-testmsgs/basic-plain-with-bad-header-separator.msg', TRIMMED],
  ['mime4j-testmsgs/obsolete.msg', BLANK_RUNS],
  ['python-email/msg_27.txt', BLANK_RUNS],
  ['ruby-mail/error_emails/bad_subject.eml', TRIMMED],
  ['ruby-mail/error_emails/missing_body.eml', 'A group inside "<>"; Dovecot calls the host SYNTAX_ERROR.'],
  [
    'ruby-mail/error_emails/weird_to_header.eml',
    'An empty entry in a list (RFC 5322 §4.4); Dovecot shows an address without parts.',
  ],
  [
    'ruby-mail/mime_emails/raw_email_with_binary_encoded.eml',
    'The first of two Subject fields counts, as in the API; for Dovecot the last.',
  ],
  ['ruby-mail/plain_emails/raw_email_multiple_from.eml', NAME_WITH_AT],
  ['ruby-mail/plain_emails/raw_email_with_at_display_name.eml', NAME_WITH_AT],
  ['ruby-mail/rfc2822/example14.eml', BLANK_RUNS],
  ['webklex/issue-412.eml', TRIMMED],
  ['webklex/ks_c_5601-1987_headers.eml', BLANK_RUNS],
]

export const STRUCTURE_DIFFERS: readonly Difference[] = [
  ['enmime/mail/erroneous.raw', NO_HEADER],
  [
    'enmime/mail/inlinemultipart.raw',
    'The first of two Content-Disposition fields counts; for Dovecot the last.',
    'extended',
  ],
  ['enmime/mail/mime-blank-media-name.raw', PARAMETERS],
  [
    'enmime/mail/qp-utf8-header-no-break.raw',
    'Text and a boundary in front of the empty line: for us they start the body.',
  ],
  ['enmime/parts/empty-ctype-bad-content.raw', NO_TYPE],
  ['enmime/parts/missing-closing-param-quote.raw', PARAMETERS],
  ['enmime/parts/unquoted-ctype-param-special.raw', PARAMETERS],
  ['flanker/enclosed-broken-body.eml', NO_HEADER],
  ['flanker/enclosed-global.eml', NO_HEADER],
  ['flanker/mailgun-pic.eml', NO_HEADER],
  ['flanker/torture-part.eml', AFTER_BOUNDARY],
  ['mail-parser/malformed/007.eml', NO_EMPTY_LINE],
  ['mail-parser/malformed/017.eml', PARAMETERS],
  ['mail-parser/malformed/019.eml', SCRAMBLED],
  ['mail-parser/rfc/001.eml', PARAMETERS],
  ['mail-parser/thirdparty/007.eml', AFTER_BOUNDARY],
  ['mail-parser/thirdparty/015.eml', AFTER_BOUNDARY],
  ['mime4j-mimetools-testmsgs/bluedot-simple.msg', 'A Content-ID without "<>" gets them (RFC 2045 §7).'],
  ['mime4j-mimetools-testmsgs/double-semicolon.msg', BOUNDARY],
  ['mime4j-mimetools-testmsgs/frag.msg', BLANK_RUNS],
  ['mime4j-mimetools-testmsgs/infinite.msg', 'An empty Content-Description is NIL.'],
  ['mime4j-testmsgs/malformedHeader-noheader.msg', NO_HEADER],
  ['mime4j-testmsgs/malformedHeaderStartsBody-noheader.msg', NO_HEADER],
  ['mime4j-testmsgs/very-long-boundary.msg', 'Of a boundary Dovecot compares the first 80 characters only.'],
  ['python-email/msg_19.txt', NO_HEADER],
  ['python-email/msg_29.txt', 'Pieces of RFC 2231 are not joined: clients that know them do it themselves.'],
  ['python-email/msg_33.txt', BOUNDARY],
  ['python-email/msg_35.txt', 'A line that is no field, at the end of the message, is its body.'],
  ['ruby-mail/attachment_emails/attachment_message_rfc822_inline_image.eml', AFTER_BOUNDARY],
  ['ruby-mail/attachment_emails/attachment_with_unquoted_name.eml', PARAMETERS],
  [
    'ruby-mail/error_emails/content_transfer_encoding_spam.eml',
    'An encoding with characters of none, cut at the first.',
  ],
  ['ruby-mail/mime_emails/raw_email_with_binary_encoded.eml', PARAMETERS],
  ['ruby-mail/multi_charset/japanese_attachment_long_name.eml', 'Pieces of RFC 2231 are not joined.', 'extended'],
]

export const SECTIONS_DIFFER: readonly Difference[] = [
  ['enmime/mail/erroneous.raw', NO_HEADER],
  [
    'enmime/mail/qp-utf8-header-no-break.raw',
    'Text and a boundary in front of the empty line: for us they start the body.',
  ],
  ['flanker/enclosed-broken-body.eml', NO_HEADER],
  ['flanker/enclosed-global.eml', NO_HEADER],
  ['flanker/mailgun-pic.eml', NO_HEADER],
  ['mail-parser/malformed/001.eml', EMPTY_PART],
  ['mail-parser/malformed/007.eml', NO_EMPTY_LINE],
  ['mail-parser/malformed/017.eml', PARAMETERS],
  ['mail-parser/malformed/019.eml', SCRAMBLED],
  ['mail-parser/malformed/021.eml', AFTER_BOUNDARY],
  ['mail-parser/thirdparty/011.eml', EMPTY_PART],
  ['mail-parser/thirdparty/015.eml', EMPTY_PART],
  [
    'mailcore2/parser/output/messages/empty-multipart.txt',
    'A header without an empty line: HEADER.FIELDS.NOT has one always (RFC 9051 §6.4.5.1).',
  ],
  ['mailcore2/parser/output/messages/multipart-digest.txt', 'A header without an empty line, as above.'],
  ['mailcore2/parser/output/partial/message-partial.1.msg.txt', 'A header without an empty line, as above.'],
  ['mime4j-mimetools-testmsgs/double-semicolon.msg', BOUNDARY],
  [
    'mime4j-testmsgs/bad-newlines-multiple-parts-base64.msg',
    'A message in base64 (forbidden by RFC 2046 §5.2.1) has no header that could be served.',
  ],
  ['mime4j-testmsgs/base64encoded-rfc822message.msg', 'A message in base64, as above.'],
  ['mime4j-testmsgs/malformedHeader-noheader.msg', NO_HEADER],
  ['mime4j-testmsgs/malformedHeaderStartsBody-noheader.msg', NO_HEADER],
  ['mime4j-testmsgs/multipartnestedemptypartsnorfc822.msg', EMPTY_PART],
  ['mime4j-testmsgs/very-long-boundary.msg', 'Of a boundary Dovecot compares the first 80 characters only.'],
  ['python-email/msg_12.txt', EMPTY_PART],
  ['python-email/msg_19.txt', NO_HEADER],
  ['python-email/msg_33.txt', BOUNDARY],
  ['python-email/msg_35.txt', 'A line that is no field, at the end of the message, is its body.'],
  ['ruby-mail/attachment_emails/attachment_message_rfc822_inline_image.eml', EMPTY_PART],
]

/** Beside those above. */
export const BINARY_DIFFERS: readonly Difference[] = [
  [
    'mail-parser/thirdparty/003.eml',
    'A bare LF in a part that is declared binary is data, and stays; Dovecot serves CRLF.',
  ],
  ['mail-parser/thirdparty/005.eml', 'A bare LF in a part that is declared binary, as above.'],
]
