// What one look of the doctor found.

export type Level = 'ok' | 'warn' | 'fail'

export interface Finding {
  /** What was looked at, such as `tls` or `domain`. */
  check: string
  level: Level
  /** What is so, in a sentence. */
  says: string
  /** What the operator does about it; null when there is nothing to do. */
  do: string | null
}

export function fine(check: string, says: string): Finding {
  return { check, level: 'ok', says, do: null }
}

export function warning(check: string, says: string, advice: string): Finding {
  return { check, level: 'warn', says, do: advice }
}

export function failing(check: string, says: string, advice: string): Finding {
  return { check, level: 'fail', says, do: advice }
}
