// The extensions of scripts, by the examples of their RFCs: variables, include, dates, index, environment, header edits, duplicates.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HEADER_LINES_MAX } from '../../../src/mime/headers.ts'
import { parseMessage } from '../../../src/mime/parse.ts'
import { PROBLEMS_MAX } from '../../../src/sieve/check.ts'
import { compileScript } from '../../../src/sieve/compile.ts'
import { applyEdits, keepsProtectedFields } from '../../../src/sieve/header-edits.ts'
import { MessageView } from '../../../src/sieve/message-view.ts'
import { decidedOutcome, QUESTIONS_MAX } from '../../../src/sieve/outcome.ts'
import type { ScriptContext } from '../../../src/sieve/run.ts'
import { inspectionContent } from '../../../src/workers/read-message.ts'
import { bytesOf, outcome, problemsOf, runScriptOn } from '../../support/sieve.ts'

/** Templates of scripts are not those of JavaScript. */
const dollars = (text: string) => text.replaceAll('§', '$')
const mail = (...fields: string[]) => bytesOf(...fields, '', 'x')
const at = Date.UTC(2026, 2, 5, 9, 8, 7)

function run(
  script: string,
  bytes: Uint8Array,
  more: Partial<ScriptContext> & { scripts?: Record<string, string> } = {},
) {
  const { scripts = {}, ...around } = more
  const included = (name: string) => (Object.hasOwn(scripts, name) ? compileScript(scripts[name]!).script : undefined)
  return runScriptOn(dollars(script), bytes, { included, ...around })
}
const where = (script: string, bytes: Uint8Array, more = {}) => {
  const { targets, error } = run(script, bytes, more)
  return error ?? targets.map((target) => (target.kind === 'default' ? 'keep' : target.path)).join(', ')
}
const VARS = 'require ["variables", "fileinto", "envelope"];'

describe('RFC 5229 variables', () => {
  test('match variables hold what the wildcards of the last match took, as little as possible', () => {
    const list = mail(
      'List-ID: Dana Discussion <dana-list@example.org>',
      'Subject: [acme-users] [fwd] version 1.0 is out',
    )
    const script = `${VARS} if header :matches "List-ID" "*<*@*" { fileinto "INBOX.lists.§{2}"; }`
    assert.equal(where(script, list), 'INBOX.lists.dana-list')
    assert.equal(
      where(`${VARS} if header :matches "Subject" "[*] *" { fileinto "§{1}|§{2}|§{3}"; }`, list),
      'acme-users|[fwd] version 1.0 is out|',
    )
    assert.equal(
      where(`${VARS} if header :matches "subject" "?ac*" { fileinto "§{1}+§{2}+§{0}"; }`, mail('Subject: xAcme')),
      'x+me+xAcme',
    )
  })

  test('set with modifiers in the order of their precedence', () => {
    for (const [modifiers, value, expected] of [
      ['', 'juMBlEd', 'juMBlEd'],
      [':length', 'ä12', '3'],
      [':lower', 'juMBlEd', 'jumbled'],
      [':upperfirst', 'juMBlEd', 'JuMBlEd'],
      [':upperfirst :lower', 'juMBlEd', 'Jumbled'],
      [':quotewildcard', 'Rock*', 'Rock\\*'],
    ]) {
      assert.equal(where(`${VARS} set ${modifiers} "b" "${value}"; fileinto "§{B}"; stop;`, mail('A: b')), expected)
    }
    assert.match(problemsOf('require "variables"; set :lower :upper "a" "b";')[0]!, /exclude each other/)
    assert.match(problemsOf('require "variables"; set "1a" "b";')[0]!, /name of a variable/)
  })

  test('references of unknown names are empty, other text stays, and nothing is expanded twice', () => {
    const script = `${VARS} set "company" "ACME"; set "d" "§"; fileinto "§{a}|§{no-name}|§{}|&%§{}!|§company|§{d}{company}|§§{company}";`
    assert.equal(where(script, mail('A: b')), dollars('|§{no-name}|§{}|&%§{}!|§company|§{company}|§ACME'))
    assert.equal(where(`require "fileinto"; fileinto "§{a}";`, mail('A: b')), dollars('§{a}'))
  })

  test('the string test, counts, and what values make wrong', () => {
    assert.equal(where(`${VARS} set "s" " "; if string :is "§{s}" " " { fileinto "yes"; }`, mail('A: b')), 'yes')
    const count = `require ["variables", "relational", "fileinto"]; if string :count "eq" ["a", "", "§{x}"] "1" { fileinto "one"; }`
    assert.equal(where(count, mail('A: b')), 'one')
    assert.equal(where(`${VARS} fileinto "§{x}";`, mail('A: b')), 'This is not a valid folder name.')
    assert.match(where(`require "variables"; set "a" "x"; redirect "§{a}";`, mail('A: b')), /not an address/)
    assert.deepEqual(run(`require "variables"; set "a" "x"; redirect "§{a}@b.test";`, mail('A: b')).redirects, [
      'x@b.test',
    ])
    const doubling = 'set "a" "§{a}§{a}";'.repeat(20)
    assert.match(where(`${VARS} set "a" "xxxx"; ${doubling}`, mail('A: b')), /at most 8192 octets/)
  })
})

