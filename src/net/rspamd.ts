// Asks rspamd about messages over its HTTP interface, and teaches it what people have said.

import { openAsBlob } from 'node:fs'
import type { Clock } from '../base/clock.ts'

/** A message in memory or in a file. */
export type FilterContent = { bytes: Uint8Array } | { file: string }

/** Facts of the transaction, as header fields of the request. */
export interface FilterEnvelope {
  address: string
  helo: string
  /** Null when the host has none. */
  hostName: string | null
  mailFrom: string
  rcptTo: readonly string[]
  queueId: string
}

export interface RspamdVerdict {
  score: number
  /** The score from which it marks messages as spam. */
  spamFrom: number
  /** Its action is one for spam, whatever the score. */
  isSpam: boolean
  /** Names of its symbols, the heaviest first. */
  symbols: string[]
}

/** The score from which its default configuration marks messages. */
const SPAM_FROM = 6
const SPAM_ACTIONS: readonly unknown[] = ['add header', 'rewrite subject', 'reject']
/** Bytes of an answer that are read. */
const ANSWER_MAX = 1024 * 1024
interface Answer {
  score?: unknown
  action?: unknown
  thresholds?: Record<string, unknown>
  symbols?: Record<string, { score?: unknown }>
}

export class Rspamd {
  readonly #url: string
  readonly #password: string
  readonly #clock: Clock

  /** @param url of its controller, which also learns */
  constructor({ url, password, clock }: { url: string; password: string; clock: Clock }) {
    this.#url = url.replace(/\/+$/, '')
    this.#password = password
    this.#clock = clock
  }

  /** @throws Error without a usable answer in `timeoutMs` */
  async check(content: FilterContent, envelope: FilterEnvelope, timeoutMs: number): Promise<RspamdVerdict> {
    const { status, text } = await this.#post('/checkv2', content, { headers: headersOf(envelope), timeoutMs })
    if (status !== 200) throw new Error(`rspamd answered with status ${status}.`)
    return verdictOf(JSON.parse(text) as Answer)
  }

  /** A message that rspamd refuses to learn, such as one of few words, is left out. @throws Error without an answer in `timeoutMs`, or without the right to learn */
  async learn(content: FilterContent, isSpam: boolean, timeoutMs: number): Promise<void> {
    const headers: [string, string][] = this.#password === '' ? [] : [['Password', this.#password]]
    const { status } = await this.#post(isSpam ? '/learnspam' : '/learnham', content, { headers, timeoutMs })
    if (status === 401 || status === 403 || status === 404)
      throw new Error(
        `rspamd answered with status ${status}: RSPAMD_URL must be its controller, RSPAMD_PASSWORD its password.`,
      )
  }

  /** @throws Error when nothing answers in `timeoutMs` */
  async ping(timeoutMs: number): Promise<void> {
    const { status } = await this.#post('/ping', { bytes: new Uint8Array(0) }, { headers: [], timeoutMs })
    if (status >= 500) throw new Error(`rspamd answered with status ${status}.`)
  }

  async #post(
    path: string,
    content: FilterContent,
    { headers, timeoutMs }: { headers: [string, string][]; timeoutMs: number },
  ): Promise<{ status: number; text: string }> {
    const controller = new AbortController()
    const timer = this.#clock.after(timeoutMs, () => controller.abort(new Error('rspamd did not answer in time.')))
    try {
      const body = new Blob([
        'bytes' in content ? (content.bytes as Uint8Array<ArrayBuffer>) : await openAsBlob(content.file),
      ])
      const { signal } = controller
      const answer = await fetch(`${this.#url}${path}`, { method: 'POST', headers, body, signal, redirect: 'error' })
      return { status: answer.status, text: answer.body === null ? '' : await readBounded(answer.body) }
    } finally {
      timer.cancel()
    }
  }
}

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body) {
    length += part.length
    if (length > ANSWER_MAX) throw new Error('The answer of rspamd is too long.')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function headersOf(envelope: FilterEnvelope): [string, string][] {
  const { address, helo, hostName, mailFrom, rcptTo, queueId } = envelope
  const fields: [string, string][] = [
    ...([
      ['IP', address],
      ['Helo', helo],
      ['From', mailFrom],
      ['Queue-Id', queueId],
    ] as [string, string][]),
    ...rcptTo.map((address): [string, string] => ['Rcpt', address]),
  ]
  if (hostName !== null) fields.push(['Hostname', hostName])
  return fields.map(([name, value]) => [name, printable(value)])
}

/** Header values of HTTP have no line ends, and no characters beyond ASCII. */
function printable(text: string): string {
  return text.replace(/[^ -~]/g, '?')
}

function verdictOf({ score, action, thresholds, symbols }: Answer): RspamdVerdict {
  if (typeof score !== 'number' || !Number.isFinite(score)) throw new Error('rspamd answered without a score.')
  const from = thresholds?.['add header']
  const weights = Object.entries(symbols ?? {}).map(([name, symbol]) => [name, Number(symbol.score) || 0] as const)
  const heaviest = weights.filter(([, weight]) => weight >= 0).sort(([, a], [, b]) => b - a)
  return {
    score,
    spamFrom: typeof from === 'number' && from > 0 ? from : SPAM_FROM,
    isSpam: SPAM_ACTIONS.includes(action),
    symbols: heaviest.map(([name]) => name.replace(/[^\w-]/g, '_').slice(0, 60)),
  }
}
