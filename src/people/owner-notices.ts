// What owners were told already: each fact once, for as long as it holds.

import type { Clock } from '../base/clock.ts'
import type { Db, Reader } from '../db/db.ts'
import type { Post } from './deps.ts'
import type { Members } from './members.ts'

/** Something the owners of a team have to know. */
export interface OwnerFact {
  /** Names it: the same fact has the same key, the same thing going wrong again has another. */
  key: string
  teamId: string
  subject: string
  text: string
}

interface Parts {
  db: Db
  clock: Clock
  post: Post
  members: Members
}

export class Told {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Mails every owner what is new among the facts that hold now, and forgets those of the kind that hold no more. A mail and the note
   * that it was sent are one unit of work.
   * @param kind what all the keys begin with
   * @returns how many facts were told
   */
  async tell(kind: string, facts: readonly OwnerFact[]): Promise<number> {
    const { db } = this.#parts
    const known = await this.#known(db.read, kind)
    const holding = new Set(facts.map(({ key }) => key))
    const over = [...known].filter((key) => !holding.has(key))
    if (over.length > 0) {
      await db.write(async (tx) => {
        for (const key of over) await tx.run('DELETE FROM told_facts WHERE fact = ?', [key])
      })
    }
    const fresh = facts.filter(({ key }) => !known.has(key))
    for (const fact of fresh) await this.#one(fact)
    return fresh.length
  }

  async #one({ key, teamId, subject, text }: OwnerFact): Promise<void> {
    const { db, clock, post, members } = this.#parts
    const owners = await members.owners(teamId)
    const mails = await Promise.all(owners.map((to) => post.prepare({ to, subject, text })))
    await db.write(async (tx) => {
      const sql = 'INSERT INTO told_facts (fact, at) VALUES (?, ?) ON CONFLICT DO NOTHING'
      const { changes } = await tx.run(sql, [key, clock.now()])
      if (changes > 0) for (const mail of mails) await mail.sendIn(tx)
    })
  }

  async #known(reader: Reader, kind: string): Promise<Set<string>> {
    const rows = await reader.all<{ fact: string }>('SELECT fact FROM told_facts WHERE fact >= ? AND fact < ?', [
      `${kind} `,
      `${kind}!`,
    ])
    return new Set(rows.map(({ fact }) => fact))
  }
}
