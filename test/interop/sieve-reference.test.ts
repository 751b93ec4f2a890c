// Scripts with Pigeonhole's sieve-test beside the own interpreter: both do the same with the same messages.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { decidedOutcome } from '../../src/sieve/outcome.ts'
import { levelAnswer } from '../../src/sieve/spam-level.ts'
import { missingProgram } from '../support/programs.ts'
import { runScriptOn } from '../support/sieve.ts'

const SIEVE_TEST = missingProgram('sieve-test')
const folder = mkdtempSync(join(tmpdir(), 'mailstead-sieve-test-'))
after(() => rmSync(folder, { recursive: true }))
const [FROM, TO] = ['ann@out.test', 'ken+lists@example.com']

const MAILS = [
  [
    'From: Ann <ann@out.test>',
    'To: ken@example.com',
    'Subject: [dev] Version 1.0',
    'Date: Tue, 01 Apr 1997 09:06:31 -0800',
    'X-Spam-Score: 12',
    'X-Spam-Level: 6',
    'X-A: one',
    'X-A: two',
    'X-A: three',
    '',
    'Hello World',
  ],
  [
    'From: =?utf-8?q?J=C3=BCrgen?= <j@sub.example.org>',
    'To: a@b.test, c@d.test',
    'Cc: ken@example.com',
    'List-Id: News <news.example.org>',
    'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
    'X-Spam-Level: 0',
    '',
    'Price: 100 EUR',
    'and more',
  ],
  ['Subject: none', 'X-Spam-Level: 3', '', ''],
  [
    'From: Ann <ann@out.test>',
    'To: ken@example.com',
    'Subject: parts',
    'X-Spam-Level: 3',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=AA',
    '',
    '--AA',
    'Content-Type: multipart/alternative; boundary=BB',
    '',
    '--BB',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'hello',
    '--BB',
    'Content-Type: text/html',
    '',
    '<b>hello</b>',
    '--BB--',
    '--AA',
    'Content-Type: application/octet-stream; name="a.exe"',
    'Content-Disposition: attachment; filename="a.exe"',
    'X-Part: in',
    '',
    'x',
    '--AA',
    'Content-Type: message/rfc822',
    '',
    'Subject: inner',
    'From: bob@in.test',
    'Content-Type: text/plain',
    '',
    'inner text',
    '--AA--',
    '',
  ],
].map((lines) => Buffer.from(lines.join('\r\n')))

/**
 * What differs on purpose: addresses of `redirect` that differ in case only are one here, `body :text` is the text that is shown, the
 * comparator `i;unicode-casemap` and `vnd.` extensions are missing, roles of folders always exist.
 * sieve-test takes `?` in front of other characters for a match of any value (`?x*e` matches "none"): patterns here do without.
 * Each does something with one of the messages at least.
 */
