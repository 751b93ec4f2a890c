// How far a long operation is: steps, each with an amount.

/** What the amounts of a step are. */
export type ProgressUnit = 'bytes' | 'messages' | 'contents'

/** Receives the steps of a long operation. */
export interface StepProgress {
  /**
   * Starts a step; the one before has ended.
   * @param label such as `Copying mail.db`
   * @param total left out when it is not known beforehand
   */
  begin(label: string, unit?: ProgressUnit, total?: number): void
  /** Adds to what is done of the step. */
  add(amount: number): void
}
