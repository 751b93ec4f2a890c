// NAMESPACE (RFC 2342, RFC 9051 §6.3.10): one personal namespace without a prefix.

import { command } from '../session/session.ts'

export const namespace = command({
  name: 'NAMESPACE',
  in: 'authenticated',
  read: () => null,
  run(_, session) {
    session.say('* NAMESPACE (("" "/")) NIL NIL\r\n')
    return undefined
  },
})
