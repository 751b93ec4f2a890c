// `mailstead provider test`, `activate`, `deactivate`, `delete`: sending accounts of any team.

import { presentProvider, presentTest } from '../../api/schemas/provider.ts'
import type { Context } from '../../context.ts'
import type { Provider } from '../../outbound/model/records.ts'
import type { Call, Command, CommandResult } from '../frame/command.ts'
import { inOptionNames } from '../frame/options.ts'
import { chooseProvider, PROVIDER_OPERAND, providerLine } from './providers.ts'

export const providerTest: Command = {
  words: 'provider test',
  summary: 'Connect to a sending account and sign in now; exits with 1 when that fails.',
  operands: [PROVIDER_OPERAND],
  options: { to: { value: 'email', says: 'also send a one-line message to this address' } },
  async run(call) {
    const app = await call.open()
    const { id, name, teamId } = chooseProvider(app, call.operands[0]!)
    const tested = await inOptionNames({ to_email: '--to' }, () =>
      app.outbound.accounts.checks.test(teamId, id, call.text('to') ?? null),
    )
    const data = presentTest(tested)
    const lines = [`${name} (${id}): ${data.message}`, `  stage ${data.stage}, ${data.latency_ms} ms`]
    return {
      data,
      lines,
      ...(data.success ? {} : { failure: `The test of ${name} failed at the stage ${data.stage}.` }),
    }
  },
}

export const providerActivate: Command = {
  words: 'provider activate',
  summary: 'Activate a sending account; it is used once a check has succeeded.',
  operands: [PROVIDER_OPERAND],
  run: (call) => change(call, ({ outbound }, { teamId, id }) => outbound.accounts.providers.activate(teamId, id)),
}

export const providerDeactivate: Command = {
  words: 'provider deactivate',
  summary: 'Deactivate a sending account; queued messages are routed to others.',
  operands: [PROVIDER_OPERAND],
  run: (call) => change(call, ({ outbound }, { teamId, id }) => outbound.accounts.providers.deactivate(teamId, id)),
}

export const providerDelete: Command = {
  words: 'provider delete',
  summary: 'Delete a sending account; the delivery log keeps its name.',
  operands: [PROVIDER_OPERAND],
  async run(call) {
    const app = await call.open()
    const { id, name, teamId } = chooseProvider(app, call.operands[0]!)
    await app.outbound.accounts.providers.remove(teamId, id)
    return { data: { id, team_id: teamId, deleted: true }, lines: [`${name} (${id}) is deleted.`] }
  },
}

async function change(
  call: Call,
  act: (app: Context, provider: Provider) => Promise<Provider>,
): Promise<CommandResult> {
  const app = await call.open()
  const row = presentProvider(await act(app, chooseProvider(app, call.operands[0]!)))
  return { data: row, lines: [providerLine(row)] }
}