describe('RFC 6609 include', () => {
  const scripts = {
    spam: 'require ["fileinto"]; if header :contains "subject" "$$$" { fileinto "Spam"; stop; }',
    back: 'require ["include", "fileinto"]; if true { return; } fileinto "never";',
    loop: 'require "include"; include "loop";',
    wrong: 'fnord;',
    vars: dollars('require ["include", "variables"]; global "test"; set "test" "§{global.test}-set"; set "own" "x";'),
  }
  test('an included script runs as if it stood there; return ends it, stop ends all', () => {
    const script = 'require ["include", "fileinto"]; include :personal "spam"; include "back"; fileinto "after";'
    assert.equal(where(script, mail('Subject: $$$'), { scripts }), 'Spam')
    assert.equal(where(script, mail('Subject: x'), { scripts }), 'after')
  })

  test('once, optional, missing, invalid and endless ones', () => {
    const begin = 'require "include"; include'
    assert.equal(where(`${begin} "none";`, mail('A: b'), { scripts }), 'The included script "none" does not exist.')
    assert.equal(where(`${begin} :optional "none";`, mail('A: b'), { scripts }), 'keep')
    assert.equal(where(`${begin} "wrong";`, mail('A: b'), { scripts }), 'The included script "wrong" is not valid.')
    assert.equal(where(`${begin} "loop";`, mail('A: b'), { scripts }), 'The script "loop" includes itself.')
    assert.match(problemsOf('require "include"; include :global "x";')[0]!, /no global scripts/)
    const wide = Object.fromEntries(
      ['a', 'b', 'c'].map((name, index) => [name, `require "include";${`include "${'bcd'[index]}";`.repeat(9)}`]),
    )
    assert.match(where(`${begin} "a";`, mail('A: b'), { scripts: { ...wide, d: 'keep;' } }), /Too many scripts/)
  })

  test('global variables are shared, others are not', () => {
    const script =
      'require ["include", "variables", "fileinto"]; global ["test"]; set "test" "begun"; include "vars"; fileinto "§{test}|§{own}|§{global.test}";'
    assert.equal(where(script, mail('A: b'), { scripts }), 'begun-set||begun-set')
  })
})

test('RFC 5260 date and index', () => {
  const bytes = mail(
    'Received: from a; Tue, 1 Apr 1997 09:06:31 -0800',
    'Received: from b; Mon, 31 Mar 1997 10:00:00 +0000',
    'Date: Tue, 1 Apr 1997 23:06:31 -0800',
    'X: one',
    'X: two',
  )
  const holds = (condition: string) =>
    where(`require ["date", "index", "relational", "fileinto"]; if ${condition} { fileinto "yes"; }`, bytes, {
      receivedAt: at,
    }) === 'yes'
  for (const condition of [
    'date :zone "+0000" "date" "date" "1997-04-02"',
    'date :originalzone "date" "std11" "Tue, 01 Apr 1997 23:06:31 -0800"',
    'date :originalzone "date" "iso8601" "1997-04-01t23:06:31-08:00"',
    'date :value "ge" :originalzone "date" "hour" "09"',
    'date :index 2 "received" "day" "31"',
    'date :index 1 :last "received" "weekday" "1"',
    'date "date" "julian" "50540"',
    'currentdate "iso8601" "2026-03-05T09:08:07Z"',
    'currentdate :zone "-0930" "time" "23:38:07"',
    'currentdate "zone" "+0000"',
    'header :index 2 "x" "two"',
    'header :index 2 :last "x" "one"',
    'not header :index 3 "x" "two"',
    'not date "x-none" "day" "31"',
  ]) {
    assert.ok(holds(condition), condition)
  }
  assert.match(problemsOf('require "date"; if date "date" "era" "1" { stop; }')[0]!, /has the parts/)
  assert.match(problemsOf('require "date"; if currentdate :zone "CET" "day" "1" { stop; }')[0]!, /time zone/)
})

