// Why a search found messages: the words it looked for, marked where they stand.

import { Type } from 'typebox'
import { ProductError } from '../../base/errors.ts'
import { route } from '../../http/route.ts'
import { CommaList, Default, Id, PAGE_MAX } from '../../http/schema.ts'
import { presentSnippet, SearchSnippet } from '../schemas/search-snippet.ts'
import { accountOf } from './account.ts'
import { MAILBOX_LIMITS, MAILBOX_PAGE } from './limits.ts'
import { messageFilters, readFilter } from './message-filter.ts'

const AT_ONCE = 4
const { q, ...others } = messageFilters

export const listSearchSnippets = route({
  method: 'GET',
  path: '/mailbox/messages/search-snippets',
  operation: 'listSearchSnippets',
  tag: 'Messages',
  summary: 'Shows where the words of a search stand in messages.',
  description:
    'Of the messages in `ids`, whether the search finds them or not, or else of the first `limit` a list with the same filters ' +
    'shows. Words of `q` and `subject` are marked, as the search understands them: without regard to capitals and accents, ' +
    'phrases as a whole; what is negated is not. Ids that are none of this mailbox are left out. Of the bodies 16 MiB ' +
    'are looked at in all. 429 for more than 4 at a time.',
  as: 'mailbox',
  permission: 'mailbox.read',
  maxConcurrent: AT_ONCE,
  query: Type.Object({
    q,
    ids: Type.Optional({
      ...CommaList(Id('message'), MAILBOX_LIMITS.batch_ids_max),
      description: 'Comma list of messages; then no filter but `q` may be given.',
    }),
    limit: Default(Type.Integer({ minimum: 1, maximum: PAGE_MAX, description: 'Messages at most.' }), MAILBOX_PAGE),
    ...Type.Partial(Type.Object(others)).properties,
  }),
  reply: Type.Array(SearchSnippet),
  async handle({ query, principal, app }) {
    const account = await accountOf(app, principal)
    const { ids, limit, ...filters } = query
    if (ids !== undefined && Object.keys(filters).some((name) => name !== 'q')) {
      throw new ProductError('invalid_parameter', 'Messages are named by ids or by filters, not by both.', {
        param: 'ids',
      })
    }
    const filter = await readFilter(app, account, filters)
    const { messages } = app.store
    const cut = { sort: 'received_at', direction: 'desc', limit, after: null, collapseThreads: false } as const
    const named = ids ?? (await messages.list(account, filter, cut)).items.map(({ id }) => id)
    const snippets = await messages.snippets(account, filter, [...new Set(named)])
    return snippets.map(presentSnippet)
  },
})
