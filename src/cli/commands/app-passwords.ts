// `mailstead mailbox app-password …`, `mailbox settings`, `mailbox sign-ins`: how people use a mailbox with a mail program.

import { type AppPasswordJson, presentAppPassword, presentNewAppPassword } from '../../api/schemas/app-password.ts'
import { presentClientSettings, presentSignIn, type SignInJson } from '../../api/schemas/sign-in.ts'
import { ProductError } from '../../base/errors.ts'
import { idPattern } from '../../base/ids.ts'
import type { ClientEndpoint } from '../../config/client-protocols.ts'
import { SIGN_IN_OUTCOMES } from '../../directory/keys/sign-ins.ts'
import { openedByMailboxKey } from '../../people/opens.ts'
import { auditCredential } from '../frame/audit-command.ts'
import { choiceOption, oneOf } from '../frame/choice.ts'
import type { Command } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'
import { chooseMailbox } from '../frame/mailbox-choice.ts'
import { shellWord } from '../frame/shell-word.ts'
import { table } from '../frame/table.ts'
import { readTime } from '../frame/time.ts'

const STATUSES = ['active', 'expired', 'revoked'] as const
const APP_PASSWORD_ID = new RegExp(idPattern('appPassword'))
const READ_ONLY = ['mailbox.read']

export const appPasswordCreate: Command = {
  words: 'mailbox app-password create',
  summary: 'Create an app password of a mailbox, for one mail program.',
  operands: ['email'],
  options: {
    name: { value: 'name', says: 'name of the app password, such as that of the device' },
    'read-only': { says: 'the program can read, and change or send nothing' },
    'saves-sent': { says: 'keep a copy of sent messages in Sent, for programs that store none themselves' },
    expires: { value: 'time', says: 'when it expires; never unless given' },
  },
  async run(call) {
    const expiresAt = readTime(call.text('expires'))
    const app = await call.open()
    const mailbox = chooseMailbox(app.directory, call.operands[0]!)
    const issued = await app.directory.appPasswords.issue(mailbox.teamId, mailbox.id, {
      name: call.text('name') ?? 'command line',
      permissions: call.has('read-only') ? READ_ONLY : undefined,
      savesSent: call.has('saves-sent'),
      expiresAt,
      createdBy: 'operator',
    })
    const { id, name, permissions } = issued.record
    const opens = openedByMailboxKey(mailbox.email, permissions)
    const target = { type: 'appPassword', id, label: name }
    await auditCredential(app, appPasswordCreate.words, { teamId: mailbox.teamId, target, opens })
    const data = presentNewAppPassword(issued)
    const lines = [`App password ${data.id} of ${mailbox.email}, shown this once:`, `  ${data.password_grouped}`]
    return {
      data,
      lines: [...lines, `What to enter beside it: mailstead mailbox settings ${shellWord(mailbox.email)}`],
    }
  },
}

export const appPasswordList: Command = {
  words: 'mailbox app-password list',
  summary: 'List the app passwords of a mailbox, newest first.',
  operands: ['email'],
  options: { status: choiceOption('status', STATUSES), ...LIMIT_OPTION },
  async run(call) {
    const status = oneOf('status', call.text('status'), STATUSES)
    const limit = readLimit(call)
    const { directory } = await call.open()
    const mailbox = chooseMailbox(directory, call.operands[0]!)
    const page = directory.appPasswords.list(mailbox.id, { status, limit, after: null })
    const data = page.items.map(presentAppPassword)
    return listOutput(data, page.next !== null, {
      none: 'There are no app passwords.',
      head: ['App password', 'Ends with', 'Status', 'Last used', 'From', 'Name'],
      cells: cellsOf,
    })
  },
}

export const appPasswordRevoke: Command = {
  words: 'mailbox app-password revoke',
  summary: 'Revoke an app password; its open connections end within 30 seconds.',
  operands: ['email', 'app password (apw_…)'],
  async run(call) {
    const [email, id] = call.operands as [string, string]
    if (!APP_PASSWORD_ID.test(id)) {
      throw new ProductError('invalid_parameter', `${id} is not the id of an app password (apw_…).`)
    }
    const { directory } = await call.open()
    const mailbox = chooseMailbox(directory, email)
    await directory.appPasswords.revoke(mailbox.id, id)
    return { data: { id, mailbox_id: mailbox.id, status: 'revoked' }, lines: [`App password ${id} is revoked.`] }
  },
}

export const mailboxSettings: Command = {
  words: 'mailbox settings',
  summary: 'Show what to enter in a mail program.',
  operands: ['email'],
  async run(call) {
    const { directory } = await call.open()
    const { email } = chooseMailbox(directory, call.operands[0]!)
    const data = presentClientSettings(call.config, email)
    const lines = table([
      ['User name', email],
      ['Password', `an app password: mailstead mailbox app-password create ${shellWord(email)}`],
      ['Incoming (IMAP)', endpointText(data.imap)],
      ['Outgoing (SMTP)', endpointText(data.submission)],
      ['Filters (Sieve)', endpointText(data.managesieve)],
      ...(data.setup_url === null ? [] : [['Page for people', data.setup_url]]),
    ])
    return { data, lines }
  },
}

export const mailboxSignIns: Command = {
  words: 'mailbox sign-ins',
  summary: 'List sign-ins of mail programs to a mailbox, successful and failed, newest first.',
  operands: ['email'],
  options: { outcome: choiceOption('outcome', SIGN_IN_OUTCOMES), ...LIMIT_OPTION },
  async run(call) {
    const outcome = oneOf('outcome', call.text('outcome'), SIGN_IN_OUTCOMES)
    const limit = readLimit(call)
    const { directory } = await call.open()
    const mailbox = chooseMailbox(directory, call.operands[0]!)
    const page = directory.signIns.list(mailbox.id, { outcome, limit, after: null })
    const data = page.items.map(presentSignIn)
    return listOutput(data, page.next !== null, {
      none: 'There are no sign-ins.',
      head: ['At', 'Times', 'Protocol', 'Outcome', 'Source', 'Credential', 'Program'],
      cells: signInCells,
    })
  },
}

function cellsOf({ id, last4, status, last_used_at, last_used_from, name }: AppPasswordJson): string[] {
  return [id, `…${last4}`, status, last_used_at ?? 'never', last_used_from ?? '', name]
}

function signInCells(one: SignInJson): string[] {
  const { at, times, protocol, outcome, source, credential_id, client } = one
  return [at, String(times), protocol, outcome, source, credential_id ?? '', client ?? '']
}

function endpointText(endpoint: ClientEndpoint | null): string {
  if (endpoint === null) return 'not served'
  return `${endpoint.host}, port ${endpoint.port}, ${endpoint.security === 'tls' ? 'TLS' : 'STARTTLS'}`
}