const SCRIPTS = [
  'keep;',
  'discard;',
  'if header :contains "subject" "version" { discard; }',
  'require "fileinto"; if address :domain :is ["from", "to"] "out.test" { fileinto "Out"; } elsif exists "list-id" { fileinto "Lists"; }',
  'require ["fileinto", "copy"]; fileinto :copy "All"; redirect :copy "x@y.test";',
  'redirect "x@y.test"; redirect "z@y.test";',
  'require ["fileinto", "envelope", "subaddress"]; if envelope :detail "to" "lists" { fileinto "Detail"; }',
  'require ["fileinto", "variables"]; if header :matches "subject" "[*] *" { fileinto "${1}.${2}"; }',
  'require ["fileinto", "variables"]; if header :matches "list-id" "*<*.*" { set :upperfirst "n" "${2}"; fileinto "L.${n}"; }',
  'require ["fileinto", "variables"]; set :length "n" "Grüße"; if string :is "${n}" "5" { fileinto "five"; }',
  'require ["fileinto", "variables"]; set "a" "x"; set "b" "${a}y${none}${a"; fileinto "${b}";',
  'require ["fileinto", "relational", "comparator-i;ascii-numeric"]; if header :value "gt" :comparator "i;ascii-numeric" "x-spam-score" "5" { fileinto "Junk"; }',
  'require ["fileinto", "relational"]; if address :count "ge" ["to", "cc"] "3" { fileinto "Many"; }',
  'require ["fileinto", "date", "relational"]; if date :originalzone :value "lt" "date" "year" "2000" { fileinto "Old"; }',
  'require ["fileinto", "date"]; if date :zone "+0000" "date" "iso8601" "1997-04-01T17:06:31Z" { fileinto "Exact"; }',
  'require ["fileinto", "date"]; if date "date" "weekday" "2" { fileinto "Tuesday"; }',
  'require ["fileinto", "index"]; if header :index 2 :last "x-a" "two" { fileinto "Index"; }',
  'require ["fileinto", "editheader"]; deleteheader :index 1 "x-a"; if header "x-a" "one" { discard; } elsif exists "x-a" { fileinto "Left"; }',
  'require ["fileinto", "editheader"]; addheader "X-New" "1"; if header "x-new" "1" { fileinto "New"; }',
  'require ["fileinto", "editheader"]; deleteheader :matches "x-a" "t*"; if header "x-a" ["two", "three"] { discard; } elsif header "x-a" "one" { fileinto "One"; }',
  'require ["fileinto", "ihave"]; if ihave "vnd.no" { fnord; } elsif ihave "copy" { fileinto :copy "Ihave"; }',
  'require ["fileinto", "body"]; if body :contains "100 EUR" { fileinto "Price"; }',
  'require ["fileinto", "body", "variables"]; if body :raw :matches "*World*" { fileinto "x${0}"; }',
  'require "fileinto"; if allof (not exists "from", size :under 100) { fileinto "Small"; stop; } keep;',
  'require "fileinto"; if header :matches "subject" "gr*e" { fileinto "Glob"; }',
  'require ["fileinto", "encoded-character"]; if header :contains "subject" "${unicode:fc}" { fileinto "Encoded"; }',
  'require ["fileinto", "mailbox"]; if not mailboxexists "None" { fileinto :create "Made"; }',
  'require ["fileinto", "spamtest", "relational", "comparator-i;ascii-numeric"]; if spamtest :value "ge" :comparator "i;ascii-numeric" "6" { fileinto "Spam"; } elsif spamtest :value "eq" :comparator "i;ascii-numeric" "1" { fileinto "Clean"; }',
  'require ["fileinto", "spamtest"]; if spamtest :is "6" { fileinto "Six"; }',
  'require "reject"; if header :contains "subject" "version" { reject "No versions"; }',
  'require "reject"; if exists "list-id" { reject "No lists"; discard; stop; } keep;',
  'require "vacation"; vacation :days 3 :subject "Away" :handle "h" :addresses ["ken@example.com"] "I am away";',
  'require ["vacation", "fileinto", "variables"]; if header :matches "subject" "[*] *" { vacation :subject "Re: ${2}" "x"; fileinto "Out"; }',
  'require "vacation"; vacation :subject "Gone" text:\nNo one\n.\n; discard;',
  'require ["enotify", "fileinto"]; if valid_notify_method ["mailto:a@b.test", "xmpp:x@y"] { discard; } elsif valid_notify_method "mailto:a@b.test" { fileinto "Valid"; }',
  'require ["enotify", "fileinto"]; if notify_method_capability "mailto:a@b.test" "Online" "maybe" { fileinto "Maybe"; }',
  'require ["enotify", "variables", "fileinto"]; if header :matches "subject" "*" { set :encodeurl :upper "s" "a b&~${1}é"; fileinto "${s}"; }',
  'require ["fileinto", "imap4flags", "variables"]; setflag "v" ["A", "b"]; if hasflag "v" "B" { fileinto "Flag"; }',
]

/** Scripts for the parts of the last message (RFC 5703). */
const MIME = 'require ["foreverypart", "mime", "variables", "fileinto", "relational", "comparator-i;ascii-numeric"];'
const MIME_SCRIPTS = [
  'foreverypart { if header :mime :contenttype :matches "content-type" "*/*" { set "n" "${n}.${1}-${2}"; } } fileinto "x${n}";',
  'foreverypart { set "n" "${n}o"; foreverypart { set "n" "${n}i"; foreverypart { set "n" "${n}k"; } } } fileinto "x${n}";',
  'foreverypart :name "a" { foreverypart :name "b" { break :name "a"; } set "n" "${n}o"; } fileinto "x${n}";',
  'foreverypart :name "a" { set "n" "${n}o"; foreverypart { set "n" "${n}i"; break; set "n" "${n}k"; } } fileinto "x${n}";',
  'foreverypart { set "n" "${n}o"; stop; } fileinto "x";',
  'foreverypart { if header :mime :param "filename" :matches "content-disposition" "*.exe" { set "n" "${n}.${1}"; } if header :mime :type "content-disposition" "attachment" { set "n" "${n}at"; } } fileinto "x${n}";',
  'foreverypart { if header :mime :contains "subject" "n" { set "n" "${n}s"; } if header :contains "subject" "n" { set "n" "${n}t"; } if address :mime :domain "from" "in.test" { set "n" "${n}a"; } if exists :mime "x-part" { set "n" "${n}x"; } } fileinto "x${n}";',
  'foreverypart { if header :mime :anychild :contenttype "content-type" "text/html" { set "n" "${n}h"; } } fileinto "x${n}";',
  'foreverypart { if header :mime :contenttype "content-type" "message/rfc822" { if exists :mime "subject" { fileinto "outer"; } if header :mime :anychild "subject" "inner" { fileinto "inner"; } } }',
  'if header :mime :anychild :param "name" "content-type" "a.exe" { fileinto "name"; } if header :mime :anychild :param "none" "content-type" "" { fileinto "none"; }',
  'if header :mime :anychild :contains "content-type" "a.exe" { fileinto "whole"; } if header :mime :anychild :subtype "content-disposition" "" { fileinto "blank"; } if header :mime :type "subject" "" { fileinto "other"; }',
  'if header :mime :anychild :contenttype "content-disposition" "attachment" { fileinto "disposition"; } if header :mime :subtype "content-type" "mixed" { fileinto "mixed"; }',
  'if header :mime :anychild :count "eq" :comparator "i;ascii-numeric" "content-type" "7" { fileinto "seven"; } if address :mime :anychild :count "eq" :comparator "i;ascii-numeric" "from" "2" { fileinto "two"; }',
  'if exists :mime :anychild ["from", "x-part"] { fileinto "both"; } if not exists :mime "x-part" { fileinto "top"; }',
].map((script) => `${MIME} set "n" ""; ${script}`)

