// The commands about scripts (RFC 5804 §2.5 to §2.12), with the gate and the scopes of the REST API.

import { mayDo } from '../access/rights.ts'
import { notFound, ProductError } from '../base/errors.ts'
import { SCRIPT_NAME_MAX, SCRIPTS_MAX, type SieveScript } from '../directory/mailboxes/sieve-scripts.ts'
import { allows } from '../directory/names/permissions.ts'
import { compileScript } from '../sieve/compile.ts'
import { SCRIPT_BYTES_MAX } from '../sieve/lexer.ts'
import { noArguments, strings } from './command.ts'
import { GrammarError, type SieveArg } from './reader.ts'
import { formatString, no, ok, okWith, type SieveReply } from './replies.ts'
import { command, type SieveSession } from './session.ts'

/** Pages of one script list; a mailbox has at most SCRIPTS_MAX. */
const PAGE = { limit: SCRIPTS_MAX, after: null }

const TOO_LARGE = no(`A script has at most ${SCRIPT_BYTES_MAX} bytes.`, 'QUOTA/MAXSIZE')
const TOO_MANY = no(`A mailbox has at most ${SCRIPTS_MAX} scripts. Delete one first.`, 'QUOTA/MAXSCRIPTS')

const scriptsOf = ({ deps }: SieveSession) => deps.app.directory.sieveScripts
const mailboxOf = ({ access }: SieveSession): string => access!.principal.mailboxId

/** Why the session may not change scripts; null when it may. */
function writeRefusal({ deps, access }: SieveSession): SieveReply | null {
  if (deps.app.config.MAILBOX_GATED.includes('filter_script_writes'))
    return no('The operator has disabled changes of scripts.')
  if (deps.app.outbound.held.policies.isUnder(access!.principal.mailboxId))
    return no('A send policy limits the programs of this mailbox: only its owner changes scripts, signed in.')
  if (mayDo(access!, 'write')) return null
  return no(
    access!.suspended ? 'The mailbox is suspended: it can only be read.' : 'The credential does not allow changes.',
  )
}

function maySend({ access }: SieveSession): boolean {
  return allows(access!.principal.permissions, 'email.send')
}

/** @throws ProductError not_found */
function find(session: SieveSession, name: string): SieveScript {
  const script = scriptsOf(session).byName(mailboxOf(session), name)
  if (script === undefined) throw notFound('script')
  return script
}

/** RFC 5804 §1.6: a name is Net-Unicode, and here 1 to 128 characters, as in the REST API. */
function nameProblem(name: string): SieveReply | null {
  const length = [...name].length
  if (length === 0 || length > SCRIPT_NAME_MAX)
    return no(`The name of a script has 1 to ${SCRIPT_NAME_MAX} characters.`)
  return /[\x00-\x1f\x7f-\x9f\u2028\u2029]/.test(name) ? no('The name has characters that are not allowed.') : null
}

/** A script as an argument: null when it is too large, and was not kept. */
function scriptText(arg: SieveArg | undefined): string | null {
  if (arg?.kind === 'too_long') return null
  const [text] = strings(arg === undefined ? [] : [arg], 1)
  return Buffer.byteLength(text!) > SCRIPT_BYTES_MAX ? null : text!
}

const havespace = command({
  name: 'HAVESPACE',
  state: 'after',
  read([name, size, ...more]) {
    if (name?.kind !== 'string' || size?.kind !== 'number' || more.length > 0) {
      throw new GrammarError('HAVESPACE takes a name and a number.')
    }
    return { name: name.text, bytes: size.value }
  },
  run({ name, bytes }, session) {
    const wrong = nameProblem(name)
    if (wrong !== null) return wrong
    if (bytes > SCRIPT_BYTES_MAX) return TOO_LARGE
    const { items } = scriptsOf(session).list(mailboxOf(session), PAGE)
    const isNew = scriptsOf(session).byName(mailboxOf(session), name) === undefined
    return isNew && items.length >= SCRIPTS_MAX ? TOO_MANY : ok('There is room.')
  },
})

