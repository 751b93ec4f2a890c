// What the routes of the signed-in person share.

import type { ThrottleLimit } from '../http/route.ts'

/** A route at `/me/v1` that takes a session. */
export const ME_ROUTE = { surface: 'me', access: { as: 'person' } } as const

/** The same, for dangerous actions: the session must have been confirmed lately. */
export const FRESH_ROUTE = { surface: 'me', access: { as: 'person', fresh: true } } as const

/** A route at `/me/v1` by which people sign in: it takes no session. */
export const SIGN_IN_ROUTE = { surface: 'me', access: { as: 'none' } } as const

/** The same, for requests that change nothing worth an entry in the audit log. */
export const UNAUDITED_ROUTE = { surface: 'me', access: { as: 'person', audited: false } } as const

/** Changes at `/me/v1` that can be used to guess: so many from one source, or of one person. */
export const GUESS_LIMIT: ThrottleLimit = { times: 10, seconds: 60 }
