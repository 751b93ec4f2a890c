// How much of what a member made is in use.

import { type Static, Type } from 'typebox'
import type { MadeByMember } from '../../people/made-credentials.ts'
import { record } from './record.ts'

const Count = Type.Integer({ minimum: 0 })

export const MadeCountsJson = record('MadeCounts', 'How many of each kind.', {
  api_keys: Count,
  app_passwords: Count,
  forwards: Count,
  webhooks: Count,
})

export function countsOf({ keys, appPasswords, forwards, webhooks }: MadeByMember): Static<typeof MadeCountsJson> {
  return {
    ...{ api_keys: keys.length, app_passwords: appPasswords.length },
    ...{ forwards: forwards.length, webhooks: webhooks.length },
  }
}
