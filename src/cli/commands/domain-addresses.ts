// `mailstead domain addresses` and `domain set-addresses`: separators and patterns of a domain.

import { presentAddressing } from '../../api/schemas/addressing.ts'
import { ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { AddressRules } from '../../directory/mailboxes/addressing.ts'
import { SEPARATORS, type Separator } from '../../mime/local-patterns.ts'
import { type Command, type CommandOutput, TEAM_OPTION } from '../frame/command.ts'
import { chooseDomain } from '../frame/domain-choice.ts'
import { chooseMailbox } from '../frame/mailbox-choice.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

export const domainAddresses: Command = {
  words: 'domain addresses',
  summary: 'Show the separators of sub-addresses of a domain, its catch-all and its other patterns.',
  operands: ['domain'],
  options: TEAM_OPTION,
  async run(call) {
    const app = await call.open()
    const team = chooseTeam(app.directory, call.text('team'))
    const { id, name } = chooseDomain(app, team.id, call.operands[0]!)
    return outputOf(app, name, app.directory.addressing.get(team.id, id))
  },
}

export const domainSetAddresses: Command = {
  words: 'domain set-addresses',
  summary: 'Set the separators of sub-addresses of a domain, its catch-all or its other patterns.',
  operands: ['domain'],
  options: {
    ...TEAM_OPTION,
    separators: { value: 'characters', says: `one or two of ${SEPARATORS.join(' ')}` },
    pattern: { value: 'pattern=mailbox', says: 'all patterns, in place of those before, may be repeated', many: true },
    'no-patterns': { says: 'ends all patterns' },
  },
  examples: ["mailstead domain set-addresses shop.example --pattern '*=ana@shop.example'"],
  async run(call) {
    const app = await call.open()
    const team = chooseTeam(app.directory, call.text('team'))
    const { id, name } = chooseDomain(app, team.id, call.operands[0]!)
    const before = app.directory.addressing.get(team.id, id)
    const patterns = call.all('pattern').map((text) => readPattern(app, text))
    const keeps = patterns.length === 0 && !call.has('no-patterns')
    const separators = call.text('separators')
    const rules = {
      separators: separators === undefined ? before.separators : ([...separators] as Separator[]),
      patterns: keeps ? before.patterns : patterns,
    }
    return outputOf(app, name, await app.administration.addressing.put(team.id, id, rules))
  },
}

/** `shop-*=ana@shop.example` @throws ProductError invalid_parameter, not_found */
function readPattern(app: Context, text: string): AddressRules['patterns'][number] {
  const cut = text.lastIndexOf('=')
  if (cut < 1) throw new ProductError('invalid_parameter', `--pattern has the form pattern=mailbox, not ${text}.`)
  return { pattern: text.slice(0, cut), mailboxId: chooseMailbox(app.directory, text.slice(cut + 1)).id }
}

function outputOf(app: Context, name: string, rules: AddressRules): CommandOutput {
  const rows = rules.patterns.map(({ pattern, mailboxId }) => [
    `  ${pattern}@${name}`,
    app.directory.mailboxes.byId(mailboxId)?.email ?? mailboxId,
  ])
  return {
    data: presentAddressing(rules),
    lines: [
      `Sub-addresses of ${name} begin with ${rules.separators.join(' or ')}.`,
      ...(rows.length === 0 ? ['No patterns: mail to other addresses is refused.'] : ['Patterns:', ...table(rows)]),
    ],
  }
}
