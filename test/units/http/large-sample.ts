// A reader of large bodies, as a route has one: it cuts what is long out as bytes.

import { Type } from 'typebox'
import { invalid } from '../../../src/base/errors.ts'
import type { BodyReader } from '../../../src/http/body-plan.ts'

export interface Sampled {
  name: string
  content: Uint8Array
}

export const Sample = Type.Object({
  name: Type.String({ maxLength: 10 }),
  content: Type.String({ description: 'May be long.' }),
  level: Type.Unsafe<number>({ type: 'integer', default: 3 }),
})

export const reader: BodyReader<Sampled> = {
  schema: Sample,
  read({ name, content }) {
    if (name === 'bad') throw invalid('name', 'forbidden_value', 'The name is bad.')
    if (name === 'broken') throw new Error('the reader has a mistake')
    return { name: name as string, content: new TextEncoder().encode(content as string) }
  },
}
