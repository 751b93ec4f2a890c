// Finds sign-in and invitation links in a text, also when they are broken over lines, escaped, or rewritten by a mail service.

/** Rewritten links that are decoded in one text. */
const REWRITTEN_MAX = 200

/** A line end with what wrapping adds: a soft break or a space before it (RFC 2045 §6.7, RFC 3676 §4.1), quote marks and indents behind it. */
const WRAP = /(?:=|[ \t]{1,8})?\r?\n[ \t>|]*/g
/** A piece of the words `session/` and `invites/` that is there wherever one of them is broken; or escaped letters, or base64. */
const HINT = /sess|ion[/_]|invi|tes[/_]|aHR0c|%(?:25)*(?:[57]3|[46]9)|&#x?0*(?:115|105|73|53|69|49|83);/i
const SECRET = '[a-z0-9_-]'
/** Rewritten links have "_" for "/", or more of them behind the secret. */
const LINK = /(?:session|invites)[/_]([a-z0-9_-]{43})/gi
/** A link that is wrapped anywhere. Its end must be seen: otherwise the next line would complete what only resembles a link. */
const WRAPPED_LINK = new RegExp(
  `(?:${wrapped('session')}|${wrapped('invites')})\\n?[/_]\\n?((?:${SECRET}\\n?){42}${SECRET})(?=_|[^a-z0-9_-]|$)`,
  'gi',
)
/** Percent-encoding, once or more, and character references of HTML: of ASCII characters. */
const ESCAPE = /%(?:25)*([2-7][0-9a-f])|&#0*([1-9]\d{1,2});|&#x0*([2-7][0-9a-f]);|&(sol|lowbar|hyphen);/gi
const NAMED: Readonly<Record<string, string>> = { sol: '/', lowbar: '_', hyphen: '-' }
/** Proofpoint v2: "_" stands for "/", and "-XX" for any other special character. */
const PROOFPOINT = /https?-3a__[\w~.!*'()%-]{1,2000}/gi
/** Sophos and others: the link in base64. */
const BASE64 = /aHR0c[\w+/-]{40,3000}/g

/** The secrets in the links of a text, duplicates included. Linear time. */
export function* linkSecrets(given: string): Generator<string> {
  // UTF-16 that is read as bytes.
  const text = given.includes('s\0') ? given.replaceAll('\0', '') : given
  if (!HINT.test(text)) return
  yield* matches(LINK, text)
  const lines = text.replace(WRAP, '\n')
  for (const secret of matches(WRAPPED_LINK, lines)) yield secret.replaceAll('\n', '')
  const joined = lines.replaceAll('\n', '')
  const plain = joined.replace(ESCAPE, unescapeOne)
  if (plain !== joined) yield* matches(LINK, plain)
  yield* rewritten(plain)
}

/** Of links that a mail service replaced by an encoded form. */
function* rewritten(text: string): Generator<string> {
  let count = 0
  for (const [url] of text.matchAll(PROOFPOINT)) {
    if (++count > REWRITTEN_MAX) return
    yield* matches(
      LINK,
      url.replaceAll('_', '/').replace(/-([2-7][0-9a-f])/gi, (_, hex: string) => ofHex(hex)),
    )
  }
  for (const [code] of text.matchAll(BASE64)) {
    if (++count > REWRITTEN_MAX) return
    yield* matches(LINK, Buffer.from(code, 'base64').toString('latin1').replace(ESCAPE, unescapeOne))
  }
}

function* matches(pattern: RegExp, text: string): Generator<string> {
  for (const [, secret] of text.matchAll(pattern)) yield secret!
}

/** Pattern of a word with line ends in it. */
function wrapped(word: string): string {
  return [...word].join('\\n?')
}

function unescapeOne(whole: string, percent?: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole
  const code = decimal === undefined ? Number.parseInt(percent ?? hex ?? '', 16) : Number(decimal)
  return code > 31 && code < 127 ? String.fromCharCode(code) : whole
}

function ofHex(hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16))
}
