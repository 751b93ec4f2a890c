// What a run asks that is known only when the message is stored: which ids were seen, and the level of spam.

import { hash } from 'node:crypto'
import { SieveRuntimeError } from './errors.ts'
import { QUESTIONS_MAX, type TrackedId } from './outcome.ts'
import type { DuplicateTest } from './script.ts'
import { askedLevel, idQuestions } from './spam-level.ts'

/** Characters of a digest, in hexadecimal. */
const ID_LENGTH = 32

/** Nothing is assumed yet of what is asked. */
export class Undecided extends Error {
  readonly id: string

  constructor(id: string) {
    super('Undecided.')
    this.id = id
  }
}

/** The questions of one run, which ends with `Undecided` where nothing is assumed. */
export class Questions {
  readonly #answers: ReadonlyMap<string, boolean>
  readonly #ids = new Map<string, TrackedId>()

  /** @param answers what is assumed */
  constructor(answers: ReadonlyMap<string, boolean>) {
    this.#answers = answers
  }

  /** RFC 7352 §3: ids that are remembered when the script ends well; none is absent. */
  get remembered(): { ids?: TrackedId[] } {
    return this.#ids.size > 0 ? { ids: [...this.#ids.values()] } : {}
  }

  /** @param value what identifies the message; undefined where it has no such field */
  isDuplicate({ handle, by, seconds, last }: DuplicateTest, value: string | undefined): boolean {
    if (value === undefined) return false
    const kind = 'id' in by ? 'id' : `header ${by.header}`
    const id = hash('sha256', [handle, kind, value].join('\n')).slice(0, ID_LENGTH)
    const seen = this.#answers.get(id)
    if (seen === undefined) {
      if (idQuestions(this.#answers) >= QUESTIONS_MAX)
        throw new SieveRuntimeError(`A script can ask for at most ${QUESTIONS_MAX} ids of a message.`)
      throw new Undecided(id)
    }
    if (!seen || last) this.#ids.set(id, { id, seconds })
    return seen
  }

  spamLevel(): number {
    const asked = askedLevel(this.#answers)
    if ('ask' in asked) throw new Undecided(asked.ask)
    return asked.level
  }
}
