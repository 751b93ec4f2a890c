// What starting to connect a Google or Microsoft account takes and answers, for sending accounts and outside ones.

import { Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { answer } from '../../http/route.ts'
import { REDIRECT_MAX } from '../../outbound/oauth/oauth.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

/** @param title of the schema in the OpenAPI document */
export function authorizationJson(title: string) {
  return record(title, 'Where a person authorises the connection.', {
    authorization_url: Type.String({ description: 'Open it in a browser. It works once.' }),
    state_expires_at: TimeOf('When the authorization expires.'),
  })
}

/** @param example a path */
export function redirectAfter(example: string) {
  return Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: REDIRECT_MAX,
      description: 'Where the browser is sent afterwards: a path or URL of this appliance.',
      examples: [example],
    }),
  )
}

export function presentAuthorization(begun: { authorizationUrl: string; stateExpiresAt: number }) {
  return answer({
    data: { authorization_url: begun.authorizationUrl, state_expires_at: isoTime(begun.stateExpiresAt) },
  })
}
