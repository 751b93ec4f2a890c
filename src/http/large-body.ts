// How a thread reads a large body: parse, validate, and build the input of the route.

import { type PlainError, ProductError, plainError } from '../base/errors.ts'
import { transferred } from '../base/thread-pool.ts'
import { type BodyReader, digestOf, planBody, readPlanned } from './body-plan.ts'

export interface LargeBody {
  pieces: Uint8Array[]
  /** True when repetitions of the request must be detected. */
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
      return transferred({ value, digest }, memoryOf(value))
    } catch (error) {
      if (!(error instanceof ProductError)) throw error
      return { refused: plainError(error) }
    }
  }
}

/** A buffer with memory of its own. A buffer Node cut from its pool shares memory with others, and is copied. */
function memoryOf(value: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (value instanceof Uint8Array) {
    if (value.byteLength > 0 && value.byteLength === value.buffer.byteLength) found.add(value.buffer as ArrayBuffer)
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) memoryOf(member, found)
  }
  return found
}
