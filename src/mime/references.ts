// Threading data of a message: Message-IDs in its header, and the base subject without reply and forward marks.

/** Ids taken from one header field; of more, the first (the root of the thread) and the last ones are used. */
export const REFERENCES_MAX = 100
/** Longest accepted Message-ID in characters (RFC 5322 §2.1.1: longest line). */
export const MESSAGE_ID_MAX = 998

const BRACKETED = /<([^<>]*)>/g

/** The ids of a Message-ID, In-Reply-To or References field, without angle brackets, each once. Linear time. */
export function messageIds(headerValue: string, max = REFERENCES_MAX): string[] {
  const ids = new Set<string>()
  for (const [, inside] of headerValue.matchAll(BRACKETED)) addId(ids, inside!)
  if (ids.size === 0) for (const word of bareIds(headerValue)) addId(ids, word)
  const all = [...ids]
  return all.length <= max ? all : [all[0]!, ...all.slice(all.length - max + 1)]
}

/** Ids without brackets, as some mailers write them; other words in the field ("your mail of Monday from x@y") make it prose. */
function bareIds(text: string): string[] {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '')
  return words.every((word) => word.includes('@')) ? words : []
}

function addId(ids: Set<string>, text: string): void {
  // RFC 5322 §4.5.4 allows folding inside an id; white space is not part of it.
  const id = text.replace(/[\s\x00-\x1f\x7f<>]+/g, '')
  if (id !== '' && id.length <= MESSAGE_ID_MAX) ids.add(id)
}

/** Reply prefixes of common mailers in all languages. */
const REPLY = [
  ...[
    're',
    'aw',
    'antw',
    'antwort',
    'sv',
    'vs',
    'odp',
    'res',
    'rif',
    'bls',
    'bvs',
    'ynt',
    'ang',
    'hl',
    'vá',
    'atb',
    'ats',
  ],
  ...[
    'σχετ',
    'απ',
    'отв',
    'відп',
    '回复',
    '回覆',
    '答复',
    '答覆',
    '返信',
    '回信',
    '답장',
    '회신',
    'رد',
    'תשובה',
    'ตอบ',
  ],
]

/** Forward prefixes. */
const FORWARD = [
  ...[
    'fwd',
    'fw',
    'wg',
    'tr',
    'rv',
    'enc',
    'doorst',
    'vl',
    'vb',
    'vid',
    'pd',
    'ilt',
    'i̇lt',
    'yml',
    'továbbítás',
    'prp',
  ],
  ...['πρθ', 'пер', 'пересл', '转发', '轉寄', '轉發', '転送', '전달', 'إعادة توجيه', 'הועבר', 'ส่งต่อ'],
]

/** "Re:", "RE[2]:", "Re^3:", "AW :", "回复：". The counter is short, so that every try is. */
const LEADER = new RegExp(
  `\\s*(?:(${REPLY.join('|')})|${FORWARD.join('|')})(?:\\s?\\[\\d{1,9}\\]|\\s?\\(\\d{1,9}\\)|\\s?\\^\\d{1,9})?\\s{0,3}[:：]`,
  'iuy',
)

/** "[list-name]", "[EXTERNAL]": RFC 5256 2.1 leaves such marks out of the base subject. */
const MARK = /\s*\[[^[\]]{1,100}\]\s*/uy

/** Mailers that wrap: "[Fwd: subject]". */
const WRAPPER = /\s*\[fwd?:/iuy
const TRAILER = '(fwd)'

/**
 * The subject that two messages of one conversation share, after RFC 5256 §2.1: reply and forward marks, list names, "(fwd)" and
 * extra white space gone, lower-case. `isReply` says that a reply mark was there. Linear time.
 */
export function normaliseSubject(subject: string): { key: string; isReply: boolean } {
  let isReply = false
  let start = 0
  let end = withoutTrailer(subject, subject.length)
  for (;;) {
    const leader = matchAt(LEADER, subject, start)
    if (leader) {
      if (leader[1] !== undefined) isReply = true
      start = LEADER.lastIndex
    } else if (subject[end - 1] === ']' && matchAt(WRAPPER, subject, start)) {
      start = WRAPPER.lastIndex
      end = withoutTrailer(subject, end - 1)
    } else if (matchAt(MARK, subject, start) && MARK.lastIndex < end) start = MARK.lastIndex
    else return { key: fold(subject.slice(start, end)), isReply }
  }
}

/** Where the subject ends without "(fwd)", however often it is there. */
function withoutTrailer(subject: string, length: number): number {
  let end = subject.slice(0, length).trimEnd().length
  while (end > TRAILER.length && subject.slice(end - TRAILER.length, end).toLowerCase() === TRAILER) {
    end = subject.slice(0, end - TRAILER.length).trimEnd().length
  }
  return end
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function fold(text: string): string {
  return text.normalize('NFC').replace(/\s+/gu, ' ').trim().toLowerCase()
}
