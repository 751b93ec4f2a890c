// The requests about the throw-away addresses of one mailbox, by a grant and by a role.

import { type Api, done, type ListPart, take, takeList } from '../api/client.ts'
import type { ThrowAwayAddress } from '../api/types.ts'

type RequestKey = { 'Idempotency-Key': string }

export interface ThrowAwayRequests {
  listThrowAway(cursor: string | undefined): Promise<ListPart<ThrowAwayAddress>>
  makeThrowAway(body: { made_for: string }, header: RequestKey): Promise<ThrowAwayAddress>
  pauseThrowAway(id: string, paused: boolean): Promise<void>
  endThrowAway(id: string): Promise<void>
}

export function throwAwayByRole(api: Api, path: { mailbox_id: string }): ThrowAwayRequests {
  const all = '/mailboxes/{mailbox_id}/throw-away-addresses'
  const one = `${all}/{throw_away_address_id}` as const
  const at = (throw_away_address_id: string) => ({ path: { ...path, throw_away_address_id } })
  return {
    listThrowAway: (cursor) => takeList(api.GET(all, { params: { path, query: { cursor } } })),
    makeThrowAway: (body, header) => take(api.POST(all, { params: { path, header }, body })),
    pauseThrowAway: (id, paused) => done(api.PATCH(one, { params: at(id), body: { paused } })),
    endThrowAway: (id) => done(api.DELETE(one, { params: at(id) })),
  }
}

export function throwAwayByGrant(api: Api): ThrowAwayRequests {
  const all = '/mailbox/throw-away-addresses'
  const one = `${all}/{throw_away_address_id}` as const
  const at = (throw_away_address_id: string) => ({ path: { throw_away_address_id } })
  return {
    listThrowAway: (cursor) => takeList(api.GET(all, { params: { query: { cursor } } })),
    makeThrowAway: (body, header) => take(api.POST(all, { params: { header }, body })),
    pauseThrowAway: (id, paused) => done(api.PATCH(one, { params: at(id), body: { paused } })),
    endThrowAway: (id) => done(api.DELETE(one, { params: at(id) })),
  }
}
