// The labels of a mailbox: keywords that people gave to messages.

import { Type } from 'typebox'
import { route } from '../../../http/route.ts'
import { listOf } from '../../../http/schema.ts'
import { isLabel } from '../../../store/entries/keywords.ts'
import { accountOf } from '../../rules/account.ts'
import { record } from '../../schemas/record.ts'

/** Keywords that are read: a mail program may have made any number. */
const KEYWORDS_MAX = 500

const Label = record('Label', 'A keyword that people gave to messages.', {
  keyword: Type.String({ description: 'In lower case, as `q=label:…` and the changes of keywords take it.' }),
})

const listLabels = route({
  method: 'GET',
  path: '/mailbox/labels',
  docs: {
    operation: 'listLabels',
    tag: 'Threads',
    summary: 'List the labels of the mailbox',
    description:
      'The keywords in use, in alphabetical order, without those that begin with `$` (RFC 9051 §2.3.2) and those that mail ' +
      'programs set for themselves. A label exists as long as a message has it.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  reply: { list: 'whole', schema: listOf(Label) },
  handle({ principal, app }) {
    const account = accountOf(app, principal)
    const keywords = app.store.programs.mail.keywordsInUse(account.n, KEYWORDS_MAX)
    return { items: keywords.filter(isLabel).map((keyword) => ({ keyword })), next: null }
  },
})

export const labels = [listLabels]
