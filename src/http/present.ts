// Presents records as their schemas have them: each member of the schema is that of the record in camel case, times in ISO 8601.

import type { Static, TObject, TOptional, TSchema } from 'typebox'
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
  : [Writable<V>] extends [S extends TOptional<TSchema> ? Static<S> | undefined : Static<S>]
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
/** Members of a record that have the form of a schema. */
type Sources<R, S extends TSchema> = { [K in keyof R & string]: Fits<R[K], S> extends true ? K : never }[keyof R &
  string]
type Origins<S extends TObject, R, X extends unknown[], K> = {
  [P in K & keyof Properties<S>]:
    | Sources<R, Properties<S>[P]>
    | ((record: R, ...context: X) => Static<Properties<S>[P]>)
}
type Differing<S extends TObject, R, X extends unknown[]> = Origins<
  S,
  R,
  X,
  Exclude<keyof Properties<S>, Plain<S, R>>
> &
  Partial<Origins<S, R, X, Plain<S, R>>>

/**
 * The presenter of records of a type, in the order of the members of the schema. `X` is what it is called with besides the record.
 * @param differing where members come from that the record does not have by this name: the name there, or a function
 */
export function presenterOf<R, X extends unknown[] = []>() {
  return <S extends TObject>(
    schema: S,
    ...[differing]: Record<never, never> extends Differing<S, R, X> ? [Differing<S, R, X>?] : [Differing<S, R, X>]
  ): ((record: R, ...context: X) => Static<S>) => {
    const origins: Readonly<Record<string, unknown>> = differing ?? {}
    const expressionOf = (name: string, property: TSchema) => {
      const origin = origins[name] ?? camelCase(name)
      if (typeof origin !== 'string') return `origins[${JSON.stringify(name)}](from, ...more)`
      const isTime = 'format' in property && property.format === 'date-time'
      return isTime ? `time(${fromMember(origin)})` : fromMember(origin)
    }
    const members = Object.entries(schema.properties)
    return objectMaker(
      members.map(([name, property]) => [name, expressionOf(name, property)]),
      { origins, time: (ms: number | null) => (ms === null ? null : isoTime(ms)) },
    )
  }
}
