// `mailstead audit`: the changes that people, keys and commands made.

import { presentAuditEntry } from '../../api/schemas/audit.ts'
import { clean } from '../../mime/one-line.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'
import { chooseTeam } from '../frame/team-choice.ts'

/** Characters of a label in the table; --json has all of it. */
const LABEL_SHOWN = 60

export const auditList: Command = {
  words: 'audit',
  summary: 'List the changes that people, keys and commands made, newest first.',
  options: {
    ...TEAM_OPTION,
    actor: { value: 'actor', says: 'address of a person, or name or id of a key' },
    search: { value: 'text', says: 'a part of the operation, the actor or the target' },
    ...LIMIT_OPTION,
  },
  async run(call) {
    const limit = readLimit(call)
    const { directory, people } = await call.open()
    const named = call.text('team')
    const team = named === undefined ? null : chooseTeam(directory, named).id
    const filter = { actor: call.text('actor'), search: call.text('search'), limit, after: null }
    const page = await people.audit.list(team, filter)
    const rows = page.items.map(presentAuditEntry)
    return listOutput(rows, page.next !== null, {
      none: 'There are no entries.',
      head: ['Time', 'Operation', 'By', 'Target'],
      cells: ({ at, actor, action, target }) => {
        const what = target.label ?? target.id ?? ''
        return [at, action, clean(actor.label, LABEL_SHOWN), clean(what, LABEL_SHOWN)]
      },
    })
  },
}
