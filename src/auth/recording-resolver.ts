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

  /** The answer as `answerText` writes it, when the resolver has it at once; undefined otherwise. */
  readonly known = (name: string, type: string): string | undefined => {
    const answer = this.expired ? undefined : this.#resolver.cached?.(name, type)
    if (answer === undefined) return undefined
    if ('code' in answer) {
      this.#note(name, type, answer.code)
      return isAbsence(answer.code) ? answer.code : undefined
    }
    this.#note(name, type, answer.records.map(asText).join(' | '))
    return JSON.stringify(answer.records)
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

/** The records of an answer, or the code that says there are none; null for any other error. */
export async function answerText(answer: Promise<unknown[]>): Promise<string | null> {
  try {
    return JSON.stringify(await answer)
  } catch (error) {
    const { code = '' } = error as { code?: string }
    return isAbsence(code) ? code : null
  }
}

/** The answer that `answerText` has written. @throws Error with its code */
export async function answerOf(text: string): Promise<unknown[]> {
  if (isAbsence(text)) throw Object.assign(new Error('There are no such records.'), { code: text })
  return JSON.parse(text) as unknown[]
}

function isAbsence(code: string): boolean {
  return code === 'ENOTFOUND' || code === 'ENODATA'
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
