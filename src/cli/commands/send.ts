// `mailstead send`: queues one message; its text comes from standard input, its files from the disk.

import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { readOutgoing } from '../../api/sending/outgoing-message.ts'
import { isoTime } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Directory } from '../../directory/directory.ts'
import { clean } from '../../mime/one-line.ts'
import type { Sender, Submitted } from '../../outbound/model/new-message.ts'
import { type Call, type Command, TEAM_OPTION } from '../frame/command.ts'
import { decoded, readText } from '../frame/input.ts'
import { inOptionNames } from '../frame/options.ts'
import { chooseTeam } from '../frame/team-choice.ts'
import { readTime } from '../frame/time.ts'

/** As in the Sending API: bytes of the text, and of all files together. */
const TEXT_MAX = 10_485_760
const FILES_MAX_BYTES = 26_214_400
/** Characters of an address in an error. */
const SHOWN_MAX = 100
const NAMED = /<([^<>]*)>$/

/** The members of the API's body that errors name, and where they come from. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ from: '--from', 'from.email': '--from', cc: '--cc', bcc: '--bcc', subject: '--subject', tags: '--tag' },
  ...{
    reply_to: '--reply-to',
    html_body: '--html',
    attachments: '--attach',
    custom_headers: '--header',
    send_at: '--at',
  },
}

export const send: Command = {
  words: 'send',
  summary: 'Queue a message: the text is read from standard input.',
  operands: ['recipient…'],
  options: {
    ...TEAM_OPTION,
    from: {
      value: 'address',
      says: 'sender; a mailbox of this appliance sends as itself and keeps a copy in Sent (required)',
    },
    subject: { value: 'text', says: 'subject (required)' },
    cc: { value: 'address', says: 'further recipient; may be repeated', many: true },
    bcc: { value: 'address', says: 'further recipient the others do not see; may be repeated', many: true },
    'reply-to': { value: 'address', says: 'where answers go; may be repeated', many: true },
    attach: { value: 'file', says: 'attach a file; may be repeated', many: true },
    html: { value: 'file', says: 'body in HTML; standard input is then read for the text only when --text is given' },
    text: { says: 'with --html: read the text from standard input as well' },
    header: { value: 'name: value', says: 'header field; may be repeated', many: true },
    tag: { value: 'name=value', says: 'tag for filters and metrics; may be repeated', many: true },
    at: { value: 'time', says: 'send later, such as 2030-01-02T03:04:05Z' },
  },
  examples: [
    'echo "It is on its way." | mailstead send ana@example.org --from shop@example.com --subject "Your order"',
    'mailstead send ana@example.org --from shop@example.com --subject Report --attach report.pdf < report.txt',
  ],
  async run(call) {
    const [from, subject] = ['from', 'subject'].map((name) => required(call, name)) as [string, string]
    readTime(call.text('at'))
    const body = { from, subject, ...(await contentOf(call)), ...recipientsOf(call), ...labelsOf(call) }
    const app = await call.open()
    const { sender, name } = senderOf(app, from, call.text('team'))
    const [submitted] = await inOptionNames({ ...NAMES, ...typedNames(call) }, async () => {
      const made = await app.outbound.submit.submitter.submit(sender, [readOutgoing(body, 'body').mail])
      if (made[0]!.kind === 'failed') throw made[0]!.error
      return made
    })
    return outputOf(submitted as Accepted, name)
  },
}

type Accepted = Extract<Submitted, { kind: 'accepted' }>

function outputOf({ emailId, state, sendAt }: Accepted, name: string) {
  const data = { message_id: emailId, status: state === 'rejected' ? 'failed' : state, send_at: isoTime(sendAt) }
  if (state === 'rejected') {
    return { data, lines: [], failure: `Nothing is sent: every recipient is suppressed (message ${emailId}).` }
  }
  const what = state === 'scheduled' ? `is scheduled for ${data.send_at}` : 'is queued; mailstead serve sends it'
  return { data, lines: [`Message ${emailId} of ${name} ${what}.`, '  To follow it: mailstead log tail'] }
}

/** A mailbox of this appliance sends as itself; another address belongs to a team. @throws ProductError */
function senderOf({ directory }: Context, from: string, wanted: string | undefined): { sender: Sender; name: string } {
  const source = 'batch_api' as const
  const mailbox = directory.mailboxes.byEmail((NAMED.exec(from)?.[1] ?? from).trim())
  if (mailbox === undefined) {
    const { id: teamId, name } = chooseTeam(directory, wanted)
    requireActive(directory, teamId)
    return { sender: { source, kind: 'team', teamId }, name }
  }
  if (wanted !== undefined && chooseTeam(directory, wanted).id !== mailbox.teamId) {
    throw new ProductError('invalid_parameter', `The mailbox ${mailbox.email} is not of the team ${wanted}.`)
  }
  requireActive(directory, mailbox.teamId)
  return { sender: { source, kind: 'mailbox', teamId: mailbox.teamId, mailboxId: mailbox.id }, name: mailbox.email }
}