test('RFC 5463 ihave, RFC 5183 environment, RFC 8579 special-use', () => {
  const absent =
    'require ["ihave", "fileinto"]; if ihave ["vnd.fancy"] { fancy :thing "x"; } elsif ihave "copy" { fileinto :copy "Archive"; }'
  assert.equal(where(absent, mail('A: b')), 'Archive, keep')
  assert.match(
    problemsOf('require "ihave"; if not ihave "copy" { stop; } fileinto "x";')[0]!,
    /needs require "fileinto"/,
  )
  assert.equal(where('require "ihave"; error "It failed.";', mail('A: b')), 'The script says: It failed.')
  const environment = new Map([
    ['name', 'Mailstead'],
    ['remote-ip', '192.0.2.1'],
  ])
  const ip = 'require ["environment", "fileinto"]; if environment :matches "REMOTE-IP" "192.0.2.*" { fileinto "yes"; }'
  assert.equal(where(ip, mail('A: b'), { environment }), 'yes')
  assert.equal(
    where('require "environment"; if environment "vnd.x" "" { discard; }', mail('A: b'), { environment }),
    'keep',
  )
  const use =
    'require ["special-use", "fileinto"]; if specialuse_exists "\\\\Archive" { fileinto :specialuse "\\\\Archive" "INBOX/x"; }'
  assert.equal(where(use, mail('A: b')), 'archive')
})

describe('RFC 5293 editheader', () => {
  const bytes = bytesOf(
    ...['Return-Path: <a@b.test>', 'Authentication-Results: mx.test; none', 'Received: by mx.test; x'],
    ...['Subject: [lists] hello', 'X-A: one', 'X-A: two', 'X-A: three', '', 'Body'],
  )
  const edited = (script: string) => {
    const { edits, error } = run(`require ["editheader", "variables", "fileinto"]; ${script}`, bytes)
    assert.equal(error, null)
    return edits ? Buffer.from(applyEdits(bytes, edits)).toString().split('\r\n') : null
  }
  const lines = Buffer.from(bytes).toString().split('\r\n')

  test('fields are added behind our trace fields or at the end, encoded and folded', () => {
    assert.deepEqual(edited('addheader "X-First" "1"; addheader "X-New" "2"; addheader :last "X-Last" "3";'), [
      ...lines.slice(0, 3),
      ...['X-New: 2', 'X-First: 1'],
      ...lines.slice(3, 7),
      'X-Last: 3',
      ...lines.slice(7),
    ])
    assert.match(edited('addheader "X" "gr\u00fc\u00df";')!.join('\n'), /^X: =\?utf-8\?/im)
    assert.equal(edited('keep;'), null)
  })

  test('fields are deleted by name, index and value, and tests see the changes', () => {
    const left = (script: string) =>
      edited(script)!
        .filter((line) => line.startsWith('X-A'))
        .map((line) => line.slice(5))
    assert.deepEqual(left('deleteheader "X-A";'), [])
    assert.deepEqual(left('deleteheader :index 1 "x-a";'), ['two', 'three'])
    assert.deepEqual(left('deleteheader :index 1 :last "x-a";'), ['one', 'two'])
    assert.deepEqual(left('deleteheader :matches "x-a" ["t*"];'), ['one'])
    assert.equal(edited('deleteheader :is "x-a" "none"; deleteheader "x-b";'), null)
    assert.deepEqual(
      edited(
        'if header :matches "Subject" "[lists] *" { deleteheader "Subject"; addheader "Subject" "§{1}"; }',
      )!.filter((line) => /^Subject/.test(line)),
      ['Subject: hello'],
    )
    const seen =
      'addheader "X-Seen" "1"; deleteheader "X-A"; if allof (exists "x-seen", not exists "x-a") { fileinto "yes"; }'
    assert.equal(where(`require ["editheader", "fileinto"]; ${seen}`, bytes), 'yes')
  })

  const PROTECTED = [
    ...[
      'Received',
      'auto-submitted',
      'Return-Path',
      'Authentication-Results',
      'ARC-Seal',
      'DKIM-Signature',
      'Resent-From',
    ],
    ...['FROM', 'Sender', 'Reply-To', 'To', 'Cc', 'Bcc', 'Date', 'Message-ID', 'List-Unsubscribe', 'Received-SPF'],
    ...['Errors-To', 'Mail-Followup-To', 'Disposition-Notification-To', 'X-Mailstead-Forwarded'],
  ]

  test('trace fields, signatures and the fields of the author cannot be changed, and additions are bounded', () => {
    const all = bytesOf(...PROTECTED.map((field) => `${field}: a@b.test`), 'Subject: x', '', 'x')
    for (const field of PROTECTED) {
      const script = `require ["editheader", "variables"]; set "n" "${field}";`
      for (const name of [field, '§{n}']) {
        const { edits, error } = run(
          `${script} deleteheader "${name}"; addheader "${name}" "x"; addheader :last "${name}" "x";`,
          all,
        )
        assert.deepEqual([edits, error], [undefined, null], field)
      }
    }
    assert.match(problemsOf('require "editheader"; addheader "a b" "x";')[0]!, /not the name of a header field/)
    const many = `addheader "X" "${'x'.repeat(900)}";`.repeat(30)
    assert.match(where(`require "editheader"; ${many}`, bytes), /at most 16384 octets/)
  })
})

