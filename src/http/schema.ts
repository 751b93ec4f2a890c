// Building blocks of the schemas of routes: pages, ids, times, enumerations, and the envelope of responses.

import { type Static, type TInteger, type TObject, type TOptional, type TSchema, type TUnsafe, Type } from 'typebox'
import Format from 'typebox/format'
import { DAY_MS } from '../base/durations.ts'
import { ProductError } from '../base/errors.ts'
import { type IdKind, idPattern } from '../base/ids.ts'

/** Largest page of any list (docs/design/contract.md §8). */
export const PAGE_MAX = 100
/** The format of a time in a request. */
export const TIME_FORMAT = 'time-or-date'
const RFC3339 = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i
const DATE = /^\d{4}-\d{2}-\d{2}$/

Format.Set(TIME_FORMAT, (text) => timeOf(text) !== null)

/** An enumeration of texts. */
export function Words<const W extends readonly string[]>(words: W, description?: string): TUnsafe<W[number]> {
  return Type.Unsafe<W[number]>({
    type: 'string',
    enum: [...words],
    ...(description === undefined ? {} : { description }),
  })
}

/** A public id (docs/design/http.md §1). A malformed one in a path is "not found", elsewhere an invalid value. */
export function Id(kind: IdKind) {
  return Type.String({ pattern: idPattern(kind), 'x-id': kind })
}

/** A public id as a filter of a list: an unknown one, or one of another team, gives an empty list. */
export function FilterId(kind: IdKind) {
  return Type.String({ pattern: idPattern(kind) })
}

/** The same schema, null allowed. */
export function Nullable<S extends TSchema>(schema: S): TUnsafe<Static<S> | null> {
  const { type, enum: words } = schema as { type?: string; enum?: unknown[] }
  if (type === undefined) return Type.Unsafe<Static<S> | null>({ anyOf: [schema, { type: 'null' }] })
  // A list of types keeps the other keywords in place: a text that is too long is reported as such, not as a failed union.
  return Type.Unsafe<Static<S> | null>({
    ...schema,
    type: [type, 'null'],
    ...(words ? { enum: [...words, null] } : {}),
  })
}

/** An optional member of a query or body; `handle` then gets `value`. */
export function Default<S extends TSchema>(schema: S, value: Static<S>): S & { default: Static<S> } {
  return Type.Unsafe({ ...schema, default: value }) as unknown as S & { default: Static<S> }
}

/** `data` of a list. */
export function listOf<S extends TSchema>(item: S) {
  return Type.Array(item)
}

/** A comma list in a query (`include=a,b`), also given by repeating the parameter. */
export function CommaList<S extends TSchema>(item: S, max: number) {
  return Type.Array(item, { maxItems: max })
}

/** A time in a response: see `isoTime`. */
export const Timestamp = Type.String({
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
})

/** A time in a query or a body: RFC 3339 with any offset, or a date (docs/design/http.md §3). Read with `parseTime`. */
export const TimeQuery = Type.String({
  format: TIME_FORMAT,
  description: 'RFC 3339 time with any offset, or YYYY-MM-DD meaning 00:00:00Z.',
})

/**
 * @param options.endOfDay a date alone means the end of that day (`to_date`)
 * @param options.param name of the parameter, for the error
 * @returns ms since 1970-01-01 UTC
 * @throws ProductError invalid_parameter
 */
export function parseTime(text: string, options: { endOfDay?: boolean; param?: string } = {}): number {
  const time = timeOf(text)
  if (time === null) {
    throw new ProductError('invalid_parameter', 'A time must be RFC 3339 or YYYY-MM-DD.', { param: options.param })
  }
  return options.endOfDay === true && DATE.test(text) ? time + DAY_MS : time
}

function timeOf(text: string): number | null {
  if (!DATE.test(text) && !RFC3339.test(text)) return null
  const date = text.slice(0, 10)
  const midnight = Date.parse(`${date}T00:00:00Z`)
  // Date.parse reads 30 February as 2 March.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return null
  return text.length === 10 ? midnight : Date.parse(text.toUpperCase())
}

type Filter<S> = S extends { default: unknown } ? S : S extends TSchema ? TOptional<S> : never
type PageFields<F> = { limit: TInteger; cursor: TOptional<ReturnType<typeof cursorText>> } & {
  [K in keyof Omit<F, 'limit'>]: Filter<F[K]>
}

function cursorText() {
  return Type.String({ description: 'next_cursor of the previous page.' })
}

/**
 * The query of a paged list: `limit`, `cursor` and filters. Filters are optional unless made with `Default`.
 * @param fields `limit` is the default size of a page
 */
export function pageQuery<const F extends { limit: number } & Record<string, TSchema | number>>(
  fields: F,
): TObject<PageFields<F>> {
  const { limit, ...filters } = fields
  const properties: Record<string, TSchema> = {
    limit: Default(Type.Integer({ minimum: 1, maximum: PAGE_MAX, description: 'Entries of a page.' }), limit),
    cursor: Type.Optional(cursorText()),
  }
  for (const [name, schema] of Object.entries(filters) as [string, TSchema][]) {
    properties[name] = 'default' in schema ? schema : Type.Optional(schema)
  }
  return Type.Object(properties) as unknown as TObject<PageFields<F>>
}

/** `pagination` of a list (docs/design/contract.md §2.1). */
export const Pagination = Type.Object({
  has_more: Type.Boolean(),
  next_cursor: Type.Optional(Type.String()),
})

/** `meta` of every envelope; some routes add members. */
export const Meta = Type.Object({ request_id: Id('request') }, { additionalProperties: true })

/** One entry of `errors` (docs/design/http.md §4). */
export const ErrorIssue = Type.Object({
  field: Type.String(),
  code: Type.String(),
  message: Type.String(),
  line: Type.Optional(Type.Integer({ minimum: 1, description: 'Position of the error in a text of several lines.' })),
  column: Type.Optional(Type.Integer({ minimum: 1 })),
})

/** `error` of every failure (docs/design/contract.md §7). */
export const ErrorBody = Type.Object({
  code: Type.String(),
  message: Type.String(),
  retryable: Type.Boolean(),
  param: Type.Optional(Type.String()),
  doc_url: Type.Optional(Type.String()),
  errors: Type.Optional(Type.Array(ErrorIssue, { maxItems: 50 })),
})

export const ErrorEnvelope = Type.Object({ ok: Type.Literal(false), error: ErrorBody, meta: Meta })

/** The envelope around `data`. */
export function envelopeOf(data: TSchema, list: boolean): TObject {
  return Type.Object({
    ok: Type.Literal(true),
    data,
    ...(list ? { pagination: Pagination } : {}),
    meta: Meta,
  }) as unknown as TObject
}
