// What is wrong with a script is told with its line and column, all of it at once where that makes sense.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileScript } from '../../../src/sieve/compile.ts'
import { NESTING_MAX } from '../../../src/sieve/parser.ts'
import { problemsOf } from '../../support/sieve.ts'

/** Each script with the one thing that is wrong with it. */
function table(rows: readonly (readonly [string, string])[]): void {
  for (const [script, wanted] of rows) assert.deepEqual(problemsOf(script), [wanted], script)
}

test('what is no Sieve', () => {
  table([
    ['keep', '1:5 A ";" is missing here.'],
    ['\n  "x";', '2:3 A command is missing here.'],
    ['keep;\r\n\r\n  %', '3:3 This character is not allowed here.'],
    ['if true {', '1:10 A "}" is missing here.'],
    ['if true { keep; } }', '1:19 A command is missing here.'],
    ['/* x', '1:1 This comment is never closed.'],
    ['keep; /* "*/ # ä\n"ä" ä', '2:5 This character is not allowed here.'],
    ['keep; "abc\\"', '1:7 This string is never closed.'],
    ['keep text:\nabc\n', '1:6 This text is never closed by a line with a single dot.'],
    ['if size :over 99999999999999999G {}', '1:15 A number is at most 9007199254740991.'],
    ['if size :over 10KB {}', '1:15 This character is not allowed here.'],
    ['if exists ["a",] {}', '1:16 A string is missing here.'],
    ['if exists ["a" "b"] {}', '1:16 A "]" is missing here.'],
    ['if anyof (true,) {}', '1:16 A test is missing here.'],
    ['if anyof () {}', '1:11 A test is missing here.'],
    ['keep;\0', '1:6 This character is not allowed in a script.'],
    ['# \ud800', '1:3 This character is not allowed in a script.'],
    ['keep; \r keep;', '1:7 This character is not allowed here.'],
  ])
})

test('unknown commands and tests, and unsupported ones with the reason', () => {
  table([
    ['kepp;', '1:1 There is no command "kepp" here.'],
    ['if exist "x" { keep; }', '1:4 There is no test "exist" here.'],
    ['if constructor { keep; }', '1:4 There is no test "constructor" here.'],
    ['tostring;', '1:1 There is no command "tostring" here.'],
    ['redirect "ann";', '1:10 This is not an address such as name@example.com.'],
    ['redirect "a@b.test, c@d.test";', '1:10 This is not an address such as name@example.com.'],
    ['redirect "a@[192.0.2.1]";', '1:10 An address must name a domain, not an IP address.'],
    ['redirect :copy "a@b.test";', '1:10 ":copy" needs require "copy" at the start of the script.'],
    ['redirect ["a@b.test"];', '1:10 "redirect" needs the address: one string.'],
    ['require "Fileinto";', '1:9 There is no extension "Fileinto" here.'],
    ['require ["fileinto",\n "comparator-elbonia"];', '1:9 There is no extension "comparator-elbonia" here.'],
    [
      'require "vacation-seconds";',
      '1:9 There is no extension "vacation-seconds" here. Use ":days" of "vacation" instead.',
    ],
    ['require "notify";', '1:9 There is no extension "notify" here. Use "enotify" instead.'],
    ['require "mime"; if header :anychild "a" "b" { stop; }', '1:27 ":anychild" needs ":mime".'],
    ['require "mime"; if header :type "a" "b" { stop; }', '1:27 ":type" needs ":mime".'],
    ['require "mime"; if address :mime :type "to" "b" { stop; }', '1:34 "address" takes no ":type".'],
    [
      'require "mime"; if header :mime :type :subtype "a" "b" { stop; }',
      '1:39 ":subtype" and ":type" exclude each other.',
    ],
    ['require "foreverypart"; break;', '1:25 "break" must be within a "foreverypart".'],
    [
      'require "foreverypart"; foreverypart :name "a" { break :name "b"; }',
      '1:50 "break" is not within a "foreverypart" with the name "b".',
    ],
    ['require "foreverypart"; foreverypart;', '1:25 "foreverypart" takes a block in braces.'],
    ['foreverypart { keep; }', '1:1 "foreverypart" needs require "foreverypart" at the start of the script.'],
    ['require "enotify"; notify "xmpp:a@b.test";', '1:27 Notifications go to an address: "mailto:…".'],
    ['require "enotify"; notify "mailto:?subject=x";', '1:27 The address behind "mailto:" is missing.'],
    ['require "enotify"; notify "mailto:ann";', '1:27 This is not an address such as name@example.com.'],
    ['require "enotify"; notify "mailto:a@b.test?body=%zz";', '1:27 The address has a "%" that encodes no character.'],
    [
      'require "enotify"; notify :importance "4" "mailto:a@b.test";',
      '1:39 The importance (":importance") is "1", "2" or "3".',
    ],
    [
      'require ["enotify", "variables"]; notify "mailto:${who}@b.test";',
      '1:42 The address behind "mailto:" takes no variables.',
    ],
    ['require "reject"; reject " ";', '1:26 The reason is empty, or not UTF-8.'],
  ])
})

