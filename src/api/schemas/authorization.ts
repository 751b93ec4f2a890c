// What starting to connect a Google or Microsoft account takes and answers, for sending accounts and outside ones.

import { Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { answer } from '../../http/route.ts'
import { REDIRECT_MAX } from '../../outbound/providers/oauth.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

/** @param title of the schema in the OpenAPI document */
export function authorizationJson(title: string) {
  return record(title, 'Where a person authorises the connection.', {
    authorization_url: Type.String({ description: 'Open it in a browser. It works once.' }),
    state_expires_at: TimeOf('When the authorization expires.'),
  })
}

/** @param page of the console of a team, in the example */
export function redirectAfter(page: string) {
  return Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: REDIRECT_MAX,
      description: 'Where the browser is sent afterwards: a page of the console, as a path or a URL.',
      examples: [`/console/team_0a1b2c3d4e5f6g7h8i9j0k1l/${page}`],
    }),
  )
}

export function presentAuthorization(begun: { authorizationUrl: string; stateExpiresAt: number }) {
  return answer({
    data: { authorization_url: begun.authorizationUrl, state_expires_at: isoTime(begun.stateExpiresAt) },
  })
}
