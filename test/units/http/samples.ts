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
const team = {
  docs: {
    tag: 'Sample',
    summary: 'A sample.',
  },
  access: { as: 'team', permission: 'domain.read' },
} as const

export function samples(kept: Memory): readonly Route[] {
  return [...readers(kept), ...writers(kept), ...oddities(kept)]
}

function readers(kept: Memory): Route[] {
  return [
    route({
      ...team,
      method: 'GET',
      path: '/things',
      docs: {
        ...team.docs,
        operation: 'listThings',
      },
      query: pageQuery({
        limit: 2,
        status: Words(['new', 'old']),
        min: Type.Integer({ minimum: 0 }),
        since: TimeQuery,
        open: Type.Boolean(),
        include: CommaList(Words(['a', 'b']), 2),
        sort: Default(Words(['asc', 'desc']), 'desc'),
      }),
      reply: { schema: listOf(Type.Object({ n: Type.Integer() })) },
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
      docs: {
        ...team.docs,
        operation: 'countThings',
      },
      reply: { schema: Type.Object({ count: Type.Integer() }) },
      async handle() {
        return { count: 5 }
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/things/{id}',
      docs: {
        ...team.docs,
        operation: 'getThing',
      },
      params: byId,
      reply: { schema: Type.Object({ id: Type.String() }), etag: true },
      async handle({ params }) {
        return { id: params.id }
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/filter',
      docs: {
        ...team.docs,
        operation: 'getFilter',
      },
      reply: { schema: Filter, etag: true },
      async handle() {
        return kept.filter
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/content',
      docs: {
        ...team.docs,
        operation: 'getContent',
      },
      reply: { schema: Type.String(), types: ['*/*'] },
      query: Type.Object({ weak: Default(Type.Boolean(), false) }),
      handle({ query }) {
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
      docs: {
        ...team.docs,
        operation: 'getEither',
      },
      reply: { types: ['application/json', 'message/rfc822'], schema: Type.Object({ accepts: Type.String() }) },
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
      docs: {
        ...team.docs,
        operation: 'createThing',
      },
      access: { ...team.access, permission: 'domain.create' },
      idempotent: true,
      reply: { status: 201, schema: Type.Object({ made: Type.Integer(), level: Type.Integer() }) },
      body: {
        schema: Type.Object({
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
      },
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
      docs: {
        ...team.docs,
        operation: 'createSecret',
      },
      access: { ...team.access, permission: 'domain.create' },
      idempotent: true,
      reply: { secret: true, schema: Type.Object({ key: Type.String() }) },
      async handle() {
        kept.made++
        return { key: `open-sesame-${kept.made}` }
      },
    }),
    route({
      ...team,
      method: 'PUT',
      path: '/filter',
      docs: {
        ...team.docs,
        operation: 'replaceFilter',
      },
      access: { ...team.access, permission: 'domain.create' },
      body: { schema: Filter },
      reply: { schema: Filter, etag: true },
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
      docs: {
        ...team.docs,
        operation: 'verifyThing',
      },
      access: { ...team.access, permission: ['domain.verify', 'domain.manage'] },
      params: byId,
      limits: { throttle: { times: 1, seconds: 10 } },
      reply: { schema: Type.Object({ ok: Type.Boolean() }) },
      async handle() {
        return { ok: true }
      },
    }),
    route({
      ...team,
      method: 'PATCH',
      path: '/things/{id}',
      docs: {
        ...team.docs,
        operation: 'changeThing',
      },
      params: byId,
      body: { schema: Type.Object({ name: Type.Optional(Type.String()) }) },
      reply: { schema: Type.Object({ name: Type.Optional(Type.String()) }) },
      async handle({ body }) {
        return body
      },
    }),
    route({
      ...team,
      method: 'DELETE',
      path: '/things/{id}',
      docs: {
        ...team.docs,
        operation: 'deleteThing',
      },
      params: byId,
      reply: { schema: Type.Object({ deleted: Type.Boolean() }) },
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
      docs: {
        ...team.docs,
        operation: 'getFailing',
      },
      reply: { schema: Type.Null() },
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
      docs: {
        ...team.docs,
        operation: 'getUntrue',
      },
      reply: { schema: Type.Object({ n: Type.Integer() }) },
      async handle() {
        return { n: 1, more: true }
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/mailbox/me',
      docs: {
        ...team.docs,
        operation: 'getMe',
      },
      access: { ...team.access, as: 'mailbox', permission: 'mailbox.read' },
      reply: { schema: Type.Object({ source: Type.String() }) },
      async handle({ request, principal }) {
        kept.seen = principal.mailboxId
        return { source: request.source }
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/both',
      docs: {
        ...team.docs,
        operation: 'getBoth',
      },
      surface: 'both',
      access: { ...team.access, as: 'any', permission: undefined },
      reply: { schema: Type.Object({ kind: Type.String() }) },
      async handle({ principal }) {
        return { kind: principal.kind }
      },
    }),
    route({
      method: 'GET',
      path: '/links/{token}',
      root: true,
      docs: {
        operation: 'openLink',
        tag: 'Samples',
        summary: 'A link that is a secret.',
      },
      access: { as: 'none' },
      params: Type.Object({ token: Type.String() }),
      reply: { schema: Type.Object({ ok: Type.Boolean() }) },
      async handle() {
        return { ok: true }
      },
    }),
    route({
      ...team,
      method: 'GET',
      path: '/healthz',
      root: true,
      docs: {
        ...team.docs,
        operation: 'getHealth',
      },
      access: { ...team.access, as: 'none', permission: undefined, open: true },
      reply: { bare: true, schema: Type.Object({ status: Type.String(), source: Type.String() }) },
      async handle({ request }) {
        return { status: 'ok', source: request.source }
      },
    }),
  ]
}
