// Scripts and mails made to hurt: bounded in size, depth and work, and never anything thrown.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMessage } from '../../../src/mime/parse.ts'
import { TARGETS_MAX } from '../../../src/sieve/actions.ts'
import { BODY_MAX } from '../../../src/sieve/body.ts'
import { compileScript } from '../../../src/sieve/compile.ts'
import { SieveRuntimeError } from '../../../src/sieve/errors.ts'
import { runScripts } from '../../../src/sieve/evaluate.ts'
import { matchesGlob, readGlob } from '../../../src/sieve/glob.ts'
import { MessageView } from '../../../src/sieve/message-view.ts'
import { WorkMeter } from '../../../src/sieve/meter.ts'
import { runScript } from '../../../src/sieve/run.ts'
import { Random } from '../../support/random.ts'
import { bytesOf, holds, outcome, problemsOf, runScriptOn } from '../../support/sieve.ts'

const MUCH = 'The script takes too much work for this message.'

test('a script is bounded in bytes, depth and commands', () => {
  const wrong = (script: string) => problemsOf(script).map((text) => text.replace(/^\d+:\d+ /, ''))
  assert.deepEqual(wrong('#'.repeat(65_536)), [])
  assert.deepEqual(wrong('#'.repeat(65_537)), ['A script has at most 65536 bytes.'])
  assert.deepEqual(wrong('#ä'.repeat(30_000)), ['A script has at most 65536 bytes.'])
  const deep = ['Blocks and tests can be nested at most 32 levels deep.']
  assert.deepEqual(wrong(`if ${'not '.repeat(16_000)}true { keep; }`), deep)
  assert.deepEqual(wrong(`if ${'anyof('.repeat(10_000)}`), deep)
  const many = ['A script has at most 2000 commands and tests.']
  assert.deepEqual(wrong('keep;'.repeat(2001)), many)
  assert.deepEqual(wrong(`if anyof(${Array(2001).fill('true').join(',')}) {}`), many)
  assert.deepEqual(wrong(`keep ${':a'.repeat(30_000)};`), ['A command has at most 100 arguments.'])
  const asks = (count: number) =>
    `require "mailbox"; if mailboxexists [${Array.from({ length: count }, (_, n) => `"f${n}"`).join()}] { stop; }`
  assert.deepEqual(wrong(asks(100)), [])
  assert.deepEqual(wrong(asks(101)), ['A script can test at most 100 folders.'])
  assert.deepEqual(wrong('['.repeat(60_000)), ['A command is missing here.'])
  assert.deepEqual(wrong(`if exists ${'['.repeat(60_000)}`), ['A string is missing here.'])
})

test('patterns with many stars take one pass', () => {
  const value = 'a'.repeat(50_000)
  // Trying each star anew would take as many steps as there are ways to share the letters out.
  assert.equal(matchesGlob(value, readGlob(`${'*a'.repeat(500)}b`), new WorkMeter()), false)
  assert.equal(matchesGlob(value, readGlob(`${'*a'.repeat(100)}*`), new WorkMeter()), true)
  assert.throws(() => matchesGlob(value, readGlob(`*${'?'.repeat(20_000)}b*`), new WorkMeter()), SieveRuntimeError)
})

test('patterns agree with a simple model', () => {
  const random = new Random(7)
  const model = (value: string, pattern: string): boolean => {
    if (pattern === '') return value === ''
    if (pattern[0] === '*') return model(value, pattern.slice(1)) || (value !== '' && model(value.slice(1), pattern))
    const escaped = pattern[0] === '\\' && pattern.length > 1
    const octet = escaped ? pattern[1] : pattern[0]
    if (value === '' || (octet !== value[0] && (escaped || octet !== '?'))) return false
    return model(value.slice(1), pattern.slice(escaped ? 2 : 1))
  }
  const text = (letters: string, most: number) =>
    Array.from({ length: random.below(most) }, () => random.pick([...letters])).join('')
  let matches = 0
  for (let round = 0; round < 20_000; round++) {
    const value = text('aab*\\?', 8)
    const pattern = text('aab**??\\', 7)
    const wanted = model(value, pattern)
    if (wanted) matches++
    assert.equal(matchesGlob(value, readGlob(pattern), new WorkMeter()), wanted, `${value} ${pattern}`)
  }
  assert.ok(matches > 1000)
})

