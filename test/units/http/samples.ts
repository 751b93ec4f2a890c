// Sample routes that together use everything the chain knows.

import { setTimeout as pause } from 'node:timers/promises'
import { Type } from 'typebox'
import { conflict, invalid, ProductError } from '../../../src/base/errors.ts'
import { answer, bytes, type Route, route } from '../../../src/http/route.ts'
import { CommaList, Default, Id, listOf, Nullable, pageQuery, TimeQuery, Words } from '../../../src/http/schema.ts'

/** What the sample handlers remember. */
export interface Memory {
  filter: { mode: string; rules: string[] }
  made: number
  /** What the last handler was given. */
  seen: unknown
  /** What `POST /gate` waits for. */
  gate: Promise<void>
}

export const CONTENT = Buffer.from('0123456789')

export function memory(): Memory {
  return { filter: { mode: 'off', rules: [] }, made: 0, seen: null, gate: Promise.resolve() }
}

const Filter = Type.Object({
  mode: Words(['off', 'allowlist']),
  rules: Type.Array(Type.String({ minLength: 1, maxLength: 5 }), { maxItems: 3, uniqueItems: true }),
})
const byId = Type.Object({ id: Id('domain') })
const team = { tag: 'Sample', summary: 'A sample.', as: 'team', permission: 'domain.read' } as const

export function samples(kept: Memory): readonly Route[] {
  return [...readers(kept), ...writers(kept), ...oddities(kept)]
}