const putscript = command({
  name: 'PUTSCRIPT',
  state: 'after',
  onConflict: 'QUOTA/MAXSCRIPTS',
  read: ([name, content, ...more]) => {
    if (more.length > 0) throw new GrammarError('PUTSCRIPT takes a name and a script.')
    return { name: strings(name === undefined ? [] : [name], 1)[0]!, content: scriptText(content) }
  },
  async run({ name, content }, session): Promise<SieveReply> {
    const refusal = writeRefusal(session) ?? nameProblem(name) ?? (content === null ? TOO_LARGE : null)
    if (refusal !== null) return refusal
    await scriptsOf(session).put(mailboxOf(session), { name, content: content!, maySend: maySend(session) })
    return okWith('Stored.', compileScript(content!).warnings)
  },
})

const checkscript = command({
  name: 'CHECKSCRIPT',
  state: 'after',
  read: ([content, ...more]) => {
    if (more.length > 0) throw new GrammarError('CHECKSCRIPT takes a script.')
    return scriptText(content)
  },
  run(content) {
    if (content === null) return TOO_LARGE
    const { problems, warnings } = compileScript(content)
    if (problems === null) return okWith('The script is valid.', warnings)
    const issues = problems.map((problem) => ({ field: 'content', code: 'invalid_format', ...problem }))
    throw new ProductError('validation_error', 'The script is not valid.', { issues })
  },
})

const listscripts = command({
  name: 'LISTSCRIPTS',
  state: 'after',
  read: noArguments,
  run(_, session) {
    const { items } = scriptsOf(session).list(mailboxOf(session), PAGE)
    session.say(items.map(({ name, isActive }) => `${formatString(name)}${isActive ? ' ACTIVE' : ''}\r\n`).join(''))
    return ok('Listed.')
  },
})

const getscript = command({
  name: 'GETSCRIPT',
  state: 'after',
  read: (args) => strings(args, 1)[0]!,
  run(name, session) {
    const { content } = scriptsOf(session).get(mailboxOf(session), find(session, name).id)
    session.say(`{${Buffer.byteLength(content)}}\r\n${content}\r\n`)
    return ok('Here it is.')
  },
})

const setactive = command({
  name: 'SETACTIVE',
  state: 'after',
  read: (args) => strings(args, 1)[0]!,
  async run(name, session): Promise<SieveReply> {
    const refusal = writeRefusal(session)
    if (refusal !== null) return refusal
    if (name !== '') {
      await scriptsOf(session).activate(mailboxOf(session), find(session, name).id, maySend(session))
      return ok('Active.')
    }
    const active = scriptsOf(session)
      .list(mailboxOf(session), PAGE)
      .items.find(({ isActive }) => isActive)
    if (active !== undefined) await scriptsOf(session).deactivate(mailboxOf(session), active.id)
    return ok('No script is active.')
  },
})

const deletescript = command({
  name: 'DELETESCRIPT',
  state: 'after',
  onConflict: 'ACTIVE',
  read: (args) => strings(args, 1)[0]!,
  async run(name, session): Promise<SieveReply> {
    const refusal = writeRefusal(session)
    if (refusal !== null) return refusal
    await scriptsOf(session).remove(mailboxOf(session), find(session, name).id, () => {})
    return ok('Deleted.')
  },
})

const renamescript = command({
  name: 'RENAMESCRIPT',
  state: 'after',
  onConflict: 'ALREADYEXISTS',
  read: (args) => strings(args, 2),
  async run([from, to], session): Promise<SieveReply> {
    const refusal = writeRefusal(session) ?? nameProblem(to!)
    if (refusal !== null) return refusal
    await scriptsOf(session).rename(mailboxOf(session), { from: from!, to: to!, maySend: maySend(session) })
    return ok('Renamed.')
  },
})

export const scriptCommands = [
  ...[havespace, putscript, checkscript, listscripts, getscript],
  ...[setactive, deletescript, renamescript],
]
