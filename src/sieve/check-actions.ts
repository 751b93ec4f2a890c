// Validates and compiles the actions of a script (RFC 5228 §4 and the extensions).

import { ProductError } from '../base/errors.ts'
import { checkEmail } from '../mime/compose/draft-rules.ts'
import { clean } from '../mime/one-line.ts'
import { type ParsedArguments, readArguments, type ScriptChecker, type Signature, type TagRule } from './arguments.ts'
import { indexOf, MATCH_TAGS, matchOf } from './check-match.ts'
import { textOf } from './encoded.ts'
import { whyAbsent } from './extensions.ts'
import { flagsIn } from './flags.ts'
import { folderPath } from './folder-path.ts'
import { isProtectedField } from './header-edits.ts'
import { isLate, makeLate } from './late.ts'
import { NOTIFY_TAGS, notifiedAddresses, notifyStep } from './notify.ts'
import type { SieveCommand } from './parser.ts'
import type { Expand, SieveStep } from './script.ts'
import { VACATION_TAGS, vacationStep } from './vacation.ts'
import { hasReference, MODIFIERS, VARIABLE_NAME } from './variables.ts'

/** An action: its signature, and its compiled form; null when something is wrong. */
interface ActionRule extends Signature {
  make(read: ParsedArguments, checker: ScriptChecker): SieveStep | null
}

/** Characters of a reason that a reply has room for. */
const REASON_MAX = 300
/** RFC 5322 §2.2. */
const FIELD_NAME = /^[!-9;-~]{1,76}$/
const FLAGS: Readonly<Record<string, TagRule>> = { flags: { group: 'flags', takes: 'strings', needs: 'imap4flags' } }
const COPY: Readonly<Record<string, TagRule>> = { copy: { group: 'copy', needs: 'copy' } }

const flagRule = (how: 'set' | 'add' | 'remove'): ActionRule => ({
  needs: 'imap4flags',
  takes: [['strings', 'the flags']],
  optional: ['strings', 'the flags'],
  make: (read, checker) => flagStep(how, read, checker),
})

/** All commands other than "require", "if", "elsif" and "else". */
const ACTIONS: Readonly<Record<string, ActionRule>> = {
  stop: { make: () => ({ do: 'stop' }) },
  discard: { make: () => ({ do: 'discard' }) },
  keep: { tags: FLAGS, make: (read) => ({ do: 'keep', flags: flagsOf(read) }) },
  fileinto: {
    needs: 'fileinto',
    tags: {
      ...FLAGS,
      ...COPY,
      create: { group: 'create', needs: 'mailbox' },
      // RFC 9042 §4.1: a folder is named by its id or by its use, not by both.
      specialuse: { group: 'folder by', takes: 'string', needs: 'special-use' },
      mailboxid: { group: 'folder by', takes: 'string', needs: 'mailboxid' },
    },
    takes: [['string', 'the folder']],
    make: fileinto,
  },
  redirect: { tags: COPY, takes: [['string', 'the address']], make: redirect },
  setflag: flagRule('set'),
  addflag: flagRule('add'),
  removeflag: flagRule('remove'),
  reject: { needs: 'reject', takes: [['string', 'the reason']], make: reject },
  ereject: { needs: 'ereject', takes: [['string', 'the reason']], make: reject },
  notify: { needs: 'enotify', tags: NOTIFY_TAGS, takes: [['string', 'the method']], make: notifyStep },
  vacation: { needs: 'vacation', tags: VACATION_TAGS, takes: [['string', 'the text']], make: vacationStep },
  set: {
    needs: 'variables',
    tags: Object.fromEntries(
      [...MODIFIERS].map(([name, { precedence }]) => {
        const rule: TagRule = { group: `modifier ${precedence}` }
        return [name, name === 'encodeurl' ? { ...rule, needs: 'enotify' } : rule]
      }),
    ),
    takes: [
      ['string', 'the variable'],
      ['string', 'its value'],
    ],
    make: setVariable,
  },
  global: { needs: 'include', takes: [['strings', 'the variables']], make: shareVariables },
  include: {
    needs: 'include',
    tags: {
      ...{ personal: { group: 'scripts of' }, global: { group: 'scripts of' } },
      ...{ once: { group: 'once' }, optional: { group: 'optional' } },
    },
    takes: [['string', 'the script']],
    make: includeScript,
  },
  return: { needs: 'include', make: () => ({ do: 'return' }) },
  error: {
    needs: 'ihave',
    takes: [['string', 'the message']],
    make: ({ positional }) => ({ do: 'error', message: textOf(positional[0]!.strings[0]!) ?? '' }),
  },
  addheader: {
    needs: 'editheader',
    tags: { last: { group: 'last' } },
    takes: [
      ['string', 'the field'],
      ['string', 'its value'],
    ],
    make: addHeader,
  },
  deleteheader: {
    needs: 'editheader',
    // RFC 5293 §5: they need no further extension here.
    tags: { ...MATCH_TAGS, index: { group: 'index', takes: 'number' }, last: { group: 'last' } },
    takes: [['string', 'the field']],
    optional: ['strings', 'the values'],
    make: deleteHeader,
  },
}

