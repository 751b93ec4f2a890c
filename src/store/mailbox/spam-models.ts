// The models of mailboxes and teams: rows, and those in use in memory.

import type { Db, Reader, Tx } from '../../db/db.ts'
import { bytes, integer, type RecordOf, table, text, time } from '../../db/table.ts'
import { FEATURE_SET } from '../../spam/features.ts'
import { LearnedModel } from '../../spam/learned-model.ts'

export const SPAM_MODELS = table('spam_models', {
  owner: text(),
  team_id: text().orNull(),
  version: integer(),
  ham: integer(),
  spam: integer(),
  trained_at: time(),
  weights: bytes().hidden(),
  feature_set: integer().or(1),
})
const WEIGHTS = SPAM_MODELS.only('version', 'weights')

/** A model without its weights; `ham` and `spam` count the labels it has learned. */
export type SpamModelRow = RecordOf<typeof SPAM_MODELS>

/** Models in memory, 64 KiB each. */
const LOADED_MAX = 64

export class SpamModels {
  readonly #db: Db
  readonly #loaded = new Map<string, { version: number; model: LearnedModel }>()

  constructor(db: Db) {
    this.#db = db
  }

  /** The models of a mailbox and of its team, as far as there are any of the features of this version. */
  of(mailboxId: string, teamId: string): LearnedModel[] {
    const rows = this.#db.read.all<{ owner: string; version: number }>(
      'SELECT owner, version FROM spam_models WHERE owner IN (?, ?) AND feature_set = ?',
      [mailboxId, teamId, FEATURE_SET],
    )
    return rows.flatMap(({ owner, version }) => this.#load(owner, version) ?? [])
  }

  /** The model of a mailbox or a team, without its weights. */
  row(owner: string, reader: Reader = this.#db.read): SpamModelRow | undefined {
    return SPAM_MODELS.get(reader, 'WHERE owner = ?', [owner])
  }

  /** Models of mailboxes of a team, with their weights. */
  ofTeam(reader: Reader, teamId: string): { row: SpamModelRow; model: LearnedModel }[] {
    const selection = SPAM_MODELS.and('weights')
    return selection
      .all(reader, 'WHERE team_id = ? AND feature_set = ? ORDER BY owner', [teamId, FEATURE_SET])
      .map(({ weights, ...row }) => ({ row, model: LearnedModel.decode(weights) }))
  }

  /** What the mailboxes of a team have learned together; null: nothing. */
  learnedBy(teamId: string): { mailboxes: number; ham: number; spam: number; trainedAt: number } | null {
    const row = this.#db.read.get<{ mailboxes: number; ham: number; spam: number; trained_at: number }>(
      `SELECT count(*) AS mailboxes, sum(ham) AS ham, sum(spam) AS spam, max(trained_at) AS trained_at
       FROM spam_models WHERE team_id = ?`,
      [teamId],
    )!
    const { mailboxes, ham, spam, trained_at: trainedAt } = row
    return mailboxes === 0 ? null : { mailboxes, ham, spam, trainedAt }
  }

  put(tx: Tx, row: Omit<SpamModelRow, 'version' | 'featureSet'>, model: LearnedModel): void {
    const version = (this.row(row.owner, tx)?.version ?? 0) + 1
    tx.run('DELETE FROM spam_models WHERE owner = ?', [row.owner])
    SPAM_MODELS.insert(tx, { ...row, version, featureSet: FEATURE_SET, weights: model.encode() })
  }

  /** Removes the model of a mailbox, and that of its team, which is made again without it. @returns the number of deleted rows */
  remove(tx: Tx, mailboxId: string): number {
    const teamId = this.row(mailboxId, tx)?.teamId ?? null
    return tx.run('DELETE FROM spam_models WHERE owner IN (?, ?)', [mailboxId, teamId]).changes
  }

  removeTeam(tx: Tx, teamId: string): number {
    return tx.run('DELETE FROM spam_models WHERE owner = ?', [teamId]).changes
  }

  /** Teams of several mailboxes with models whose own model is missing. */
  teamsToJoin(reader: Reader = this.#db.read): string[] {
    const rows = reader.all<{ id: string }>(
      `SELECT team_id AS id FROM spam_models m WHERE team_id IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM spam_models t WHERE t.owner = m.team_id) GROUP BY team_id HAVING count(*) > 1`,
    )
    return rows.map(({ id }) => id)
  }

  #load(owner: string, version: number): LearnedModel | undefined {
    const known = this.#loaded.get(owner)
    if (known?.version === version) return known.model
    const row = WEIGHTS.get(this.#db.read, 'WHERE owner = ?', [owner])
    if (row === undefined) return undefined
    const model = LearnedModel.decode(row.weights)
    this.#loaded.delete(owner)
    this.#loaded.set(owner, { version: row.version, model })
    if (this.#loaded.size > LOADED_MAX) this.#loaded.delete(this.#loaded.keys().next().value!)
    return model
  }
}