/** Levels of the messages on the scale of RFC 5235, as sieve-test reads them from their header. */
const LEVELS = [6, 1, 4, 3]

/** What is done, in any order: folders, `keep`, and `redirect` with the address. */
function ours(script: string, mail: Buffer, level: number): string[] {
  const outcome = runScriptOn(script, mail, { mailFrom: FROM, rcptTo: TO })
  const {
    targets,
    redirects = [],
    vacation,
    reject,
    error,
  } = decidedOutcome(outcome, (id) => levelAnswer(id, level) ?? false)
  assert.equal(error, null, script)
  if (reject !== undefined) return [`reject ${reject}`]
  return [
    ...targets.map((target) => (target.kind === 'default' ? 'keep' : target.path)),
    ...redirects.map((address) => `redirect ${address.toLowerCase()}`),
    ...(vacation === undefined ? [] : [`vacation ${vacation.days * 86_400} ${vacation.subject}`]),
  ].sort()
}

function theirs(config: string, script: string, mail: string): string[] {
  const { stdout, stderr } = spawnSync('sieve-test', ['-c', config, '-f', FROM, '-a', TO, '-r', TO, script, mail], {
    encoding: 'utf8',
  })
  assert.match(stderr, /final result: success/, `${readFileSync(script)}\n${stdout}${stderr}`)
  return [
    ...[...stdout.matchAll(/^ \* store message in folder: (.*?)(?: \(.*\))?$/gm)].map(([, name]) =>
      name === 'INBOX' ? 'keep' : name!,
    ),
    ...[...stdout.matchAll(/^ \* redirect message to: <(.*)>$/gm)].map(
      ([, address]) => `redirect ${address!.toLowerCase()}`,
    ),
    ...[...stdout.matchAll(/^ \* reject message with reason: (.*)$/gm)].map(([, reason]) => `reject ${reason}`),
    ...[...stdout.matchAll(/^ \* send vacation message:\n +=> seconds +: (\d+)\n +=> subject +: (.*)$/gm)].map(
      ([, seconds, subject]) => `vacation ${seconds} ${subject}`,
    ),
  ].sort()
}

test('scripts do the same as with sieve-test', { skip: SIEVE_TEST }, () => {
  chmodSync(folder, 0o777)
  mkdirSync(join(folder, 'mail'), { mode: 0o777 })
  const config = join(folder, 'dovecot.conf')
  const settings = [
    ...['mail_uid = nobody', 'mail_gid = nogroup', `mail_location = maildir:${join(folder, 'mail')}`],
    ...['postmaster_address = postmaster@example.com', 'hostname = mx.example.com', 'recipient_delimiter = +'],
    ...['plugin {', 'sieve_extensions = +editheader +spamtest', 'sieve_max_redirects = 5'],
    ...['sieve_spamtest_status_type = score', 'sieve_spamtest_status_header = X-Spam-Level: ([0-9.]+)'],
    ...['sieve_spamtest_max_value = 10', '}'],
  ]
  writeFileSync(config, `${settings.join('\n')}\n`)
  const files = MAILS.map((mail, index) => {
    const file = join(folder, `${index}.eml`)
    writeFileSync(file, mail)
    return file
  })
  const last = MAILS.length - 1
  for (const [number, script] of [...SCRIPTS, ...MIME_SCRIPTS].entries()) {
    const file = join(folder, `s${number}.sieve`)
    writeFileSync(file, script)
    for (const [index, mail] of MAILS.entries()) {
      if ((index === last) !== number >= SCRIPTS.length) continue
      assert.deepEqual(
        ours(script, mail, LEVELS[index]!),
        theirs(config, file, files[index]!),
        `message ${index}: ${script}`,
      )
    }
  }
})
