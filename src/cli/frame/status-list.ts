// Commands that list things of one team by their status: `domain list`, `key list`, `webhook list`, `remote list`.

import type { Context } from '../../context.ts'
import type { Page } from '../../db/page.ts'
import { choiceOption, oneOf } from './choice.ts'
import { type Command, TEAM_OPTION } from './command.ts'
import { LIMIT_OPTION, type ListTable, listOutput, readLimit } from './limit.ts'
import { chooseTeam } from './team-choice.ts'

interface StatusList<T, R, S extends string> extends Pick<Command, 'words' | 'summary'> {
  statuses: readonly S[]
  list(app: Context, teamId: string, filter: { status: S | undefined; limit: number; after: null }): Page<T>
  /** As the API shows it. */
  present(item: T): R
  table: ListTable<R>
}

export function statusList<T, R, const S extends string>(given: StatusList<T, R, S>): Command {
  const { words, summary, statuses, list, present, table } = given
  return {
    words,
    summary,
    options: { ...TEAM_OPTION, status: choiceOption('status', statuses), ...LIMIT_OPTION },
    async run(call) {
      const status = oneOf('status', call.text('status'), statuses)
      const limit = readLimit(call)
      const app = await call.open()
      const team = chooseTeam(app.directory, call.text('team'))
      const page = list(app, team.id, { status, limit, after: null })
      return listOutput(page.items.map(present), page.next !== null, table)
    },
  }
}
