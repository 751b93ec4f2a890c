// Converts the texts of a query or a path to the types of their schema.

import type { TObject, TSchema } from 'typebox'
import type { Issue } from '../base/errors.ts'

/** Texts by name; a name may be given more than once. */
export type Texts = ReadonlyMap<string, readonly string[]>

interface Field {
  name: string
  type: string | undefined
  itemType: string | undefined
  default: unknown
}

/** Reads texts by one schema. */
export interface Converter {
  /** Values to validate; a text that cannot be converted stays a text, and the validation reports it. */
  convert(texts: Texts): { values: Record<string, unknown>; issues: Issue[] }
}

export function compileConverter(schema: TObject): Converter {
  const fields = Object.entries(schema.properties as Record<string, TSchema>).map(([name, field]) =>
    fieldOf(name, field),
  )
  return {
    convert(texts) {
      const values: Record<string, unknown> = {}
      const issues: Issue[] = []
      for (const field of fields) {
        const given = texts.get(field.name)
        if (given === undefined) {
          if (field.default !== undefined) values[field.name] = field.default
        } else if (field.type === 'array') {
          values[field.name] = given.flatMap((text) => itemsOf(text, field.itemType))
        } else {
          if (given.length > 1) issues.push(repeated(field.name))
          values[field.name] = textValue(given[0]!, field.type)
        }
      }
      return { values, issues }
    },
  }
}

/** The parameters of a query string, without its `?`. Invalid escapes are reported with the names they belong to. */
export function readQuery(text: string): { texts: Map<string, string[]>; unreadable: Set<string> } {
  const texts = new Map<string, string[]>()
  const unreadable = new Set<string>()
  if (text === '') return { texts, unreadable }
  for (const part of text.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const written = equals === -1 ? part : part.slice(0, equals)
    // A name that is not UTF-8 stays as written: no parameter has it, and it is reported.
    const name = decode(written) ?? written
    const value = equals === -1 ? '' : decode(part.slice(equals + 1))
    if (value === null) unreadable.add(name)
    const known = texts.get(name)
    if (known) known.push(value ?? '')
    else texts.set(name, [value ?? ''])
  }
  return { texts, unreadable }
}

function decode(text: string): string | null {
  if (!/[%+]/.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

function fieldOf(name: string, schema: TSchema): Field {
  const { type, items, default: value } = schema as { type?: string; items?: { type?: string }; default?: unknown }
  return { name, type, itemType: items?.type, default: value }
}

function itemsOf(text: string, type: string | undefined): unknown[] {
  return text === '' ? [] : text.split(',').map((item) => textValue(item, type))
}

function textValue(text: string, type: string | undefined): unknown {
  if ((type === 'integer' || type === 'number') && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function repeated(name: string): Issue {
  return { field: name, code: 'duplicate', message: `${name} is given more than once. Send it once.` }
}
