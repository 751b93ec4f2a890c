// Notices to team owners and operators by mail: one for each fact for as long as it holds.

import type { Clock } from '../base/clock.ts'
import type { Db, Reader } from '../db/db.ts'
import type { SystemMailer } from './deps.ts'
import type { Members } from './members.ts'
import type { Persons } from './persons.ts'

/** A fact the owners of a team, or the operators, are notified of. */
export interface OwnerFact {
  /** Identifies the fact: equal for the same occurrence, different for a later recurrence. */
  key: string
  /** Null: the operators are notified. */
  teamId: string | null
  subject: string
  text: string
}

interface Deps {
  db: Db
  clock: Clock
  mailer: SystemMailer
  members: Members
  persons: Pick<Persons, 'operators'>
}

export class OwnerNotices {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Sends every owner of the team, or every operator, a message with the new ones of the facts that hold now, and forgets those of the kind that no longer hold. The message and the
   * note that it was sent are one unit of work.
   * @param kind the prefix of all the keys
   * @returns the number of new facts
   */
  async notify(kind: string, facts: readonly OwnerFact[]): Promise<number> {
    const { db } = this.#deps
    const known = this.#known(db.read, kind)
    const holding = new Set(facts.map(({ key }) => key))
    const ended = [...known].filter((key) => !holding.has(key))
    if (ended.length > 0) {
      await db.write((tx) => {
        for (const key of ended) tx.run('DELETE FROM noticed_facts WHERE fact = ?', [key])
      })
    }
    const fresh = facts.filter(({ key }) => !known.has(key))
    for (const fact of fresh) await this.#send(fact)
    return fresh.length
  }

  async #send({ key, teamId, subject, text }: OwnerFact): Promise<void> {
    const { db, clock, mailer, members, persons } = this.#deps
    const receivers = teamId === null ? persons.operators() : members.owners(teamId)
    const messages = await Promise.all(receivers.map((to) => mailer.prepare({ to, subject, text })))
    await db.write((tx) => {
      const sql = 'INSERT INTO noticed_facts (fact, at) VALUES (?, ?) ON CONFLICT DO NOTHING'
      const { changes } = tx.run(sql, [key, clock.now()])
      if (changes > 0) for (const message of messages) message.sendIn(tx)
    })
  }

  #known(reader: Reader, kind: string): Set<string> {
    const rows = reader.all<{ fact: string }>('SELECT fact FROM noticed_facts WHERE fact >= ? AND fact < ?', [
      `${kind} `,
      `${kind}!`,
    ])
    return new Set(rows.map(({ fact }) => fact))
  }
}
