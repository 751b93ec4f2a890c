// The domain a path of the Management API names.

import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Domain } from '../../directory/domains/domains.ts'

/** @throws ProductError not_found, also for a domain of another team */
export function domainOf(app: Context, teamId: string, id: string): Domain {
  const domain = app.directory.domains.get(teamId, id)
  if (domain === undefined) throw notFound('domain')
  return domain
}
