// Validates and compiles the tests of a script (RFC 5228 5 and the extensions of decisions §10.14).

import { type ParsedArguments, readArguments, type ScriptChecker, type Signature } from './arguments.ts'
import type { BodyForm } from './body.ts'
import { fieldNames, MATCH_TAGS, matchOf, PART_TAGS, partOf } from './check-match.ts'
import { whyAbsent } from './extensions.ts'
import { flagsIn } from './flags.ts'
import { folderPath } from './folder-path.ts'
import type { SieveCommand } from './parser.ts'
import type { SieveMatch, SieveSource, SieveTest } from './script.ts'

/** A test: its signature, and its compiled form; null when something is wrong. */
interface TestRule extends Signature {
  make(read: ParsedArguments, tests: SieveTest[], checker: ScriptChecker): SieveTest | null
}

/** RFC 5228 5.1: fields that hold addresses. */
const ADDRESS_FIELDS = new Set([
  ...['from', 'to', 'cc', 'bcc', 'sender', 'reply-to'],
  ...['resent-from', 'resent-to', 'resent-cc', 'resent-bcc', 'resent-sender', 'resent-reply-to'],
  ...['mail-followup-to', 'mail-reply-to', 'disposition-notification-to', 'delivered-to', 'return-path', 'errors-to'],
])

const KEYS = ['strings', 'what to look for'] as const

const RULES: Readonly<Record<string, TestRule>> = {
  true: { make: () => ({ is: 'constant', value: true }) },
  false: { make: () => ({ is: 'constant', value: false }) },
  not: { tests: 'one', make: (_, tests) => ({ is: 'not', test: tests[0]! }) },
  allof: { tests: 'list', make: (_, tests) => ({ is: 'all', tests }) },
  anyof: { tests: 'list', make: (_, tests) => ({ is: 'any', tests }) },
  exists: {
    takes: [['strings', 'the fields']],
    make: ({ positional }) => ({ is: 'exists', names: fieldNames(positional[0]!) }),
  },
  size: {
    tags: { over: { group: 'limit', takes: 'number' }, under: { group: 'limit', takes: 'number' } },
    make: ({ tags }) => {
      const limit = tags.get('limit')
      return limit ? { is: 'size', over: limit.tag === 'over', limit: limit.number } : null
    },
  },
  header: {
    tags: MATCH_TAGS,
    takes: [['strings', 'the fields'], KEYS],
    make: (read, _, checker) => matching({ of: 'header', names: fieldNames(read.positional[0]!) }, read, checker),
  },
  address: { tags: { ...MATCH_TAGS, ...PART_TAGS }, takes: [['strings', 'the fields'], KEYS], make: addressTest },
  envelope: {
    needs: 'envelope',
    tags: { ...MATCH_TAGS, ...PART_TAGS },
    takes: [['strings', '"from" or "to"'], KEYS],
    make: envelopeTest,
  },
  body: {
    needs: 'body',
    tags: {
      ...MATCH_TAGS,
      raw: { group: 'form' },
      text: { group: 'form' },
      content: { group: 'form', takes: 'strings' },
    },
    takes: [KEYS],
    make: (read, _, checker) => matching({ of: 'body', form: bodyForm(read) }, read, checker),
  },
  hasflag: { needs: 'imap4flags', tags: MATCH_TAGS, takes: [['strings', 'the flags']], make: flagTest },
  mailboxexists: { needs: 'mailbox', takes: [['strings', 'the folders']], make: folderTest },
}

/** @returns null when something is wrong, which was reported to the checker */
export function checkTest(command: SieveCommand, checker: ScriptChecker): SieveTest | null {
  const rule = Object.hasOwn(RULES, command.name) ? RULES[command.name]! : undefined
  if (!rule) {
    checker.wrong(command.at, `There is no test "${command.name}" here.${whyAbsent(command.name)}`)
    return null
  }
  const read = readArguments(command, rule, checker)
  const tests = command.tests.map((test) => checkTest(test, checker)).filter((test) => test !== null)
  if (read === null || tests.length < command.tests.length) return null
  if (command.name === 'size' && !read.tags.has('limit')) checker.wrong(command.at, '"size" needs ":over" or ":under".')
  return rule.make(read, tests, checker)
}

function matching(source: SieveSource, read: ParsedArguments, checker: ScriptChecker): SieveTest | null {
  const match = matchOf(read, read.positional.at(-1)!, checker)
  return match && { is: 'match', source, match }
}

function addressTest(read: ParsedArguments, _: SieveTest[], checker: ScriptChecker): SieveTest | null {
  const given = read.positional[0]!
  const names = fieldNames(given)
  const odd = names.find((name) => !ADDRESS_FIELDS.has(name))
  if (odd === undefined) return matching({ of: 'address', names, part: partOf(read) }, read, checker)
  checker.wrong(given.at, `The field "${odd}" holds no addresses; "header" looks at any field.`)
  return null
}

function envelopeTest(read: ParsedArguments, _: SieveTest[], checker: ScriptChecker): SieveTest | null {
  const given = read.positional[0]!
  const ends = given.strings.map((end) => end.toLowerCase()).filter((end) => end === 'from' || end === 'to')
  if (ends.length === given.strings.length) return matching({ of: 'envelope', ends, part: partOf(read) }, read, checker)
  // RFC 5228 5.4: unknown parts should be an error.
  checker.wrong(given.at, 'An envelope has a "from" and a "to".')
  return null
}

function bodyForm({ tags }: ParsedArguments): BodyForm {
  const form = tags.get('form')
  if (form?.tag === 'content') return { types: form.strings.map((type) => type.toLowerCase()) }
  return form?.tag === 'raw' ? 'raw' : 'text'
}

function flagTest(read: ParsedArguments, _: SieveTest[], checker: ScriptChecker): SieveTest | null {
  const keys = read.positional[0]!
  const isCount = read.tags.get('match')?.tag === 'count'
  const match: SieveMatch | null = matchOf(read, isCount ? keys : { ...keys, strings: flagsIn(keys.strings) }, checker)
  return match && { is: 'match', source: { of: 'flags' }, match }
}

function folderTest({ positional }: ParsedArguments, _: SieveTest[], checker: ScriptChecker): SieveTest | null {
  const { strings, at } = positional[0]!
  const names = strings.map(folderPath)
  if (names.every((name) => name !== null)) return { is: 'folders', names }
  checker.wrong(at, 'The name of a folder is written in UTF-8.')
  return null
}
