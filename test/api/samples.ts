// Values generated from a schema: a valid one, and many that each violate one rule.

import type { TSchema } from 'typebox'

/** An invalid value, and its error code (docs/design/http.md §4). */
export interface Wrong {
  what: string
  value: unknown
  code: string
  /** Path of the invalid value below the member, where it is nested. */
  below?: string
}

interface Rules {
  type?: string | string[]
  enum?: unknown[]
  pattern?: string
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
  uniqueItems?: boolean
  anyOf?: TSchema[]
  items?: TSchema
  properties?: Record<string, TSchema>
  required?: string[]
  additionalProperties?: boolean
  examples?: unknown[]
  'x-id'?: string
}

/** A value the schema accepts; optional members are left out. */
export function sample(schema: TSchema): unknown {
  const rules = schema as Rules
  if (rules.examples !== undefined) return rules.examples[0]
  if (rules.enum !== undefined) return rules.enum[0]
  const type = [rules.type].flat()[0]
  if (type === 'object') {
    const wanted = rules.required ?? []
    // A change has to name something.
    const names = wanted.length >= (rules.minProperties ?? 0) ? wanted : Object.keys(rules.properties!).slice(0, 1)
    const members = names.map((name) => [name, sample(rules.properties![name]!)])
    return Object.fromEntries(members)
  }
  if (type === 'array') return Array.from({ length: rules.minItems ?? 0 }, () => sample(rules.items!))
  if (type === 'integer' || type === 'number') return rules.minimum ?? 0
  if (type === 'boolean') return true
  return textFor(rules)
}

/** Values that break one rule each. */
export function wrongValues(schema: TSchema): Wrong[] {
  const rules = schema as Rules
  if (rules.anyOf !== undefined) {
    const takesLists = rules.anyOf.some((form) => (form as Rules).type === 'array')
    return [{ what: 'none of the forms', value: takesLists ? 7 : [], code: 'invalid_union' }]
  }
  const isNullable = [rules.type].flat().includes('null')
  return wrongOnes(schema, rules).filter(({ value }) => value !== null || !isNullable)
}

function wrongOnes(schema: TSchema, rules: Rules): Wrong[] {
  const type = [rules.type].flat()[0]
  if (rules.enum !== undefined) {
    return [
      { what: 'another word', value: 'no-such-word', code: 'invalid_enum' },
      { what: 'a number', value: 7, code: 'invalid_type' },
      { what: 'null', value: null, code: 'invalid_type' },
    ]
  }
  if (type === 'string') return wrongTexts(rules)
  if (type === 'integer' || type === 'number') return wrongNumbers(rules)
  if (type === 'array') return wrongLists(rules)
  if (type === 'object') return wrongObjects(schema)
  return [
    { what: 'a word', value: 'maybe', code: 'invalid_type' },
    { what: 'null', value: null, code: 'invalid_type' },
    { what: 'a number', value: 1, code: 'invalid_type' },
  ]
}

/** All violations of an object: its own members, nested ones, and unknown ones. */
export function wrongObjects(schema: TSchema): Wrong[] {
  const rules = schema as Rules
  const base = sample(schema) as Record<string, unknown>
  const wrongs: Wrong[] = [
    { what: 'a list', value: [], code: 'invalid_type' },
    { what: 'a text', value: 'text', code: 'invalid_type' },
  ]
  // An object without members of its own takes any.
  if (rules.properties !== undefined) {
    wrongs.push({
      what: 'an unknown member',
      value: { ...base, surprise: 1 },
      code: 'unknown_field',
      below: 'surprise',
    })
  }
  for (const name of rules.required ?? []) {
    if ('default' in rules.properties![name]!) continue
    const { [name]: _left, ...rest } = base
    wrongs.push({ what: `no ${name}`, value: rest, code: 'required', below: name })
  }
  for (const [name, member] of Object.entries(rules.properties ?? {})) {
    for (const wrong of wrongValues(member)) {
      const below = wrong.below === undefined ? name : `${name}.${wrong.below}`
      wrongs.push({
        what: `${name}: ${wrong.what}`,
        value: { ...base, [name]: wrong.value },
        code: wrong.code,
        below,
      })
    }
  }
  return wrongs
}

function wrongTexts(rules: Rules): Wrong[] {
  const wrongs: Wrong[] = [
    { what: 'a number', value: 7, code: 'invalid_type' },
    { what: 'null', value: null, code: 'invalid_type' },
    { what: 'a list', value: ['a'], code: 'invalid_type' },
  ]
  if (rules.minLength) wrongs.push({ what: 'too short', value: 'x'.repeat(rules.minLength - 1), code: 'too_small' })
  if (rules.maxLength) wrongs.push({ what: 'too long', value: 'x'.repeat(rules.maxLength + 1), code: 'too_big' })
  if (rules.pattern !== undefined || rules.format !== undefined) {
    wrongs.push({ what: 'another form', value: '\u0000 ß', code: 'invalid_format' })
  }
  return wrongs
}

function wrongNumbers(rules: Rules): Wrong[] {
  const wrongs: Wrong[] = [
    { what: 'a word', value: 'many', code: 'invalid_type' },
    { what: 'null', value: null, code: 'invalid_type' },
    { what: 'a digit as text', value: '1 ', code: 'invalid_type' },
  ]
  if (rules.type === 'integer') {
    wrongs.push({ what: 'a fraction', value: (rules.minimum ?? 0) + 0.5, code: 'invalid_type' })
  }
  if (rules.minimum !== undefined) wrongs.push({ what: 'too small', value: rules.minimum - 1, code: 'too_small' })
  if (rules.maximum !== undefined) wrongs.push({ what: 'too big', value: rules.maximum + 1, code: 'too_big' })
  return wrongs
}

function wrongLists(rules: Rules): Wrong[] {
  const item = sample(rules.items!)
  const wrongs: Wrong[] = [
    { what: 'an object', value: {}, code: 'invalid_type' },
    { what: 'a text', value: 'text', code: 'invalid_type' },
    { what: 'null', value: null, code: 'invalid_type' },
  ]
  if (rules.minItems) wrongs.push({ what: 'too few', value: [], code: 'too_small' })
  if (rules.maxItems) {
    wrongs.push({ what: 'too many', value: Array(rules.maxItems + 1).fill(item), code: 'too_big' })
  }
  if (rules.uniqueItems) wrongs.push({ what: 'twice the same', value: [item, item], code: 'duplicate' })
  for (const wrong of wrongValues(rules.items!)) {
    const below = wrong.below === undefined ? '0' : `0.${wrong.below}`
    wrongs.push({ what: `first entry: ${wrong.what}`, value: [wrong.value], code: wrong.code, below })
  }
  return wrongs
}

function textFor(rules: Rules): string {
  const id = /^\^([a-z]+_)\[a-z0-9\]\{24\}\$$/.exec(rules.pattern ?? '')
  if (id !== null) return `${id[1]}${'0'.repeat(24)}`
  if (rules.format !== undefined) return '2030-01-02'
  return 'x'.repeat(Math.max(rules.minLength ?? 1, 1))
}
