// A client that knows only the OpenAPI document: calls each operation with its example, and validates the response by its schema.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TSchema } from 'typebox'
import { type Check, compileCheck } from '../../src/http/validate.ts'
import type { Json, Reply, TestAppliance } from './appliance.ts'

export interface Operation {
  operationId: string
  path: string
  method: string
  /** Base path. */
  base: string
  parameters: { name: string; in: string; required: boolean; schema: Json }[]
  /** Media type and example of the body. */
  body?: { type: string; example: Json }
  responses: Record<string, Json>
  /** Undefined for public operations. */
  permission: string | undefined
}

/** What a caller adds to the document: credentials, and values examples cannot contain. */
export interface Own {
  key?: string | null
  path?: Record<string, string>
  query?: Record<string, string>
  body?: Record<string, unknown>
  headers?: Record<string, string>
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
/** The random part of ids in examples. */
const EXAMPLE_ID = /^([a-z]+)_a1b2c3d4e5f6g7h8i9j0k1l2$/

/** The operations of a document, references resolved. */
export function operationsOf(document: Json): Operation[] {
  return Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => {
      const { operationId, parameters, requestBody, responses, 'x-required-permission': permission } = item[method]
      const [body] = Object.entries<Json>(requestBody?.content ?? {})
      return {
        ...{ operationId, path, method: method.toUpperCase(), parameters: inlined(document, parameters) },
        base: (item.servers ?? document.servers)[0].url,
        ...(body && { body: { type: body[0], example: inlined(document, body[1].schema).examples[0] } }),
        responses: inlined(document, responses),
        permission,
      }
    }),
  )
}

function inlined(document: Json, node: Json): Json {
  if (Array.isArray(node)) return node.map((one) => inlined(document, one))
  if (node === null || typeof node !== 'object') return node
  if (typeof node.$ref === 'string') {
    const steps = node.$ref.slice(2).split('/')
    return inlined(
      document,
      steps.reduce((at: Json, step: string) => at[step], document),
    )
  }
  return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, inlined(document, member)]))
}

export class Walker {
  readonly #appliance: TestAppliance
  /** Ids by the path of the collection they were created in, and by their prefix. */
  readonly #made = new Map<string, string>()

  constructor(appliance: TestAppliance) {
    this.#appliance = appliance
  }

  /** Remembers an object the document has no operation to create. */
  know(place: string, id: string): void {
    this.#made.set(place, id)
    this.#made.set(id.slice(0, id.indexOf('_')), id)
  }

  /** Calls an operation, and checks that it succeeds as documented. */
  async call(operation: Operation, own: Own): Promise<Reply> {
    const reply = await (await this.#ready(operation, own))()
    check(operation, reply)
    this.#remember(operation, reply)
    return reply
  }

  /** Calls an operation without checking its success; remembers nothing. */
  async attempt(operation: Operation, own: Own): Promise<Reply> {
    return (await this.#ready(operation, own))()
  }

  /**
   * Calls it many times concurrently under one Idempotency-Key: it is executed once, and the others get the same response or an error to retry.
   * @returns the response of the executed call
   */
  async callAtOnce(operation: Operation, own: Own, times: number): Promise<Reply> {
    const headers = { 'idempotency-key': randomUUID(), ...own.headers }
    const call = await this.#ready(operation, { ...own, headers })
    const replies = await Promise.all(Array.from({ length: times }, call))
    const done = replies.filter(({ status, headers }) => status < 300 && !headers.has('idempotent-replayed'))
    assert.equal(done.length, 1, `${operation.operationId}: ${JSON.stringify(replies[0]!.body)}`)
    check(operation, done[0]!)
    for (const reply of [...replies, await call()]) {
      // In progress, or, for uploads, more than one mailbox may have at a time.
      if (reply.status === 409 || reply.status === 429) {
        const error = [reply.body.error.code, reply.headers.has('retry-after')]
        const code = reply.status === 409 ? 'idempotency_conflict' : 'rate_limit_exceeded'
        assert.deepEqual(error, [code, true], operation.operationId)
      } else assert.deepEqual(withoutMeta(reply), withoutMeta(done[0]!), operation.operationId)
    }
    this.#remember(operation, done[0]!)
    return done[0]!
  }

  async #ready(operation: Operation, own: Own): Promise<() => Promise<Reply>> {
    const path = await this.#path(operation, own)
    const query = new URLSearchParams({ ...exampleQuery(operation), ...own.query }).toString()
    const body = operation.body && { ...this.#filled(operation.body.example), ...own.body }
    const isForm = operation.body?.type.includes('form') === true
    const type: Record<string, string> = isForm ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
    const sent = isForm ? new URLSearchParams(body as Record<string, string>).toString() : body
    const target = operation.base + path + (query === '' ? '' : `?${query}`)
    return () => this.#appliance.call(operation.method, target, own.key, sent, { ...type, ...own.headers })
  }

  #remember({ method, path }: Operation, { body }: Reply): void {
    const made = body?.data?.request?.id ?? body?.data?.id
    if (method === 'POST' && typeof made === 'string') this.know(path, made)
  }

  async #path({ path, base }: Operation, own: Own): Promise<string> {
    let filled = ''
    let template = ''
    for (const step of path.split('/').slice(1)) {
      const isId = step.startsWith('{')
      filled += `/${isId ? (own.path?.[step.slice(1, -1)] ?? (await this.#idIn(template, base + filled, own.key))) : step}`
      template += `/${step}`
    }
    return filled
  }