describe('warnings of the upload', () => {
  const warningsOf = (script: string) => compileScript(dollars(script)).warnings

  test('name each change of a protected field, with its place, also beside variables', () => {
    const script =
      'require ["editheader", "variables"];\naddheader "X-A" "1";\nif true { addheader "From" "§{a}"; }\n deleteheader "Reply-to";'
    assert.deepEqual(warningsOf(script), [
      {
        ...{ line: 3, column: 21 },
        message: 'Scripts cannot change the field "From". The command has no effect; remove it.',
      },
      {
        ...{ line: 4, column: 15 },
        message: 'Scripts cannot change the field "Reply-to". The command has no effect; remove it.',
      },
    ])
    assert.deepEqual(warningsOf('require "editheader"; addheader "Subject" "x";'), [])
    assert.deepEqual(warningsOf('require ["editheader", "variables"]; addheader "§{name}" "x";'), [])
    assert.equal(
      warningsOf(`require "editheader"; ${'addheader "To" "x";'.repeat(PROBLEMS_MAX + 1)}`).length,
      PROBLEMS_MAX,
    )
  })
})

test('a change that brings hidden fields into view is not made', () => {
  const bytes = bytesOf('From: <ann@a.test>', 'X-A: 1', '', 'x')
  const deleted = { cuts: [{ start: 20, end: 28 }], top: '', bottom: '' }
  assert.equal(keepsProtectedFields(bytes, applyEdits(bytes, deleted)), true)
  const folded = Array.from({ length: HEADER_LINES_MAX - 1 }, () => ' x')
  const long = bytesOf('From: <ann@a.test>', 'X-A: 1', ...folded, 'From: <ceo@bank.test>', '', 'x')
  const { scriptOutcomes, edited } = inspectionContent(long, long, {
    ...{ mailFrom: '', hostName: 'mx.test', queueId: 'x', rcptTo: null, receivedAt: at, author: 'ann@a.test' },
    scripts: [{ content: 'require "editheader"; deleteheader "X-A";', rcptTo: 'ken@a.test', folders: [] }],
  })
  assert.deepEqual(
    [scriptOutcomes[0]!.error, edited],
    ['The changes would show another author or other trace fields.', undefined],
  )
})

