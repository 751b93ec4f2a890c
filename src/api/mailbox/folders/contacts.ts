// The people to whom a mailbox has written: for completing recipients.

import { Type } from 'typebox'
import { isoTime } from '../../../base/clock.ts'
import { route } from '../../../http/route.ts'
import { Default, listOf } from '../../../http/schema.ts'
import { accountOf } from '../../rules/account.ts'
import { record } from '../../schemas/record.ts'
import { TimeOf } from '../../schemas/time.ts'

const CONTACTS_MAX = 1000
const CONTACTS_DEFAULT = 200

const Contact = record('Contact', 'A person to whom the mailbox has written.', {
  email: Type.String(),
  name: Type.String({ description: 'As the latest message names them; "" when it does not.' }),
  messages: Type.Integer({ minimum: 1, description: 'Messages to them, of the 2,000 newest in Sent.' }),
  last_written_at: TimeOf('When the latest of them was sent.'),
})

const listContacts = route({
  method: 'GET',
  path: '/mailbox/contacts',
  docs: {
    operation: 'listContacts',
    tag: 'Submissions',
    summary: 'List the people to whom the mailbox has written',
    description:
      'Read from the 2,000 newest messages in Sent: those written to most and latest come first. Nothing is stored; people whose ' +
      'messages were deleted are not listed.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  query: Type.Object({
    limit: Default(Type.Integer({ minimum: 1, maximum: CONTACTS_MAX, description: 'Most of them.' }), CONTACTS_DEFAULT),
  }),
  reply: { list: 'whole', schema: listOf(Contact) },
  async handle({ query, principal, app }) {
    const account = accountOf(app, principal)
    const contacts = await app.store.read.messages.contacts(account, query.limit)
    const items = contacts.map(({ email, name, messages, lastWrittenAt }) => ({
      ...{ email, name, messages, last_written_at: isoTime(lastWrittenAt) },
    }))
    return { items, next: null }
  },
})

export const contacts = [listContacts]
