// A message in full, from the store and the delivery log, for all routes that show one.

import { Type } from 'typebox'
import type { Context } from '../../../context.ts'
import { CommaList, Default, Words } from '../../../http/schema.ts'
import { submissionStatus } from '../../../outbound/model/submission-status.ts'
import { orDamaged } from '../../../store/content/damaged-content.ts'
import type { Account } from '../../../store/rows/records.ts'
import { MAILBOX_LIMITS } from '../../schemas/limits.ts'
import {
  MESSAGE_PARTS,
  type Message,
  type MessageContent,
  type MessageContext,
  type MessagePart,
  presentMessage,
  presentSent,
} from '../../schemas/message.ts'

/** Default members of a message. */
export const USUAL_PARTS = MESSAGE_PARTS.filter((part) => part !== 'headers')

/** Query parameter for the length of bodies. @param usual default */
export function bodyChars(usual: number) {
  return Default(
    Type.Integer({
      minimum: 0,
      maximum: MAILBOX_LIMITS.body_chars_max,
      description: 'Characters (Unicode code points) of each body; the rest is cut.',
    }),
    usual,
  )
}

/** Query parameter for the members of a message. */
export const include = Default(
  { ...CommaList(Words(MESSAGE_PARTS), MESSAGE_PARTS.length), description: 'Comma list of the members to show.' },
  USUAL_PARTS,
)

/** The same parameter in a body. */
export const includeList = Default(
  Type.Array(Words(MESSAGE_PARTS), { maxItems: MESSAGE_PARTS.length, description: 'The members to show.' }),
  USUAL_PARTS,
)

interface Showing {
  include: ReadonlySet<MessagePart>
  /** Of each body. */
  chars: number
}

/** @returns undefined when there is no such message @throws DamagedContent */
export function showMessage(
  app: Context,
  account: Account,
  id: string,
  showing: Showing,
): Promise<Message | undefined> {
  return show(app, account, id, showing, () => readContent(app, account, id, showing))
}

/** The same of one message among others: damaged content is no error, and the message says so. */
export function showListed(app: Context, account: Account, id: string, showing: Showing): Promise<Message | undefined> {
  return show(app, account, id, showing, async () => {
    const content = await orDamaged(readContent(app, account, id, showing))
    return content === 'damaged' ? { isDamaged: true } : content
  })
}

async function show(
  app: Context,
  account: Account,
  id: string,
  { include }: Showing,
  read: () => Promise<MessageContent>,
): Promise<Message | undefined> {
  const { messages: state } = account.states
  const message = app.store.read.messages.get(account, id)
  if (message === undefined) return undefined
  return presentMessage(message, include, await read(), {
    state,
    blobId: app.store.read.blobNames.of(account.mailboxId),
    sent: sentAs(app, account, id),
  })
}

/** `delivery` of a message, as {@link showMessage} shows it. */
export function deliveryOf(app: Context, account: Account, id: string): Message['delivery'] {
  return presentSent(sentAs(app, account, id))
}

/** Delivery status of a message this mailbox sent; null for one it received. */
function sentAs(app: Context, account: Account, id: string): MessageContext['sent'] {
  const { emails } = app.outbound.log
  const submission = app.store.sending.submissions.byMessage(account, id)
  if (submission === undefined) return null
  const { emailId, id: submissionId } = submission
  const email = emails.byId(emailId)
  const deliveries = email === undefined ? [] : emails.deliveriesOf(email.n)
  const status = deliveries.length === 0 ? null : submissionStatus(submission, deliveries, app.trustedClock.now())
  return { emailId, submissionId, status }
}

async function readContent(
  app: Context,
  account: Account,
  id: string,
  { include, chars }: Showing,
): Promise<MessageContent> {
  const { messages } = app.store.read
  const wantsBody = include.has('text_body') || include.has('html_body')
  return {
    headers: include.has('headers') ? await messages.headers(account, id) : undefined,
    bodies: wantsBody ? await messages.bodies(account, id, chars) : undefined,
  }
}
