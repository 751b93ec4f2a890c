// DNS as one check of one mail sees it: until its deadline, and with a note of what was asked and answered.

import type { Clock } from '../base/clock.ts'
import type { Resolver } from '../base/resolver.ts'
import type { DnsEvidence } from '../mime/message.ts'
import { clean } from '../mime/one-line.ts'

/** How many questions of one mail are kept; SPF, ten keys and DMARC of honest mail need fewer. */
export const EVIDENCE_MAX = 50
/** Characters kept of a name and of an answer. */
const NAME_CHARS_MAX = 255
const ANSWER_CHARS_MAX = 300

export class WatchedDns {
  readonly evidence: DnsEvidence[] = []
  /** True once the deadline has passed: what was not answered by then never will be. */
  expired = false
  readonly #resolver: Resolver
  readonly #deadline: Promise<never>
  readonly #release: () => void

  constructor(resolver: Resolver, clock: Clock, deadlineMs: number) {
    this.#resolver = resolver
    let expire: (() => void) | undefined
    this.#deadline = new Promise<never>((_, reject) => {
      expire = () => {
        this.expired = true
        reject(timeIsUp())
      }
    })
    // Nobody may be waiting when the time is up.
    this.#deadline.catch(() => {})
    const timer = clock.after(deadlineMs, () => expire?.())
    this.#release = () => timer.cancel()
  }

  /** Answers as the resolver does; ETIMEOUT for whatever is open at the deadline. */
  readonly resolve = async (name: string, type: string): Promise<unknown[]> => {
    if (this.expired) throw timeIsUp()
    try {
      const answer = (await Promise.race([this.#resolver.resolve(name, type), this.#deadline])) as unknown[]
      this.#note(name, type, answer.map(asText).join(' | '))
      return answer
    } catch (error) {
      this.#note(name, type, (error as { code?: string }).code ?? 'error')
      throw error
    }
  }

  close(): void {
    this.#release()
  }

  #note(name: string, type: string, answer: string): void {
    if (this.evidence.length >= EVIDENCE_MAX) return
    if (this.evidence.some((known) => known.name === name && known.type === type)) return
    this.evidence.push({ name: clean(name, NAME_CHARS_MAX), type, answer: clean(answer, ANSWER_CHARS_MAX) })
  }
}

function timeIsUp(): Error {
  return Object.assign(new Error('The time for this check is over.'), { code: 'ETIMEOUT' })
}

function asText(record: unknown): string {
  if (Array.isArray(record)) return record.join('')
  if (typeof record === 'object' && record !== null && 'exchange' in record) {
    const { priority, exchange } = record as { priority: number; exchange: string }
    return `${priority} ${exchange || '.'}`
  }
  return String(record)
}
