// Writes drafts: creation, edits, and the release of the content they replace.

import { invalid, notFound, type ProductError } from '../../../base/errors.ts'
import { newId } from '../../../base/ids.ts'
import type { Context } from '../../../context.ts'
import type { Tx } from '../../../db/db.ts'
import type { MailboxPrincipal } from '../../../directory/names/principal.ts'
import { type Answer, answer, type RequestFacts } from '../../../http/route.ts'
import { namedBlobs } from '../../../outbound/log/named-contents.ts'
import type { DraftTarget, StoredDraft } from '../../../store/mailbox/drafts.ts'
import type { Account } from '../../../store/rows/records.ts'
import { writableMailbox } from '../../rules/account.ts'
import { draftVersion } from '../../schemas/draft.ts'
import type { ReadDraft } from './draft-body.ts'
import { type DraftBodies, type PreparedDraft, prepareDraft, present, showDraft } from './draft-content.ts'

/** Smaller content is left to the daily sweep. Bytes. */
const RELEASED_FROM = 65_536

/** A request that writes a draft. */
interface DraftRequest {
  app: Context
  principal: MailboxPrincipal
  account: Account
  request: RequestFacts
}

/** What is written. */
export interface DraftInputs {
  members: ReadDraft['members']
  bodies: DraftBodies
}

/** Creates a draft with its message in Drafts. @throws ProductError validation_error, conflict, payload_too_large */
export async function createDraft(from: DraftRequest, inputs: DraftInputs): Promise<Answer> {
  const { app, request } = from
  const id = newId('draft')
  const prepared = await prepare(from, id, inputs)
  await app.store.blobs.putAll(prepared.contents)
  return app.db.write((tx) => {
    app.store.edit.drafts.create(tx, targetOf(tx, from, prepared), id, prepared.content)
    const made = answerWith(tx, from, id, prepared, 201)
    request.keep(tx, made)
    return made
  })
}

/**
 * Replaces a draft if it is still the version that `If-Match` names.
 * @throws ProductError not_found, conflict, validation_error, payload_too_large
 */
export async function replaceDraft(from: DraftRequest, id: string, inputs: DraftInputs): Promise<Answer> {
  const { app, account, request } = from
  const known = app.store.edit.drafts.get(account, id)
  if (known === undefined) throw notFound('draft')
  // Checked again in the unit of work; here it avoids composing for an outdated request.
  request.matches(draftVersion(known))
  const prepared = await prepare(from, id, inputs)
  await app.store.blobs.putAll(prepared.contents)
  const { old, made } = await app.db.write((tx) => {
    const current = app.store.edit.drafts.get(account, id, tx)
    if (current === undefined) throw notFound('draft')
    request.matches(draftVersion(current))
    const old = oldContent(app, account, current)
    app.store.edit.drafts.replace(tx, targetOf(tx, from, prepared), current, prepared.content)
    return { old, made: answerWith(tx, from, id, prepared, 200) }
  })
  await release(app, old)
  return made
}

/**
 * Makes a draft of a message in Drafts, which stays as it is until the first edit; a message that is one already is answered with it.
 * @throws ProductError validation_error when the message is not in Drafts
 */
export async function openDraft(from: DraftRequest, messageId: string, inputs: DraftInputs): Promise<Answer> {
  const { app, account, request } = from
  const opened = app.store.edit.drafts.byMessage(account, messageId)
  if (opened !== undefined) {
    return answer({ data: await showDraft(from, opened), status: 200, version: draftVersion(opened) })
  }
  const id = newId('draft')
  const prepared = await prepare(from, id, inputs)
  // Its message stays, and with it the files as they are in it.
  const { attachments } = inputs.members
  const source = { members: { ...prepared.content.members, attachments }, bodies: prepared.content.bodies }
  await app.store.blobs.putAll(prepared.contents.slice(1))
  return app.db.write((tx) => {
    writableMailbox(tx, app, account)
    const known = app.store.edit.drafts.byMessage(account, messageId, tx)
    if (known === undefined && !app.store.edit.drafts.isInDrafts(account, messageId, tx)) throw notInDrafts()
    if (known === undefined) app.store.edit.drafts.open(tx, account, { id, messageId }, source)
    const made = answerWith(tx, from, known?.id ?? id, prepared, known === undefined ? 201 : 200)
    request.keep(tx, made)
    return made
  })
}

export function notInDrafts(): ProductError {
  return invalid('message_id', 'not_found', 'There is no such message in the folder Drafts of this mailbox.')
}

function targetOf(tx: Tx, { app, account }: DraftRequest, { ownAddresses }: PreparedDraft): DraftTarget {
  const { email, quotaBytes } = writableMailbox(tx, app, account)
  return { account, ownAddresses: [email, ...ownAddresses], quotaBytes }
}

function answerWith(
  tx: Tx,
  { app, account }: DraftRequest,
  id: string,
  { facts }: PreparedDraft,
  status: 200 | 201,
): Answer {
  const draft = app.store.edit.drafts.get(account, id, tx)!
  const headers: Record<string, string> = status === 201 ? { Location: `/api/v1/mailbox/drafts/${id}` } : {}
  return answer({ data: present(app, account, draft, facts, tx), status, headers, version: draftVersion(draft) })
}

/** Contents that only one version of a draft refers to. */
interface OldContent {
  hashes: { hash: Uint8Array; sizeBytes: number }[]
  /** When they were stored at the latest, ms. */
  until: number
}

export function oldContent(
  app: Context,
  account: Account,
  { messageId, members, bodies, updatedAt }: StoredDraft,
): OldContent {
  const message = app.store.read.messages.get(account, messageId)
  const ofMessage = message === undefined ? [] : [{ hash: message.blobHash, sizeBytes: message.sizeBytes }]
  const sizeBytes = (members.textBytes ?? 0) + (members.htmlBytes ?? 0)
  return { hashes: bodies === null ? ofMessage : [...ofMessage, { hash: bodies, sizeBytes }], until: updatedAt }
}

/**
 * Deletes content of a version that no row refers to any more: a draft with large files is stored again with every edit, and the sweep
 * comes once a day.
 */
export async function release(app: Context, { hashes, until }: OldContent): Promise<void> {
  for (const { hash, sizeBytes } of hashes) {
    if (sizeBytes < RELEASED_FROM) continue
    await app.store.blobs.release(hash, until, (some) => namedBlobs(app.store, app.outbound.log, some))
  }
}

function prepare({ app, principal, account }: DraftRequest, id: string, inputs: DraftInputs): Promise<PreparedDraft> {
  return prepareDraft(app, { ...principal, source: 'mailbox_api' }, account, { id, ...inputs })
}
