// Which team a command is about.

import { ProductError } from '../../base/errors.ts'
import type { Directory } from '../../directory/directory.ts'
import type { Team } from '../../directory/keys/teams.ts'

/** Teams named in the question which one is meant. */
const SHOWN_MAX = 5

/**
 * @param wanted an id or a name; may be left out while there is only one team
 * @throws ProductError
 */
export function chooseTeam(directory: Directory, wanted: string | undefined): Team {
  const all = directory.teams.list()
  if (all.length === 0) throw new ProductError('not_found', 'There is no team yet; run mailstead setup first.')
  const fits = wanted === undefined ? all : all.filter(({ id, name }) => id === wanted || name === wanted)
  if (fits.length === 1) return fits[0]!
  if (fits.length === 0) throw new ProductError('not_found', `There is no team ${wanted}.`)
  const shown = fits.slice(0, SHOWN_MAX).map(({ id, name }) => `${id} (${name})`)
  const names = [...shown, ...(fits.length > SHOWN_MAX ? [`and ${fits.length - SHOWN_MAX} more`] : [])].join(', ')
  throw new ProductError('missing_parameter', `There are several teams. Name one by its id with --team: ${names}.`)
}
