// The endpoint for Amazon SNS notifications about messages sent through Amazon SES: authenticated by signature, without a credential.

import { Type } from 'typebox'
import { route } from '../http/route.ts'

/** SNS sends 256 KiB at most; inside JSON it may take twice as much. */
const BODY_MAX = 524_288

export const sesHook = route({
  method: 'POST',
  path: '/hooks/ses',
  root: true,
  hidden: true,
  operation: 'receiveSesNotification',
  tag: 'Hooks',
  summary: 'Takes a message of Amazon SNS.',
  as: 'none',
  bare: true,
  // SNS posts JSON and calls it text.
  takes: ['text/plain'],
  bodyLimit: BODY_MAX,
  // It comes from a few addresses, and as often as mail is sent.
  uncounted: true,
  throttle: { times: 3000, seconds: 60 },
  body: Type.Object({ Type: Type.String() }, { additionalProperties: true }),
  reply: Type.Object({ moved: Type.Integer({ description: 'Deliveries whose state changed.' }) }),
  async handle({ body, app }) {
    return { moved: await app.outbound.sns.receive(body) }
  },
})
