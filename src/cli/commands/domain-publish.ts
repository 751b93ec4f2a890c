// `mailstead domain publish`: writes the records of a domain into its zone by DNS UPDATE, after it has shown them.

import { systemClock } from '../../base/clock.ts'
import type { NameServer } from '../../base/dns-exchange.ts'
import { ProductError } from '../../base/errors.ts'
import { parseServer } from '../../base/resolver.ts'
import type { Context } from '../../context.ts'
import type { Domain } from '../../directory/domains/domain-record.ts'
import { readTsigKey, type TsigKey } from '../../dns/tsig.ts'
import { updateZone } from '../../dns/update.ts'
import { ZoneView } from '../../dns/zone-view.ts'
import { changesOf, type PlannedRecord, type PlanState, planRecords } from '../../maintenance/publish/plan.ts'
import { issuerOf, RECORD_PURPOSES, type RecordPurpose, setupRecords } from '../../maintenance/quickstart/records.ts'
import { type Call, type Command, type CommandResult, TEAM_OPTION } from '../frame/command.ts'
import { chooseDomain } from '../frame/domain-choice.ts'
import { readText } from '../frame/input.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const TTL_SECONDS = 3600
const KEY_MAX = 4096
const PURPOSES = Object.keys(RECORD_PURPOSES) as RecordPurpose[]
const MARKS: Readonly<Record<PlanState, string>> = { present: 'ok', add: 'add', replace: 'swap', keep: 'keep' }

export const domainPublish: Command = {
  words: 'domain publish',
  summary:
    'Write the DNS records of a domain into its zone by DNS UPDATE (RFC 2136), with a TSIG key on standard input.',
  operands: ['domain'],
  options: {
    ...TEAM_OPTION,
    server: {
      value: 'address',
      says: 'IP address of the primary name server, with :port or [address]:port where it is not 53',
    },
    replace: {
      value: 'purpose',
      says: `take the place of other records: ${PURPOSES.join(', ')}; may be repeated`,
      words: PURPOSES,
      many: true,
    },
    yes: { says: 'change the zone; without it the changes are shown only' },
  },
  examples: ['mailstead domain publish example.com --server 192.0.2.53 --yes < tsig.key'],
  async run(call) {
    const server = serverOf(call)
    const replaced = new Set(call.all('replace') as RecordPurpose[])
    const key = await keyOf(call)
    const app = await call.open()
    const team = chooseTeam(app.directory, call.text('team'))
    const { id } = chooseDomain(app, team.id, call.operands[0]!)
    const domain = app.directory.domains.get(team.id, id)!
    try {
      return await publish(call, { app, domain, server, replaced, key })
    } catch (error) {
      throw new ProductError('conflict', (error as Error).message, { cause: error })
    }
  },
}

interface Publication {
  app: Context
  domain: Domain
  server: NameServer
  replaced: ReadonlySet<RecordPurpose>
  key: TsigKey
}

/** @throws Error that says why nothing was changed */
async function publish(call: Call, { app, domain, server, replaced, key }: Publication): Promise<CommandResult> {
  const { config } = app
  const view = new ZoneView(server, systemClock)
  const zone = await view.zoneOf(domain.name)
  const records = setupRecords({ config, domain, addresses: [], tlsaKey: null, issuer: issuerOf(config) })
  const own = records.filter((record) => record.name === zone || record.name.endsWith(`.${zone}`))
  const planned = await planRecords(view, own, replaced)
  const changes = changesOf(planned)
  if (changes.length === 0) return outputOf(zone, planned)
  if (!call.has('yes')) {
    const failure = 'Nothing was changed. Run it again with --yes to write these records.'
    return { ...outputOf(zone, planned), failure }
  }
  await updateZone(changes, { server, view, zone, key, clock: systemClock, ttl: TTL_SECONDS })
  const after = await planRecords(view, own, replaced)
  if (changesOf(after).length === 0) return outputOf(zone, after)
  return { ...outputOf(zone, after), failure: 'The name server took the change, and does not have all of it.' }
}

/** @throws ProductError invalid_parameter, missing_parameter */
function serverOf(call: Call): NameServer {
  const text = call.text('server')
  if (text === undefined) throw new ProductError('missing_parameter', 'Name the primary name server with --server.')
  try {
    return parseServer(text)
  } catch (cause) {
    throw new ProductError('invalid_parameter', `--server: ${(cause as Error).message}.`, { cause })
  }
}

/** @throws ProductError invalid_parameter, missing_parameter */
async function keyOf(call: Call): Promise<TsigKey> {
  const input = call.input()
  if (input.isTerminal) {
    throw new ProductError(
      'missing_parameter',
      'The TSIG key is read from standard input: mailstead domain publish … < tsig.key',
    )
  }
  const text = await readText(input, 'The key', KEY_MAX)
  try {
    return readTsigKey(text)
  } catch (cause) {
    throw new ProductError('invalid_parameter', (cause as Error).message, { cause })
  }
}

function outputOf(zone: string, planned: readonly PlannedRecord[]) {
  const rows = planned.map(({ state, type, name, purpose, value, obstacles }) => [
    ...[MARKS[state], type, name, RECORD_PURPOSES[purpose], value],
    obstacles.length === 0 ? '' : `${state === 'replace' ? 'instead of' : 'there is'} ${obstacles.join(', ')}`,
  ])
  const kept = planned.filter(({ state }) => state === 'keep')
  const hint = `Others stay where --replace does not name them: ${[...new Set(kept.map(({ purpose }) => purpose))].join(', ')}.`
  const records = planned.map(({ purpose, type, name, value, state, obstacles }) => {
    return { purpose, type, name, value, state, obstacles }
  })
  return { data: { zone, records }, lines: [`Zone ${zone}`, ...table(rows), ...(kept.length === 0 ? [] : ['', hint])] }
}
