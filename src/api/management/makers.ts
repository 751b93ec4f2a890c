// Who made what a list shows: `meta.makers`, by `created_by`.

import type { Context } from '../../context.ts'
import { allows } from '../../directory/names/permissions.ts'
import type { TeamPrincipal } from '../../directory/names/principal.ts'

/** For the description of a list. */
export const MAKERS =
  '`meta.makers` has the name of the key for each `created_by`, and with `team.read` the address of the member, also of a former one.'

/** Names of keys, and addresses of members for those who may list the members. */
export function makersFor(
  app: Context,
  { teamId, permissions }: TeamPrincipal,
  made: readonly { createdBy: string }[],
): Record<string, string> {
  const mayReadMembers = allows(permissions, 'team.read')
  const named = made.filter(({ createdBy }) => mayReadMembers || createdBy.startsWith('key_'))
  return app.people.made.makersOf(teamId, named)
}
