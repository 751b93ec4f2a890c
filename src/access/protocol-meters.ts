// Metrics of a protocol of mail programs: open connections, logins, and commands where they are counted.

import { Counter, Gauge, Registry } from 'prom-client'

/** Names without the prefix of all metrics. */
export interface MeterNames {
  connections: string
  logins: string
  commands?: string
}

export class ProtocolMeters {
  readonly registry = new Registry()
  readonly #connections: Gauge
  readonly #logins: Counter<'outcome'>
  readonly #commands: Counter<'name' | 'result'> | null

  /** @param title of the protocol in the descriptions */
  constructor(title: string, { connections, logins, commands }: MeterNames) {
    const registers = [this.registry]
    const described = (name: string, help: string) => ({ name: `mailstead_${name}`, help, registers })
    this.#connections = new Gauge(described(connections, `Open ${title} sessions.`))
    this.#logins = new Counter({ ...described(logins, `${title} logins, by outcome.`), labelNames: ['outcome'] })
    const counted = commands === undefined ? null : described(commands, `${title} commands, by name and result.`)
    this.#commands = counted && new Counter({ ...counted, labelNames: ['name', 'result'] })
  }

  opened(): void {
    this.#connections.inc()
  }

  closed(): void {
    this.#connections.dec()
  }

  /** @param outcome `ok`, or why it failed */
  login(outcome: string): void {
    this.#logins.inc({ outcome })
  }

  /** A command was answered. @param name one of the protocol, never what a client wrote */
  command(name: string, result: string): void {
    this.#commands?.inc({ name, result })
  }
}
