// What scripts do, by the examples of RFC 5228 and of the extensions there are here.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bytesOf, holds, outcome, problemsOf } from '../../support/sieve.ts'

// RFC 5228 1.2.
const A = bytesOf(
  'Date: Tue, 1 Apr 1997 09:06:31 -0800 (PST)',
  'From: coyote@desert.example.org',
  'To: roadrunner@acme.example.com',
  'Subject: I have a present for you',
  '',
  "Look, I'm sorry about the whole anvil thing, and I really",
  "didn't mean to try and drop it on you from the top of the",
  'cliff.',
)
const B = bytesOf(
  'From: youcouldberich!@reply-by-postal-mail.invalid',
  'Sender: b1ff@de.res.example.com',
  'To: rube@landru.example.com',
  'Date:  Mon, 31 Mar 1997 18:26:10 -0800',
  'Subject: $$$ YOU, TOO, CAN BE A MILLIONAIRE! $$$',
  '',
  'YOU MAY HAVE ALREADY WON TEN MILLION DOLLARS, BUT I DOUBT',
  'IT!',
)
/** What would be a template string otherwise. */
const dollars = (text: string) => text.replaceAll('§', '$')
const mail = (...fields: string[]) => bytesOf(...fields, '', 'x')

describe('RFC 5228', () => {
  const discarding = (condition: string) => `if ${condition} { discard; }`

  test('2.3 comments', () => {
    const hash = 'if size :over 100k { # this is a comment\n   discard;\n}'
    const brackets =
      'if size :over 100K { /* this is a comment\n this is still a comment */ discard /* this is a comment\n*/ ;\n}'
    for (const script of [hash, brackets]) {
      assert.equal(outcome(script, A), 'keep')
      assert.equal(outcome(script, bytesOf('From: a@b.test', '', 'x'.repeat(102_400))), 'discard')
    }
  })

  test('2.4.1 quantifiers', () => {
    const kilo = bytesOf('X: 1', '', 'x'.repeat(1024 - 8))
    assert.equal(kilo.length, 1024)
    // 5.9: exactly that size is neither over nor under.
    assert.deepEqual(
      ['size :over 1K', 'size :under 1k', 'size :over 1023', 'size :under 1025', 'size :over 1M', 'size :under 1G'].map(
        (condition) => holds(condition, kilo),
      ),
      [false, false, true, true, false, true],
    )
  })

  test('2.4.2 strings: escapes, more lines, dots', () => {
    const subject = (value: string) => mail(`Subject: ${value}`)
    assert.ok(holds('header "subject" "a\\"b\\\\c\\d"', subject('a"b\\cd')))
    const text = 'body :raw :is text: # how it begins\n.foo\n..bar\n..\n.\n'
    assert.ok(holds(text, bytesOf('X: 1', '', '.foo', '.bar', '.', '')))
    assert.ok(holds('body :raw :contains "one\ntwo"', bytesOf('X: 1', '', 'one', 'two')), 'lines end in CRLF')
    assert.ok(holds('header ["a", "b"] ["1", "2"]', mail('B: 2')))
  })

  test('2.4.2.2 fields are unfolded, names without regard to case and never with their colon', () => {
    const folded = mail('SUBJECT : one', '  two')
    assert.ok(holds('header "sUbJeCt" "one  two"', folded))
    assert.ok(!holds('header :contains "Subject:" ""', folded))
    assert.ok(!holds('exists "a b"', folded))
  })

  test('2.4.2.4 characters in hexadecimal', () => {
    const script = dollars(
      'require "encoded-character";\nif header :contains "Subject" "$§{hex:24 24}" {\n discard;\n}',
    )
    assert.equal(outcome(script, B), 'discard')
    assert.equal(outcome(script, A), 'keep')
    for (const [written, meant] of [
      ['$§{hex:40}', '$@'],
      ['§{hex: 40 }', '@'],
      ['§{HEX: 40}', '@'],
      ['§{hex:40', '§{hex:40'],
      ['§{hex:400}', '§{hex:400}'],
      ['§{hex:4§{hex:30}}', '§{hex:40}'],
      ['§{unicode:40}', '@'],
      ['§{ unicode:40}', '§{ unicode:40}'],
      ['§{UNICODE:40}', '@'],
      ['§{UnICoDE:0000040}', '@'],
      ['§{Unicode:40}', '@'],
      ['§{Unicode:Cool}', '§{Unicode:Cool}'],
      ['§{unicode:e4 20ac}', 'ä€'],
    ] as const) {
      assert.ok(holds(dollars(`header "subject" "${written}"`), mail(dollars(`Subject: ${meant}`))), written)
    }
    for (const wrong of ['§{unicode:200000}', '§{Unicode:DF01}']) {
      const found = problemsOf(dollars(`require "encoded-character";\nif header "subject" "${wrong}" { stop; }`))
      assert.deepEqual(found, ['2:21 This string names a character that does not exist.'])
    }
    const unasked = dollars('if header "subject" "§{hex:40}" { discard; }')
    assert.equal(outcome(unasked, mail('Subject: @')), 'keep', 'not without asking for it')
  })

  test('2.5.1 and 5.5 lists of tests', () => {
    const script =
      'if anyof (not exists ["From", "Date"],\n header :contains "from" "fool@example.com") {\n discard;\n}'
    assert.equal(outcome(script, A), 'keep')
    assert.equal(outcome(script, mail('From: a@b.test')), 'discard')
    assert.equal(outcome(script, mail('Date: x', 'From: <fool@example.com>')), 'discard')
    assert.equal(outcome(discarding('not exists ["From","Date"]'), A), 'keep')
  })

  test('2.7.1 match types', () => {
    const value = mail('X: frobnitzm')
    assert.deepEqual(
      ['frob', 'nit', 'fbm', '', 'frobnitzm'].map((key) => holds(`header :contains "x" "${key}"`, value)),
      [true, true, false, true, true],
    )
    assert.deepEqual(
      ['frob', '', 'frobnitzm', 'FROBNITZM'].map((key) => holds(`header :is "x" "${key}"`, value)),
      [false, false, true, true],
    )
    for (const [pattern, text, wanted] of [
      ['f*m', 'frobnitzm', true],
      ['*', '', true],
      ['?', '', false],
      ['f*b?itzm', 'frobnitzm', true],
      ['*o*i*', 'frobnitzm', true],
      ['*i*o*', 'frobnitzm', false],
      ['frob', 'frobnitzm', false],
      ['a\\\\*c', 'a*c', true],
      ['a\\\\*c', 'abc', false],
      ['a\\\\?', 'a?', true],
      ['a\\\\?', 'ab', false],
      ['ab*ba', 'aba', false],
      ['ab*ba', 'abba', true],
      ['*ab', 'abab', true],
      ['*?b*', 'xb', true],
      ['a**c', 'abc', true],
      // The comparators take a character for one octet: this one has two.
      ['?', 'ä', false],
      ['??', 'ä', true],
    ] as const) {
      assert.equal(holds(`header :matches "x" "${pattern}"`, mail(`X: ${text}`)), wanted, `${pattern} ${text}`)
    }
  })

  test('2.7.2 encoded words and odd octets', () => {
    const encoded = mail('Subject: =?iso-8859-1?Q?Gr=FC=DFe?= =?utf-8?B?4oKs?=')
    assert.ok(holds('header :is "subject" "Grüße€"', encoded))
    // Only ASCII has no case.
    assert.ok(holds('header :is "subject" "GRüßE€"', encoded))
    assert.ok(!holds('header :is "subject" "GRÜßE€"', encoded))
    assert.ok(holds('header :contains "x" "after"', mail('X: =?utf-8?Q?a=00after?=')))
  })

  test('2.7.3 comparators', () => {
    const script = 'if header :contains :comparator "i;octet" "Subject"\n "MAKE MONEY FAST" {\n discard;\n}'
    assert.equal(outcome(script, mail('Subject: You can MAKE MONEY FAST')), 'discard')
    assert.equal(outcome(script, mail('Subject: You can Make Money Fast')), 'keep')
    const numeric = (key: string, value: string) =>
      holds(`header :comparator "i;ascii-numeric" "x" "${key}"`, mail(`X: ${value}`))
    assert.deepEqual(
      [numeric('5', '005'), numeric('5', '5 apples'), numeric('x', 'y'), numeric('5', 'five'), numeric('0', '00')],
      [true, true, true, false, true],
    )
  })

  test('2.7.4 and 5.1 addresses: parts, groups, names and comments', () => {
    const list = mail('To: "coyote@x.test" <Bob.Smith@Acme.test> (note@y.test), friends: amy@z.test;', 'Cc: no address')
    const address = (tag: string, key: string) => holds(`address ${tag} ["to", "cc"] "${key}"`, list)
    assert.deepEqual(
      [
        address(':all', 'bob.smith@acme.test'),
        address(':localpart', 'bob.smith'),
        address(':domain', 'acme.test'),
        address(':domain', 'z.test'),
        address(':all :contains', 'friends'),
        address(':all :contains', 'x.test'),
        address(':all :contains', 'y.test'),
        address(':localpart :matches', '*address*'),
      ],
      [true, true, true, true, false, false, false, false],
    )
    assert.equal(
      outcome(discarding('address :is :all "from" "tim@example.com"'), mail('From: Tim <TIM@Example.COM>')),
      'discard',
    )
    assert.equal(outcome(discarding('address :is :all "from" "tim@example.com"'), A), 'keep')
  })

  test('2.10.2 implicit keep, 2.10.3 once in a folder', () => {
    assert.equal(outcome('if size :over 500K { discard; }', A), 'keep')
    assert.equal(outcome('', A), 'keep')
    assert.equal(outcome('require "fileinto"; fileinto "x"; fileinto "y"; fileinto "x";', A), 'x, y')
    assert.equal(outcome('require "fileinto"; discard; fileinto "x";', A), 'x')
    assert.equal(outcome('require "fileinto"; keep; fileinto "x"; discard;', A), 'keep, x')
  })

  test('3.1 if, elsif, else', () => {
    const script = `require "fileinto";
      if header :contains "from" "coyote" { discard; }
      elsif header :contains ["subject"] ["$$$"] { discard; }
      else { fileinto "INBOX"; }`
    assert.deepEqual(
      [outcome(script, A), outcome(script, B), outcome(script, mail('From: c@d.test'))],
      ['discard', 'discard', 'INBOX'],
    )
  })

  test('3.3 stop', () => {
    assert.equal(outcome('require "fileinto"; if true { stop; } fileinto "x";', A), 'keep')
    assert.equal(outcome('require "fileinto"; fileinto "x"; stop; discard; keep;', A), 'x')
  })

  test('4.1 fileinto, 4.3 keep, 4.4 discard', () => {
    const file = 'require "fileinto";\nif header :contains ["from"] "coyote" {\n fileinto "INBOX.harassment";\n}'
    assert.deepEqual([outcome(file, A), outcome(file, B)], ['INBOX.harassment', 'keep'])
    for (const script of ['if size :under 1M { keep; } else { discard; }', 'if not size :under 1M { discard; }']) {
      assert.equal(outcome(script, A), 'keep')
      assert.equal(outcome(script, bytesOf('X: 1', '', 'x'.repeat(1024 * 1024))), 'discard')
    }
    const idiot = 'if header :contains ["from"] ["idiot@example.com"] { discard; }'
    assert.deepEqual([outcome(idiot, mail('From: idiot@example.com')), outcome(idiot, A)], ['discard', 'keep'])
  })

  test('5.2, 5.3, 5.6, 5.8, 5.10 logic', () => {
    const table: [string, boolean][] = [
      ['allof (false, false)', false],
      ['allof (false, true)', false],
      ['allof (true, true)', true],
      ['anyof (false, false)', false],
      ['anyof (false, true)', true],
      ['anyof (true, true)', true],
      ['not false', true],
      ['not true', false],
      ['NOT Not TRUE', true],
    ]
    for (const [condition, wanted] of table) assert.equal(holds(condition, A), wanted, condition)
  })

  test('5.4 the envelope', () => {
    const tim = { mailFrom: 'tim@example.com' }
    assert.ok(holds('envelope :all :is "from" "tim@example.com"', A, tim))
    assert.ok(!holds('envelope :all :is "FROM" "tim@example.com"', A))
    assert.ok(holds('envelope :localpart "To" "ken"', A))
    for (const part of [':all', ':localpart', ':domain']) {
      assert.ok(holds(`envelope ${part} "from" ""`, A, { mailFrom: '' }), part)
    }
  })

  test('5.7 a field that is there contains the empty key', () => {
    const caffeine = mail('X-Caffeine: C8H10N4O2')
    assert.ok(!holds('header :is ["X-Caffeine"] [""]', caffeine))
    assert.ok(holds('header :contains ["X-Caffeine"] [""]', caffeine))
    assert.ok(!holds('header :contains ["X-Tea"] [""]', caffeine))
    assert.ok(holds('not header :matches "Cc" "?*"', caffeine))
    assert.ok(holds('not header :matches "Cc" "?*"', mail('Cc:  ')))
    assert.ok(!holds('not header :matches "Cc" "?*"', mail('Cc: a')))
    assert.ok(holds('header "x" "a"', mail('X:  a ', 'X: b')), 'white space around it does not count')
  })

  test('9 the extended example', () => {
    const script = `require ["fileinto"];
      if header :is "Sender" "owner-ietf-mta-filters@imc.org" { fileinto "filter"; }
      elsif address :DOMAIN :is ["From", "To"] "example.com" { keep; }
      elsif anyof (NOT address :all :contains ["To", "Cc", "Bcc"] "me@example.com",
                   header :matches "subject" ["*make*money*fast*", "*university*dipl*mas*"]) { fileinto "spam"; }
      else { fileinto "personal"; }`
    const cases: [Uint8Array, string][] = [
      [mail('Sender: owner-ietf-mta-filters@imc.org'), 'filter'],
      [mail('From: a@example.com', 'To: me@example.com'), 'keep'],
      [A, 'spam'],
      [mail('To: x@y.test', 'Cc: some-me@example.com.test', 'Subject: Make your MONEY grow fast!'), 'spam'],
      [mail('To: x@y.test', 'Cc: some-me@example.com.test', 'Subject: hi'), 'personal'],
    ]
    for (const [bytes, wanted] of cases) assert.equal(outcome(script, bytes), wanted)
  })
})