test('work is bounded: the script is aborted, and the message kept', () => {
  const large = bytesOf('Subject: x', '', 'ab '.repeat(700_000))
  const keys = Array.from({ length: 1000 }, (_, n) => `"*?q?${n}*"`).join(', ')
  const script = `require ["body", "fileinto"];\nfileinto "x";\nif body :raw :matches [${keys}] { discard; }`
  assert.deepEqual(runScriptOn(script, large), { targets: [{ kind: 'default' }], keywords: [], error: MUCH })
  const other = `require ["body"];\n${'if body :content "" "x" { discard; } '.repeat(600)}`
  assert.equal(runScriptOn(other, bytesOf('Content-Type: application/x', '', 'x'.repeat(BODY_MAX))).error, null)
})

test('what variables make of a short script is counted before it is compared', () => {
  const message = bytesOf('Subject: x', '', 'x')
  const given = (rest: string) => `require "variables";\nset "a" "${'x'.repeat(8000)}";\n${rest.replaceAll('§', '$')}`
  const keys = Array(6000).fill('"§{a}"').join(', ')
  // Nothing is compared: there is no such field.
  assert.equal(runScriptOn(given(`if header :matches "x-none" [${keys}] { stop; }`), message).error, MUCH)
  const { error } = runScriptOn(given(`set "b" "${'§{a}'.repeat(10_000)}";`), message)
  assert.equal(error, 'A string with variables has at most 8192 octets.')
  assert.equal(runScriptOn(given(`set "b" "§{a}${'§{none_at_all}'.repeat(100)}";`), message).error, null)
})

test('each change of a header costs what the header has', () => {
  const fields = Array.from({ length: 4 }, (_, n) => `X-${n}: ${`${'y'.repeat(900)}\r\n `.repeat(60)}`)
  const message = bytesOf(...fields, '', 'x')
  const adding = (count: number) => `require "editheader";\n${'addheader "a" ""; '.repeat(count)}`
  assert.equal(runScriptOn(adding(50), message).error, null)
  assert.equal(runScriptOn(adding(1000), message).error, MUCH)
  assert.equal(runScriptOn(adding(1000), bytesOf('Subject: x', '', 'x')).error, null)
})

test('a message to many recipients is bounded too: expensive scripts get less, cheap ones what they need', () => {
  const bytes = bytesOf('Subject: x', '', 'ab '.repeat(350_000))
  const { structure: root, searchText: text } = parseMessage(bytes)
  const keys = Array.from({ length: 25 }, (_, n) => `"zz${n}"`).join(', ')
  const call = (content: string) => ({ content, rcptTo: 'ken@example.com', folders: [] })
  // Some 16 million steps each: six fit into what all of them may do.
  const heavy = call(`require ["body"];\nif body :raw :contains [${keys}] { keep; } else { discard; }`)
  const light = call('if header "subject" "x" { discard; }')
  const rulings = runScripts([...Array(8).fill(heavy), null, light, call('foo;')], { bytes, root, text }, '')
  assert.deepEqual(
    rulings.map((ruling) => ruling && (ruling.error ?? (ruling.targets.length === 0 ? 'discard' : 'keep'))),
    [...Array(6).fill('discard'), MUCH, MUCH, null, 'discard', 'The script is no longer valid.'],
  )
})

test('of a body as much is seen as the bound says', () => {
  const sized = (octets: number) => bytesOf('Content-Type: text/plain', '', `${'x'.repeat(octets)}end`)
  for (const form of [':raw', ':content "text"']) {
    assert.ok(holds(`body ${form} :contains "end"`, sized(BODY_MAX - 3)), form)
    assert.ok(!holds(`body ${form} :contains "end"`, sized(BODY_MAX - 2)), form)
  }
})

