// The OpenAPI documents as input of client generators: errors of OAuth, defaults, pages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentOf, documents, operations, resolve, visit } from './documents.ts'

test('OAuth routes document the errors of RFC 6749, with the codes of each status', () => {
  for (const id of ['issueAgentToken', 'revokeAgentToken']) {
    const { responses } = operations.find(({ operation }) => operation.operationId === id)!.operation
    const errors = Object.entries(responses).filter(([status]) => status >= '400')
    for (const [status, { content }] of errors) {
      const { $ref } = content!['application/json']!.schema as { $ref: string }
      assert.equal($ref, '#/components/schemas/OAuthError', `${id} ${status}`)
    }
    assert.deepEqual(
      errors.map(([status]) => status),
      ['400', '406', '413', '415', '429', '500', '503'],
    )
  }
  const { responses } = operations.find(({ operation }) => operation.operationId === 'issueAgentToken')!.operation
  assert.match(JSON.stringify(responses['503']), /authorization_pending.*temporarily_unavailable.*Retry-After/)
})

test('no member of a request has the keyword default, which type generators take for a required member', () => {
  for (const { operation } of operations) {
    const named: string[] = []
    visit(contentOf(operation), (node) => {
      if ('default' in node) named.push(JSON.stringify(node.default))
      const { $ref } = node
      if (typeof $ref === 'string')
        visit(resolve(documents.app, $ref) ?? resolve(documents.send, $ref), (inner) => {
          if ('default' in inner) named.push($ref)
        })
    })
    assert.deepEqual(named, [], operation.operationId)
  }
  const create = resolve(documents.app, '#/components/schemas/WebhookCreate') as { required: string[] }
  assert.deepEqual(create.required, ['url', 'event_types'])
  assert.match(JSON.stringify(create), /Default: true\./)
})

test('every list has has_more in pagination', () => {
  for (const id of ['listIdentities', 'listQuotas', 'listDomains']) {
    const { responses } = operations.find(({ operation }) => operation.operationId === id)!.operation
    const { schema } = responses['200']!.content!['application/json']! as { schema: { required: string[] } }
    assert.ok(schema.required.includes('pagination'), id)
  }
})
