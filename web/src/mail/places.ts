// Where a person is in the mail pages, as the address says it.

/** What the list can be narrowed to, by the name in the address. */
export const SHOWN = ['all', 'unread', 'flagged', 'files'] as const
export type Shown = (typeof SHOWN)[number]

export interface Place {
  /** Address of the mailbox; null for the first one. */
  mailbox: string | null
  /** Role of a folder, or its path; `search` has `q`. */
  folder: string
  q: string
  shown: Shown
  threadId: string | null
}

const SEARCH = 'search'

/** @param url path and query of the address */
export function placeOf(url: string): Place {
  const { pathname, searchParams } = new URL(url, 'http://mail.invalid')
  const [, , mailbox, folder, , threadId] = pathname.split('/').map(decodeURIComponent)
  const shown = SHOWN.find((name) => name === searchParams.get('show')) ?? 'all'
  return {
    mailbox: mailbox || null,
    folder: folder || 'inbox',
    q: searchParams.get('q') ?? '',
    shown,
    threadId: threadId || null,
  }
}

export const isSearch = ({ folder, q }: Place) => folder === SEARCH && q !== ''

export function hrefOf({ mailbox, folder, q, shown, threadId }: Place): string {
  const parts = ['', 'mail', mailbox ?? '', folder].map(encodeURIComponent)
  if (threadId !== null) parts.push('thread', threadId)
  const query = new URLSearchParams({ ...(q === '' ? {} : { q }), ...(shown === 'all' ? {} : { show: shown }) })
  const search = query.toString()
  return parts.join('/') + (search === '' ? '' : `?${search}`)
}

/** The same list without an open thread. */
export const listOf = (place: Place): Place => ({ ...place, threadId: null })

/** The place of a search. */
export const searchOf = (mailbox: string, q: string): Place => ({
  mailbox,
  folder: q === '' ? 'inbox' : SEARCH,
  q,
  shown: 'all',
  threadId: null,
})
