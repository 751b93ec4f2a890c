// Checks values against the schemas of routes and reports the issues (docs/design/http.md §4).

import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { Settings } from 'typebox/system'
import { type Issue, ProductError } from '../base/errors.ts'
import { inSnakeCase, meantName } from '../base/nearest.ts'
import { TIME_FORMAT } from './schema.ts'

/** Entries of `errors`. */
export const ISSUES_MAX = 50
const FIELD_MAX = 200
// TypeBox collects eight errors by default; those inside failed unions and unknown members are dropped again below.
const GATHERED_MAX = 400
/** Longest list with a validation of repeated items. TypeBox needs quadratic time for it, so it gets no more than this. */
export const LIST_MAX = 1000
const SHOWN_MAX = LIST_MAX + 1
const UNKNOWN = 'unknown_field'

Settings.Set({ maxErrors: GATHERED_MAX })

/** One schema, compiled with its first value. */
export interface Check {
  passes(value: unknown): boolean
  /** The issues, in the order of the schema; empty for a valid value. */
  issues(value: unknown): Issue[]
}

/**
 * Compiles a schema when it is first needed: most of the several hundred of a process never are.
 * @param build the schema, or a function that makes it
 * @param whole name of the value as a whole in issues
 */
export function compileCheck(build: TSchema | (() => TSchema), whole = 'body'): Check {
  let made: { schema: TSchema; validator: Validator } | undefined
  const compiled = () => {
    if (made !== undefined) return made
    const schema = typeof build === 'function' ? build() : build
    made = { schema, validator: Compile(schema) }
    return made
  }
  return {
    passes: (value) => compiled().validator.Check(value),
    issues: (value) => {
      const { schema, validator } = compiled()
      return validator.Check(value) ? [] : issuesOf(validator.Errors(shortened(value)), { value, schema }, whole)
    },
  }
}

/** The same schema with every object closed: unknown members are rejected, at every depth. */
export function closed<S extends TSchema>(schema: S): S {
  return close(schema, true) as S
}

/**
 * Names the first list in a schema without a bound that keeps checking cheap.
 * @returns a JSON pointer, null when all are bounded
 */
export function unboundedList(schema: unknown, path = ''): string | null {
  if (schema === null || typeof schema !== 'object') return null
  const { type, maxItems } = schema as { type?: unknown; maxItems?: number }
  if (type === 'array' && (maxItems ?? Infinity) > LIST_MAX) return path
  for (const [name, member] of Object.entries(schema)) {
    const found = unboundedList(member, `${path}/${name}`)
    if (found !== null) return found
  }
  return null
}

/** The error for an invalid query or path: 400 (docs/design/http.md §4). */
export function wrongParameters(issues: Issue[]): ProductError {
  return failure(issues, 'invalid_parameter')
}

/** The error for an invalid body: 400 when members are only missing, 422 otherwise. */
export function wrongBody(issues: Issue[]): ProductError {
  return failure(issues, 'validation_error')
}

function failure(issues: Issue[], code: 'invalid_parameter' | 'validation_error'): ProductError {
  const missing = issues.every((issue) => issue.code === 'required')
  return new ProductError(
    missing ? 'missing_parameter' : code,
    issues[0]?.message ?? 'The request is invalid. See `errors`.',
    {
      issues,
    },
  )
}

// A copy keeps what TypeBox stores in non-enumerable members (kinds, refinements).
function close(value: unknown, here: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => close(item, here))
  if (value === null || typeof value !== 'object') return value
  const copy = Object.create(Object.getPrototypeOf(value), Object.getOwnPropertyDescriptors(value))
  for (const [name, member] of Object.entries(value)) {
    // The parts of an intersection must let the members of the other parts pass; the whole is closed instead.
    if (name !== 'enum' && name !== 'const' && name !== 'default') copy[name] = close(member, name !== 'allOf')
  }
  if (!here) return copy
  if ('allOf' in value && !('unevaluatedProperties' in value)) copy.unevaluatedProperties = false
  if ('properties' in value && isObjectType(value) && !('additionalProperties' in value)) {
    copy.additionalProperties = false
  }
  return copy
}

function isObjectType(schema: object): boolean {
  const { type } = schema as { type?: unknown }
  return type === 'object' || (Array.isArray(type) && type.includes('object'))
}

/** A copy whose lists are cut above the limit of any schema: it breaks the same rules. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, SHOWN_MAX).map(shortened)
  if (value === null || typeof value !== 'object') return value
  // fromEntries defines members, so that a "__proto__" in the input stays one.
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]))
}

/** What was checked, and against what. */
interface Checked {
  value: unknown
  schema: TSchema
}

function issuesOf(errors: TLocalizedValidationError[], checked: Checked, whole: string): Issue[] {
  const issues: Issue[] = []
  for (const error of errors) {
    // Errors inside one branch of a union are dropped: the intended branch is unknown.
    if (/\/(anyOf|oneOf)\/\d/.test(error.schemaPath)) continue
    for (const [field, code, message] of explain(error, checked)) {
      const named = field === '' ? whole : field.slice(0, FIELD_MAX)
      if (issues.length < ISSUES_MAX)
        issues.push({ field: named, code, message: code === UNKNOWN ? message : `${named} ${message}.` })
    }
  }
  return issues.length > 0 ? issues : [{ field: whole, code: 'invalid_format', message: `${whole} does not fit.` }]
}

