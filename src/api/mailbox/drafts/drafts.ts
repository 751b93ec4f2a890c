// Drafts of a mailbox: list, read, write, send, delete.

import { Type } from 'typebox'
import { entryFile } from '../../../base/entry.ts'
import { conflict, notFound, ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import type { Tx } from '../../../db/db.ts'
import { answer, route } from '../../../http/route.ts'
import { Id, listOf, pageQuery } from '../../../http/schema.ts'
import { HELD_MS } from '../../../outbound/held/holds.ts'
import type { Submitted } from '../../../outbound/model/new-message.ts'
import type { StoredDraft } from '../../../store/mailbox/drafts.ts'
import type { Account } from '../../../store/rows/records.ts'
import { accountOf, writableAccountOf } from '../../rules/account.ts'
import { DeletedOf } from '../../schemas/deleted.ts'
import { DraftJson, DraftSummary, draftVersion } from '../../schemas/draft.ts'
import { MAILBOX_PAGE } from '../../schemas/limits.ts'
import { SentMessage, sentAnswer } from '../sending/send.ts'
import { DraftInput, draftReader, NewDraft, newDraftReader, type ReadDraft } from './draft-body.ts'
import { bodiesOf, lacking, requireReader, showDraft, stringOf, withMail } from './draft-content.ts'
import { draftReplies, openedMessage } from './draft-reply.ts'
import { createDraft, type DraftInputs, oldContent, openDraft, release, replaceDraft } from './draft-writes.ts'

const BODY_LIMIT = 67_108_864
const WRITERS = ['mailbox.write', 'email.send'] as const
const params = Type.Object({ draft_id: Id('draft') })

const TOGETHER =
  'The answer has no bodies. The message in Drafts is replaced in the same transaction: other programs see the same draft.'

const listDrafts = route({
  method: 'GET',
  path: '/mailbox/drafts',
  docs: {
    operation: 'listDrafts',
    tag: 'Drafts',
    summary: 'List drafts, the last edited first',
    description:
      'The drafts of this API, without their bodies. A message that another program stored in Drafts becomes one when it is opened ' +
      '(`POST /mailbox/drafts` with its `message_id`). `meta.state` is the state of the messages: drafts have no changes of their own.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  query: pageQuery({ limit: MAILBOX_PAGE }),
  reply: { schema: listOf(DraftSummary) },
  async handle({ query: { limit }, after, principal, app }) {
    const account = accountOf(app, principal)
    const page = app.store.edit.drafts.list(account, { limit, after })
    const items: DraftSummary[] = []
    for (const draft of page.items) items.push(await showDraft({ app, principal, account }, draft))
    return { items, next: page.next, meta: { state: account.states.messages } }
  },
})

const readDraft = route({
  method: 'GET',
  path: '/mailbox/drafts/{draft_id}',
  docs: {
    operation: 'getDraft',
    tag: 'Drafts',
    summary: 'Get a draft with its bodies',
    description:
      'The bodies are as they were written, without the quotation. A draft whose message is moved out of Drafts, or to Trash, is not ' +
      'found until it is back. The ETag is that of the revision.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params,
  reply: { schema: DraftJson, etag: true },
  async handle({ params: { draft_id: id }, principal, app }) {
    const account = accountOf(app, principal)
    const draft = app.store.edit.drafts.get(account, id)
    if (draft === undefined) throw notFound('draft')
    const shown = await showDraft({ app, principal, account }, draft)
    const { text, html } = await bodiesOf(app, draft)
    return answer({ data: { ...shown, text_body: text, html_body: html }, version: draftVersion(draft) })
  },
})

const newDraft = route({
  method: 'POST',
  path: '/mailbox/drafts',
  docs: {
    operation: 'createDraft',
    tag: 'Drafts',
    summary: 'Create a draft, or open a message in Drafts as one',
    description:
      `Whatever is stored is valid; what sending still needs is listed in \`problems\`. ${TOGETHER} 409 above 200 drafts. The ETag is that ` +
      'of the revision, for the `If-Match` of the first change. Quoting, forwarding and opening messages need the permission mailbox.read as well.',
    errors: ['conflict'],
  },
  access: { as: 'mailbox', permission: WRITERS },
  idempotent: true,
  body: {
    schema: NewDraft,
    limit: BODY_LIMIT,
    reader: { ...newDraftReader, thread: entryFile(new URL('./new-draft-body-thread.ts', import.meta.url)).href },
  },
  reply: { schema: DraftSummary, status: 201, createdTag: true, otherwise: 'The message is a draft already.' },
  async handle({ body, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    const from = { app, principal, account, request }
    const { messageId } = body
    if (messageId !== null || body.members.quote !== null || body.members.forward !== null) requireReader(principal)
    if (messageId === null) return createDraft(from, inputsOf(body))
    return openDraft(from, messageId, await openedMessage(app, account, messageId))
  },
})

const editDraft = route({
  method: 'PUT',
  path: '/mailbox/drafts/{draft_id}',
  docs: {
    operation: 'replaceDraft',
    tag: 'Drafts',
    summary: 'Replace a draft',
    description:
      'Needs `If-Match` with the ETag of the draft as it was last read or written: 409 when another editor has changed it since. ' +
      `${TOGETHER} Quoting and forwarding need the permission mailbox.read as well.`,
    errors: ['conflict'],
  },
  access: { as: 'mailbox', permission: WRITERS },
  params,
  body: {
    schema: DraftInput,
    limit: BODY_LIMIT,
    reader: { ...draftReader, thread: entryFile(new URL('./draft-body-thread.ts', import.meta.url)).href },
  },
  reply: { schema: DraftSummary, etag: true },
  async handle({ params: { draft_id: id }, body, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    if (app.store.edit.drafts.get(account, id) === undefined) throw notFound('draft')
    if (!request.conditional) {
      const message = 'If-Match is missing. Send the ETag of the draft, so that no edit of another window is lost.'
      throw new ProductError('missing_parameter', message, { param: 'If-Match' })
    }
    if (body.members.quote !== null || body.members.forward !== null) requireReader(principal)
    return replaceDraft({ app, principal, account, request }, id, inputsOf(body))
  },
})

const deleteDraft = route({
  method: 'DELETE',
  path: '/mailbox/drafts/{draft_id}',
  docs: {
    operation: 'deleteDraft',
    tag: 'Drafts',
    summary: 'Delete a draft permanently, with its message',
    description: 'To be able to take it back, move its message to Trash instead.',
  },
  access: { as: 'mailbox', permission: WRITERS },
  params,
  reply: { schema: DeletedOf('draft'), etag: true },
  async handle({ params: { draft_id: id }, principal, app, request }) {
    const account = writableAccountOf(app, principal)
    const old = await app.db.writeFreeing((tx) => {
      const current = app.store.edit.drafts.get(account, id, tx)
      if (current === undefined) throw notFound('draft')
      request.matches(draftVersion(current))
      const content = oldContent(app, account, current)
      app.store.edit.drafts.remove(tx, account, current)
      return content
    })
    await release(app, old)
    return { deleted: true, id }
  },
})

const sendDraft = route({
  method: 'POST',
  path: '/mailbox/drafts/{draft_id}/send',
  docs: {
    operation: 'sendDraft',
    tag: 'Drafts',
    summary: 'Send a draft',
    description:
      'The message is accepted, stored in Sent, and the draft removed in one transaction: of two requests one sends it, and a draft that ' +
      'was edited or deleted meanwhile is not sent (409, 404). With `If-Match` only that version is sent. While it can be undone, ' +
      '`POST /mailbox/submissions/{submission_id}/cancel` brings the draft back (`draft_id`).',
    errors: ['conflict', 'payload_too_large', 'validation_error'],
  },
  access: { as: 'mailbox', permission: 'email.send' },
  idempotent: true,
  params,
  reply: { schema: SentMessage, status: 202, etag: true, location: true },
  async handle({ params: { draft_id: id }, principal, app, request }) {
    const account = accountOf(app, principal)
    const draft = app.store.edit.drafts.get(account, id)
    if (draft === undefined) throw notFound('draft')
    request.matches(draftVersion(draft))
    const [lack] = lacking(draft.members)
    if (lack !== undefined) throw new ProductError('validation_error', lack.message, { issues: lacking(draft.members) })
    const old = oldContent(app, account, draft)
    const freedBytes = app.store.read.messages.summary(account, draft.messageId)?.sizeBytes ?? 0
    const source = { members: draft.members, bodies: await bodiesOf(app, draft) }
    const sender = { ...principal, source: 'mailbox_api' } as const
    const [submitted] = await withMail(app, account, source, (mail) =>
      app.outbound.submit.submitter.submit(sender, [{ ...mail, freedBytes }], (tx, [one]) => {
        removeSent(tx, { app, account }, draft, one!)
        request.keep(tx, sentAnswer(one!))
      }),
    )
    const sent = answer(sentAnswer(submitted!))
    await release(app, old)
    return sent
  },
})

/** @throws ProductError not_found, conflict for a draft that was deleted or edited while it was composed: then nothing is sent */
function removeSent(
  tx: Tx,
  { app, account }: { app: Context; account: Account },
  draft: StoredDraft,
  sent: Submitted,
): void {
  const { drafts, messages: edits } = app.store.edit
  const current = drafts.get(account, draft.id, tx)
  if (current === undefined) throw notFound('draft')
  if (current.revision !== draft.revision) throw conflict('The draft was edited while it was sent. Send it again.')
  const { forward } = draft.members
  if (forward !== null) edits.changeIn(tx, account, [forward.messageId], { keywords: { add: ['$forwarded'] } })
  if (sent.kind !== 'accepted') return
  // A person may reject it: then it is the same draft again.
  const until = sent.state === 'held' ? app.clock.now() + HELD_MS : sent.sendAt
  drafts.removeSent(tx, account, current, sent.submission?.messageId ?? null, until)
}

function inputsOf({ members, text, html }: ReadDraft): DraftInputs {
  return { members, bodies: { text: stringOf(text), html: stringOf(html) } }
}

export const drafts = [listDrafts, newDraft, readDraft, editDraft, deleteDraft, sendDraft, ...draftReplies]
