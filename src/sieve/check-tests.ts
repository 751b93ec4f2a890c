// Validates and compiles the tests of a script (RFC 5228 5 and the extensions of docs/design/mailbox.md §14).

import { type ParsedArguments, readArguments, type ScriptChecker, type Signature } from './arguments.ts'
import type { BodyForm } from './body.ts'
import { flagVariables, specialUse } from './check-actions.ts'
import { fieldNames, INDEX_TAGS, indexOf, MATCH_TAGS, matchOf, PART_TAGS, partOf } from './check-match.ts'
import { DATE_PARTS, readZone } from './dates.ts'
import { EXTENSIONS, whyAbsent } from './extensions.ts'
import { flagsIn } from './flags.ts'
import { folderPath, idName } from './folder-path.ts'
import { isLate, makeLate } from './late.ts'
import { ELEMENT_TAGS, MIME_TAGS, mimeScope } from './mime-parts.ts'
import { isNotifyMethod, notifyCapability } from './notify.ts'
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
  exists: { tags: MIME_TAGS, takes: [['strings', 'the fields']], make: existsTest },
  size: {
    tags: { over: { group: 'limit', takes: 'number' }, under: { group: 'limit', takes: 'number' } },
    make: ({ tags }) => {
      const limit = tags.get('limit')
      return limit ? { is: 'size', over: limit.tag === 'over', limit: limit.number } : null
    },
  },
  header: {
    tags: { ...MATCH_TAGS, ...INDEX_TAGS, ...MIME_TAGS, ...ELEMENT_TAGS },
    takes: [['strings', 'the fields'], KEYS],
    make: headerTest,
  },
  address: {
    tags: { ...MATCH_TAGS, ...PART_TAGS, ...INDEX_TAGS, ...MIME_TAGS },
    takes: [['strings', 'the fields'], KEYS],
    make: addressTest,
  },
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
  hasflag: {
    needs: 'imap4flags',
    tags: MATCH_TAGS,
    takes: [['strings', 'the flags']],
    optional: ['strings', 'the flags'],
    make: flagTest,
  },
  mailboxexists: { needs: 'mailbox', takes: [['strings', 'the folders']], make: folderTest },
  mailboxidexists: {
    needs: 'mailboxid',
    takes: [['strings', 'the ids']],
    make: ({ positional }) => ({ is: 'folders', names: positional[0]!.strings.map(idName) }),
  },
  specialuse_exists: {
    needs: 'special-use',
    takes: [['strings', 'the uses']],
    optional: ['strings', 'the uses'],
    make: specialUseTest,
  },
  string: {
    needs: 'variables',
    tags: MATCH_TAGS,
    takes: [['strings', 'the strings'], KEYS],
    make: (read, _, checker) => matching({ of: 'strings', values: read.positional[0]!.strings }, read, checker),
  },
  date: {
    needs: 'date',
    tags: { ...MATCH_TAGS, ...INDEX_TAGS, zone: { group: 'zone', takes: 'string' }, originalzone: { group: 'zone' } },
    takes: [['string', 'the field'], ['string', 'the part of the date'], KEYS],
    make: (read, _, checker) => dateTest(read, checker, read.positional[0]!.strings[0]!.toLowerCase()),
  },
  currentdate: {
    needs: 'date',
    tags: { ...MATCH_TAGS, zone: { group: 'zone', takes: 'string' } },
    takes: [['string', 'the part of the date'], KEYS],
    make: (read, _, checker) => dateTest(read, checker, null),
  },
  environment: {
    needs: 'environment',
    tags: MATCH_TAGS,
    takes: [['string', 'the item'], KEYS],
    make: (read, _, checker) =>
      matching({ of: 'environment', name: read.positional[0]!.strings[0]!.toLowerCase() }, read, checker),
  },
  spamtest: {
    needs: 'spamtest',
    tags: MATCH_TAGS,
    takes: [['string', 'the level']],
    make: (read, _, checker) => matching({ of: 'spam' }, read, checker),
  },
  valid_notify_method: {
    needs: 'enotify',
    takes: [['strings', 'the methods']],
    make: ({ positional }) => ({ is: 'constant', value: positional[0]!.strings.every(isNotifyMethod) }),
  },
  notify_method_capability: {
    needs: 'enotify',
    tags: MATCH_TAGS,
    takes: [['string', 'the method'], ['string', 'the capability'], KEYS],
    make: notifyCapabilityTest,
  },
  ihave: { needs: 'ihave', takes: [['strings', 'the extensions']], make: haveTest },
  duplicate: {
    needs: 'duplicate',
    tags: {
      handle: { group: 'handle', takes: 'string' },
      header: { group: 'id', takes: 'string' },
      uniqueid: { group: 'id', takes: 'string' },
      seconds: { group: 'seconds', takes: 'number' },
      last: { group: 'last' },
    },
    make: duplicateTest,
  },
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
  if (isLate(command, checker)) return lateTest(command, checker)
  if (command.name === 'size' && !read.tags.has('limit')) checker.wrong(command.at, '"size" needs ":over" or ":under".')
  return rule.make(read, tests, checker)
}

