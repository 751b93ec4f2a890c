// The action `notify` and its tests (RFC 5435), with the method mailto (RFC 5436).

import { ProductError } from '../base/errors.ts'
import { parseMailbox } from '../mime/address.ts'
import { checkEmail } from '../mime/compose/draft-rules.ts'
import { clean, quotedSubject } from '../mime/one-line.ts'
import type { ParsedArguments, ScriptChecker, TagRule } from './arguments.ts'
import { textOf } from './encoded.ts'
import { NOTIFICATIONS_MAX } from './outcome.ts'
import type { ScriptNotification, SieveStep } from './script.ts'
import { hasReference } from './variables.ts'

/** What a method says: an address to notify, and what its message holds. */
type Method = Pick<ScriptNotification, 'to' | 'subject' | 'body'>

export const NOTIFY_TAGS: Readonly<Record<string, TagRule>> = {
  from: { group: 'from', takes: 'string' },
  importance: { group: 'importance', takes: 'string' },
  options: { group: 'options', takes: 'strings' },
  message: { group: 'message', takes: 'string' },
}

/** Characters of a text that becomes a subject, of one with foreign words, and of a body. */
const MESSAGE_MAX = 255
const QUOTED_MAX = 120
const BODY_MAX = 4096
const URI_MAX = 8192
/** Fields that a URI gives recipients by, or texts. */
const RECIPIENTS = ['to', 'cc', 'bcc']
const TEXTS = ['subject', 'body']

/** @returns null when something is wrong, which was reported to the checker */
export function notifyStep({ tags, positional }: ParsedArguments, checker: ScriptChecker): SieveStep | null {
  const { strings, at } = positional[0]!
  const method = readMethod(strings[0]!)
  if ('problem' in method) {
    checker.wrong(at, method.problem)
    return null
  }
  for (const name of method.ignored) checker.warn(at, `"notify" does not send the field "${name}" of the address.`)
  const importance = tags.get('importance')
  const level = importance === undefined ? 2 : Number(importance.strings[0])
  if (level !== 1 && level !== 2 && level !== 3) {
    checker.wrong(importance!.at, 'The importance (":importance") is "1", "2" or "3".')
    return null
  }
  // RFC 5435 §3.3: an author that cannot be taken is ignored.
  const from = parseMailbox(textOf(tags.get('from')?.strings[0] ?? '') ?? '')?.email ?? null
  const { to, subject, body } = method
  const message = tags.get('message')?.strings[0]
  const shown = shownText(message === undefined ? subject : (textOf(message) ?? ''), checker)
  const text = body !== null && checker.isExpanded ? quotedLines(body) : body
  return { do: 'notify', notification: { to, from, importance: level, subject: shown, body: text } }
}

/** The addresses of a method as it is written, with its variables. @returns null when they are wrong, which was reported to the checker */
export function notifiedAddresses({ positional }: ParsedArguments, checker: ScriptChecker): string[] | null {
  const { strings, at } = positional[0]!
  const method = readMethod(strings[0]!)
  if (!('problem' in method) && !method.to.some(hasReference)) return method.to
  checker.wrong(at, 'problem' in method ? method.problem : 'The address behind "mailto:" takes no variables.')
  return null
}

/** Values of variables are the words of strangers: a message of ours has no links of theirs. */
function shownText(text: string | null, checker: ScriptChecker): string | null {
  if (text === null) return null
  return checker.isExpanded ? quotedSubject(text, QUOTED_MAX) : clean(text, MESSAGE_MAX)
}

function quotedLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => quotedSubject(line, QUOTED_MAX))
    .join('\n')
}

/** RFC 5435 §4. */
export function isNotifyMethod(uri: string): boolean {
  return !('problem' in readMethod(uri))
}

/** RFC 5436 §2.2: whether the owner is online is not known. @returns null for a capability that the method does not have */
export function notifyCapability(uri: string, capability: string): string | null {
  return isNotifyMethod(uri) && capability.toLowerCase() === 'online' ? 'maybe' : null
}

/** RFC 6068 §2. `ignored`: names of fields that are not sent. */
function readMethod(octets: string): (Method & { ignored: string[] }) | { problem: string } {
  const uri = textOf(octets) ?? ''
  const [, addresses = '', query = ''] = /^mailto:([^?#]*)(?:\?([^#]*))?$/i.exec(uri) ?? []
  if (uri.length > URI_MAX || !/^mailto:/i.test(uri)) return { problem: 'Notifications go to an address: "mailto:…".' }
  try {
    const fields = query.split('&').flatMap((field) => {
      const [name = '', value = ''] = field.split('=', 2).map(decodeURIComponent)
      return name === '' ? [] : [{ name: name.toLowerCase(), value }]
    })
    const more = fields.filter(({ name }) => RECIPIENTS.includes(name)).map(({ value }) => value)
    const lists = [...addresses.split(',').map(decodeURIComponent), ...more.flatMap((list) => list.split(','))]
    const to = lists.map((text) => text.trim()).filter((text) => text !== '')
    if (to.length === 0) return { problem: 'The address behind "mailto:" is missing.' }
    if (to.length > NOTIFICATIONS_MAX) {
      return { problem: `A notification goes to at most ${NOTIFICATIONS_MAX} addresses.` }
    }
    const textOfField = (wanted: string) => fields.findLast(({ name }) => name === wanted)?.value ?? null
    return {
      to: to.map((text) => checkEmail('address', text)),
      subject: textOfField('subject'),
      body: textOfField('body')?.slice(0, BODY_MAX) ?? null,
      ignored: fields.map(({ name }) => name).filter((name) => ![...RECIPIENTS, ...TEXTS].includes(name)),
    }
  } catch (error) {
    if (error instanceof URIError) return { problem: 'The address has a "%" that encodes no character.' }
    if (error instanceof ProductError) return { problem: error.message }
    throw error
  }
}
