// Reading and replacing the sender filter of a domain or of a mailbox.

import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { RequestFacts } from '../../http/route.ts'
import { type FilterStateJson, presentFilter } from '../schemas/filter-state.ts'

/** Finds what a filter belongs to, among the resources of a team. */
type FindOwner = (app: Context, teamId: string, id: string) => { id: string } | undefined

/** @param noun what is named when there is no such owner */
export function senderFilterOf(noun: 'domain' | 'mailbox', find: FindOwner) {
  const ownerOf = (app: Context, teamId: string, id: string): string => {
    const owner = find(app, teamId, id)
    if (owner === undefined) throw notFound(noun)
    return owner.id
  }
  return {
    /** @throws ProductError not_found */
    read(app: Context, teamId: string, id: string): FilterStateJson {
      return presentFilter(app.directory.filters.get(ownerOf(app, teamId, id)))
    },
    /** @throws ProductError not_found, conflict when the filter is not the one of If-Match, validation_error */
    async replace(
      app: Context,
      teamId: string,
      id: string,
      filter: FilterStateJson,
      request: Pick<RequestFacts, 'matches'>,
    ) {
      const owner = ownerOf(app, teamId, id)
      const kept = await app.directory.filters.put(owner, filter, (now) => request.matches(presentFilter(now)))
      return presentFilter(kept)
    },
  }
}
