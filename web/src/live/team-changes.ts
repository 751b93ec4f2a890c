// The pages of a team follow what changes in it.

import { refreshChanged } from './changes.ts'
import { refresh } from './query.ts'
import { follow } from './stream.ts'

/** Follows a team from now on. */
export function followTeam(team: string): void {
  follow([team], (news) => {
    if (news.kind === 'team') refreshChanged(news.actor, news.changed)
    else if (news.kind === 'all') for (const actor of news.actors) refresh(actor)
    else if (news.kind === 'approvals') {
      refresh('approvals')
      // The overview has them as well.
      refresh(team, 'needs')
    }
  })
}