describe('extensions', () => {
  test('RFC 3894 copy: the implicit keep remains', () => {
    const copy = 'require ["fileinto", "copy"]; fileinto :copy "saved";'
    assert.equal(outcome(copy, A), 'saved, keep')
    assert.equal(outcome(`${copy} discard;`, A), 'saved')
    assert.equal(outcome(`${copy} fileinto "x";`, A), 'saved, x')
  })

  test('RFC 5490 mailbox: made where it is missing, asked after', () => {
    assert.equal(outcome('require ["fileinto", "mailbox"]; fileinto :create "a/b";', A), '+a/b')
    assert.equal(outcome('require ["fileinto", "mailbox"]; fileinto "a"; fileinto :create "a";', A), '+a')
    const script = 'require ["fileinto", "mailbox"]; if mailboxexists ["Partners", "x/y"] { fileinto "Partners"; }'
    assert.equal(outcome(script, A, { folders: ['Partners', 'x/y'] }), 'Partners')
    assert.equal(outcome(script, A, { folders: ['Partners'] }), 'keep')
  })

  test('RFC 5233 subaddress', () => {
    const to = (rcptTo: string) => ({ rcptTo })
    assert.ok(holds('envelope :user "to" "postmaster"', A, to('postmaster+x@example.com')))
    assert.ok(holds('envelope :user "to" "postmaster"', A, to('postmaster@example.com')))
    assert.ok(holds('envelope :detail "to" "mta-filters"', A, to('ken+mta-filters@example.com')))
    assert.ok(holds('envelope :detail "to" ""', A, to('ken+@example.com')))
    assert.ok(!holds('envelope :detail :contains "to" ""', A, to('ken@example.com')))
    assert.ok(holds('address :detail "to" "b+c"', mail('To: a+b+c@d.test')))
  })

  test('RFC 5231 relational: values and counts', () => {
    const message = mail(
      ...['Received: one', 'Received: two', 'Subject: example'],
      ...['To: foo@example.com, baz@example.com', 'Cc: qux@example.com', 'X-Priority: 10'],
    )
    const count = (test: string, of: string, than: string) =>
      `${test} :count "ge" :comparator "i;ascii-numeric" [${of}] ["${than}"]`
    const cases: [string, boolean][] = [
      [count('address', '"to", "cc"', '3'), true],
      [`anyof (${count('address', '"to"', '3')}, ${count('address', '"cc"', '3')})`, false],
      [count('header', '"received"', '3'), false],
      [count('header', '"received", "subject"', '3'), true],
      [count('header', '"to", "cc"', '3'), false],
      ['header :value "lt" :comparator "i;ascii-numeric" ["x-priority"] ["3"]', false],
      ['header :value "lt" ["x-priority"] ["3"]', true],
      ['header :value "gt" :comparator "i;ascii-numeric" ["x-priority"] ["9"]', true],
      ['address :value "gt" :all :comparator "i;ascii-casemap" ["cc"] ["M"]', true],
      ['header :value "ne" "subject" "EXAMPLE"', false],
      ['header :value "eq" "subject" "EXAMPLE"', true],
      ['header :value "le" :comparator "i;octet" "subject" "EXAMPLE"', false],
      ['envelope :count "eq" "from" "1"', true],
      ['header :count "gt" "received" "10"', false],
    ]
    for (const [test, wanted] of cases) assert.equal(holds(test, message), wanted, test)
    assert.ok(holds('envelope :count "eq" "from" "0"', message, { mailFrom: '' }))
  })

  test('RFC 5232 imap4flags', () => {
    const flags = (script: string) => outcome(`require ["imap4flags", "fileinto"]; ${script}`, A)
    assert.equal(flags('addflag "\\\\Seen"; addflag "$Work";'), 'keep $seen $work')
    assert.equal(flags('addflag ["\\\\Answered", "\\\\Draft"]; setflag "  \\\\Flagged   x ";'), 'keep $flagged x')
    assert.equal(flags('addflag "a b c"; removeflag ["B", ""]; fileinto "x";'), 'x a c')
    // What cannot be kept is passed over; junk is said by the folder.
    assert.equal(flags('setflag ["\\\\Deleted", "\\\\Recent", "a(b", "ä", "$Junk", "ok"];'), 'keep ok')
    assert.equal(flags('addflag "a"; keep :flags "b"; fileinto "x";'), 'keep, x b a')
    assert.equal(flags('fileinto :flags "a" "x"; fileinto :flags "b" "x";'), 'x b', 'the last list counts')
    const has = (set: string, test: string) => flags(`setflag "${set}"; if ${test} { discard; }`) === 'discard'
    assert.ok(has('A B', 'hasflag :is "b A"'))
    assert.ok(has('A B', 'hasflag ["b","A"]'))
    const many = 'NonJunk Junk gnus-forward $Forwarded NotJunk JunkRecorded $Junk $NotJunk'
    for (const keys of ['"Junk"', '"forward"', '["label", "forward"]', '["junk", "forward"]', '"forward junk"']) {
      assert.ok(has(many, `hasflag :contains ${keys}`), keys)
    }
    assert.ok(!has(many, 'hasflag :contains ["label1", "label2"]'))
    assert.ok(!has('A', 'hasflag :is ""'))
    assert.ok(holds('hasflag :count "eq" "0"', A))
    const count = 'require ["imap4flags", "relational"]; setflag "A B a"; if hasflag :count "ge" "2" { discard; }'
    assert.equal(outcome(count, A), 'discard')
  })

  test('RFC 5173 body: parts by their types', () => {
    const message = bytesOf(
      ...['From: Whomever', 'Content-Type: multipart/mixed; boundary=outer', ''],
      ...['This is a multi-part message in MIME format.', '', '--outer'],
      ...['Content-Type: multipart/alternative; boundary=inner', ''],
      ...['This is a nested multi-part message in MIME format.', '', '--inner'],
      ...['Content-Type: text/plain; charset="us-ascii"', '', 'Hello', '', '--inner'],
      ...['Content-Type: text/html; charset="us-ascii"', '', '<html><body>Salve</body></html>', '', '--inner--'],
      ...['', 'This is the end of the inner MIME multipart.', '', '--outer'],
      ...['Content-Type: message/rfc822', '', 'From: Someone Else', 'Subject: hello request', '', 'Please say Hi', ''],
      ...['--outer--', '', 'This is the end of the outer MIME multipart.'],
    )
    const cases: [string, boolean][] = [
      ['body :content "multipart" :contains "nested multi-part"', true],
      ['body :content "multipart" :contains "end of the inner"', true],
      ['body :content "multipart/mixed" :contains "end of the outer"', true],
      ['body :content "multipart/mixed" :contains "nested"', false],
      ['body :content "multipart" :contains "Hello"', false],
      ['body :content "text/plain" :contains "Hello"', true],
      ['body :content "text/plain" :contains "Please say Hi"', true],
      ['body :content "text/plain" :contains "Salve"', false],
      ['body :content "text/html" :contains "<body>Salve"', true],
      ['body :content "text" :contains "Salve"', true],
      ['body :content "message/rfc822" :contains "hello request"', true],
      ['body :content "message/rfc822" :contains "Please"', false],
      ['body :content "" :contains "Salve"', true],
      ['body :content ["text/", "/plain", "text/plain/x"] :contains ""', false],
      ['body :content "audio" :contains ""', false],
      ['body :contains "hello"', true],
      ['body :contains "<body>"', false],
      ['body :raw :contains "--inner--"', true],
      ['body :raw :contains "Whomever"', false],
    ]
    for (const [test, wanted] of cases) assert.equal(holds(test, message), wanted, test)
  })

  test('RFC 5173 body: encodings, and messages without a body', () => {
    const encoded = bytesOf(
      ...[
        'Content-Type: text/plain; charset=iso-8859-1',
        'Content-Transfer-Encoding: quoted-printable',
        '',
        'Gr=FC=DFe=',
        ' allen',
      ],
    )
    assert.ok(holds('body :content "text" :is "Grüße allen"', encoded))
    assert.ok(holds('body :text :contains "grüße"', encoded))
    assert.ok(holds('body :raw :contains "Gr=FC"', encoded))
    const audio = bytesOf('Content-Type: audio/mp3', 'Content-Transfer-Encoding: base64', '', 'SGVsbG8=')
    assert.ok(holds('body :content "audio/mp3" :is "Hello"', audio))
    for (const form of [':raw', ':text', ':content ""']) {
      assert.ok(!holds(`body ${form} :contains ""`, bytesOf('Subject: x', '')), form)
      assert.ok(holds(`body ${form} :contains ""`, bytesOf('Subject: x', '', '')), form)
    }
  })
})
