// The resolver for the authentication of one message: with a deadline, and a record of queries and answers as evidence.

import type { Clock } from '../base/clock.ts'
import type { Resolver } from '../base/resolver.ts'
import type { DnsEvidence } from '../mime/message.ts'
import { clean } from '../mime/one-line.ts'

/** Recorded queries per message; SPF, ten keys and DMARC of legitimate messages need fewer. */
export const EVIDENCE_MAX = 50
/** Recorded characters of a name and of an answer. */
const NAME_CHARS_MAX = 255
const ANSWER_CHARS_MAX = 300

export class RecordingResolver {
  readonly evidence: DnsEvidence[] = []
  /** True after the deadline: all later queries fail. */
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
    // The rejection must not be unhandled when no query is pending.
    this.#deadline.catch(() => {})
    const timer = clock.after(deadlineMs, () => expire?.())
    this.#release = () => timer.cancel()
  }

  /** Resolves like the resolver; ETIMEOUT for queries that are pending at the deadline. */
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
  return Object.assign(new Error('The deadline of this check has passed.'), { code: 'ETIMEOUT' })
}

function asText(record: unknown): string {
  if (Array.isArray(record)) return record.join('')
  if (typeof record === 'object' && record !== null && 'exchange' in record) {
    const { priority, exchange } = record as { priority: number; exchange: string }
    return `${priority} ${exchange || '.'}`
  }
  return String(record)
}