describe('RFC 7352 duplicate', () => {
  const begin = 'require ["duplicate", "fileinto"];'
  const ask = (script: string, bytes: Uint8Array) => run(`${begin} ${script}`, bytes)

  test('an id is asked for, and remembered with the outcome that holds', () => {
    const asked = ask('if duplicate { discard; }', mail('Message-ID: <a@b.test>'))
    const [unseen, seen] = [decidedOutcome(asked, () => false), decidedOutcome(asked, () => true)]
    assert.deepEqual([unseen.targets.length, seen.targets.length], [1, 0])
    assert.deepEqual([unseen.ids!.map(({ seconds }) => seconds), seen.ids], [[604_800], undefined])
    const last = ask('if duplicate :seconds 60 :last { discard; }', mail('Message-ID: <a@b.test>'))
    assert.equal(decidedOutcome(last, () => true).ids![0]!.seconds, 60)
    assert.deepEqual(ask('if duplicate { discard; }', mail('Subject: no id')).question, undefined)
  })

  test('handles, headers and ids are different; the same one is asked for once', () => {
    const id = (script: string) =>
      ask(`if duplicate ${script} { discard; }`, mail('Message-ID: <a@b.test>', 'X: <a@b.test>')).question!.id
    const ids = ['', ':handle "x"', ':header "x"', ':uniqueid "<a@b.test>"'].map(id)
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(id(':header "Message-ID"'), ids[0])
    const twice = ask('if anyof (duplicate, duplicate) { fileinto "seen"; }', mail('Message-ID: <a@b.test>'))
    assert.equal(twice.question!.seen.question, undefined)
    const tests = Array.from({ length: QUESTIONS_MAX + 1 }, (_, n) => `duplicate :handle "${n}"`)
    const many = ask(`if allof (not ${tests.join(', not ')}) { keep; }`, mail('Message-ID: <a@b.test>'))
    assert.match(decidedOutcome(many, () => false).error!, /at most 3 ids/)
    assert.equal(decidedOutcome(many, () => true).error, null)
  })
})

test('the example of decisions: nothing of the extensions works without require', () => {
  for (const [script, extension] of [
    ['set "a" "b";', 'variables'],
    ['if string "a" "b" { stop; }', 'variables'],
    ['include "a";', 'include'],
    ['addheader "X" "1";', 'editheader'],
    ['if duplicate { stop; }', 'duplicate'],
    ['if currentdate "day" "1" { stop; }', 'date'],
    ['if header :index 1 "x" "y" { stop; }', 'index'],
    ['if environment "name" "x" { stop; }', 'environment'],
    ['if ihave "copy" { stop; }', 'ihave'],
  ] as const) {
    assert.ok(
      problemsOf(script).some((problem) => problem.includes(`require "${extension}"`)),
      script,
    )
  }
  assert.equal(outcome('keep;', mail('A: b')), 'keep')
  assert.equal(
    new MessageView({ bytes: mail('A: b'), root: parseMessage(mail('A: b')).structure, text: '' }).has('a'),
    true,
  )
})

test('flags in variables (RFC 5232), and what sets no match variables (RFC 5173)', () => {
  const begin = 'require ["imap4flags", "variables", "relational", "fileinto", "body"];'
  const flags = 'setflag "mine" ["\\\\Seen", "A"]; addflag "mine" "B a"; removeflag "mine" "A";'
  const { keywords } = run(`${begin} ${flags} keep :flags "§{mine}";`, mail('A: b'))
  assert.deepEqual(keywords, ['$seen', 'b'])
  assert.equal(where(`${begin} ${flags} if hasflag ["mine", "none"] "b" { fileinto "yes"; }`, mail('A: b')), 'yes')
  assert.equal(where(`${begin} ${flags} if hasflag :count "eq" "mine" "2" { fileinto "two"; }`, mail('A: b')), 'two')
  assert.match(problemsOf('require "imap4flags"; setflag "a" "b";')[0]!, /takes no further argument/)
  const body = 'if allof (header :matches "a" "*b*", body :raw :matches "*") { fileinto "§{0}"; }'
  assert.equal(where(`${begin} ${body}`, mail('A: xby')), 'xby')
})
