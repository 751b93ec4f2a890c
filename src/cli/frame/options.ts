// Options as the members of API bodies they stand for.

import { ProductError } from '../../base/errors.ts'

/**
 * Runs `act` and names what was typed instead of members of a body in its errors.
 * @param names by member, such as `smtp_host: '--smtp-host'`
 * @throws ProductError what `act` throws
 */
export async function inOptionNames<T>(names: Readonly<Record<string, string>>, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof ProductError)) throw error
    const known = Object.keys(names).toSorted((a, b) => b.length - a.length)
    const pattern = new RegExp(
      `\`?(?<![\\w.])(?:${known.map((name) => name.replaceAll('.', '\\.')).join('|')})(?![\\w])\`?`,
      'g',
    )
    const message = error.message.replace(pattern, (name) => names[name.replaceAll('`', '')]!)
    const named = message === error.message ? names[error.param ?? ''] : undefined
    const sentence = named === undefined ? message : `${named}: ${message}`
    throw new ProductError(error.code, sentence, { cause: error })
  }
}

/** @param what such as `grace period` @returns undefined stays undefined @throws ProductError invalid_parameter */
export function readNumber(what: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new ProductError('invalid_parameter', `The ${what} must be a whole number.`)
}

/** @param example such as `key_…` @throws ProductError invalid_parameter */
export function checkId(text: string, pattern: RegExp, example: string): string {
  if (pattern.test(text)) return text
  throw new ProductError('invalid_parameter', `${text} is not the id of a ${example}.`)
}
