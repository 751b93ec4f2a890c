// The OpenAPI documents: valid, consistent with the routes, and changed only on purpose.
//
// After a wanted change: node test/api/openapi.test.ts --write, then npm run client.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { routes } from '../../src/api/routes.ts'
import { EVENTS } from '../../src/api/schemas/events.ts'
import { MAILBOX_SCOPES, PERMISSIONS } from '../../src/directory/names/permissions.ts'
import { exampleOf } from '../../src/http/openapi-examples.ts'
import { closed, compileCheck } from '../../src/http/validate.ts'
import { meRoutes } from '../../src/me/routes.ts'
import { fixtures, fixturesMissing } from '../support/fixtures.ts'
import {
  all,
  combined,
  contentOf,
  documents,
  METHODS,
  type Operation,
  operations,
  type Parameter,
  personal,
  resolve,
  visit,
} from './documents.ts'

// docs/design/http.md §11: verb and noun.
const VERBS = new Set(
  (
    'get list create update replace delete verify rotate activate deactivate test authorize cancel approve deny replay ' +
    'retry drop send resend register invite issue revoke set copy lookup batch suspend reactivate stream import parse validate ' +
    'pause resume sync confirm discover restore erase wait'
  ).split(' '),
)
/** The published description of both listeners. */
const PUBLISHED = new URL('../../docs/openapi.json', import.meta.url)
/** Where the examples were agreed on. */
const SPEC = fixtures('../spec/decisions.md')

test('docs/openapi.json is what the appliance serves', () => {
  const text = `${JSON.stringify(combined, null, 2)}\n`
  if (process.argv.includes('--write')) writeFileSync(PUBLISHED, text)
  const published = readFileSync(PUBLISHED, 'utf8')
  assert.deepEqual(JSON.parse(text), JSON.parse(published))
  assert.equal(text, published, 'the same members in another order')
})

for (const [surface, document] of Object.entries(personal)) {
  test(`docs/openapi-${surface}.json is up to date`, () => {
    const file = new URL(`../../docs/openapi-${surface}.json`, import.meta.url)
    const text = `${JSON.stringify(document, null, 2)}\n`
    if (process.argv.includes('--write')) writeFileSync(file, text)
    assert.equal(text, readFileSync(file, 'utf8'))
  })
}

test('the documents of the single listeners say the same as the published one', () => {
  // What a listener says of itself: its document is not in the published one, the other is there for the app's listener.
  const ofItself = ['/openapi.json', '/.well-known/oauth-protected-resource/api/v1']
  const shared = Object.keys(documents.app.paths).filter((path) => path in documents.send.paths)
  const sending = ['/emails/send', '/emails/send/batch', '/emails/{message_id}/cancel']
  assert.deepEqual(shared.toSorted(), ['/healthz', ...ofItself, ...sending].toSorted())
  for (const [surface, { paths, components }] of Object.entries(documents)) {
    for (const [path, { servers: _, ...item }] of Object.entries(paths) as [string, Record<string, unknown>][]) {
      if (ofItself.slice(0, surface === 'app' ? 1 : 2).includes(path)) continue
      const { servers: __, ...published } = combined.paths[path] as Record<string, unknown>
      assert.deepEqual(item, published, `${surface} ${path}`)
    }
    for (const [kind, members] of Object.entries(components)) {
      for (const [name, member] of Object.entries(members)) {
        assert.deepEqual(member, (combined.components as Record<string, Record<string, unknown>>)[kind]![name], name)
      }
    }
  }
})

test('every route is documented, and nothing else', () => {
  for (const surface of ['app', 'send'] as const) {
    const own = routes.filter(({ hidden, surface: at = 'app' }) => !hidden && (at === surface || at === 'both'))
    for (const route of own) {
      const operation = documents[surface].paths[route.path]?.[route.method.toLowerCase()]
      assert.equal(operation?.operationId, route.operation)
    }
    const described = Object.values(documents[surface].paths).flatMap((item) => METHODS.filter((name) => name in item))
    assert.equal(described.length, own.length + 1, 'the routes and the document itself')
  }
})

test('every reference resolves, and every component is used', () => {
  for (const document of [...all, ...Object.values(personal)]) {
    const used = new Set<string>()
    visit(document, ({ $ref }) => {
      if (typeof $ref !== 'string') return
      assert.notEqual(resolve(document, $ref), undefined, $ref)
      used.add($ref)
    })
    for (const name of Object.keys(document.components.schemas)) {
      assert.ok(used.has(`#/components/schemas/${name}`), `${name} is used`)
    }
  }
})

