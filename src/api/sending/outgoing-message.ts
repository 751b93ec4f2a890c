// One message of the Sending API: addresses in several forms, brought to one before they are validated.

import { type Static, type TSchema, Type } from 'typebox'
import type { Issue } from '../../base/errors.ts'
import { closed, compileCheck, wrongBody } from '../../http/validate.ts'
import { ATTACHMENTS_MAX } from '../../mime/compose/attachment-rules.ts'
import {
  delayMembers,
  HtmlBody,
  labelMembers,
  MailAttachment,
  mailMembers,
  Person,
  people,
  REPLY_TO_MAX,
  type ReadMail,
  readMail,
} from '../schemas/new-mail.ts'
import { record } from '../schemas/record.ts'

const RETURN_PATH_MAX = 254
const TEXT_MAX = 600
const LISTS = ['to', 'cc', 'bcc', 'reply_to'] as const
/** `Ana <ana@shop.example>`; the name may be a quoted string (RFC 5322 §3.2.4). Matched before lengths are checked, in linear time. */
const NAMED = /^(?:"((?:[^"\\]|\\.)*)"\s*|([^"<>]*))<([^<>]*)>$/

const Text = Type.String({
  minLength: 1,
  maxLength: TEXT_MAX,
  description: '`ana@shop.example` or `Ana <ana@shop.example>`.',
})

/** An address as a text or an object. */
function Sender(description: string) {
  return Type.Unsafe<string | Static<typeof Person>>({
    anyOf: [Text, Person],
    description,
    examples: ['Shop <news@shop.example>'],
  })
}

/** One address or a list, each as a text or an object. */
function Addresses(description: string, { minItems = 0, maxItems = 50 } = {}) {
  const items = Type.Unsafe<string | Static<typeof Person>>({ anyOf: [Text, Person] })
  return Type.Unsafe<unknown>({
    anyOf: [Text, Person, Type.Array(items, { minItems, maxItems })],
    description: `${description} One address or a list, each as a text or an object.`,
    examples: ['Ana <ana@customer.example>'],
  })
}

const { cc: _cc, bcc: _bcc, ...texts } = mailMembers
const common = {
  ...texts,
  html_body: HtmlBody(1),
  return_path: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: RETURN_PATH_MAX,
      description:
        'Envelope sender, which receives bounces; at a verified domain of the team. Default: an address the appliance generates for ' +
        'each message.',
    }),
  ),
  attachments: Type.Optional(
    Type.Array(MailAttachment, {
      maxItems: ATTACHMENTS_MAX,
      description: 'Files; `blob_id` with the key of a mailbox only.',
    }),
  ),
  ...labelMembers,
  ...delayMembers,
}

export const OutgoingMessage = record(
  'OutgoingMessage',
  'One message. At most 50 different recipients in to, cc and bcc together; attachments of at most 25 MiB decoded.',
  {
    from: Type.Optional(Sender('The sender; see the operation for the default.')),
    to: Addresses('Recipients.', { minItems: 1 }),
    cc: Type.Optional(Addresses('Recipients visible to all recipients.')),
    bcc: Type.Optional(Addresses('Recipients hidden from the others.')),
    reply_to: Type.Optional(Addresses('Reply-To addresses.', { maxItems: REPLY_TO_MAX })),
    ...common,
  },
  {
    from: 'Shop <news@shop.example>',
    to: 'Ana <ana@customer.example>',
    subject: 'Your order',
    text_body: 'It is on its way.',
    tags: { campaign: 'may' },
    metadata: { order: 117 },
  },
)

/** The same with each address as an object and each field of recipients as a list. */
const Strict = Type.Object({
  from: Type.Optional(Person),
  to: people('', { minItems: 1 }),
  cc: Type.Optional(people('')),
  bcc: Type.Optional(people('')),
  reply_to: Type.Optional(people('', { maxItems: REPLY_TO_MAX })),
  ...common,
})
type Strict = Static<typeof Strict>

const checks = new Map(['message', 'body'].map((whole) => [whole, compileCheck(closed(Strict as TSchema), whole)]))

/**
 * @param whole name of the message as a whole in errors
 * @throws ProductError missing_parameter, validation_error
 */
export function readOutgoing(given: unknown, whole: 'message' | 'body'): ReadMail {
  const { value, singles } = inOneForm(given)
  const check = checks.get(whole)!
  if (!check.passes(value)) throw wrongBody(check.issues(value).map((issue) => inGivenForm(issue, singles)))
  const message = value as Strict
  const { mail, uploads } = readMail(message, { missing: (issue) => wrongBody([issue]) })
  return { mail: { ...mail, returnPath: message.return_path ?? null, singles }, uploads }
}

/** @param singles fields given as one address instead of a list */
function inOneForm(given: unknown): { value: unknown; singles: string[] } {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { value: given, singles: [] }
  const value: Record<string, unknown> = { ...given }
  const singles: string[] = []
  for (const field of LISTS) {
    const one = value[field]
    if (Array.isArray(one)) value[field] = one.map(personOf)
    else if (typeof one === 'string' || (typeof one === 'object' && one !== null)) {
      value[field] = [personOf(one)]
      singles.push(field)
    }
  }
  if ('from' in value) value.from = personOf(value.from)
  return { value, singles }
}

function personOf(given: unknown): unknown {
  if (typeof given !== 'string') return given
  const [, quoted, plain, email] = NAMED.exec(given) ?? []
  return email === undefined ? { email: given } : { email, name: quoted?.replace(/\\(.)/g, '$1') ?? plain!.trimEnd() }
}

/** Errors name the fields as the sender wrote them. */
function inGivenForm({ field, code, message, ...rest }: Issue, singles: readonly string[]): Issue {
  const [list] = field.split('.')
  const isAddress = field === 'from' || (LISTS as readonly string[]).includes(field)
  if (code === 'invalid_type' && isAddress) {
    return { field, code: 'invalid_union', message: `${field} must be an address: a text or an object.`, ...rest }
  }
  if (!singles.includes(list!) || !field.startsWith(`${list}.0`)) return { field, code, message, ...rest }
  const shown = field.replace(`${list}.0`, list!)
  return { field: shown, code, message: message.replace(field, shown), ...rest }
}