  // The last one created there, else the newest of the list.
  async #idIn(collection: string, url: string, key: string | null | undefined): Promise<string> {
    const made = this.#made.get(collection)
    if (made !== undefined) return made
    const { body } = await this.#appliance.call('GET', url, key)
    assert.ok(body.data?.[0]?.id, `${url} has an entry`)
    return body.data[0].id
  }

  // Ids in examples do not exist.
  #filled(example: Json): Json {
    if (Array.isArray(example)) return example.map((one) => this.#filled(one))
    if (typeof example === 'string') {
      const [, letters] = EXAMPLE_ID.exec(example) ?? []
      return letters === undefined ? example : (this.#made.get(letters) ?? example)
    }
    if (example === null || typeof example !== 'object') return example
    return Object.fromEntries(Object.entries(example).map(([name, member]) => [name, this.#filled(member)]))
  }
}

/** Required members of a query. */
function exampleQuery({ parameters }: Operation): Record<string, string> {
  const needed = parameters.filter((one) => one.in === 'query' && one.required)
  return Object.fromEntries(needed.map(({ name, schema }) => [name, String(schema.examples?.[0] ?? schema.enum?.[0])]))
}

// Differences between a response and its replay.
function withoutMeta({ status, body }: Reply): Json {
  const { meta: _meta, ...rest } = body
  return { status, ...rest }
}

const checks = new Map<object, Check>()
/** Headers of some responses: of those that created something, that are sent once more, and that are files to save. */
const SOMETIMES = new Set(['Location', 'Idempotent-Replayed', 'Content-Disposition'])

function check({ operationId, responses }: Operation, reply: Reply): void {
  const status = String(reply.status)
  assert.ok(status.startsWith('2') && status in responses, `${operationId}: ${status} ${JSON.stringify(reply.body)}`)
  const type = reply.headers.get('content-type')?.split(';')[0] ?? ''
  const content = responses[status].content as Record<string, Json>
  const described = content[type] ?? content['*/*']
  assert.ok(described, `${operationId}: ${type} is among ${Object.keys(content).join(', ')}`)
  for (const name of Object.keys(responses[status].headers)) {
    if (!SOMETIMES.has(name)) assert.ok(reply.headers.has(name), `${operationId}: has the header ${name}`)
  }
  if (type !== 'application/json') return
  const schema = described.schema as TSchema
  const known = checks.get(schema) ?? compileCheck(schema)
  checks.set(schema, known)
  assert.deepEqual(known.issues(reply.body), [], operationId)
}
