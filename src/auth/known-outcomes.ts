// Outcomes of checks that follow from their key and from DNS answers: one is used again while each of its questions has the same answer.

import type { Resolve } from 'mailauth/parts'
import { answerText, type RecordingResolver } from './recording-resolver.ts'

const OUTCOMES_MAX = 500
/** Bounds of what is kept of one check: questions, and characters of its key and answers. */
const QUESTIONS_MAX = 20
const CHARS_MAX = 4096

interface Answered {
  name: string
  type: string
  /** See `answerText`. */
  answer: string
}

interface Known<T> {
  questions: readonly Answered[]
  outcome: T
}

/** Asks questions; `known` gives answers that are there at once. */
type Asking = Pick<RecordingResolver, 'resolve'> & Partial<Pick<RecordingResolver, 'known'>>

export class KnownOutcomes<T> {
  /** Least recently used first. */
  readonly #known = new Map<string, Known<T>>()

  /**
   * The outcome of `evaluate`. Each question is asked again, in the same order, so that evidence and caching are those of an
   * evaluation; the first other answer leads to one.
   * @param evaluate must depend on nothing but the key and the answers; its outcome is shared and must not be modified
   * @param isLasting false for an outcome that must not be used again
   * @throws what `evaluate` throws
   */
  async get(
    key: string,
    dns: Asking,
    evaluate: (resolve: Resolve) => Promise<T>,
    isLasting: (outcome: T) => boolean = () => true,
  ): Promise<T> {
    const known = this.#known.get(key)
    if (known !== undefined && areKnown(known.questions, dns)) {
      this.#keep(key, known)
      return known.outcome
    }
    const questions = new Questions(dns.resolve)
    if (known !== undefined && (await questions.areAnsweredAs(known.questions))) {
      this.#keep(key, known)
      return known.outcome
    }
    const outcome = await evaluate(questions.ask)
    const answered = await questions.answered(CHARS_MAX - key.length)
    if (answered !== null && isLasting(outcome)) this.#keep(key, { questions: answered, outcome })
    return outcome
  }

  #keep(key: string, known: Known<T>): void {
    this.#known.delete(key)
    this.#known.set(key, known)
    if (this.#known.size > OUTCOMES_MAX) this.#known.delete(this.#known.keys().next().value!)
  }
}

/** Whether all answers are the same and there at once, which most are: promises would cost more than the rest. */
function areKnown(questions: readonly Answered[], { known }: Asking): boolean {
  return known !== undefined && questions.every(({ name, type, answer }) => known(name, type) === answer)
}

/** The questions of one check, each asked once. */
class Questions {
  readonly #resolve: Resolve
  readonly #asked = new Map<string, { name: string; type: string; answer: Promise<unknown[]> }>()

  constructor(resolve: Resolve) {
    this.#resolve = resolve
  }

  readonly ask: Resolve = (name, type) => {
    const key = `${type} ${name}`
    const known = this.#asked.get(key)
    if (known !== undefined) return known.answer
    const answer = this.#resolve(name, type)
    this.#asked.set(key, { name, type, answer })
    return answer
  }

  /** Stops at the first other answer: what an evaluation asks next follows from it. */
  async areAnsweredAs(known: readonly Answered[]): Promise<boolean> {
    for (const { name, type, answer } of known) if ((await answerText(this.ask(name, type))) !== answer) return false
    return true
  }

  /** Null when an answer was an error that may pass, or there is more to keep than `room` characters. */
  async answered(room: number): Promise<Answered[] | null> {
    if (this.#asked.size > QUESTIONS_MAX) return null
    const answered: Answered[] = []
    let chars = 0
    for (const { name, type, answer } of this.#asked.values()) {
      const text = await answerText(answer)
      if (text === null) return null
      answered.push({ name, type, answer: text })
      chars += name.length + text.length
    }
    return chars <= room ? answered : null
  }
}
