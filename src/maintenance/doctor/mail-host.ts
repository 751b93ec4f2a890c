// Checks the DNS records of the mail hosts: addresses, reverse DNS, and the records for sending and reports.

import { isPublicAddress } from '../../base/public-address.ts'
import type { Resolver } from '../../base/resolver.ts'
import { hostRecords, type ZoneRecord } from '../../directory/domains/dns-records.ts'
import { bounceDomain, isReserved } from '../../directory/names/domain-name.ts'
import { reverseName } from '../../net/reverse-name.ts'
import { type CheckName, type Finding, failing, fine, warning } from './finding.ts'

/** Addresses of one host whose names are asked for. */
export const ADDRESSES_MAX = 8

/** Values of a record; `sure` is false where no name server answered. */
interface RecordAnswer {
  values: string[]
  sure: boolean
}

export async function checkHosts(resolver: Resolver, hosts: readonly string[]): Promise<Finding[]> {
  const known = hosts.filter((host) => !isReserved(host))
  const found = (await Promise.all(known.map((host) => checkHost(resolver, host)))).flat()
  // Mail leaves under the first name, and reports come back to it.
  return [...found, ...(known[0] === undefined ? [] : await checkHostRecords(resolver, known[0]))]
}

async function checkHostRecords(resolver: Resolver, host: string): Promise<Finding[]> {
  const wanted = hostRecords(host, bounceDomain(host))
  const looks = await Promise.all(wanted.map((record) => checkHostRecord(resolver, record)))
  const wrong = looks.filter((one) => one !== null)
  return wrong.length > 0 ? wrong : [fine('host_records', `${host} may send, and reports reach it.`)]
}

/** Null for a record that does its work: others may stand beside what we ask for. */
async function checkHostRecord(resolver: Resolver, { name, type, value }: ZoneRecord): Promise<Finding | null> {
  // Any name stands for all of them.
  const { values, sure } = await askRecord(resolver, name.replace('*', 'any'), type)
  if (!sure) return unasked('host_records', name)
  if (isAnswered({ type, value }, values)) return null
  return warning('host_records', `The ${type} record ${name} is missing.`, `Set it to: ${value}`)
}

/** Whether one of the values does the work of a record: others may stand beside it. */
export function isAnswered({ type, value }: Pick<ZoneRecord, 'type' | 'value'>, values: readonly string[]): boolean {
  const [kind = '', host] = value.split(' ')
  return values.some((found) => (type === 'MX' ? found === host : found.startsWith(kind.toLowerCase())))
}

async function checkHost(resolver: Resolver, host: string): Promise<Finding[]> {
  const [four, six] = await Promise.all([askRecord(resolver, host, 'A'), askRecord(resolver, host, 'AAAA')])
  const addresses = [...four.values, ...six.values].slice(0, ADDRESSES_MAX)
  if (addresses.length === 0) {
    if (!four.sure || !six.sure) return [unasked('mail_host', host)]
    return [failing('mail_host', `${host} has no address in DNS.`, `Create an A or AAAA record for ${host}.`)]
  }
  const inside = addresses.filter((address) => !isPublicAddress(address))
  const found =
    inside.length === 0
      ? fine('mail_host', `${host} is ${addresses.join(', ')}.`)
      : warning(
          'mail_host',
          `${host} is ${inside.join(', ')}, which cannot be reached from outside.`,
          `Let ${host} name the public address of this machine.`,
        )
  const reverse = addresses.filter(isPublicAddress).map((address) => checkReverseDns(resolver, host, address))
  return [found, ...(await Promise.all(reverse))]
}

async function checkReverseDns(resolver: Resolver, host: string, address: string): Promise<Finding> {
  const name = reverseName(address)
  const { values, sure } = await askRecord(resolver, name, 'PTR')
  if (values.includes(host)) return fine('reverse_dns', `The PTR record of ${address} is ${host}.`)
  if (!sure) return unasked('reverse_dns', name)
  const says =
    values.length === 0 ? `${address} has no PTR record.` : `The PTR record of ${address} is ${values[0]}, not ${host}.`
  const advice = `Ask the provider of the address to set its PTR record to ${host}: many servers reject mail without it.`
  return warning('reverse_dns', says, advice)
}

function unasked(check: CheckName, name: string): Finding {
  const says = `No name server answered for ${name}.`
  return warning(check, says, 'Check the network and DNS_SERVERS, then run mailstead doctor again.')
}

/** Hosts and addresses are texts, mail servers have a rank, texts come in pieces. */
type Value = string | string[] | { exchange: string }

function textOf(value: Value): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.join('') : value.exchange
}

/** Asks for a record, bypassing the cache; values in lower case, hosts without the last dot. */
export async function askRecord(resolver: Resolver, name: string, type: string): Promise<RecordAnswer> {
  try {
    const values = ((await resolver.fresh(name, type)) as Value[]).map(textOf)
    return { values: values.map((value) => value.toLowerCase().replace(/\.$/, '')), sure: true }
  } catch (error) {
    const { code } = error as { code?: string }
    return { values: [], sure: code === 'ENOTFOUND' || code === 'ENODATA' }
  }
}
