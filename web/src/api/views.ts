// What is known of a message for those who read it, and where its document is.

import { type Api, take } from './client.ts'
import { errorOf } from './errors.ts'
import type { MessageEvidence, MessageView } from './types.ts'

/** @throws ApiError */
export async function readView(api: Api, messageId: string): Promise<MessageView> {
  const params = { path: { message_id: messageId } }
  const { data, error, response } = await api.GET('/mailbox/messages/{message_id}/view', { params })
  // As text it is the document, which only a frame asks for.
  if (data === undefined || typeof data === 'string') throw errorOf(response.status, error)
  return data.data
}

export const readEvidence = (api: Api, messageId: string): Promise<MessageEvidence> =>
  take(api.GET('/mailbox/messages/{message_id}/evidence', { params: { path: { message_id: messageId } } }))

interface DocumentOptions {
  withPictures: boolean
  isDark: boolean
  isWhole: boolean
}

/** The document of a message, for a sandboxed frame alone. */
export function documentOf(mailboxId: string, messageId: string, options: DocumentOptions): string {
  const query = new URLSearchParams({
    images: options.withPictures ? 'proxied' : 'none',
    theme: options.isDark ? 'dark' : 'light',
    ...(options.isWhole ? { whole: 'true' } : {}),
  })
  return `/as/${mailboxId}/api/v1/mailbox/messages/${messageId}/view?${query}`
}
