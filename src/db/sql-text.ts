// Pieces of SQL text: lists of placeholders and conditions that are added one by one.

import type { SqlValue } from './sql.ts'

/** The placeholders of a list of values, `?, ?, ?`, for IN (…) and VALUES (…). */
export function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}

/** Conditions of a WHERE clause, all of which hold, with their values. */
export class Where {
  readonly #conditions: string[] = []
  readonly values: SqlValue[] = []

  /** @param condition SQL with a placeholder for each value */
  add(condition: string, ...values: SqlValue[]): this {
    this.#conditions.push(condition)
    this.values.push(...values)
    return this
  }

  /** The conditions joined by AND; true without any. */
  get sql(): string {
    return this.#conditions.length === 0 ? '1 = 1' : this.#conditions.join(' AND ')
  }
}
