// Asks rspamd and ClamAV about a message while it is inspected: their answers are facts, and without one the message goes its way.

import { createReadStream } from 'node:fs'
import type { Clock } from '../base/clock.ts'
import { SECOND_MS } from '../base/durations.ts'
import type { Log } from '../base/log.ts'
import { VirusScan } from '../base/virus-scan.ts'
import type { Config } from '../config/config.ts'
import { type FilterContent, Rspamd, type RspamdVerdict } from '../net/rspamd.ts'
import { type Fact, factOf } from '../spam/catalog.ts'
import type { Received } from './received-message.ts'

/** With the 2 seconds of blocklists, which are asked at the end of the inspection, no message waits for 5 seconds. */
const DEADLINE_MS = 4 * SECOND_MS
/** After so many timeouts in a row a daemon is left alone for a time, so that not every message waits for one that hangs. */
const TIMEOUTS_MAX = 3
const PAUSE_MS = 30 * SECOND_MS
/** Points at the score from which rspamd marks spam: it files to Junk alone, and no more than our own words do. */
const RSPAMD_POINTS = 5
const RSPAMD_MAX = 7
const RSPAMD_MIN = -2
const SYMBOLS_SHOWN = 3

interface Deps {
  config: Pick<Config, 'RSPAMD_URL' | 'CLAMAV_HOST'>
  clock: Clock
  log: Log
}

/** What a daemon says of a message. */
type Question = (content: FilterContent, message: Received, timeoutMs: number) => Promise<Fact[]>

export class FilterDaemons {
  readonly #daemons: Daemon[] = []

  constructor({ config, clock, log }: Deps) {
    const { RSPAMD_URL: url, CLAMAV_HOST: clamav } = config
    if (url !== '') {
      const rspamd = new Rspamd({ url, password: '', clock })
      const ask: Question = async (content, message, ms) =>
        rspamdFacts(await rspamd.check(content, envelopeOf(message), ms))
      this.#daemons.push(new Daemon({ name: 'rspamd', silent: factOf('rspamd_silent'), ask, clock, log }))
    }
    if (clamav !== '') {
      const scan = new VirusScan(clamav, clock)
      const ask: Question = async (content, _message, ms) => {
        const virus = await scan.find('bytes' in content ? [content.bytes] : createReadStream(content.file), ms)
        return virus === null ? [] : [factOf('virus_found', virus)]
      }
      this.#daemons.push(new Daemon({ name: 'clamav', silent: factOf('virus_unchecked'), ask, clock, log }))
    }
  }

  /** Starts to ask; the bytes of `content` may be freed afterwards. Never rejects, and takes no longer than the deadline. */
  ask(content: FilterContent, message: Received): Promise<Fact[]> {
    if (this.#daemons.length === 0) return Promise.resolve([])
    const kept = 'bytes' in content ? { bytes: content.bytes.slice() } : content
    return Promise.all(this.#daemons.map((daemon) => daemon.ask(kept, message))).then((facts) => facts.flat())
  }
}

class Daemon {
  readonly #deps: { name: string; silent: Fact; ask: Question; clock: Clock; log: Log }
  #timeouts = 0
  #pausedUntil = 0

  constructor(deps: { name: string; silent: Fact; ask: Question; clock: Clock; log: Log }) {
    this.#deps = deps
  }

  async ask(content: FilterContent, message: Received): Promise<Fact[]> {
    const { name, silent, ask, clock, log } = this.#deps
    const started = clock.monotonic()
    if (started < this.#pausedUntil) return [silent]
    try {
      const facts = await ask(content, message, DEADLINE_MS)
      this.#timeouts = 0
      return facts
    } catch (error) {
      const isTimeout = clock.monotonic() - started >= DEADLINE_MS
      this.#timeouts = isTimeout ? this.#timeouts + 1 : 0
      if (this.#timeouts >= TIMEOUTS_MAX) this.#pausedUntil = clock.monotonic() + PAUSE_MS
      log.warn({ event: 'smtp.filter_silent', daemon: name, err: error }, 'Filter daemon did not answer')
      return [silent]
    }
  }
}

function envelopeOf({ peer, sender, recipients, queueId }: Received) {
  return {
    ...{ address: peer.address, helo: peer.helo, mailFrom: sender.address, queueId },
    hostName: typeof peer.name === 'object' ? peer.name.name : null,
    rcptTo: recipients.map(({ rcptTo }) => rcptTo),
  }
}

function rspamdFacts({ score, spamFrom, isSpam, symbols }: RspamdVerdict): Fact[] {
  const points = Math.max(isSpam ? RSPAMD_POINTS : RSPAMD_MIN, Math.min(RSPAMD_MAX, (RSPAMD_POINTS * score) / spamFrom))
  const rounded = Math.round(10 * points) / 10
  if (rounded === 0) return []
  return [factOf('rspamd', `${score}: ${symbols.slice(0, SYMBOLS_SHOWN).join(', ')}`.replace(/: $/, ''), rounded)]
}