function lateTest(command: SieveCommand, checker: ScriptChecker): SieveTest | null {
  if (command.name !== 'mailboxexists' && command.name !== 'mailboxidexists') {
    return { is: 'late', make: (expand) => makeLate(command, checker, expand, checkTest) }
  }
  // The folders are looked up before the script runs.
  checker.wrong(command.at, `"${command.name}" takes no variables here.`)
  return null
}

function atOf(read: ParsedArguments) {
  const at = indexOf(read)
  return at === null ? {} : { at }
}

function matching(source: SieveSource, read: ParsedArguments, checker: ScriptChecker): SieveTest | null {
  const match = matchOf(read, read.positional.at(-1)!, checker)
  return match && { is: 'match', source, match }
}

function existsTest(read: ParsedArguments, _: SieveTest[], checker: ScriptChecker): SieveTest | null {
  const mime = mimeScope(read, checker)
  if (mime === null) return null
  return { is: 'exists', names: fieldNames(read.positional[0]!), ...(mime ? { mime } : {}) }
}

function headerTest(read: ParsedArguments, _: SieveTest[], checker: ScriptChecker): SieveTest | null {
  const mime = mimeScope(read, checker)
  if (mime === null) return null
  const names = fieldNames(read.positional[0]!)
  return matching({ of: 'header', names, ...atOf(read), ...(mime ? { mime } : {}) }, read, checker)
}

function addressTest(read: ParsedArguments, _: SieveTest[], checker: ScriptChecker): SieveTest | null {
  const given = read.positional[0]!
  const names = fieldNames(given)
  const odd = names.find((name) => !ADDRESS_FIELDS.has(name))
  const mime = mimeScope(read, checker)
  if (mime === null) return null
  if (odd === undefined) {
    const source = { of: 'address', names, part: partOf(read), ...atOf(read), ...(mime ? { mime } : {}) } as const
    return matching(source, read, checker)
  }
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
  const [first, second] = read.positional
  const keys = second ?? first!
  const variables = second === undefined ? null : flagVariables('hasflag', read, checker)
  if (second !== undefined && variables === null) return null
  const isCount = read.tags.get('match')?.tag === 'count'
  const match: SieveMatch | null = matchOf(read, isCount ? keys : { ...keys, strings: flagsIn(keys.strings) }, checker)
  return match && { is: 'match', source: { of: 'flags', variables }, match }
}

function folderTest({ positional }: ParsedArguments, _: SieveTest[], checker: ScriptChecker): SieveTest | null {
  const { strings, at } = positional[0]!
  const names = strings.map(folderPath)
  if (names.every((name) => name !== null)) return { is: 'folders', names }
  checker.wrong(at, 'The name of a folder is written in UTF-8.')
  return null
}

/** RFC 8579 §3: here the folders with a role always exist. */
function specialUseTest({ positional }: ParsedArguments): SieveTest | null {
  const uses = positional.at(-1)!.strings
  return { is: 'constant', value: positional.length === 1 && uses.every((use) => specialUse(use) !== undefined) }
}

function dateTest(read: ParsedArguments, checker: ScriptChecker, name: string | null): SieveTest | null {
  const given = read.tags.get('zone')
  const part = read.positional[name === null ? 0 : 1]!
  const zone = given === undefined ? 0 : given.tag === 'originalzone' ? 'original' : readZone(given.strings[0]!)
  const wanted = part.strings[0]!.toLowerCase()
  if (zone === null) checker.wrong(given!.at, 'A time zone is written like "+0100".')
  if (!DATE_PARTS.some((one) => one === wanted)) {
    checker.wrong(part.at, `A date has the parts ${DATE_PARTS.join(', ')}.`)
    return null
  }
  return zone === null ? null : matching({ of: 'date', name, zone, part: wanted, ...atOf(read) }, read, checker)
}

/** RFC 5435 §5: a capability that the method does not have makes the test false. */
function notifyCapabilityTest(read: ParsedArguments, _: SieveTest[], checker: ScriptChecker): SieveTest | null {
  const [method, capability] = read.positional.map(({ strings }) => strings[0]!)
  const value = notifyCapability(method!, capability!)
  if (value === null) return { is: 'constant', value: false }
  return matching({ of: 'strings', values: [value] }, read, checker)
}

/** RFC 5463 §4: what changes how a script is read must be required at its start. */
const NEVER_BY_IHAVE: ReadonlySet<string> = new Set(['encoded-character', 'variables'])

function haveTest({ positional }: ParsedArguments): SieveTest {
  const value = positional[0]!.strings.every((name) => EXTENSIONS.has(name) && !NEVER_BY_IHAVE.has(name))
  return { is: 'constant', value, ...(value ? {} : { isAbsent: true }) }
}

/** RFC 7352 §3: seven days, unless the script says otherwise; here at most ninety. Seconds. */
const SEEN_SECONDS = 7 * 86_400
const SEEN_SECONDS_MAX = 90 * 86_400

function duplicateTest({ tags }: ParsedArguments): SieveTest {
  const id = tags.get('id')
  const by = id?.tag === 'uniqueid' ? { id: id.strings[0]! } : { header: id?.strings[0]?.toLowerCase() ?? 'message-id' }
  const seconds = Math.min(tags.get('seconds')?.number ?? SEEN_SECONDS, SEEN_SECONDS_MAX)
  return {
    is: 'duplicate',
    test: { handle: tags.get('handle')?.strings[0] ?? '', by, seconds, last: tags.has('last') },
  }
}