test('a message is filed into ten folders at most', () => {
  const into = (count: number) =>
    `require "fileinto";\n${Array.from({ length: count }, (_, n) => `fileinto "f${n}";`).join('\n')}`
  assert.equal(runScriptOn(into(TARGETS_MAX), bytesOf('', '')).targets.length, TARGETS_MAX)
  const { targets, error } = runScriptOn(into(TARGETS_MAX + 1), bytesOf('', ''))
  assert.deepEqual([targets, error], [[{ kind: 'default' }], 'A message can be filed into at most 10 folders.'])
})

test('fields named like members of objects are fields', () => {
  const odd = bytesOf('__proto__: a', 'constructor: b', '', '')
  assert.ok(holds('allof (header "__proto__" "a", header "constructor" "b", not exists "tostring")', odd))
})

test('invalid messages are filtered as well', () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from([0, 255, 10, 13]), Buffer.from('\n\n'), Buffer.from('no header')]) {
    assert.equal(outcome('require "body"; if body :raw :contains "zz" { discard; }', bytes), 'keep')
  }
})

const SCRIPTS = [
  `require ["fileinto", "envelope", "imap4flags", "copy", "mailbox"];
if allof (header :matches ["Subject", "X-A"] ["*a?\\\\*b*", "x"], not address :all :contains "from" "a@b.test") {
  fileinto :copy :create :flags ["\\\\Seen", "$Work x"] "a/b"; # comment
} elsif anyof (size :over 1K, exists ["To"], envelope :domain "from" "x.test") { keep; stop; } else { discard; }`,
  `require ["body", "relational", "comparator-i;ascii-numeric", "subaddress", "encoded-character", "imap4flags", "mailbox"];
/* more */ if body :content ["text", ""] :contains text:
.a
b
.
{ addflag "a"; removeflag "b"; }
if header :count "ge" :comparator "i;ascii-numeric" ["to"] ["\${hex:31}", "\${unicode:32}"] { setflag "x"; }
if anyof (address :detail "to" "x", hasflag :contains "a", mailboxexists "INBOX", body :raw "x", not true) { stop; }`,
]

test('changed at random, a script is right or wrong, and never anything is thrown', () => {
  const random = new Random(11)
  const message = bytesOf(
    ...['From: A <a@b.test>', 'To: c+x@d.test', 'Subject: xa1*b', 'MIME-Version: 1.0'],
    ...['Content-Type: multipart/mixed; boundary=b', '', 'x', '--b', '', '.a', 'b', '--b--'],
  )
  const mail = parseMessage(message)
  const view = () => new MessageView({ bytes: message, root: mail.structure, text: mail.searchText })
  const counts = { right: 0, wrong: 0 }
  for (let round = 0; round < 4000; round++) {
    const bytes = Buffer.from(random.pick(SCRIPTS))
    for (let changes = 1 + random.below(3); changes > 0; changes--) {
      const at = random.below(bytes.length)
      const kind = random.below(3)
      if (kind === 0) bytes[at] = random.below(256)
      else if (kind === 1) bytes[at] = random.pick([...Buffer.from('"\\{}[]();,:#*/\n.$0 ')])
      else bytes.copyWithin(at, random.below(bytes.length), bytes.length)
    }
    const { script, problems } = compileScript(bytes.toString(random.chance(0.5) ? 'utf8' : 'latin1'))
    counts[script ? 'right' : 'wrong']++
    if (script) runScript(script, view(), { mailFrom: '', rcptTo: 'c@d.test', folders: [] })
    else for (const { line, column, message: text } of problems) assert.ok(line > 0 && column > 0 && text !== '')
  }
  assert.ok(counts.right > 100 && counts.wrong > 100, JSON.stringify(counts))
})

test('an internal error of a script results in the default outcome', () => {
  const broken = Object.defineProperty({ bytes: Buffer.alloc(0), root: null, text: '' }, 'bytes', {
    get: () => {
      throw new Error('broken')
    },
  })
  const call = { content: 'if size :over 5 { discard; }', rcptTo: 'ken@example.com', folders: [] }
  assert.deepEqual(runScripts([call], broken, ''), [
    { targets: [{ kind: 'default' }], keywords: [], error: 'The script could not be run on this message.' },
  ])
})
