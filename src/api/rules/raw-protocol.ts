// The path that is kept free for a protocol of others (docs/design/mailbox.md §2): withheld from all until it is spoken here.

import { Type } from 'typebox'
import { ProductError } from '../../base/errors.ts'
import { route } from '../../http/route.ts'

export const rawProtocol = route({
  method: 'POST',
  path: '/mailbox/jmap',
  docs: {
    operation: 'callRawProtocol',
    tag: 'Mailbox',
    summary: 'Reserved.',
    hidden: true,
  },
  access: { as: 'mailbox', permission: 'mailbox.read', gate: 'raw_protocol' },
  reply: { schema: Type.Object({}, { additionalProperties: false }) },
  handle() {
    throw new ProductError('insufficient_permissions', 'The feature raw_protocol is disabled on this appliance.')
  },
})
