// `mailstead provider list`, `provider show`: the sending accounts of a team.

import { type ProviderJson, presentProvider } from '../../api/schemas/provider.ts'
import { ProductError } from '../../base/errors.ts'
import { idPattern } from '../../base/ids.ts'
import type { Context } from '../../context.ts'
import { PROVIDER_TYPES, type Provider } from '../../outbound/model/records.ts'
import { choiceOption, oneOf } from '../frame/choice.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'
import { checkId } from '../frame/options.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const STATUSES = ['active', 'inactive', 'error', 'pending'] as const
const PROVIDER_ID = new RegExp(idPattern('provider'))
export const PROVIDER_OPERAND = 'provider (dprov_…)'

export const providerList: Command = {
  words: 'provider list',
  summary: 'List the sending accounts of a team, newest first.',
  options: {
    ...TEAM_OPTION,
    status: choiceOption('status', STATUSES),
    type: choiceOption('type', PROVIDER_TYPES),
    ...LIMIT_OPTION,
  },
  async run(call) {
    const status = oneOf('status', call.text('status'), STATUSES)
    const type = oneOf('type', call.text('type'), PROVIDER_TYPES)
    const limit = readLimit(call)
    const { directory, outbound } = await call.open()
    const team = chooseTeam(directory, call.text('team'))
    const page = outbound.accounts.providers.list(team.id, { status, type, limit, after: null })
    const rows = page.items.map(presentProvider)
    return listOutput(rows, page.next !== null, {
      none: 'There are no sending accounts. Add one with mailstead provider create.',
      head: ['Provider', 'Type', 'Status', 'Sends as', 'Last used', 'Name'],
      cells: cellsOf,
    })
  },
}

export const providerShow: Command = {
  words: 'provider show',
  summary: 'Show a sending account and why it is not active.',
  operands: [PROVIDER_OPERAND],
  async run(call) {
    const row = presentProvider(chooseProvider(await call.open(), call.operands[0]!))
    return { data: row, lines: linesOf(row) }
  },
}

/** @throws ProductError invalid_parameter, not_found */
export function chooseProvider({ outbound }: Context, text: string): Provider {
  const id = checkId(text, PROVIDER_ID, PROVIDER_OPERAND)
  const provider = outbound.accounts.providers.byId(id)
  if (provider === undefined) throw new ProductError('not_found', `There is no sending account ${id}.`)
  return provider
}

/** A summary in one line. */
export function providerLine({ name, id, status, status_reason: reason }: ProviderJson): string {
  return `${name} (${id}) is ${status}${reason === null ? '' : `: ${reason}`}.`
}

function linesOf(row: ProviderJson): string[] {
  const { smtp_host: host, smtp_port: port, smtp_protocol: protocol, quotas } = row
  const caps = Object.entries(quotas).flatMap(([window, cap]) =>
    cap === null ? [] : [`${cap.min === cap.max ? cap.min : `${cap.min} to ${cap.max}`} ${window.replace('_', ' ')}`],
  )
  const facts: [string, string | null][] = [
    ['type', row.type],
    ['server', host === null ? null : `${host} port ${port} (${protocol})`],
    ['user name', row.smtp_username],
    ['sends as', row.from_email],
    ['envelope sender', row.return_path],
    ['caps', caps.length === 0 ? 'none' : caps.join(', ')],
    ['last tested', row.last_tested_at ?? 'never'],
    ['last used', row.last_used_at ?? 'never'],
  ]
  const shown = facts.flatMap(([name, value]) => (value === null ? [] : [[`  ${name}`, value]]))
  return [providerLine(row), '', ...table(shown)]
}

function cellsOf({ id, type, status, from_email, last_used_at, name }: ProviderJson): string[] {
  return [id, type, status, from_email ?? 'verified domains', last_used_at ?? 'never', name]
}
