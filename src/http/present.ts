// Presents records as their schemas have them: each member of the schema is that of the record in camel case, times in ISO 8601.

import type { Static, TObject, TSchema } from 'typebox'
import { isoTime } from '../base/clock.ts'
import { type Camel, camelCase, fromMember, objectMaker } from '../base/members.ts'
import type { TimeSchema } from './time.ts'

type Writable<T> = T extends readonly (infer E)[] ? E[] : T
/** Whether a value of a record can be presented as a schema says. */
type Fits<V, S extends TSchema> = S extends TimeSchema
  ? [V] extends [number | null]
    ? [null extends V ? null : never] extends [Static<S>]
      ? true
      : false
    : false
  : [Writable<V>] extends [Static<S>]
    ? true
    : false
type Properties<S extends TObject> = S['properties']
/** Members of a schema that the record has in the same form. */
type Plain<S extends TObject, R> = {
  [K in keyof Properties<S> & string]: Camel<K> extends keyof R
    ? Fits<R[Camel<K>], Properties<S>[K]> extends true
      ? K
      : never
    : never
}[keyof Properties<S> & string]
type Computed<S extends TObject, R, K extends PropertyKey> = {
  [P in K & keyof Static<S>]: (record: R) => Static<S>[P]
}
type Differing<S extends TObject, R> = Computed<S, R, Exclude<keyof Properties<S>, Plain<S, R>>> &
  Partial<Computed<S, R, Plain<S, R>>>

/**
 * The presenter of records of a type, in the order of the members of the schema.
 * @param differing by name, the members that the record does not have in the same form
 */
export function presenterOf<R>() {
  return <S extends TObject>(
    schema: S,
    ...[differing]: Record<never, never> extends Differing<S, R> ? [Differing<S, R>?] : [Differing<S, R>]
  ): ((record: R) => Static<S>) => {
    const computed: Readonly<Record<string, unknown>> = differing ?? {}
    const expressionOf = (name: string, property: TSchema) => {
      const value = fromMember(camelCase(name))
      if (name in computed) return `computed[${JSON.stringify(name)}](from)`
      return 'format' in property && property.format === 'date-time' ? `time(${value})` : value
    }
    const members = Object.entries(schema.properties)
    return objectMaker(
      members.map(([name, property]) => [name, expressionOf(name, property)]),
      { computed, time: (ms: number | null) => (ms === null ? null : isoTime(ms)) },
    )
  }
}
