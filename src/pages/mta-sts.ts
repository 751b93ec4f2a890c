// The MTA-STS policy of a domain (RFC 8461 §3.2), served at `mta-sts.<domain>` without a credential.

import { notFound } from '../base/errors.ts'
import { ownPolicy, POLICY_LABEL } from '../directory/domains/tls-records.ts'
import { route } from '../http/route.ts'
import { textDocument } from './setup-domain.ts'
import { PAGE_ROUTE } from './site.ts'

export const mtaStsPolicy = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/.well-known/mta-sts.txt',
  names: [POLICY_LABEL],
  docs: { ...PAGE_ROUTE.docs, operation: 'getMtaStsPolicy', summary: 'The MTA-STS policy of a domain.' },
  reply: { ...PAGE_ROUTE.reply, types: ['*/*'] },
  handle({ app, request }) {
    const isOwn = request.host.startsWith(`${POLICY_LABEL}.`)
    const mode = isOwn ? app.directory.domains.mtaStsModeOf(request.host.slice(POLICY_LABEL.length + 1)) : undefined
    if (mode === undefined) throw notFound('policy')
    return textDocument('text/plain', ownPolicy(mode, app.config))
  },
})