/** `message` is a whole sentence for unknown fields; otherwise it follows the name of the field. */
type Explained = [field: string, code: string, message: string]

function explain(error: TLocalizedValidationError, { value, schema }: Checked): Explained[] {
  const field = fieldOf(error.instancePath)
  const inside = (name: string) => (field === '' ? name : `${field}.${name}`)
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((name) => [inside(name), 'required', 'is required'])
    case 'boolean':
      // A member meets the schema `false` where a closed object does not name it.
      return [unknownField(field, namesAt(schema, error.schemaPath.replace(/\/additionalProperties$/, '')))]
    case 'additionalProperties':
      // Repeats for the object what was reported for its members.
      return []
    case 'unevaluatedProperties':
      return error.params.unevaluatedProperties
        .slice(0, ISSUES_MAX)
        .map((name) => unknownField(inside(String(name)), namesAt(schema, error.schemaPath)))
    case 'enum':
      return [[field, 'invalid_enum', enumSentence(error.params.allowedValues, at(value, error.instancePath))]]
    case '~refine':
      return [[field, 'invalid_format', error.params.message]]
    default:
      return [[field, ...sentenceOf(error)]]
  }
}

function unknownField(field: string, known: readonly string[]): Explained {
  const name = field.slice(field.lastIndexOf('.') + 1, field.lastIndexOf('.') + 1 + FIELD_MAX)
  const meant = meantName(name, known)
  const suggestion = meant === undefined ? headerAdvice(name, known) : ` Did you mean \`${meant}\`?`
  return [field, UNKNOWN, `Unknown field \`${field.slice(0, FIELD_MAX)}\`.${suggestion}`]
}

/** Names of header fields that people look for among the members of a message. */
const HEADER_MEMBERS = new Map([
  ['list_unsubscribe', 'List-Unsubscribe'],
  ['list_unsubscribe_post', 'List-Unsubscribe-Post'],
])

function headerAdvice(name: string, known: readonly string[]): string {
  const header = HEADER_MEMBERS.get(inSnakeCase(name))
  return header === undefined || !known.includes('headers') ? '' : ` Write ${header} in \`headers\`.`
}

function enumSentence(allowed: readonly unknown[], given: unknown): string {
  const names = allowed.map(String)
  const meant = typeof given === 'string' ? meantName(given.slice(0, FIELD_MAX).toLowerCase(), names) : undefined
  return `must be one of ${names.join(', ')}${meant === undefined ? '' : ` (did you mean \`${meant}\`?)`}`
}

/** What is at a JSON pointer; undefined when nothing is. */
function at(whole: unknown, pointer: string): unknown {
  let node = whole
  for (const step of pointer.split('/').slice(1)) {
    node = (node as Record<string, unknown> | null | undefined)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return node
}

/** Names of the properties of the object schema at a JSON pointer, those of its `allOf` parts included. */
function namesAt(schema: TSchema, pointer: string): string[] {
  const { properties = {}, allOf = [] } = (at(schema, pointer) ?? {}) as {
    properties?: object
    allOf?: { properties?: object }[]
  }
  return [properties, ...allOf.map((part) => part.properties ?? {})].flatMap((part) => Object.keys(part))
}

function sentenceOf(error: TLocalizedValidationError): [code: string, message: string] {
  switch (error.keyword) {
    case 'type':
      return ['invalid_type', `must be of the type ${[error.params.type].flat().join(' or ')}`]
    case 'const':
      return ['invalid_enum', `must be ${String(error.params.allowedValue)}`]
    case 'minLength':
      return ['too_small', `must have at least ${error.params.limit} characters`]
    case 'maxLength':
      return ['too_big', `must have at most ${error.params.limit} characters`]
    case 'minItems':
      return ['too_small', `must have at least ${error.params.limit} items`]
    case 'maxItems':
      return ['too_big', `must have at most ${error.params.limit} items`]
    case 'minProperties':
      return ['too_small', `must have at least ${error.params.limit} members`]
    case 'maxProperties':
      return ['too_big', `must have at most ${error.params.limit} members`]
    case 'minimum':
    case 'exclusiveMinimum':
      return ['too_small', `must be ${error.params.comparison} ${error.params.limit}`]
    case 'maximum':
    case 'exclusiveMaximum':
      return ['too_big', `must be ${error.params.comparison} ${error.params.limit}`]
    case 'uniqueItems':
      return ['duplicate', 'must not hold the same item twice']
    case 'anyOf':
    case 'oneOf':
      return ['invalid_union', 'matches none of the permitted forms']
    case 'format':
      if (error.params.format === TIME_FORMAT)
        return ['invalid_format', 'must be a time such as 2030-01-02T03:04:05Z, or a date such as 2030-01-02']
      return ['invalid_format', 'does not have the expected form']
    default:
      return ['invalid_format', 'does not have the expected form']
  }
}

/** A JSON pointer as a dot path. */
function fieldOf(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
}