test('operation ids are unique, and each operation has an imperative summary and a known tag', () => {
  for (const document of all) {
    const ids: string[] = []
    visit(document.paths, (node) => {
      if (typeof node.operationId === 'string') ids.push(node.operationId)
    })
    assert.equal(new Set(ids).size, ids.length)
    const tags = new Set(document.tags.map(({ name }) => name))
    visit(document.paths, (node) => {
      if (node.operationId !== undefined) assert.ok((node.tags as string[]).every((tag) => tags.has(tag)))
    })
  }
  for (const { operation } of operations) {
    const [verb] = /^[a-z]+(?=[A-Z]\w+$)/.exec(operation.operationId) ?? []
    assert.ok(VERBS.has(verb!), operation.operationId)
    assert.match(operation.summary, /^[A-Z][a-z]+,? .*[^.]$/s)
  }
})

test('every path parameter is declared, and no other', () => {
  for (const { path, operation } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const declared = operation.parameters.filter((parameter) => parameter.in === 'path')
    assert.deepEqual(declared.map(({ name }) => name).sort(), inPath.sort(), path)
    assert.ok(declared.every(({ required }) => required))
    const names = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`)
    assert.equal(new Set(names).size, names.length)
  }
})

test('every query parameter and every member of a body has a description', () => {
  for (const { operation } of operations) {
    for (const { name, in: place, description } of operation.parameters) {
      if (place !== 'path') assert.ok(description, `${operation.operationId}: ${name}`)
    }
  }
  for (const { body, operation } of routes) {
    for (const [name, member] of Object.entries(body?.properties ?? {})) {
      assert.ok((member as { description?: string }).description, `${operation}: ${name}`)
    }
  }
})

test('every operation names a known permission, or is public', () => {
  const known = new Set<string>([...PERMISSIONS, ...MAILBOX_SCOPES])
  for (const { operation } of operations) {
    const permission = operation['x-required-permission']
    if (permission === undefined) assert.deepEqual(operation.security, [], operation.operationId)
    else
      assert.ok(
        permission.split(' or ').every((one) => known.has(one)),
        permission,
      )
  }
})

test('every operation documents its errors, and every error its headers', () => {
  for (const { method, operation } of operations) {
    const reported = Object.keys(operation.responses)
    const wanted = ['400', '406', '429', '500', '503']
    if (operation.security === undefined) wanted.push('401', '403')
    // A resource that is named and is not there: in the path, or as a filter of a list.
    const isNamed = (one: Parameter) => 'x-id' in one.schema || one.name === 'X-Source-Authorization'
    if (operation.parameters.some(isNamed)) wanted.push('404')
    if (method === 'post' || method === 'put') wanted.push('413', '415')
    // RFC 6749 has one status for everything that is wrong with a request.
    if ((method === 'post' || method === 'put') && !('application/x-www-form-urlencoded' in contentOf(operation)))
      wanted.push('409', '422')
    assert.deepEqual(
      wanted.filter((status) => !reported.includes(status)),
      [],
      operation.operationId,
    )
  }
  for (const { components } of all) {
    for (const [status, { headers }] of Object.entries(components.responses)) {
      assert.ok('X-Request-Id' in headers && 'X-RateLimit-Reset' in headers, status)
    }
  }
  const { responses } = documents.app.components
  const own = ['401', '416', '429', '503'].map((status) => Object.keys(responses[status]!.headers).at(-1))
  assert.deepEqual(own, ['WWW-Authenticate', 'Content-Range', 'Retry-After', 'Retry-After'])
})

test('an import documents both its responses, and every list of changes its state', () => {
  const find = (id: string) => operations.find(({ operation }) => operation.operationId === id)!.operation
  for (const id of ['importMessage', 'createSuppression']) {
    const { responses } = find(id)
    assert.deepEqual(responses['200']!.content, responses['201']!.content, id)
  }
  for (const id of ['replaceSieveScript', 'deleteSieveScript', 'deleteAttachment', 'updateMessageKeywords']) {
    assert.ok(
      find(id).parameters.some(({ name }) => name === 'If-Match'),
      id,
    )
  }
})

test('every schema can be compiled, and its examples pass it', () => {
  for (const route of routes) {
    for (const schema of [route.params, route.query, route.body, route.reply]) {
      if (schema !== undefined) compileCheck(schema)
    }
    visit([route.body, route.reply], (node) => {
      if (!Array.isArray(node.examples)) return
      for (const example of node.examples) {
        assert.deepEqual(compileCheck(node).issues(withDefaults(node, example)), [], String(node.title))
      }
    })
  }
})

// What has a default may be left out of a body.
function withDefaults(node: Record<string, unknown>, example: unknown): unknown {
  const members = Object.entries((node.properties ?? {}) as Record<string, { default?: unknown }>)
  const defaults = members.filter(([, member]) => member.default !== undefined)
  if (defaults.length === 0) return example
  return { ...Object.fromEntries(defaults.map(([name, member]) => [name, member.default])), ...(example as object) }
}

test('every operation has a description, and an example of each body that is valid', () => {
  const missing: string[] = []
  for (const [surface, document] of Object.entries({ ...documents, ...personal })) {
    for (const [path, item] of Object.entries(document.paths)) {
      for (const method of METHODS.filter((name) => name in item)) {
        const { description, requestBody, responses } = item[method]! as Operation & { description?: string }
        const answered = ['200', '201', '202'].flatMap((status) => Object.values(responses[status]?.content ?? {}))
        const bodies = [...Object.values(requestBody?.content ?? {}), ...answered]
        if (!description?.endsWith('.')) missing.push(`${surface} ${method} ${path}: description`)
        if (!bodies.every((body) => 'example' in (body as object)))
          missing.push(`${surface} ${method} ${path}: example`)
      }
    }
  }
  assert.deepEqual(missing, [])
  for (const { operation, body, reply, bare, stream } of [...routes, ...meRoutes]) {
    for (const schema of [...(body ? [closed(body)] : []), ...(bare || stream ? [] : [reply])]) {
      const example = exampleOf(JSON.parse(JSON.stringify(schema)))
      assert.deepEqual(compileCheck(schema).issues(withDefaults(schema as never, example)), [], operation)
    }
  }
})

test('every body has an example', () => {
  for (const { body, operation } of routes) {
    if (body !== undefined) assert.equal((body as { examples?: unknown[] }).examples?.length, 1, operation)
  }
})

test('every object of a reply is closed, so that the validation of replies finds undeclared members', () => {
  for (const route of routes) {
    visit(route.reply, (node) => {
      if (node.properties === undefined || typeof node.properties !== 'object' || !('type' in node)) return
      assert.equal(node.additionalProperties, false, `${route.operation}: ${String(node.title)}`)
    })
  }
})

test('every type of event is documented', () => {
  assert.deepEqual(Object.keys((documents.app as unknown as { webhooks: object }).webhooks), Object.keys(EVENTS))
})

test('the agreed examples of events are valid', { skip: fixturesMissing('../spec/decisions.md') }, () => {
  const text = readFileSync(SPEC!, 'utf8')
  const examples = [...text.matchAll(/^\{"id":"evt_[^\n]+\}$/gm)].map(
    ([line]) => JSON.parse(line) as { type: keyof typeof EVENTS },
  )
  // Those of outside accounts and of held messages were agreed on later.
  const later = /^(?:remote_account\.|message\.(?:held|approved)$)/
  const agreed = Object.keys(EVENTS).filter((type) => !later.test(type))
  assert.deepEqual(new Set(examples.map(({ type }) => type)), new Set(agreed))
  for (const example of examples) {
    const check = compileCheck(closed(EVENTS[example.type]))
    assert.deepEqual(check.issues(example), [], example.type)
  }
})

/** Of different methods, and ids have a prefix: no request matches both. The Sending API alone has one of them. */
const KNOWN =
  'warn no-ambiguous-paths Paths should resolve unambiguously. Found two ambiguous paths: `/emails/logs/{log_id}` and ' +
  '`/emails/{message_id}/cancel`. #/paths/~1emails~1{message_id}~1cancel'

test('an external linter finds no problem', async () => {
  const { createConfig, lintFromString } = await import('@redocly/openapi-core')
  const rules = await createConfig({
    extends: ['recommended'],
    rules: { 'no-server-example.com': 'off', 'info-license': 'off' },
  })
  for (const [surface, document] of Object.entries({ ...documents, combined })) {
    const problems = await lintFromString({
      source: JSON.stringify(document),
      config: rules,
      absoluteRef: `${surface}.json`,
    })
    const found = problems.map(
      ({ severity, ruleId, message, location }) => `${severity} ${ruleId} ${message} ${location[0]?.pointer}`,
    )
    const known = surface === 'send' ? [] : [KNOWN]
    assert.deepEqual(found.slice(0, 20), known, `${found.length} in ${surface}`)
  }
})
