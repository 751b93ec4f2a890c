// `mailstead filter show` and `filter set`: which senders a domain or a mailbox accepts.

import { presentFilter } from '../../api/schemas/filter-state.ts'
import type { Context } from '../../context.ts'
import type { FilterState } from '../../directory/domains/filters.ts'
import { type Call, type Command, type CommandOutput, TEAM_OPTION } from '../frame/command.ts'
import { chooseDomain } from '../frame/domain-choice.ts'
import { chooseMailbox } from '../frame/mailbox-choice.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const OWNER_OPERAND = 'address or domain'
const MODES = ['off', 'allowlist', 'denylist'] as const

export const filterShow: Command = {
  words: 'filter show',
  summary: 'Show which senders a mailbox or a domain accepts.',
  operands: [OWNER_OPERAND],
  options: TEAM_OPTION,
  async run(call) {
    const app = await call.open()
    return outputOf(call.operands[0]!, app.directory.filters.get(ownerOf(app, call)))
  },
}

export const filterSet: Command = {
  words: 'filter set',
  summary: 'Replace the sender filter of a mailbox or a domain; with off its rules are kept but not used.',
  operands: [OWNER_OPERAND, MODES.join('|')],
  options: {
    ...TEAM_OPTION,
    allow: { value: 'pattern', says: 'a sender, @domain or *.domain that is accepted, may be repeated', many: true },
    deny: { value: 'pattern', says: 'the same for senders that are refused', many: true },
  },
  examples: ['mailstead filter set ana@shop.example denylist --deny @spam.example --deny *.spam.example'],
  async run(call) {
    const app = await call.open()
    const rulesOf = (type: 'allow' | 'deny') => call.all(type).map((pattern) => ({ type, pattern }))
    const given = [...rulesOf('allow'), ...rulesOf('deny')]
    const owner = ownerOf(app, call)
    const mode = call.operands[1] as FilterState['mode']
    const rules = mode === 'off' && given.length === 0 ? app.directory.filters.get(owner).rules : given
    return outputOf(call.operands[0]!, await app.directory.filters.put(owner, { mode, rules }, () => {}))
  },
}

/** Id of the domain or of the mailbox. @throws ProductError not_found */
function ownerOf(app: Context, call: Call): string {
  const written = call.operands[0]!
  if (written.includes('@')) return chooseMailbox(app.directory, written).id
  return chooseDomain(app, chooseTeam(app.directory, call.text('team')).id, written).id
}

function outputOf(owner: string, filter: FilterState): CommandOutput {
  const data = presentFilter(filter)
  const rows = data.rules.map(({ type, pattern }) => [`  ${type}`, pattern])
  return { data, lines: [`${owner}: ${data.mode}`, ...(rows.length === 0 ? ['  no rules'] : table(rows))] }
}
