// The endpoint for Amazon SNS notifications about messages sent through Amazon SES: authenticated by signature, without a credential.

import { Type } from 'typebox'
import { route } from '../http/route.ts'

/** SNS sends 256 KiB at most; inside JSON it may take twice as much. */
const BODY_MAX = 524_288

export const sesHook = route({
  method: 'POST',
  path: '/hooks/ses',
  root: true,
  docs: {
    hidden: true,
    operation: 'receiveSesNotification',
    tag: 'Hooks',
    summary: 'Takes a message of Amazon SNS.',
  },
  access: { as: 'none' },
  reply: {
    bare: true,
    schema: Type.Object({ moved: Type.Integer({ description: 'Deliveries whose state changed.' }) }),
  },
  body: {
    // SNS posts JSON and calls it text.
    types: ['text/plain'],
    limit: BODY_MAX,
    schema: Type.Object({ Type: Type.String() }, { additionalProperties: true }),
  },
  limits: {
    // It comes from a few addresses, and as often as mail is sent.
    uncounted: true,
    throttle: { times: 3000, seconds: 60 },
  },
  async handle({ body, app }) {
    return { moved: await app.outbound.reports.sns.receive(body) }
  },
})
