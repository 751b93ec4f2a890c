// The thread in which large bodies are checked, parsed and turned into what their routes work with.

import { move, transferableSymbol, valueSymbol } from 'piscina'
import { type PlainError, ProductError, plainError } from '../../base/errors.ts'
import { type BodyPlan, type BodyReader, digestOf, planBody, readPlanned } from './body-plan.ts'

export interface LargeBody {
  /** Module of the route's reader. */
  module: string
  pieces: Uint8Array[]
  /** True when repetitions of the request have to be told from others. */
  digested: boolean
}

export type ReadLarge = { value: object; digest: Uint8Array | null } | { refused: PlainError }

const plans = new Map<string, { plan: BodyPlan; reader: BodyReader<object> }>()

/** The task of the pool. */
export default async function readLarge({ module, pieces, digested }: LargeBody): Promise<ReadLarge> {
  const { plan, reader } = await planOf(module)
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

async function planOf(module: string) {
  const known = plans.get(module)
  if (known) return known
  const { reader } = (await import(module)) as { reader: BodyReader<object> }
  const made = { plan: planBody(reader.schema, false), reader }
  plans.set(module, made)
  return made
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
