// Metrics of IMAP (docs/design/mail-programs.md §6): connections, logins, commands, bytes, and how fast changes reach idle clients.

import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Bounds of seconds: from a command without reading to a search of everything. */
const COMMAND_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60]
/** Changes are combined for a quarter of a second before clients are notified. */
const NOTIFY_SECONDS = [0.25, 0.3, 0.4, 0.6, 1, 2, 5, 10]

/** What is not counted but looked at, at each scrape. */
export interface ImapState {
  /** Bytes that open sessions have sent so far. */
  openBytes(): number
  /** Folders whose UIDs are in memory. */
  views(): number
  /** Connections that compress. */
  compressed(): number
  /** Connections whose client takes nothing although output waits. */
  blocked(): number
}

export class ImapMeters {
  readonly registry = new Registry()
  readonly #connections: Gauge<'protocol'>
  readonly #logins: Counter<'outcome'>
  readonly #commands: Counter<'name' | 'result'>
  readonly #commandSeconds: Histogram
  readonly #notifySeconds: Histogram
  /** Bytes of sessions that have ended. */
  #bytes = 0

  constructor(state: ImapState) {
    const registers = [this.registry]
    const described = (name: string, help: string) => ({ name: `mailstead_${name}`, help, registers })
    const labelled = <L extends string>(labelNames: L[], name: string, help: string) => ({
      ...described(name, help),
      labelNames,
    })
    this.#connections = new Gauge(labelled(['protocol'], 'imap_connections', 'Open IMAP sessions, by listener.'))
    this.#logins = new Counter(labelled(['outcome'], 'imap_logins_total', 'IMAP logins, by outcome.'))
    this.#commands = new Counter(
      labelled(['name', 'result'], 'imap_commands_total', 'IMAP commands, by name and result.'),
    )
    const seconds = 'Duration of IMAP commands, the transfer of messages included; without IDLE.'
    this.#commandSeconds = new Histogram({ ...described('imap_command_seconds', seconds), buckets: COMMAND_SECONDS })
    const notified = 'From the notification of a change to its announcement to an idle client.'
    this.#notifySeconds = new Histogram({ ...described('imap_notify_seconds', notified), buckets: NOTIFY_SECONDS })
    const bytes = () => this.#bytes + state.openBytes()
    new Counter({
      ...described('imap_bytes_out_total', 'Bytes sent by IMAP, before compression and TLS.'),
      collect() {
        this.reset()
        this.inc(bytes())
      },
    })
    const gauge = (name: string, help: string, value: () => number) =>
      new Gauge({
        ...described(name, help),
        collect() {
          this.set(value())
        },
      })
    gauge('imap_views', 'Folders whose UIDs are in memory.', state.views)
    gauge('imap_compressed_connections', 'IMAP connections that compress.', state.compressed)
    gauge('imap_blocked_connections', 'IMAP connections whose client does not read.', state.blocked)
  }

  opened(protocol: string): void {
    this.#connections.inc({ protocol })
  }

  /** @param bytes that the session has sent */
  closed(protocol: string, bytes: number): void {
    this.#connections.dec({ protocol })
    this.#bytes += bytes
  }

  /** @param outcome `ok`, or why it failed */
  login(outcome: string): void {
    this.#logins.inc({ outcome })
  }

  /** @param seconds null for a command that waits for its client */
  command(name: string, result: string, seconds: number | null): void {
    this.#commands.inc({ name, result })
    if (seconds !== null) this.#commandSeconds.observe(seconds)
  }

  notified(seconds: number): void {
    this.#notifySeconds.observe(seconds)
  }
}
