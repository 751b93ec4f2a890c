// Drafts for tests: a plain one to vary, and random ones with unusual content.

import type { Draft, DraftAttachment } from '../../src/mime/compose/draft.ts'
import type { Address } from '../../src/mime/message.ts'
import type { Random } from './random.ts'

/** A short message. */
export function draft(changes: Partial<Draft> = {}): Draft {
  return {
    from: { email: 'ann@shop.test', name: 'Ann' },
    to: [{ email: 'bob@other.test', name: '' }],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: 'Your order',
    textBody: 'Thank you.\n',
    htmlBody: null,
    headers: [],
    attachments: [],
    messageId: 'eml_000000000000000000000001@shop.test',
    date: Date.UTC(2030, 0, 2, 3, 4, 5),
    inReplyTo: null,
    references: [],
    ...changes,
  }
}

/** Words of many scripts, characters with a meaning in a header, and text that resembles encoded words. */
const WORDS = [
  ...[
    'order',
    'a',
    'Grüße',
    'naïve',
    '日本語のテキスト',
    '안녕하세요',
    'Здравствуйте',
    'שלום',
    'مرحبا',
    '👩‍👩‍👧‍👦',
    '🇩🇪',
    'e\u0301',
  ],
  ...[
    '=?utf-8?Q?no?=',
    '=?',
    '?=',
    '=',
    '"quoted"',
    "it's",
    'a,b',
    'a;b',
    'x:y',
    '(c)',
    '<tag>',
    '[1]',
    'back\\slash',
    'me@x',
    '%41',
  ],
  ...['_', '.', '--', '\u00a0', 'ſ', '\u{1d11e}', '=_0.1', 'x'.repeat(90), 'ж'.repeat(70)],
]
const EXTENSIONS = ['pdf', 'txt', 'csv', 'png', 'html', 'zip', 'eml', 'ics', 'json', 'docx']

/** One line: words separated by spaces, at most `max` characters (UTF-16), without split characters. */
export function randomLine(random: Random, max: number): string {
  const wanted = 1 + random.below(max)
  let line = random.pick(WORDS.filter((word) => word.length <= max && word.trim() !== ''))
  for (;;) {
    const next = `${line} ${random.pick(WORDS)}`
    if (next.length > wanted) return line.trim()
    line = next
  }
}

/** Lines with all line ends, long ones, control characters, half surrogates, trailing blanks. */
export function randomBody(random: Random): string {
  const odd = [
    '\t',
    '  ',
    '.',
    '..',
    'From me',
    '--',
    '--=_',
    '\x00',
    '\x07\x1b',
    '\ud800',
    '\udc00x',
    '\u2028',
    '\ufffd',
    '=',
    '=20',
    ' ',
    'y'.repeat(1200),
  ]
  const lines = Array.from({ length: random.below(30) }, () => {
    const line = random.chance(0.8) ? randomLine(random, 200) : ''
    return random.chance(0.25) ? line + random.pick(odd) : line
  })
  const plain = random.chance(0.3) ? lines.map((line) => line.replace(/[^ -~]/g, '').slice(0, 70)) : lines
  return (
    plain.map((line) => line + random.pick(['\n', '\r\n', '\n', '\r'])).join('') + random.pick(['', 'end', 'end \t'])
  )
}

export function randomDraft(random: Random): Draft {
  const address = (): Address => ({
    email: `${random.pick(['a', 'ann.lee', "o'neil+x", '{odd}', '"two..dots"', 'x'.repeat(64)])}@${random.pick(['x.test', 'xn--bcher-kva.test', `${'d'.repeat(60)}.test`])}`,
    name: random.chance(0.3) ? '' : randomLine(random, random.chance(0.2) ? 255 : 40),
  })
  const addresses = (max: number): Address[] => Array.from({ length: random.below(max + 1) }, address)
  const html = random.chance(0.6) ? `<p>${randomBody(random)}</p>` : null
  const ids = Array.from(
    { length: random.below(20) },
    (_, index) => `${index}.${'r'.repeat(random.below(120))}@ref.test`,
  )
  return draft({
    from: address(),
    to: [address(), ...addresses(random.chance(0.2) ? 48 : 3)],
    cc: addresses(2),
    bcc: addresses(2).map(({ name }, index) => ({ email: `hidden${index}@secret.test`, name })),
    replyTo: random.chance(0.3) ? [address()] : [],
    subject: randomLine(random, random.chance(0.2) ? 998 : 80),
    textBody: html === null || random.chance(0.6) ? randomBody(random) : null,
    htmlBody: html,
    headers: random.chance(0.3) ? [{ name: 'X-Note', value: randomLine(random, 300) }] : [],
    attachments: randomFiles(random),
    messageId: `eml_${random.below(1e9)}@shop.test`,
    date: 1000 * random.below(4e9),
    inReplyTo: ids.at(-1) ?? null,
    references: ids,
  })
}

/** No file name resembles an encoded word: mail clients decode those in any field. */
function randomFiles(random: Random): DraftAttachment[] {
  const count = random.chance(0.5) ? 0 : 1 + random.below(random.chance(0.2) ? 10 : 3)
  return Array.from({ length: count }, (_, index) => {
    const name = randomLine(random, random.chance(0.2) ? 245 : 30).replace(/[/\\]|=\?/g, '-')
    const size = random.below(random.chance(0.1) ? 5000 : 300)
    const content = Buffer.from(Array.from({ length: size }, () => random.below(256)))
    const inline = random.chance(0.4)
    return {
      filename: `${name}.${random.pick(EXTENSIONS)}`,
      type: random.chance(0.3) ? 'application/x-thing' : null,
      content: random.chance(0.3) ? Buffer.from(randomBody(random)) : content,
      disposition: inline ? 'inline' : 'attachment',
      contentId: inline && random.chance(0.8) ? `part${index}@shop.test` : null,
    }
  })
}

/** A text as a message can represent it: valid characters, and one kind of line end. */
export function asRead(text: string): string {
  return text.toWellFormed().replace(/\r\n?/g, '\n')
}
