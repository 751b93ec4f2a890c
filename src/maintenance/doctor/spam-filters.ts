// Checks the blocklists that are set, and whether rspamd and ClamAV answer.

import { SECOND_MS } from '../../base/durations.ts'
import { VirusScan } from '../../base/virus-scan.ts'
import type { Config } from '../../config/config.ts'
import { type BlocklistKind, type BlocklistState, testList } from '../../net/blocklist.ts'
import { Rspamd } from '../../net/rspamd.ts'
import type { DoctorDeps } from './deps.ts'
import { type Finding, fine, warning } from './finding.ts'

const TIMEOUT_MS = 5 * SECOND_MS

const NONE =
  'No blocklist on the DNS is asked. DNSBL may name one, such as zen.spamhaus.org, after you have read its terms of use: most are free for ' +
  'small servers with a resolver of their own.'

const PROBLEMS: Record<Exclude<BlocklistState, 'usable'>, [says: string, advice: string]> = {
  refused: [
    'refuses or does not answer questions of this server, and is not used.',
    'Set DNS_SERVERS to a resolver of your own, not one of a large provider, and read the terms of use of the list.',
  ],
  lists_everything: ['lists everything, and is not used: it was probably given up.', 'Remove it from the settings.'],
  lists_nothing: ['lists nothing, and is not used.', 'Check its name, and whether it needs a registration.'],
}

export async function checkSpamFilters(app: Pick<DoctorDeps, 'config' | 'resolver' | 'clock'>): Promise<Finding[]> {
  const { config, resolver } = app
  const lists = await Promise.all(
    listsOf(config).map(async ({ kind, list }) => listFinding(list, await testList(resolver, kind, list))),
  )
  const none = lists.length === 0 ? [fine('spam_filter', NONE)] : []
  return [...none, ...lists, ...(await Promise.all(daemonsOf(app)))]
}

function listsOf({ DNSBL, DNSWL, DOMAIN_BLOCKLISTS }: Config): { kind: BlocklistKind; list: string }[] {
  const named = (kind: BlocklistKind, lists: readonly string[]) => lists.map((list) => ({ kind, list }))
  return [...named('address', DNSBL), ...named('address', DNSWL), ...named('domain', DOMAIN_BLOCKLISTS)]
}

function listFinding(list: string, state: BlocklistState): Finding {
  if (state === 'usable') return fine('spam_filter', `${list} passes its test (RFC 5782).`)
  const [says, advice] = PROBLEMS[state]
  return warning('spam_filter', `${list} ${says}`, advice)
}

function daemonsOf({ config, clock }: Pick<DoctorDeps, 'config' | 'clock'>): Promise<Finding>[] {
  const { RSPAMD_URL: url, CLAMAV_HOST: host } = config
  const found: Promise<Finding>[] = []
  const add = (name: string, setting: string, answer: Promise<unknown>) => {
    const silent = warning(
      'spam_filter',
      `${name} does not answer: messages are received without it.`,
      `Start it, or check ${setting}.`,
    )
    found.push(
      answer.then(
        () => fine('spam_filter', `${name} answers.`),
        () => silent,
      ),
    )
  }
  if (url !== '') add('rspamd', 'RSPAMD_URL', new Rspamd({ url, password: '', clock }).ping(TIMEOUT_MS))
  if (host !== '') add('ClamAV', 'CLAMAV_HOST', new VirusScan(host, clock).find([Buffer.from('Hello')], TIMEOUT_MS))
  return found
}