/** @returns null when something is wrong, which was reported to the checker */
export function checkAction(command: SieveCommand, checker: ScriptChecker): SieveStep | null {
  const { name, at } = command
  const rule = Object.hasOwn(ACTIONS, name) ? ACTIONS[name]! : undefined
  if (!rule) {
    checker.wrong(at, `There is no command "${name}" here.${whyAbsent(name)}`)
    return null
  }
  const read = readArguments(command, rule, checker)
  if (read === null) return null
  warnOfProtected(name, read, checker)
  if (!isLate(command, checker)) return rule.make(read, checker)
  if (name === 'include' || name === 'global') {
    // RFC 6609 §3.2: the scripts that a script includes are known before it runs.
    checker.wrong(at, `"${name}" takes no variables.`)
    return null
  }
  if (name === 'notify') return lateNotify(command, read, checker)
  return { do: 'late', name, make: (expand) => makeLate(command, checker, expand, checkAction) }
}

/** A stranger, whose words are in variables, chooses no address that is notified. */
function lateNotify(command: SieveCommand, read: ParsedArguments, checker: ScriptChecker): SieveStep | null {
  const to = notifiedAddresses(read, checker)
  if (to === null) return null
  const make = (expand: Expand): SieveStep => {
    const step = makeLate(command, checker, expand, checkAction)
    return step.do === 'notify' ? { ...step, notification: { ...step.notification, to } } : step
  }
  return { do: 'late', name: 'notify', make }
}

/** RFC 5232 §3: with two arguments the first one names a variable. */
function flagStep(how: 'set' | 'add' | 'remove', read: ParsedArguments, checker: ScriptChecker): SieveStep | null {
  const [first, second] = read.positional
  const flags = flagsIn((second ?? first!).strings)
  if (second === undefined) return { do: 'flags', how, flags, variable: null }
  const [variable] = flagVariables(`${how}flag`, read, checker) ?? []
  return variable === undefined ? null : { do: 'flags', how, flags, variable }
}

/** Names of variables in the first of two arguments. */
export function flagVariables(
  command: string,
  { positional: [first, second] }: ParsedArguments,
  checker: ScriptChecker,
): string[] | null {
  const { strings, at } = first!
  if (!checker.has('variables')) checker.wrong(second!.at, `"${command}" takes no further argument.`)
  else if (strings.every((name) => VARIABLE_NAME.test(name))) return strings
  else checker.wrong(at, 'The name of a variable has letters, digits and "_".')
  return null
}

function flagsOf({ tags }: ParsedArguments): string[] | null {
  return tags.has('flags') ? flagsIn(tags.get('flags')!.strings) : null
}

function fileinto(read: ParsedArguments, checker: ScriptChecker): SieveStep | null {
  const { tags, positional } = read
  // RFC 8579 §4: where there is a folder with that use, it is taken; here a role is found by its name.
  const named = tags.get('folder by')
  const use = named?.tag === 'specialuse' ? named : undefined
  const byId = named?.tag === 'mailboxid' ? { folderId: named.strings[0]! } : {}
  const role = use && specialUse(use.strings[0]!)
  if (use !== undefined && role === undefined) {
    checker.wrong(use.at, 'There is no special use of that name here.')
    return null
  }
  const folder = role ?? folderPath(positional[0]!.strings[0]!)
  if (folder !== null && folder !== '') {
    return { do: 'fileinto', folder, ...byId, copy: tags.has('copy'), create: tags.has('create'), flags: flagsOf(read) }
  }
  checker.wrong(positional[0]!.at, 'This is not a valid folder name.')
  return null
}

