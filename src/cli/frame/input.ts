// Reads standard input, within a bound.

import { ProductError } from '../../base/errors.ts'
import type { CommandInput } from './command.ts'

/** @param what such as `The password` @param max bytes @throws ProductError payload_too_large, invalid_parameter (not UTF-8) */
export async function readText(input: CommandInput, what: string, max: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of input.bytes) {
    size += part.length
    if (size > max) throw new ProductError('payload_too_large', `${what} is longer than ${max} bytes.`)
    parts.push(part)
  }
  return decoded(Buffer.concat(parts), what)
}

/** @param what such as `The text` @throws ProductError invalid_parameter for bytes that are not UTF-8 */
export function decoded(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ProductError('invalid_parameter', `${what} is not UTF-8 text. Convert it first, for example with iconv.`)
  }
}

const SECRET_MAX = 1000

/** One line without its end. @throws ProductError missing_parameter */
export async function readSecret(input: CommandInput, what: string, command: string): Promise<string> {
  const usage = `Pipe it in, so that it is not shown or stored: ${command} < file.`
  if (input.isTerminal) throw new ProductError('missing_parameter', `${what} is read from standard input. ${usage}`)
  const text = (await readText(input, what, SECRET_MAX)).replace(/\r?\n$/, '')
  if (text === '') throw new ProductError('missing_parameter', `${what} is missing. ${usage}`)
  return text
}
