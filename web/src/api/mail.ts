// Requests of the mail pages: threads, their messages, and folders, as one mailbox.

import { type Api, take, takeList } from './client.ts'
import { errorOf } from './errors.ts'
import type { Contact, Folder, MailboxQuota, Message, Thread, ThreadChange, ThreadsChanged } from './types.ts'

/** Which threads a list has: members of the query of `GET /mailbox/threads`. */
export interface ThreadFilter {
  folder_id?: string
  q?: string
  is_unread?: boolean
  has_attachment?: boolean
}

/** A page of a list of threads, with what later requests need. */
export interface ThreadPage {
  items: Thread[]
  /** State of the threads of the mailbox. */
  state: string
  /** State of this list. */
  queryState: string
  /** Length of the list; null above what the server counts. */
  total: number | null
  position: number
}

interface PageMeta {
  state: string
  query_state: string
  total?: number | null
  position?: number
}

type Place = { position: number } | { anchor_id: string }

/** @throws ApiError */
export async function readThreadPage(
  api: Api,
  filter: ThreadFilter,
  place: Place,
  limit: number,
  signal?: AbortSignal,
): Promise<ThreadPage> {
  const query = { ...filter, ...place, limit, with_total: true }
  const { data, error, response } = await api.GET('/mailbox/threads', { params: { query }, signal })
  if (data === undefined) throw errorOf(response.status, error)
  const meta = data.meta as unknown as PageMeta
  return {
    items: data.data,
    state: meta.state,
    queryState: meta.query_state,
    total: meta.total ?? null,
    position: meta.position ?? 0,
  }
}

/** How a list changed since a state. @throws ApiError 409 when the state is too old */
export const readListChanges = (api: Api, filter: ThreadFilter, since: string) =>
  take(
    api.GET('/mailbox/threads/query-changes', {
      params: { query: { ...filter, since_query_state: since, limit: 500 } },
    }),
  )

/** Which threads changed since a state. @throws ApiError 409 when the state is too old */
export async function readThreadChanges(api: Api, since: string) {
  const query = { type: 'threads' as const, since_state: since, limit: 500 }
  const changes = await take(api.GET('/mailbox/sync/changes', { params: { query } }))
  return changes as {
    new_state: string
    has_more_changes: boolean
    created: string[]
    updated: string[]
    destroyed: string[]
  }
}

export const readThreads = (api: Api, ids: string[]) => take(api.POST('/mailbox/threads/batch-get', { body: { ids } }))

/** Most messages of a thread that one request returns. */
const MESSAGES_MAX = 100
/** Characters of a text that are shown at once. */
const TEXT_MAX = 200_000

/** The messages of a thread, oldest first. @param cursor of a later part */
export const readMessages = (api: Api, threadId: string, cursor?: string) =>
  takeList<Message>(
    api.GET('/mailbox/threads/{thread_id}/messages', {
      params: {
        path: { thread_id: threadId },
        query: {
          ...{ limit: MESSAGES_MAX, body_chars: TEXT_MAX, cursor },
          include: ['text_body', 'attachments', 'authentication'],
        },
      },
    }),
  )

/** All folders: a mailbox has at most a few hundred. */
export async function readFolders(api: Api): Promise<Folder[]> {
  const folders: Folder[] = []
  let cursor: string | undefined
  do {
    const part = await takeList<Folder>(api.GET('/mailbox/folders', { params: { query: { limit: 100, cursor } } }))
    folders.push(...part.items)
    cursor = part.next ?? undefined
  } while (cursor !== undefined)
  return folders
}

/** Changes threads; those that were refused are in the answer. @param key the same when it is repeated @throws ApiError */
export const changeThreads = (api: Api, ids: string[], change: ThreadChange, key: string): Promise<ThreadsChanged> =>
  take(
    api.POST('/mailbox/threads/batch-update', {
      params: { header: { 'Idempotency-Key': key } },
      body: { ids, ...change },
    }),
  )

/** Sets a thread aside. @param until RFC 3339 @param folderId of the folder that it leaves; undefined: the server chooses it @throws ApiError */
export const snoozeThread = (api: Api, id: string, until: string, folderId: string | undefined) =>
  take(
    api.PUT('/mailbox/threads/{thread_id}/snooze', {
      params: { path: { thread_id: id } },
      body: { until, ...(folderId === undefined ? {} : { in_folder_id: folderId }) },
    }),
  )

/** Returns a snoozed thread at once. @throws ApiError 404 when it does not wait */
export const endSnooze = (api: Api, id: string) =>
  take(api.DELETE('/mailbox/threads/{thread_id}/snooze', { params: { path: { thread_id: id } } }))

/** @throws ApiError 404 when it was undone before, or a day has passed */
export const undoChange = (api: Api, id: string) =>
  take(
    api.POST('/mailbox/undo/{undo_id}', {
      params: { path: { undo_id: id }, header: { 'Idempotency-Key': `undo-${id}` } },
    }),
  )

export const readQuotas = async (api: Api): Promise<MailboxQuota[]> =>
  (await takeList<MailboxQuota>(api.GET('/mailbox/quotas'))).items

/** Contacts that complete recipients. */
const CONTACTS_MAX = 1000

export const readContacts = async (api: Api): Promise<Contact[]> =>
  (await takeList<Contact>(api.GET('/mailbox/contacts', { params: { query: { limit: CONTACTS_MAX } } }))).items

/** The keywords that people gave to messages. */
export const readLabels = async (api: Api): Promise<string[]> =>
  (await takeList<{ keyword: string }>(api.GET('/mailbox/labels'))).items.map(({ keyword }) => keyword)

/** A piece of a text around the match of a search. */
export type Snippet = readonly { text: string; isMatch: boolean }[]

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** The server marks matches in escaped text: `<mark>` is the only element. */
function snippetOf(html: string): Snippet {
  const plain = (text: string) => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]!)
  return html
    .split(/<\/?mark>/)
    .map((text, index) => ({ text: plain(text), isMatch: index % 2 === 1 }))
    .filter(({ text }) => text !== '')
}

/** By message; those whose text does not match are left out. @throws ApiError */
export async function readSnippets(
  api: Api,
  q: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Snippet>> {
  const query = { q, ids: [...ids] }
  const snippets = await take(api.GET('/mailbox/messages/search-snippets', { params: { query }, signal }))
  return new Map(
    snippets.flatMap(({ message_id: id, preview }) => (preview === null ? [] : [[id, snippetOf(preview)]])),
  )
}

/** Bytes of a source that are shown. */
const SOURCE_MAX = 256 * 1024

/** The beginning of a message as it is stored, trace fields included. @throws ApiError */
export async function readSource(api: Api, id: string): Promise<string> {
  const { data, error, response } = await api.GET('/mailbox/messages/{message_id}/raw', {
    params: { path: { message_id: id } },
    headers: { accept: 'message/rfc822', range: `bytes=0-${SOURCE_MAX - 1}` },
    parseAs: 'text',
  })
  if (data === undefined) throw errorOf(response.status, error)
  return data as unknown as string
}

/** Leaves the mailing list of a message by one click. @throws ApiError */
export const unsubscribe = (api: Api, id: string) =>
  take(api.POST('/mailbox/messages/{message_id}/unsubscribe', { params: { path: { message_id: id } } }))

/** The text of a file, as far as it has one. */
export async function readAttachmentText(api: Api, id: string): Promise<string> {
  const params = { path: { attachment_id: id } }
  const { text } = await take(api.GET('/mailbox/attachments/{attachment_id}/parsed', { params }))
  return text ?? ''
}
