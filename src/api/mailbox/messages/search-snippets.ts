// Search snippets: the matches of a search, marked in subject and text.

import { Type } from 'typebox'
import { ProductError } from '../../../base/errors.ts'
import { route } from '../../../http/route.ts'
import { CommaList, Default, Id, PAGE_MAX } from '../../../http/schema.ts'
import { accountOf } from '../../rules/account.ts'
import { messageFilters, readFilter } from '../../rules/message-filter.ts'
import { MAILBOX_LIMITS, MAILBOX_PAGE } from '../../schemas/limits.ts'
import { presentSnippet, SearchSnippet } from '../../schemas/search-snippet.ts'

const AT_ONCE = 4
const { q, ...others } = messageFilters

export const listSearchSnippets = route({
  method: 'GET',
  path: '/mailbox/messages/search-snippets',
  docs: {
    operation: 'listSearchSnippets',
    tag: 'Messages',
    summary: 'Highlight search words in messages',
    description:
      'Takes the messages in `ids`, whether the search matches them or not, or else the first `limit` messages of a list with the ' +
      'same filters. Words of `q` and `subject` are marked as the search matches them: case and accents are ignored, phrases are ' +
      'marked as a whole, negated words are not marked. Ids of other mailboxes are left out. At most 16 MiB of bodies are read. ' +
      '429 for more than 4 at a time.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  limits: { maxConcurrent: AT_ONCE },
  query: Type.Object({
    q,
    ids: Type.Optional({
      ...CommaList(Id('message'), MAILBOX_LIMITS.batch_ids_max),
      description: 'Comma list of messages; `q` is then the only allowed filter.',
    }),
    limit: Default(
      Type.Integer({ minimum: 1, maximum: PAGE_MAX, description: 'Maximum number of messages.' }),
      MAILBOX_PAGE,
    ),
    ...Type.Partial(Type.Object(others)).properties,
  }),
  reply: { schema: Type.Array(SearchSnippet) },
  async handle({ query, principal, app }) {
    const account = accountOf(app, principal)
    const { ids, limit, ...filters } = query
    if (ids !== undefined && Object.keys(filters).some((name) => name !== 'q')) {
      throw new ProductError('invalid_parameter', 'ids cannot be combined with filters. Send either of them.', {
        param: 'ids',
      })
    }
    const filter = readFilter(app, account, filters)
    const { messages } = app.store.read
    const cut = { sort: 'received_at', direction: 'desc', limit, after: null, collapseThreads: false } as const
    const named = ids ?? (await messages.list(account, filter, cut)).items.map(({ id }) => id)
    const snippets = await messages.snippets(account, filter, [...new Set(named)])
    return snippets.map(presentSnippet)
  },
})
