// Examples of the OpenAPI document: values that schemas accept, made from them, so that they cannot drift.

import { ID_PREFIX, type IdKind } from '../base/ids.ts'

type Json = Record<string, unknown>

interface Rules extends Json {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  examples?: unknown[]
  default?: unknown
  anyOf?: Rules[]
  properties?: Record<string, Rules>
  patternProperties?: Record<string, Rules>
  items?: Rules
  pattern?: string
  format?: string
  minimum?: number
  minItems?: number
  minLength?: number
  maxLength?: number
  'x-id'?: IdKind
}

const ID_TAIL = '0a1b2c3d4e5f6g7h8i9j0k1l'
const TIME = '2030-05-17T09:30:00.000Z'
const DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
/** Members that are null as long as all is well. */
const USUALLY_NULL = /error|reason|problem|failed|revoked|suspended|deleted|ended|expires|until|warning|hint/
/** Texts by the end of the name of the member; the first that matches. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/(?:^|_)next_cursor$|^cursor$/, 'eyJhIjoxfQ'],
  [/email|(?:^|_)(?:from|to|cc|bcc|address|sender|author|recipient|login|username)$/, 'ana@shop.example'],
  [/(?:^|_)(?:url|uri|link|href|origin|issuer|endpoint)$|_(?:url|uri|endpoint)s?$/, 'https://shop.example/mail'],
  [/domain|host|server|mx$|selector_name/, 'shop.example'],
  [/ip$|ip_address|remote_address/, '192.0.2.10'],
  [/subject/, 'Your order 2030-117'],
  [/html/, '<p>Hello Ana</p>'],
  [/(?:text|body|preview|content|snippet)/, 'Hello Ana'],
  [/file_?name/, 'invoice.pdf'],
  [/content_type|media_type/, 'application/pdf'],
  [/message_id|reference/, '117.2030@shop.example'],
  [/version/, '1.0.0'],
  [/state|etag/, '42'],
  [/secret|key$|token/, '••••••••'],
  [/path/, 'Inbox'],
  [/name|label|title/, 'Shop'],
  [/tag/, 'campaign:may'],
  [/selector/, 'm2030'],
]

/** Texts for patterns: a word, a digest, an amount, a time of the day. */
const PATTERNED = ['example', DIGEST, '12.500000', '03:30']

/** An example of a schema without references; the same each time. */
export function exampleOf(schema: Json, name = ''): unknown {
  const rules = schema as Rules
  if (rules.examples !== undefined) return rules.examples[0]
  if (rules.const !== undefined) return rules.const
  const types = [rules.type ?? []].flat()
  if (types.includes('null') && USUALLY_NULL.test(name)) return null
  if (rules.enum !== undefined) return rules.enum[0]
  if (rules.anyOf !== undefined) return exampleOfChoice(rules.anyOf, name)
  const [type] = types.filter((one) => one !== 'null')
  if (type === 'object') return exampleOfObject(rules)
  if (type === 'array') return rules.items === undefined ? [] : [exampleOf(rules.items, name)]
  if (type === 'integer' || type === 'number') return rules.default ?? Math.max(rules.minimum ?? 0, 1)
  if (type === 'boolean') return rules.default ?? true
  return type === 'string' ? exampleOfText(rules, name) : {}
}

function exampleOfChoice(choices: readonly Rules[], name: string): unknown {
  const isNull = ({ type }: Rules) => type === 'null'
  if (choices.some(isNull) && USUALLY_NULL.test(name)) return null
  return exampleOf(choices.find((choice) => !isNull(choice)) ?? choices[0]!, name)
}

function exampleOfObject({ properties = {}, minProperties = 0 }: Rules): Json {
  const members = Object.entries(properties).map(([name, member]) => [name, exampleOf(member, name)] as const)
  return Object.fromEntries(members.length >= Number(minProperties) ? members : [])
}

function exampleOfText(rules: Rules, name: string): string {
  const { 'x-id': kind, pattern, format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = rules
  if (kind !== undefined) return ID_PREFIX[kind] + ID_TAIL
  if (format === 'date-time') return TIME
  if (format === 'time-or-date') return '2030-05-17'
  const isValid = (text: string) => pattern === undefined || new RegExp(pattern, 'u').test(text)
  const [prefix] = /(?<=\^?)[a-z]+_(?=\[a-z0-9\])/.exec(pattern ?? '') ?? []
  const [, named] = TEXTS.find(([end]) => end.test(name)) ?? []
  const candidates = [...(prefix ? [prefix + ID_TAIL] : []), ...(named ? [named] : []), ...PATTERNED]
  const text = candidates.find(isValid) ?? candidates[0]!
  return text.padEnd(minLength, '.').slice(0, maxLength)
}
