// A message as a person reads it: a document for a sandboxed frame, and what is known of it.

import { Type } from 'typebox'
import { isoTime } from '../../../base/clock.ts'
import { notFound, ProductError } from '../../../base/errors.ts'
import { PROGRAM_VERSION } from '../../../config/version.ts'
import { VIEW_MAX, VIEW_WHOLE_MAX, type ViewDocument, type ViewOptions } from '../../../content/view/view.ts'
import type { Context } from '../../../context.ts'
import { etagOf } from '../../../http/etag.ts'
import { answer, bytes, route } from '../../../http/route.ts'
import { Default, Id, Words } from '../../../http/schema.ts'
import type { Account, MessageDetail } from '../../../store/rows/records.ts'
import { accountOf, turnOwnerOf } from '../../rules/account.ts'
import { mailingListOf } from '../../rules/mailing-list.ts'
import { replyElsewhere, senderWarnings, toneOf } from '../../rules/sender-sentences.ts'
import { MessageViewJson, presentFacts } from '../../schemas/message-view.ts'
import { SANDBOX } from './download.ts'

const PAGE_TYPE = 'text/html'
/** Bytes of a body that hold the characters that are shown; an encoded one takes up to three times as many. */
const BYTES_OF_CHAR = 3
/** docs/design/webmail.md §1: no script runs, nothing is loaded from elsewhere, and links open beside the application. */
export const VIEW_HEADERS = {
  'Content-Security-Policy':
    "sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; " +
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  'Referrer-Policy': 'no-referrer',
  'X-DNS-Prefetch-Control': 'off',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
}
/** Pictures stay in the browser for a day. */
const PICTURE_CACHE = 'private, max-age=86400, immutable'
const FRAME = new Set(['iframe', 'empty', ''])

const whole = Default(
  Type.Boolean({ description: `Show up to ${VIEW_WHOLE_MAX} characters instead of ${VIEW_MAX}.` }),
  false,
)

const viewMessage = route({
  method: 'GET',
  path: '/mailbox/messages/{message_id}/view',
  docs: {
    operation: 'getMessageView',
    tag: 'Messages',
    summary: 'Get a message as a safe HTML document, or what is known of it',
    description:
      'With `Accept: text/html` a document for a sandboxed frame: scripts, forms and everything loaded from elsewhere are removed, ' +
      'earlier messages are folded, and remote pictures come from this server or are left out. Browsers get it in a frame only. ' +
      'Otherwise the facts of the document, its sender, links and pictures.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params: Type.Object({ message_id: Id('message') }),
  query: Type.Object({
    images: Default(Words(['none', 'proxied'], 'Whether the document shows remote pictures.'), 'none'),
    theme: Default(Words(['light', 'dark'], 'Colors of the page around the document.'), 'light'),
    quote: Default(Words(['folded', 'shown'], 'Whether earlier messages are folded.'), 'folded'),
    whole,
  }),
  reply: { types: ['application/json', PAGE_TYPE], schema: MessageViewJson, etag: true },
  async handle({ params: { message_id: id }, query, principal, app, request }) {
    const account = accountOf(app, principal)
    const message = messageOf(app, account, id)
    const withPictures = query.images === 'proxied' && app.config.PICTURES
    const options = { theme: query.theme, withPictures, isQuoteOpen: query.quote === 'shown', isWhole: query.whole }
    if (request.accepts !== PAGE_TYPE) return describe(app, account, message, options)
    if (!FRAME.has(request.destination)) {
      const sentence = 'A message is shown in a frame of the webmail only. Open it there.'
      throw new ProductError('insufficient_permissions', sentence, { param: 'Sec-Fetch-Dest' })
    }
    const { html } = await documentOf(app, account, message, options)
    const content = Buffer.from(html)
    return bytes({
      type: 'text/html; charset=utf-8',
      sizeBytes: content.length,
      etag: etagOf({ id, options, program: PROGRAM_VERSION }),
      headers: VIEW_HEADERS,
      read: async function* (start, end) {
        yield content.subarray(start, end)
      },
    })
  },
})

const readPicture = route({
  method: 'GET',
  path: '/mailbox/messages/{message_id}/images/{n}',
  docs: {
    operation: 'getMessagePicture',
    hidden: true,
    tag: 'Messages',
    summary: 'Get a remote picture of a message, fetched by the server',
    description:
      'The sender learns that this server fetched it, but neither for whom nor from where. 404 for a number that the ' +
      'message does not have, for trackers, and for what is no picture of at most 5 MiB in the public Internet.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params: Type.Object({
    message_id: Id('message'),
    n: Type.String({ pattern: '^(0|[1-9][0-9]{0,3})$', description: 'Number of the picture, from 0.' }),
  }),
  query: Type.Object({ whole }),
  reply: {
    types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'],
    schema: Type.String({ contentEncoding: 'binary', description: 'The picture.' }),
  },
  async handle({ params: { message_id: id, n }, query, principal, app }) {
    const account = accountOf(app, principal)
    const message = messageOf(app, account, id)
    if (!app.config.PICTURES) throw notFound('picture')
    const options = { theme: 'light', withPictures: true, isQuoteOpen: false, isWhole: query.whole } as const
    const url = (await documentOf(app, account, message, options)).pictures[Number(n)]
    const picture = url === undefined ? null : await app.pictures.get(url, turnOwnerOf(app, account))
    if (picture === null) throw notFound('picture')
    return bytes({
      type: picture.type,
      sizeBytes: picture.bytes.length,
      etag: etagOf({ id, n, whole: query.whole }),
      headers: { ...SANDBOX, 'Cache-Control': PICTURE_CACHE, 'Cross-Origin-Resource-Policy': 'same-origin' },
      read: async function* (start, end) {
        yield picture.bytes.subarray(start, end)
      },
    })
  },
})

