// The rotation of API keys: the same for keys of a team and keys of a mailbox.

import { Type } from 'typebox'
import type { IssuedKey } from '../../directory/keys/key-record.ts'
import { GRACE_SECONDS_MAX } from '../../directory/keys/keys.ts'
import { answer } from '../../http/route.ts'
import { Default } from '../../http/schema.ts'
import { presentKey, presentNewKey } from '../schemas/api-key.ts'
import { record } from '../schemas/record.ts'

/** The body of a rotation. @param title name of the schema in the OpenAPI document */
export function rotationBody(title: string) {
  return record(
    title,
    'How the old secret ends.',
    {
      grace_seconds: Default(
        Type.Integer({
          minimum: 0,
          maximum: GRACE_SECONDS_MAX,
          description: 'Seconds the old secret goes on working.',
        }),
        0,
      ),
    },
    { grace_seconds: 3600 },
  )
}

/** Shows the new secret, with the ETag of the key. */
export function rotated(issued: IssuedKey) {
  return answer({ data: presentNewKey(issued), version: presentKey(issued.record) })
}
