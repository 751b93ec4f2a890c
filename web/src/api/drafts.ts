// Requests of the composer: drafts, files, sending and taking it back.

import { type Api, done, take, takeList, takeTagged } from './client.ts'
import { ApiError, errorOf, noAnswer } from './errors.ts'
import type { Draft, DraftInput, DraftSummary, Identity, Submission, UploadedFile } from './types.ts'

export interface Tagged<T> {
  value: T
  tag: string
}

const at = (id: string) => ({ draft_id: id })

export const createDraft = (api: Api, body: DraftInput & { message_id?: string }): Promise<Tagged<DraftSummary>> =>
  takeTagged(api.POST('/mailbox/drafts', { body }))

export const readDraft = (api: Api, id: string): Promise<Tagged<Draft>> =>
  takeTagged(api.GET('/mailbox/drafts/{draft_id}', { params: { path: at(id) } }))

/** @throws ApiError 409 when another window or program changed it */
export const replaceDraft = (api: Api, id: string, tag: string, body: DraftInput): Promise<Tagged<DraftSummary>> =>
  takeTagged(api.PUT('/mailbox/drafts/{draft_id}', { params: { path: at(id), header: { 'If-Match': tag } }, body }))

export const deleteDraft = (api: Api, id: string) =>
  done(api.DELETE('/mailbox/drafts/{draft_id}', { params: { path: at(id) } }))

/** @param key of the one sending: a repeated request sends nothing twice */
export const sendDraft = (api: Api, id: string, tag: string, key: string) =>
  take(
    api.POST('/mailbox/drafts/{draft_id}/send', {
      params: { path: at(id), header: { 'If-Match': tag, 'Idempotency-Key': key } },
    }),
  )

export type ReplyAudience = 'sender' | 'all'

export const replyTo = (api: Api, messageId: string, recipients: ReplyAudience): Promise<Tagged<DraftSummary>> =>
  takeTagged(
    api.POST('/mailbox/messages/{message_id}/reply', {
      params: { path: { message_id: messageId } },
      body: { recipients, quote: 'all' },
    }),
  )

export const forwardMessage = (api: Api, messageId: string): Promise<Tagged<DraftSummary>> =>
  takeTagged(
    api.POST('/mailbox/messages/{message_id}/forward', {
      params: { path: { message_id: messageId } },
      body: { mode: 'inline' },
    }),
  )

export const cancelSubmission = (api: Api, id: string) =>
  take(api.POST('/mailbox/submissions/{submission_id}/cancel', { params: { path: { submission_id: id } } }))

export const readSubmission = (api: Api, id: string): Promise<Submission> =>
  take(api.GET('/mailbox/submissions/{submission_id}', { params: { path: { submission_id: id } } }))

export async function listIdentities(api: Api): Promise<Identity[]> {
  return (await takeList<Identity>(api.GET('/mailbox/identities'))).items
}

/** A type that the server would read as a request of another form. */
const AMBIGUOUS = /^application\/json\b/
const BYTES = 'application/octet-stream'

/**
 * Uploads one file. `fetch` does not tell how far it is.
 * @param onProgress share of one @throws ApiError
 */
export function uploadFile(
  mailboxId: string,
  file: File,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<UploadedFile> {
  const request = new XMLHttpRequest()
  const query = new URLSearchParams({ filename: file.name || 'file' })
  request.open('POST', `/as/${mailboxId}/api/v1/mailbox/attachments?${query}`)
  request.setRequestHeader('X-Mailstead', '1')
  request.setRequestHeader('Content-Type', file.type === '' || AMBIGUOUS.test(file.type) ? BYTES : file.type)
  request.responseType = 'json'
  request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total)
  signal.addEventListener('abort', () => request.abort())
  return new Promise((resolve, reject) => {
    request.onload = () => {
      const body = request.response as { data?: UploadedFile } | null
      if (request.status < 300 && body?.data !== undefined) resolve(body.data)
      else reject(errorOf(request.status, body))
    }
    request.onerror = () => reject(noAnswer())
    request.onabort = () => reject(new ApiError(0, { code: 'cancelled', message: '' }, null))
    request.send(file)
  })
}