/** The API refuses the keys of a suspended team. @throws ProductError conflict */
function requireActive({ teams }: Directory, teamId: string): void {
  const team = teams.get(teamId)
  if (team?.status === 'active') return
  const how = `mailstead team reactivate ${teamId}`
  throw new ProductError(
    'conflict',
    `The team ${team?.name} is suspended and sends nothing. Reactivate it with ${how}.`,
  )
}

async function contentOf(call: Call): Promise<object> {
  const file = call.text('html')
  const isTextGiven = file === undefined || call.has('text')
  const input = call.input()
  if (isTextGiven && input.isTerminal) call.note('Type the text of the message; Ctrl-D ends it.')
  const text = isTextGiven ? await readText(input, 'The text', TEXT_MAX) : ''
  if (file === undefined && text.trim() === '') {
    throw new ProductError(
      'missing_parameter',
      'The text is missing. Pipe it in, as the examples of mailstead send --help do.',
    )
  }
  const files = await readFiles(call.all('attach'))
  return {
    ...(text === '' ? {} : { text_body: text }),
    ...(file === undefined ? {} : { html_body: decoded(await bytesOf(file, TEXT_MAX), file) }),
    ...(files.length === 0 ? {} : { attachments: files }),
  }
}

async function readFiles(paths: readonly string[]): Promise<{ filename: string; content: string }[]> {
  const files: { filename: string; content: string }[] = []
  let left = FILES_MAX_BYTES
  for (const path of paths) {
    const bytes = await bytesOf(path, left)
    left -= bytes.length
    files.push({ filename: basename(path), content: bytes.toString('base64') })
  }
  return files
}

async function bytesOf(path: string, max: number): Promise<Buffer> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw new ProductError('not_found', `There is no file ${path}.`)
  if (!found.isFile()) throw new ProductError('invalid_parameter', `${path} is not a file.`)
  if (found.size > max) {
    const total = `${FILES_MAX_BYTES / 1_048_576} MiB`
    throw new ProductError(
      'payload_too_large',
      `${path} is too large: all files of a message may have ${total} together.`,
    )
  }
  return readFile(path).catch(() => {
    throw new ProductError('invalid_parameter', `${path} cannot be read by this user.`)
  })
}

function recipientsOf(call: Call): object {
  const lists = { cc: call.all('cc'), bcc: call.all('bcc'), reply_to: call.all('reply-to') }
  return { to: [...call.operands], ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)) }
}

/** Addresses and files as they were typed, by the member that an error names. */
function typedNames(call: Call): Record<string, string> {
  const lists = { to: call.operands, cc: call.all('cc'), bcc: call.all('bcc'), reply_to: call.all('reply-to') }
  const entries = Object.entries(lists).flatMap(([member, list]) =>
    list.flatMap((text, index) =>
      ['email', 'name'].map((part) => [`${member}.${index}.${part}`, clean(text, SHOWN_MAX)]),
    ),
  )
  const files = call
    .all('attach')
    .flatMap((path, index) =>
      ['filename', 'content', 'type'].map((part) => [`attachments.${index}.${part}`, clean(path, SHOWN_MAX)]),
    )
  return Object.fromEntries([...entries, ...files])
}

function labelsOf(call: Call): object {
  const headers = pairsOf(call, 'header', ':', 'must be written as "name: value".')
  const tags = pairsOf(call, 'tag', '=', 'must be written as name=value.')
  const at = readTime(call.text('at'))
  return {
    ...(headers.length === 0 ? {} : { custom_headers: Object.fromEntries(headers) }),
    ...(tags.length === 0 ? {} : { tags: Object.fromEntries(tags) }),
    ...(at === undefined ? {} : { send_at: isoTime(at) }),
  }
}

/** @throws ProductError invalid_parameter for another form, and for a name that is given twice */
function pairsOf(call: Call, option: string, mark: string, rule: string): [string, string][] {
  const pairs = call.all(option).map((text): [string, string] => {
    const at = text.indexOf(mark)
    if (at < 1) throw new ProductError('invalid_parameter', `--${option} ${rule}`)
    return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  })
  const names = pairs.map(([name]) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return pairs
  const message = `--${option} ${clean(twice, SHOWN_MAX)} is given more than once. Give each name once.`
  throw new ProductError('invalid_parameter', message)
}

function required(call: Call, name: string): string {
  const value = call.text(name)
  if (value !== undefined && value.trim() !== '') return value
  throw new ProductError('missing_parameter', `--${name} is missing; see mailstead send --help.`)
}
