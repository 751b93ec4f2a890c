// Searches in which Dovecot and we are compared, and of which messages the answers differ, and why.

export const SEARCHES = [
  ...[
    'ALL',
    'SEEN',
    'UNSEEN FLAGGED',
    'KEYWORD work',
    'NOT ANSWERED 1:40',
    'OR ANSWERED FLAGGED',
    'UNKEYWORD work 5:25',
  ],
  ...['LARGER 10000', 'SMALLER 500', 'LARGER 2000 SMALLER 4000', '1:10,100:*', 'UID 7:9'],
  ...['SINCE 14-Nov-2023', 'BEFORE 15-Nov-2023', 'ON 14-Nov-2023', 'ON 15-Nov-2023', 'NOT ON 14-Nov-2023'],
  ...[
    'SENTSINCE 1-Jan-2010',
    'SENTSINCE 1-Jan-1980 SENTBEFORE 1-Jan-2000',
    'SENTON 12-Oct-2005',
    'SENTSINCE 1-Jan-2000 SENTBEFORE 1-Jan-2006',
  ],
  ...['FROM mikel', 'FROM "example.com"', 'TO lindsaar', 'CC example', 'BCC example', 'FROM james NOT TO james'],
  ...['SUBJECT test', 'SUBJECT "re:"', 'CHARSET UTF-8 SUBJECT "\u00e4"', 'SUBJECT "multipart"', 'SUBJECT ""'],
  ...[
    'HEADER Message-ID "@"',
    'HEADER Content-Type multipart/alternative',
    'HEADER X-Mailer ""',
    'HEADER X-Mailer outlook',
  ],
  ...['HEADER References ""', 'HEADER MIME-Version 1.0', 'HEADER Received localhost'],
  ...[
    'BODY hello',
    'BODY received',
    'BODY "content-disposition"',
    'BODY "the quick"',
    'TEXT boundary',
    'TEXT attachment',
    'CHARSET UTF-8 BODY "\u00f6"',
    'BODY zzzzqq',
    'TEXT "html"',
  ],
] as const

/** With a sign: found only by us (+) or only by Dovecot (-). */
type Difference = readonly [name: string, reason: string]

const NO_HEADER =
  'The first line is no field: for us the message has no header and is all body, for Dovecot all up to an empty line is header.'
const DATE_IN_WORDS =
  'A date such as "October 19, 2010 at 2:40:48 AM PDT": we read it; a date that Dovecot cannot read is 1970 for it.'
const BEFORE_1970 = 'A date of 1969, which Dovecot cannot represent.'

const without = (...names: string[]): Difference[] => names.map((name) => [`- flanker/${name}`, NO_HEADER])
const WITHOUT_HEADER = without('enclosed-broken-body.eml', 'enclosed-global.eml', 'mailgun-pic.eml')
const OLD_YEARS = ['04', '10'].map((n) => `ruby-mail/rfc2822/example${n}.eml`)
const IN_WORDS = [
  ...['1021-chinese', '1460-no-charset', '1641-no-charset', '1944-rendering', '2113-formatting', '2195-greek'],
  ...['4489-to-field-chinese', '4851-chinese', '5229-cyrillic-asian', '5231-emoji', '6094-japanese-2'],
  ...['950-japanese-chinese-3', '989-encoding-1', '989-encoding-3', '989-encoding-5', '989-encoding-7', 'emoji1'],
]

export const SEARCH_DIFFERS: Readonly<Record<string, readonly Difference[]>> = {
  'SENTSINCE 1-Jan-2010': [
    ['+ mail-parser/malformed/019.eml', 'A date with rubbish behind the minutes: the day can be read.'],
    ...IN_WORDS.map((name): Difference => [`+ mailcore2/summary/output/${name}.txt`, DATE_IN_WORDS]),
    ...WITHOUT_HEADER,
    ...OLD_YEARS.map((name): Difference => [`- ${name}`, BEFORE_1970]),
  ],
  'FROM "example.com"': without('mailgun-pic.eml'),
  'SUBJECT ""': WITHOUT_HEADER,
  'HEADER Message-ID "@"': WITHOUT_HEADER,
  'HEADER MIME-Version 1.0': WITHOUT_HEADER,
  'BODY hello': [['+ flanker/mailgun-pic.eml', NO_HEADER]],
  'BODY received': [
    [
      '+ enmime/parts/empty-ctype-bad-content.raw',
      'An empty Content-Type is text/plain (RFC 2045 §5.2); Dovecot does not look into it.',
    ],
    ['+ flanker/enclosed-broken-body.eml', NO_HEADER],
    ['+ flanker/mailgun-pic.eml', NO_HEADER],
  ],
  'BODY "content-disposition"': [['+ flanker/mailgun-pic.eml', NO_HEADER]],
  'TEXT boundary': [
    [
      '+ mime4j-testmsgs/bad-newlines-multiple-parts-base64.msg',
      'A message in base64 (forbidden by RFC 2046 §5.2.1): we decode it and look into it as text.',
    ],
  ],
  'CHARSET UTF-8 BODY "\u00f6"': [
    [
      '+ enmime/parts/chardet-success-iso-8859-1.raw',
      'Raw 8-bit text without a charset: Dovecot finds no letters in it, we read ISO-8859-1.',
    ],
  ],
}
