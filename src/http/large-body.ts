// How a thread reads a large body: checked, parsed, and turned into what its route works with.

import { move, transferableSymbol, valueSymbol } from 'piscina'
import { type PlainError, ProductError, plainError } from '../base/errors.ts'
import { type BodyReader, digestOf, planBody, readPlanned } from './body-plan.ts'

export interface LargeBody {
  pieces: Uint8Array[]
  /** True when repetitions of the request have to be told from others. */
  digested: boolean
}

export type ReadLarge = { value: object; digest: Uint8Array | null } | { refused: PlainError }

/** The task of a thread that reads the bodies of one route. */
export function inThread(reader: BodyReader<object>): (body: LargeBody) => ReadLarge {
  const plan = planBody(reader.schema, false)
  return ({ pieces, digested }) => {
    try {
      const body = readPlanned(plan, Buffer.concat(pieces))
      const digest = digested ? new Uint8Array(digestOf(body)) : null
      const value = reader.read(body)
      const moved = { [transferableSymbol]: [...memoryOf(value)], [valueSymbol]: { value, digest } }
      return move(moved as never) as unknown as ReadLarge
    } catch (error) {
      if (!(error instanceof ProductError)) throw error
      return { refused: plainError(error) }
    }
  }
}

/** Memory that belongs to one content alone. What Node cut from its pool belongs to others as well, and is copied. */
function memoryOf(value: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (value instanceof Uint8Array) {
    if (value.byteLength > 0 && value.byteLength === value.buffer.byteLength) found.add(value.buffer as ArrayBuffer)
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) memoryOf(member, found)
  }
  return found
}
