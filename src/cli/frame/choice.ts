// Words that may only be one of a few.

import { ProductError } from '../../base/errors.ts'
import type { CommandOption } from './command.ts'

/** @param what such as `status`; undefined stays undefined @throws ProductError invalid_parameter */
export function oneOf<const W extends string>(
  what: string,
  given: string | undefined,
  words: readonly W[],
): W | undefined {
  if (given === undefined || (words as readonly string[]).includes(given)) return given as W | undefined
  throw new ProductError('invalid_parameter', `The ${what} must be one of ${words.join(', ')}.`)
}

/** The option of a list that shows only rows with one of these words. */
export function choiceOption(what: string, words: readonly string[]): CommandOption {
  return { value: what, says: `one of ${words.join(', ')}`, words }
}
