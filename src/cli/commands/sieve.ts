// `mailstead sieve list`, `show`, `put`, `check`, `activate`, `deactivate`, `delete`: the Sieve scripts of a mailbox.

import { presentScript, presentScriptDetail } from '../../api/schemas/sieve-script.ts'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import { compileScript } from '../../sieve/compile.ts'
import { SCRIPT_BYTES_MAX } from '../../sieve/lexer.ts'
import { auditCredential } from '../frame/audit-command.ts'
import type { Call, Command } from '../frame/command.ts'
import { readText } from '../frame/input.ts'
import { listOutput } from '../frame/limit.ts'
import { chooseMailbox } from '../frame/mailbox-choice.ts'

const OPERANDS = ['address', 'script']
const LISTED = 100

export const sieveList: Command = {
  words: 'sieve list',
  summary: 'List the Sieve scripts of a mailbox; one of them is active at most.',
  operands: ['address'],
  async run(call) {
    const { directory } = await call.open()
    const { id } = chooseMailbox(directory, call.operands[0]!)
    const page = directory.sieveScripts.list(id, { limit: LISTED, after: null })
    return listOutput(page.items.map(presentScript), page.next !== null, {
      none: 'There are no scripts. Add one with mailstead sieve put.',
      head: ['Script', 'Active', 'Changed'],
      cells: ({ name, is_active: isActive, updated_at: at }) => [name, isActive ? 'yes' : 'no', at],
    })
  },
}

export const sieveShow: Command = {
  words: 'sieve show',
  summary: 'Show the text of a script.',
  operands: OPERANDS,
  async run(call) {
    const { directory, mailbox, script } = await chooseScript(call)
    const data = presentScriptDetail(directory.sieveScripts.get(mailbox.id, script.id))
    return { data, lines: data.content.replace(/\r?\n$/, '').split(/\r?\n/) }
  },
}

export const sieveCheck: Command = {
  words: 'sieve check',
  summary: 'Check a script from standard input without storing it.',
  examples: ['mailstead sieve check < rules.sieve'],
  async run(call) {
    const { problems, warnings } = compileScript(await readText(call.input(), 'The script', SCRIPT_BYTES_MAX))
    const shown = [...(problems ?? []), ...warnings].map(({ line, column, message }) => `${line}:${column} ${message}`)
    return {
      data: { valid: problems === null, errors: problems ?? [], warnings },
      lines: shown.length === 0 ? ['The script is valid.'] : shown,
      ...(problems === null ? {} : { failure: 'The script is not valid.' }),
    }
  },
}

export const sievePut: Command = {
  words: 'sieve put',
  summary: 'Store a script from standard input under a name, in place of the one with that name.',
  operands: OPERANDS,
  options: { activate: { says: 'make it the active script' } },
  examples: ['mailstead sieve put ana@shop.example rules --activate < rules.sieve'],
  async run(call) {
    const [email, name] = call.operands as [string, string]
    const content = await readText(call.input(), 'The script', SCRIPT_BYTES_MAX)
    requireValid(content)
    const app = await call.open()
    const mailbox = chooseMailbox(app.directory, email)
    const { sieveScripts } = app.directory
    let script = await sieveScripts.put(mailbox.id, { name, content, maySend: true })
    if (call.has('activate')) script = await sieveScripts.activate(mailbox.id, script.id, true)
    await audit(app, sievePut.words, mailbox)
    const data = presentScriptDetail(script)
    const warned = data.warnings.map(({ line, column, message }) => `  ${line}:${column} ${message}`)
    return { data, lines: [`Stored ${name} of ${email}${data.is_active ? ', which is active' : ''}.`, ...warned] }
  },
}

export const sieveActivate: Command = {
  words: 'sieve activate',
  summary: 'Make a script the active one.',
  operands: OPERANDS,
  async run(call) {
    const { app, directory, mailbox, script } = await chooseScript(call)
    const active = await directory.sieveScripts.activate(mailbox.id, script.id, true)
    await audit(app, sieveActivate.words, mailbox)
    return { data: presentScript(active), lines: [`${script.name} is the active script of ${mailbox.email}.`] }
  },
}

export const sieveDeactivate: Command = {
  words: 'sieve deactivate',
  summary: 'Let no script run for a mailbox; its scripts stay.',
  operands: OPERANDS,
  async run(call) {
    const { app, directory, mailbox, script } = await chooseScript(call)
    const data = presentScript(await directory.sieveScripts.deactivate(mailbox.id, script.id))
    await audit(app, sieveDeactivate.words, mailbox)
    return { data, lines: [`${script.name} of ${mailbox.email} is not active.`] }
  },
}

export const sieveDelete: Command = {
  words: 'sieve delete',
  summary: 'Delete a script that is not active.',
  operands: OPERANDS,
  async run(call) {
    const { app, directory, mailbox, script } = await chooseScript(call)
    await directory.sieveScripts.remove(mailbox.id, script.id, () => {})
    await audit(app, sieveDelete.words, mailbox)
    return { data: { deleted: true, id: script.id }, lines: [`Deleted ${script.name} of ${mailbox.email}.`] }
  },
}

/** @throws ProductError validation_error with the first problem */
function requireValid(content: string): void {
  const [problem] = compileScript(content).problems ?? []
  if (problem === undefined) return
  const { line, column, message } = problem
  throw new ProductError('validation_error', `The script is not valid in line ${line}, column ${column}: ${message}`)
}

/** @throws ProductError not_found */
async function chooseScript(call: Call) {
  const app = await call.open()
  const { directory } = app
  const [email, name] = call.operands as [string, string]
  const mailbox = chooseMailbox(directory, email)
  const script = directory.sieveScripts.byName(mailbox.id, name)
  if (script === undefined) throw new ProductError('not_found', `${email} has no script ${name}.`)
  return { app, directory, mailbox, script }
}

/** A script can send the messages of a mailbox elsewhere. */
function audit(app: Context, words: string, { id, teamId, email }: Mailbox): Promise<void> {
  return auditCredential(app, words, { teamId, target: { type: 'mailbox', id, label: email } })
}
