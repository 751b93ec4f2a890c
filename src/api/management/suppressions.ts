// The suppression list of a team (docs/design/sending.md §8).

import { Type } from 'typebox'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, Nullable, pageQuery } from '../../http/schema.ts'
import { NOTE_MAX } from '../../outbound/queue/suppressions.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { searchFilters, searchOf } from '../schemas/list-filters.ts'
import { record } from '../schemas/record.ts'
import { presentSuppression, SuppressionJson, SuppressionReason } from '../schemas/suppression.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

// Longer than any address, so that an address with non-ASCII letters is checked after its domain has been converted.
const EMAIL_TEXT_MAX = 320

const listSuppressions = route({
  method: 'GET',
  path: '/suppressions',
  docs: {
    operation: 'listSuppressions',
    tag: 'Suppressions',
    summary: 'List suppressed addresses, newest first',
    description: 'Nothing is sent to a suppressed address; `reason` says what put it on the list.',
  },
  access: { as: 'team', permission: 'suppression.read' },
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    ...searchFilters('Part of the address; case is ignored.'),
    reason: SuppressionReason,
  }),
  reply: { schema: listOf(SuppressionJson) },
  async handle({ query, after, principal, app }) {
    const { reason, limit } = query
    const page = await app.outbound.queue.suppressions.list(principal.teamId, {
      search: searchOf(query),
      reason,
      limit,
      after,
    })
    return { items: page.items.map(presentSuppression), next: page.next }
  },
})

const createSuppression = route({
  method: 'POST',
  path: '/suppressions',
  docs: {
    operation: 'createSuppression',
    tag: 'Suppressions',
    summary: 'Suppress an address: the team sends it no more messages',
    description: 'An address that is already suppressed does not change: the response is 200 with that record.',
  },
  access: { as: 'team', permission: 'suppression.manage' },
  idempotent: true,
  body: {
    schema: record(
      'SuppressionCreate',
      'The address, and the reason.',
      {
        email: Type.String({
          minLength: 3,
          maxLength: EMAIL_TEXT_MAX,
          description: 'Address that receives no more messages of the team.',
          examples: ['gone@customer.example'],
        }),
        note: Type.Optional(Nullable(Type.String({ maxLength: NOTE_MAX, description: 'A note for the list.' }))),
      },
      { email: 'gone@customer.example', note: 'Asked by telephone.' },
    ),
  },
  reply: { schema: SuppressionJson, status: 201, otherwise: 'The address is already suppressed: the existing record.' },
  async handle({ body, principal, app }) {
    const { suppressions } = app.outbound.queue
    const { record, created } = await suppressions.create(principal.teamId, body.email, body.note ?? null)
    const data = presentSuppression(record)
    return answer({ data, status: created ? 201 : 200 })
  },
})

const IMPORTED_MAX = 1000

const importSuppressions = route({
  method: 'POST',
  path: '/suppressions/import',
  docs: {
    operation: 'importSuppressions',
    tag: 'Suppressions',
    summary: `Suppress up to ${IMPORTED_MAX} addresses`,
    description:
      'Addresses that are already suppressed do not change. Entries that are no valid addresses are reported and do not affect ' +
      'the others.',
  },
  access: { as: 'team', permission: 'suppression.manage' },
  idempotent: true,
  body: {
    schema: record(
      'SuppressionImport',
      'The addresses.',
      {
        addresses: Type.Array(
          record('SuppressionEntry', 'An address, and the reason.', {
            email: Type.String({ maxLength: EMAIL_TEXT_MAX, description: 'The address.' }),
            note: Type.Optional(Nullable(Type.String({ maxLength: NOTE_MAX, description: 'A note for the list.' }))),
          }),
          { minItems: 1, maxItems: IMPORTED_MAX, description: 'Addresses that receive no more messages of the team.' },
        ),
      },
      { addresses: [{ email: 'gone@customer.example', note: 'From the former system.' }] },
    ),
  },
  reply: {
    schema: record('SuppressionsImported', 'The result.', {
      added: Type.Integer({ minimum: 0, description: 'Addresses that are suppressed from now on.' }),
      known: Type.Integer({ minimum: 0, description: 'Addresses that were suppressed before.' }),
      invalid: Type.Array(Type.Integer({ minimum: 0 }), {
        description: 'Indexes of entries that are no valid address.',
      }),
    }),
  },
  async handle({ body: { addresses }, principal, app }) {
    const entries = addresses.map(({ email, note = null }) => ({ email, note }))
    const results = await app.outbound.queue.suppressions.createAll(principal.teamId, entries)
    const count = (wanted: string) => results.filter((result) => result === wanted).length
    const invalid = results.flatMap((result, index) => (result === 'invalid' ? [index] : []))
    return { added: count('added'), known: count('known'), invalid }
  },
})

const deleteSuppression = route({
  method: 'DELETE',
  path: '/suppressions/{suppression_id}',
  docs: {
    operation: 'deleteSuppression',
    tag: 'Suppressions',
    summary: 'Delete a suppression: the team can send to the address again',
    description: 'If a server rejects the address again as unknown, the next message suppresses it again.',
  },
  access: { as: 'team', permission: 'suppression.manage' },
  params: Type.Object({ suppression_id: Id('suppression') }),
  reply: { schema: DeletedOf('suppression') },
  async handle({ params: { suppression_id }, principal, app }) {
    await app.outbound.queue.suppressions.remove(principal.teamId, suppression_id)
    return { deleted: true, id: suppression_id }
  },
})

export const suppressions = [listSuppressions, createSuppression, importSuppressions, deleteSuppression]
