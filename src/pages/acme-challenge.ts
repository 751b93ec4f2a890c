// The answer of HTTP-01 (RFC 8555 §8.3): the authority reads it at port 80 of a name, without a credential.

import { Type } from 'typebox'
import { HTTP_CHALLENGE_PATH } from '../acme/challenges.ts'
import { notFound } from '../base/errors.ts'
import { route } from '../http/route.ts'
import { textDocument } from './setup-domain.ts'
import { PAGE_ROUTE } from './site.ts'

const TOKEN_MAX = 256

export const acmeChallenge = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: `${HTTP_CHALLENGE_PATH}{token}`,
  docs: { ...PAGE_ROUTE.docs, operation: 'getAcmeChallenge', summary: 'Prove a name to a certificate authority.' },
  reply: { ...PAGE_ROUTE.reply, types: ['*/*'] },
  params: Type.Object({ token: Type.String({ maxLength: TOKEN_MAX }) }),
  handle({ params, app }) {
    const answer = app.certificates.httpAnswer(params.token)
    if (answer === undefined) throw notFound('challenge')
    return textDocument('application/octet-stream', answer)
  },
})
