// Which domain a command is about.

import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { DomainStatus } from '../../directory/domains/domains.ts'
import { domainName } from '../../directory/names/domain-name.ts'

/**
 * @param written as a person writes it, U-labels included
 * @throws ProductError not_found when the team has no such domain
 */
export function chooseDomain({ db, directory }: Context, teamId: string, written: string): DomainStatus {
  const domain = directory.domains.ofTeam(db.read, teamId, domainName(written) ?? written)
  if (domain === undefined) throw new ProductError('not_found', `Team ${teamId} has no domain ${written}.`)
  return domain
}
