// Times as an operator types them.

import { ProductError } from '../../base/errors.ts'

/** @returns ms; undefined stays undefined @throws ProductError invalid_parameter */
export function readTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = Date.parse(text)
  if (!Number.isNaN(time)) return time
  throw new ProductError('invalid_parameter', `${text} is not a time. Use 2030-01-02 or 2030-01-02T03:04:05Z.`)
}