test('extensions have to be asked for, before anything else', () => {
  table([
    ['fileinto "x";', '1:1 "fileinto" needs require "fileinto" at the start of the script.'],
    ['keep; require "fileinto";', '1:7 "require" must come before all other commands.'],
    ['if envelope "from" "x" { stop; }', '1:4 "envelope" needs require "envelope" at the start of the script.'],
    ['keep :flags "x";', '1:6 ":flags" needs require "imap4flags" at the start of the script.'],
    ['require "fileinto"; fileinto :copy "x";', '1:30 ":copy" needs require "copy" at the start of the script.'],
    ['require "fileinto"; fileinto :create "x";', '1:30 ":create" needs require "mailbox" at the start of the script.'],
    ['if address :detail "to" "x" { stop; }', '1:12 ":detail" needs require "subaddress" at the start of the script.'],
    [
      'if header :count "gt" "to" "1" { stop; }',
      '1:11 ":count" needs require "relational" at the start of the script.',
    ],
    ['if body "x" { stop; }', '1:4 "body" needs require "body" at the start of the script.'],
    ['if mailboxexists "x" { stop; }', '1:4 "mailboxexists" needs require "mailbox" at the start of the script.'],
    [
      'if header :comparator "i;ascii-numeric" "x" "1" { stop; }',
      '1:23 The comparator "i;ascii-numeric" needs require "comparator-i;ascii-numeric" at the start of the script.',
    ],
  ])
  assert.deepEqual(problemsOf('require ["comparator-i;octet", "comparator-i;ascii-casemap"]; keep;'), [])
})

test('arguments: too few, too many, of another kind, twice, at odds', () => {
  const all = 'require ["relational", "comparator-i;ascii-numeric", "fileinto", "imap4flags", "mailbox"];\n'
  const one = (script: string, wanted: string) => table([[all + script, wanted]])
  one('if header "x" { stop; }', '2:4 "header" needs what to look for: a string or a list of strings.')
  one('if header "x" 5 { stop; }', '2:15 "header" needs what to look for: a string or a list of strings.')
  one('if header "x" "y" "z" { stop; }', '2:19 "header" takes no further argument.')
  one('if header "x" "y" :is { stop; }', '2:19 Tagged arguments must come before positional arguments.')
  one('if header :is :is "x" "y" { stop; }', '2:15 ":is" is given twice.')
  one('if header :is :contains "x" "y" { stop; }', '2:15 ":contains" and ":is" exclude each other.')
  one('if header :domain "x" "y" { stop; }', '2:11 "header" takes no ":domain".')
  one('if header :constructor "x" "y" { stop; }', '2:11 "header" takes no ":constructor".')
  one('if header :comparator 5 "x" "y" { stop; }', '2:23 ":comparator" is followed by one string.')
  one('if header :comparator "i;klingon" "x" "y" { stop; }', '2:23 There is no comparator "i;klingon" here.')
  one(
    'if header :matches :comparator "i;ascii-numeric" "x" "y" { stop; }',
    '2:32 The comparator "i;ascii-numeric" knows numbers, not parts of them: it does not go with ":matches".',
  )
  one(
    'if header :value "like" "x" "y" { stop; }',
    '2:18 ":value" is followed by one of "gt", "ge", "lt", "le", "eq", "ne".',
  )
  one('if size 5 { stop; }', '2:9 "size" takes no further argument.')
  one('if size { stop; }', '2:4 "size" needs ":over" or ":under".')
  one('if size :over "5" { stop; }', '2:15 ":over" is followed by a number.')
  one('if size :over 5 :under 6 { stop; }', '2:17 ":under" and ":over" exclude each other.')
  one('if address "subject" "x" { stop; }', '2:12 The field "subject" holds no addresses; "header" looks at any field.')
  one('fileinto ["x", "y"];', '2:10 "fileinto" needs the folder: one string.')
  one('fileinto "";', '2:10 This is not a valid folder name.')
  one('keep 5;', '2:6 "keep" takes no further argument.')
  one('setflag "variable" "x";', '2:20 "setflag" takes no further argument.')
  one('stop { keep; }', '2:1 "stop" takes no block.')
  one('keep true;', '2:1 "keep" takes no test.')
  one('if true;', '2:1 "if" takes a block in braces.')
  one('if { keep; }', '2:1 "if" takes one test.')
  one('if (true, false) { keep; }', '2:1 "if" takes one test.')
  one('if allof true { keep; }', '2:4 "allof" takes tests in parentheses.')
  one('if not (true, false) { keep; }', '2:4 "not" takes one test.')
  one('if true { keep; } else true { keep; }', '2:19 "else" takes no test.')
  one('else { keep; }', '2:1 "else" must follow an "if" or "elsif".')
  one('if true { keep; } keep; elsif true { keep; }', '2:25 "elsif" must follow an "if" or "elsif".')
  one('if true { keep; } else { keep; } else { keep; }', '2:34 "else" must follow an "if" or "elsif".')
  table([['require "envelope"; if envelope "cc" "x" { stop; }', '1:33 An envelope has a "from" and a "to".']])
})

test('problems are reported in the order of the text, fifty at most', () => {
  assert.deepEqual(problemsOf('require "x";\nfoo;\nif bar { fileinto "y"; }\nif size :over "x" { baz; }'), [
    '1:9 There is no extension "x" here.',
    '2:1 There is no command "foo" here.',
    '3:4 There is no test "bar" here.',
    '3:10 "fileinto" needs require "fileinto" at the start of the script.',
    '4:15 ":over" is followed by a number.',
    '4:21 There is no command "baz" here.',
  ])
  assert.equal(problemsOf('foo;\n'.repeat(100)).length, 50)
})

test('RFC 5228 2.10.7: fifteen levels of blocks and of tests are accepted', () => {
  assert.equal(compileScript(`${'if true { '.repeat(15)}keep;${' }'.repeat(15)}`).problems, null)
  assert.equal(compileScript(`if ${'anyof ('.repeat(15)}true${')'.repeat(15)} { keep; }`).problems, null)
  const deep = `Blocks and tests can be nested at most ${NESTING_MAX} levels deep.`
  assert.deepEqual(problemsOf('if true {'.repeat(7000)), [`1:${NESTING_MAX * 'if true {'.length + 4} ${deep}`])
})
