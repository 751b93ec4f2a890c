// Reads records where they are changed: at one name server, without a cache.

import type { Answer } from 'dns-packet'
import type { Clock } from '../base/clock.ts'
import { exchange, type NameServer } from '../base/dns-exchange.ts'
import { dataOf, stringBytes, type WireType } from './wire.ts'

const TIMEOUT_MS = 10_000

export class ZoneView {
  readonly #server: NameServer
  readonly #clock: Clock
  /** Data of the texts that were read, by name and value. */
  readonly #texts = new Map<string, Buffer>()

  constructor(server: NameServer, clock: Clock) {
    this.#server = server
    this.#clock = clock
  }

  /** The zone that a name is in, which the server is to serve. @throws Error when it serves none above the name */
  async zoneOf(name: string): Promise<string> {
    const labels = name.split('.')
    for (let from = 0; from < labels.length; from++) {
      const zone = labels.slice(from).join('.')
      const answers = await this.#ask(zone, 'SOA')
      if (answers.some((answer) => answer.type === 'SOA' && plain(answer.name) === zone)) return zone
    }
    throw new Error(`The name server does not serve a zone of ${name}.`)
  }

  /** Values of one name and type, as in a zone file without quotation marks; aliases are not followed. @throws Error */
  async values(name: string, type: WireType): Promise<string[]> {
    const all = await this.#ask(name, type)
    const answers = all.filter((answer) => answer.type === type && plain(answer.name) === name.toLowerCase())
    for (const answer of answers)
      if (answer.type === 'TXT') this.#texts.set(`${name} ${textOf(answer)}`, stringBytes(answer.data as Buffer[]))
    return answers.map(textOf)
  }

  /** Data of a record that was read. The strings of a text may be cut in another way than ours, and make another record. */
  dataOf(name: string, type: WireType, value: string): Buffer {
    return (type === 'TXT' ? this.#texts.get(`${name} ${value}`) : undefined) ?? dataOf(type, value)
  }

  async #ask(name: string, type: string): Promise<readonly Answer[]> {
    const question = { name, type } as Parameters<typeof exchange>[0]
    const options = { server: this.#server, clock: this.#clock, timeoutMs: TIMEOUT_MS, edns: true }
    const { packet, rcode } = await exchange(question, { ...options, pendingCancels: new Set() })
    if (rcode !== 'NOERROR' && rcode !== 'NXDOMAIN') throw new Error(`The name server answers ${rcode} for ${name}.`)
    return packet.answers ?? []
  }
}

const plain = (name: string) => name.toLowerCase().replace(/\.$/, '')

function textOf(answer: Answer): string {
  switch (answer.type) {
    case 'TXT':
      return Buffer.concat(answer.data as Buffer[]).toString('latin1')
    case 'MX':
      return `${answer.data.preference} ${plain(answer.data.exchange)}`
    case 'SRV': {
      const { priority, weight, port, target } = answer.data
      return `${priority} ${weight} ${port} ${target === '.' ? '.' : plain(target)}`
    }
    case 'CAA':
      return `${answer.data.flags} ${answer.data.tag} "${answer.data.value}"`
    case 'CNAME':
      return plain(answer.data)
    default:
      return String((answer as { data: unknown }).data)
  }
}
