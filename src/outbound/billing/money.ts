// Amounts of money: integer millionths of the currency unit, never floating-point fractions.

import { invalid } from '../../base/errors.ts'

/** Millionths per currency unit. */
export const MICRO = 1_000_000
/** Format of an amount in a request: at most nine integer digits and six decimal places. */
export const AMOUNT_PATTERN = '^-?[0-9]{1,9}(\\.[0-9]{1,6})?$'

/** @returns millionths @throws ProductError validation_error */
export function parseAmount(text: string, field: string): number {
  if (!new RegExp(AMOUNT_PATTERN).test(text)) {
    throw invalid(field, 'invalid_format', 'The amount must be a decimal number such as 12.50.')
  }
  const [whole = '', decimals = ''] = text.replace('-', '').split('.')
  // At most 10^15, so the number is exact.
  const micro = Number(whole) * MICRO + Number(decimals.padEnd(6, '0'))
  return text.startsWith('-') && micro !== 0 ? -micro : micro
}

/** @param micro millionths, of any size @returns a decimal such as `-0.000100` */
export function decimal(micro: number | bigint): string {
  const value = BigInt(micro)
  const digits = (value < 0n ? -value : value).toString().padStart(7, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`
}
