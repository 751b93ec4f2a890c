// `mailstead remote add`, `remote discover`: attaches an outside account, and looks for its servers.

import type { Static } from 'typebox'
import { presentDiscovered, presentRemoteAccount } from '../../api/schemas/remote-account.ts'
import { RemoteAccountCreate, readRemoteAccount } from '../../api/schemas/remote-account-input.ts'
import { ProductError } from '../../base/errors.ts'
import { closed, compileCheck, wrongBody } from '../../http/validate.ts'
import { type Call, type Command, TEAM_OPTION } from '../frame/command.ts'
import { readSecret } from '../frame/input.ts'
import { chooseMailbox } from '../frame/mailbox-choice.ts'
import { inOptionNames, readNumber } from '../frame/options.ts'
import { chooseTeam } from '../frame/team-choice.ts'
import { FOLLOW_OPTION, followImport } from './remote-import.ts'
import { remoteLine } from './remotes.ts'

const PROTOCOLS = ['ssl', 'starttls', 'none'] as const
const NAMES: Readonly<Record<string, string>> = {
  ...{ email: 'the address', password: 'the password', mailbox_id: '--collect-into', name: '--name', since: '--since' },
  ...{ imap_host: '--imap', imap_port: '--imap', imap_protocol: '--imap-protocol', imap_username: '--user' },
  ...{ smtp_host: '--smtp', smtp_port: '--smtp', smtp_username: '--user' },
}
const checkNew = compileCheck(() => closed(RemoteAccountCreate))

export const remoteAdd: Command = {
  words: 'remote add',
  summary: 'Attach an outside account; its password is read from standard input.',
  operands: ['email'],
  options: {
    ...TEAM_OPTION,
    name: { value: 'name', says: 'name of the account, shown in lists' },
    imap: { value: 'host[:port]', says: 'IMAP server; looked up by the address unless given' },
    'imap-protocol': {
      value: 'protocol',
      says: 'ssl (implicit TLS), starttls (required) or none; by the port unless given',
      words: PROTOCOLS,
    },
    user: { value: 'name', says: 'user name at its servers; the address unless given' },
    smtp: { value: 'host[:port]', says: 'SMTP server: the mailbox then also sends through the account' },
    'collect-into': { value: 'email', says: 'copy its mail into this hosted mailbox, one way' },
    since: { value: 'time', says: 'with --collect-into: only mail received after it' },
    ...FOLLOW_OPTION,
  },
  examples: ['mailstead remote add ana@mail.example --follow < password-file'],
  async run(call) {
    const password = await readSecret(call.input(), 'The password', 'mailstead remote add …')
    const app = await call.open()
    const into = call.text('collect-into')
    const mailbox = into === undefined ? undefined : chooseMailbox(app.directory, into)
    const teamId = mailbox?.teamId ?? chooseTeam(app.directory, call.text('team')).id
    const body = {
      ...bodyOf(call),
      password,
      ...(mailbox ? { mode: 'collect', mailbox_id: mailbox.id } : { mode: 'mirror' }),
    }
    const created = await inOptionNames(NAMES, () => {
      if (!checkNew.passes(body)) throw wrongBody(checkNew.issues(body))
      return app.administration.outsideAccounts.create(
        teamId,
        readRemoteAccount(body as Static<typeof RemoteAccountCreate>),
      )
    })
    const account = call.has('follow') ? await followImport(call, app, created) : created
    const row = presentRemoteAccount(account)
    return { data: row, lines: [remoteLine(row), `How far it is: mailstead remote show ${row.id} --follow`] }
  },
}

export const remoteDiscover: Command = {
  words: 'remote discover',
  summary: 'Look for the servers of an address; nothing is signed in to or stored.',
  operands: ['email'],
  async run(call) {
    const app = await call.open()
    const found = presentDiscovered(await app.administration.outsideAccounts.discover(call.operands[0]!))
    const server = (name: string, one: typeof found.imap) =>
      one === null ? `  ${name}: not found` : `  ${name}: ${one.host}:${one.port} (${one.protocol})`
    const how = found.auth === 'password' ? 'a password' : `a consent at ${found.auth}`
    return {
      data: found,
      lines: [
        `Found by: ${found.source}. Signing in takes ${how}.`,
        server('IMAP', found.imap),
        server('SMTP', found.smtp),
      ],
    }
  },
}

/** The members of the API's body that were given as options. @throws ProductError invalid_parameter */
function bodyOf(call: Call): Record<string, unknown> {
  const [imap, smtp] = [serverOf(call, 'imap'), serverOf(call, 'smtp')]
  const user = call.text('user')
  const body = {
    ...{ email: call.operands[0], name: call.text('name'), since: call.text('since') },
    ...{ imap_host: imap?.host, imap_port: imap?.port, imap_protocol: call.text('imap-protocol'), imap_username: user },
    ...{ smtp_host: smtp?.host, smtp_port: smtp?.port, smtp_username: smtp === null ? undefined : user },
  }
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

function serverOf(call: Call, option: 'imap' | 'smtp'): { host: string; port: number | undefined } | null {
  const text = call.text(option)
  if (text === undefined) return null
  const [, host, port] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(text) ?? []
  if (host === undefined) throw new ProductError('invalid_parameter', `--${option} must be host or host:port.`)
  return { host, port: readNumber('port', port) }
}