function readers(kept: Memory): Route[] {
  return [
    route({
      ...team,
      method: 'GET',
      path: '/things',
      operation: 'listThings',
      query: pageQuery({
        limit: 2,
        status: Words(['new', 'old']),
        min: Type.Integer({ minimum: 0 }),
        since: TimeQuery,
        open: Type.Boolean(),
        include: CommaList(Words(['a', 'b']), 2),
        sort: Default(Words(['asc', 'desc']), 'desc'),
      }),
      reply: listOf(Type.Object({ n: Type.Integer() })),
      async handle({ query, after }) {
        kept.seen = query
        const from = Number(after?.[0] ?? 0)
        const items = [1, 2, 3, 4, 5].slice(from, from + query.limit).map((n) => ({ n }))
        return { items, next: from + query.limit < 5 ? [from + query.limit] : null, meta: { state: 'm1' } }
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/things/count',
      operation: 'countThings',
      reply: Type.Object({ count: Type.Integer() }),
      async handle() {
        return { count: 5 }
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/things/{id}',
      operation: 'getThing',
      params: byId,
      reply: Type.Object({ id: Type.String() }),
      etag: true,
      async handle({ params }) {
        return { id: params.id }
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/filter',
      operation: 'getFilter',
      reply: Filter,
      etag: true,
      async handle() {
        return kept.filter
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/content',
      operation: 'getContent',
      reply: Type.String(),
      produces: ['*/*'],
      query: Type.Object({ weak: Default(Type.Boolean(), false) }),
      async handle({ query }) {
        return bytes({
          type: 'application/pdf',
          sizeBytes: CONTENT.length,
          etag: query.weak ? 'W/"content"' : '"content"',
          headers: { 'Content-Disposition': 'attachment' },
          async *read(start, end) {
            yield CONTENT.subarray(start, end)
          },
        })
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/either',
      operation: 'getEither',
      produces: ['application/json', 'message/rfc822'],
      reply: Type.Object({ accepts: Type.String() }),
      async handle({ request }) {
        return { accepts: request.accepts }
      },
    }),
  ]
}

function writers(kept: Memory): Route[] {
  return [
    route({
      ...team,
      method: 'POST',
      path: '/things',
      operation: 'createThing',
      permission: 'domain.create',
      idempotent: true,
      status: 201,
      body: Type.Object({
        name: Type.String({ minLength: 2, maxLength: 10, pattern: '^[^!]*$' }),
        size: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
        kind: Type.Optional(Words(['x', 'y'])),
        tags: Type.Optional(Type.Array(Type.String(), { maxItems: 3, uniqueItems: true })),
        note: Type.Optional(Nullable(Type.String({ maxLength: 3 }))),
        at: Type.Optional(TimeQuery),
        scope: Type.Optional(
          Type.Union([
            Type.Object({ type: Type.Literal('all') }),
            Type.Object({ type: Type.Literal('some'), ids: Type.Array(Type.String(), { maxItems: 5 }) }),
          ]),
        ),
        inner: Type.Optional(Type.Object({ deep: Type.Integer() })),
        level: Default(Type.Integer(), 3),
      }),
      reply: Type.Object({ made: Type.Integer(), level: Type.Integer() }),
      async handle({ body }) {
        if (body.name === 'taken') throw conflict('The name is taken.')
        if (body.name === 'bad') throw invalid('name', 'forbidden_value', 'The name is bad.')
        kept.made++
        await kept.gate
        return answer({
          data: { made: kept.made, level: body.level },
          headers: { Location: `/api/v1/things/${kept.made}` },
        })
      },
    }),
    route({
      ...team,
      method: 'POST',
      path: '/secrets',
      operation: 'createSecret',
      permission: 'domain.create',
      idempotent: true,
      secret: true,
      reply: Type.Object({ key: Type.String() }),
      async handle() {
        kept.made++
        return { key: `open-sesame-${kept.made}` }
      },
    }),
    route({
      ...team,
      method: 'PUT',
      path: '/filter',
      operation: 'replaceFilter',
      permission: 'domain.create',
      body: Filter,
      reply: Filter,
      etag: true,
      async handle({ body, request }) {
        // The pause stands for the read: who checks before it and writes after it would lose writes.
        await pause(1)
        request.matches(kept.filter)
        kept.filter = body
        return kept.filter
      },
    }),
    route({
      ...team,
      method: 'POST',
      path: '/things/{id}/verify',
      operation: 'verifyThing',
      permission: ['domain.verify', 'domain.manage'],
      params: byId,
      throttle: { times: 1, seconds: 10 },
      reply: Type.Object({ ok: Type.Boolean() }),
      async handle() {
        return { ok: true }
      },
    }),
    route({
      ...team,
      method: 'PATCH',
      path: '/things/{id}',
      operation: 'changeThing',
      params: byId,
      body: Type.Object({ name: Type.Optional(Type.String()) }),
      reply: Type.Object({ name: Type.Optional(Type.String()) }),
      async handle({ body }) {
        return body
      },
    }),
    route({
      ...team,
      method: 'DELETE',
      path: '/things/{id}',
      operation: 'deleteThing',
      params: byId,
      reply: Type.Object({ deleted: Type.Boolean() }),
      async handle() {
        return { deleted: true }
      },
    }),
  ]
}

function oddities(kept: Memory): Route[] {
  return [
    route({
      ...team,
      method: 'GET',
      path: '/failing',
      operation: 'getFailing',
      reply: Type.Null(),
      query: Type.Object({ code: Type.Optional(Type.String()) }),
      async handle({ query }) {
        if (query.code === undefined)
          throw new Error('the cellar is on fire, srk_0123456789012345678901234567890123456789')
        throw new ProductError(query.code as 'not_found', 'As you asked.')
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/untrue',
      operation: 'getUntrue',
      reply: Type.Object({ n: Type.Integer() }),
      async handle() {
        return { n: 1, more: true }
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/mailbox/me',
      operation: 'getMe',
      as: 'mailbox',
      permission: 'mailbox.read',
      reply: Type.Object({ source: Type.String() }),
      async handle({ request, principal }) {
        kept.seen = principal.mailboxId
        return { source: request.source }
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/both',
      operation: 'getBoth',
      surface: 'both',
      as: 'any',
      permission: undefined,
      reply: Type.Object({ kind: Type.String() }),
      async handle({ principal }) {
        return { kind: principal.kind }
      },
    }),
    route({
      method: 'GET',
      path: '/links/{token}',
      root: true,
      operation: 'openLink',
      tag: 'Samples',
      summary: 'A link that is a secret.',
      as: 'none',
      params: Type.Object({ token: Type.String() }),
      reply: Type.Object({ ok: Type.Boolean() }),
      async handle() {
        return { ok: true }
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/healthz',
      root: true,
      operation: 'getHealth',
      as: 'none',
      permission: undefined,
      bare: true,
      open: true,
      reply: Type.Object({ status: Type.String(), source: Type.String() }),
      async handle({ request }) {
        return { status: 'ok', source: request.source }
      },
    }),
  ]
}
