// Lists of several pages as one sequence.

import { type Answer, unwrap } from './errors.ts'

/** A page of any list. */
export interface ListAnswer<T> {
  data: T[]
  pagination: { has_more: boolean; next_cursor?: string }
}

/** What asks for the next page; empty for the first one. */
export interface NextPage {
  cursor?: string
}

/**
 * Every entry of a list; the next page is requested when the last entry of this one has been used.
 *
 *     for await (const message of listAll((page) => client.GET('/mailbox/messages', { params: { query: { ...page } } }))) …
 *
 * @param request requests one page
 * @throws MailsteadError
 */
export async function* listAll<T>(
  request: (page: NextPage) => Promise<Answer<ListAnswer<T>>>,
): AsyncGenerator<T, void, undefined> {
  let page: NextPage | undefined = {}
  while (page !== undefined) {
    const { data, pagination }: ListAnswer<T> = await unwrap(request(page))
    yield* data
    page = pagination.has_more && pagination.next_cursor ? { cursor: pagination.next_cursor } : undefined
  }
}