const SPECIAL_USES = ['archive', 'drafts', 'junk', 'sent', 'trash']

/** The role of a folder with that use (RFC 6154), by whose name it is found; undefined for others. */
export function specialUse(name: string): string | undefined {
  return SPECIAL_USES.find((role) => name.toLowerCase() === `\\${role}`)
}

function redirect({ tags, positional }: ParsedArguments, checker: ScriptChecker): SieveStep | null {
  const { strings, at } = positional[0]!
  try {
    const address = checkEmail('address', textOf(strings[0]!) ?? '')
    return { do: 'redirect', address, copy: tags.has('copy') }
  } catch (error) {
    if (!(error instanceof ProductError)) throw error
    checker.wrong(at, error.message)
    return null
  }
}

/** RFC 5429 §2.1: the reason is the text of an SMTP reply. */
function reject({ positional }: ParsedArguments, checker: ScriptChecker): SieveStep | null {
  const { strings, at } = positional[0]!
  const reason = clean(textOf(strings[0]!) ?? '', REASON_MAX)
  if (reason !== '') return { do: 'reject', reason }
  checker.wrong(at, 'The reason is empty, or not UTF-8.')
  return null
}

function setVariable({ tags, positional }: ParsedArguments, checker: ScriptChecker): SieveStep | null {
  const [variable, value] = positional
  const name = variable!.strings[0]!
  const plain = checker.has('include') ? name.replace(/^global\./i, '') : name
  if (!VARIABLE_NAME.test(plain)) {
    checker.wrong(variable!.at, 'The name of a variable has letters, digits and "_".')
    return null
  }
  const modifiers = [...tags.values()].map(({ tag }) => MODIFIERS.get(tag)!)
  const ordered = modifiers.toSorted((one, other) => other.precedence - one.precedence)
  return { do: 'set', name, value: ordered.reduce((text, { apply }) => apply(text), value!.strings[0]!) }
}

function shareVariables({ positional }: ParsedArguments, checker: ScriptChecker): SieveStep | null {
  const { strings: names, at } = positional[0]!
  if (names.every((name) => VARIABLE_NAME.test(name))) return { do: 'global', names }
  checker.wrong(at, 'The name of a variable has letters, digits and "_".')
  return null
}

function includeScript({ tags, positional }: ParsedArguments, checker: ScriptChecker): SieveStep | null {
  const { strings, at } = positional[0]!
  if (tags.get('scripts of')?.tag === 'global') {
    checker.wrong(tags.get('scripts of')!.at, 'There are no global scripts here; include one of the mailbox.')
    return null
  }
  const name = textOf(strings[0]!)?.normalize('NFC') ?? ''
  if (name !== '') return { do: 'include', name, once: tags.has('once'), optional: tags.has('optional') }
  checker.wrong(at, 'This is not the name of a script.')
  return null
}

function addHeader({ tags, positional }: ParsedArguments, checker: ScriptChecker): SieveStep | null {
  const [field, value] = positional
  const name = fieldName(field!.strings[0]!, field!.at, checker)
  return name === null ? null : { do: 'addheader', name, value: value!.strings[0]!, last: tags.has('last') }
}

function deleteHeader(read: ParsedArguments, checker: ScriptChecker): SieveStep | null {
  const [field, keys] = read.positional
  const name = fieldName(field!.strings[0]!, field!.at, checker)
  const match = keys === undefined ? null : matchOf(read, keys, checker)
  if (name === null || (keys !== undefined && match === null)) return null
  return { do: 'deleteheader', header: { name: name.toLowerCase(), at: indexOf(read), match } }
}

/** RFC 5293 §6: a change that is not permitted is ignored, so only the upload can tell the author of the script. */
function warnOfProtected(command: string, { positional: [field] }: ParsedArguments, checker: ScriptChecker): void {
  if (command !== 'addheader' && command !== 'deleteheader') return
  const name = field!.strings[0]!
  if (!isProtectedField(name) || (checker.has('variables') && hasReference(name))) return
  checker.warn(field!.at, `Scripts cannot change the field "${name}". The command has no effect; remove it.`)
}

function fieldName(name: string, at: number, checker: ScriptChecker): string | null {
  if (FIELD_NAME.test(name)) return name
  checker.wrong(at, 'This is not the name of a header field.')
  return null
}