/** @throws ProductError not_found */
function messageOf(app: Context, account: Account, id: string): MessageDetail {
  const message = app.store.read.messages.get(account, id)
  if (message === undefined) throw notFound('message')
  return message
}

/** @throws ProductError not_found when the message was deleted in between, DamagedContent */
async function documentOf(
  app: Context,
  account: Account,
  { id, attachments }: MessageDetail,
  options: ViewOptions,
): Promise<ViewDocument> {
  const most = (options.isWhole ? VIEW_WHOLE_MAX : VIEW_MAX) * BYTES_OF_CHAR
  const bodies = await app.store.read.messages.storedBodies(account, id, most)
  if (bodies === undefined) throw notFound('message')
  const files = attachments.flatMap(({ contentId, id: file }) =>
    contentId === null ? [] : [[contentId, file] as const],
  )
  return app.cleaner.view({ ...bodies, files, options }, turnOwnerOf(app, account))
}

async function describe(app: Context, account: Account, message: MessageDetail, options: ViewOptions) {
  const { facts } = await documentOf(app, account, message, options)
  const { messages } = app.store.read
  const history = messages.senderHistory(account, message)
  const isSent = app.store.sending.submissions.byMessage(account, message.id) !== undefined
  const throwAway = app.directory.throwAway.at(account.mailboxId, message.envelope.rcptTo)
  const list = mailingListOf((await messages.headers(account, message.id)) ?? [])
  const data: MessageViewJson = {
    message_id: message.id,
    size_bytes: message.sizeBytes,
    ...presentFacts(facts),
    images: pictureAdvice(app, account, message, history.sent),
    sender: {
      first_contact: history.received === 0 && history.sent === 0,
      received: history.received,
      sent: history.sent,
      last_at: history.lastAt === null ? null : isoTime(history.lastAt),
      reply_elsewhere: replyElsewhere(message),
    },
    list: list && { id: list.id, one_click: list.oneClick, mailto: list.mailto, https: list.https },
    tone: isSent ? null : toneOf(message),
    warnings: isSent ? [] : senderWarnings(message, history, throwAway),
    untrusted_content: !isSent,
  }
  return answer({ data, version: { ...data, program: PROGRAM_VERSION } })
}

/** Pictures of those whom the mailbox writes to, and who are proven, are shown at once. */
function pictureAdvice(
  app: Context,
  account: Account,
  message: MessageDetail,
  sent: number,
): MessageViewJson['images'] {
  const junk = app.store.read.folders.keys(account).find(({ role }) => role === 'junk')!.id
  if (!app.config.PICTURES) return { mode: 'none', reason: 'off' }
  if (message.folderIds.includes(junk)) return { mode: 'none', reason: 'junk' }
  if (sent === 0) return { mode: 'none', reason: 'unknown_sender' }
  if (!message.authentication.fromAligned) return { mode: 'none', reason: 'unproven' }
  return { mode: 'proxied', reason: 'known_sender' }
}

export const views = [viewMessage, readPicture]
