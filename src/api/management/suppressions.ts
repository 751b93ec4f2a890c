// Who gets no more mail from a team (decisions §6.3).

import { Type } from 'typebox'
import { answer, route } from '../../http/route.ts'
import { Id, listOf, Nullable, pageQuery } from '../../http/schema.ts'
import { NOTE_MAX } from '../../outbound/suppressions.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { record } from '../schemas/record.ts'
import { presentSuppression, Suppression, SuppressionReason } from '../schemas/suppression.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

// Longer than any address, so that one with letters beyond ASCII is judged after its domain has been converted.
const EMAIL_TEXT_MAX = 320

const listSuppressions = route({
  method: 'GET',
  path: '/suppressions',
  operation: 'listSuppressions',
  tag: 'Suppressions',
  summary: 'Lists the addresses the team no longer writes to, newest first.',
  as: 'team',
  permission: 'suppression.read',
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    search: Type.String({ minLength: 1, maxLength: 255, description: 'A part of the address, in any case.' }),
    reason: SuppressionReason,
  }),
  reply: listOf(Suppression),
  async handle({ query, after, principal, app }) {
    const { search, reason, limit } = query
    const page = await app.outbound.suppressions.list(principal.teamId, { search, reason, limit, after })
    return { items: page.items.map(presentSuppression), next: page.next }
  },
})

const createSuppression = route({
  method: 'POST',
  path: '/suppressions',
  operation: 'createSuppression',
  tag: 'Suppressions',
  summary: 'Adds an address the team shall no longer write to.',
  description: 'An address that is on the list already stays as it is: the answer is 200 with that record.',
  as: 'team',
  permission: 'suppression.manage',
  idempotent: true,
  body: record(
    'SuppressionCreate',
    'Who gets no more mail, and why.',
    {
      email: Type.String({
        minLength: 3,
        maxLength: EMAIL_TEXT_MAX,
        description: 'Who gets no more mail of the team.',
        examples: ['gone@customer.example'],
      }),
      note: Type.Optional(Nullable(Type.String({ maxLength: NOTE_MAX, description: 'For whoever reads the list.' }))),
    },
    { email: 'gone@customer.example', note: 'Asked by telephone.' },
  ),
  reply: Suppression,
  status: 201,
  otherwise: 'The address is on the list already: its record, as it was.',
  async handle({ body, principal, app }) {
    const { suppressions } = app.outbound
    const { record, created } = await suppressions.create(principal.teamId, body.email, body.note ?? null)
    const data = presentSuppression(record)
    return answer({ data, status: created ? 201 : 200 })
  },
})

const deleteSuppression = route({
  method: 'DELETE',
  path: '/suppressions/{suppression_id}',
  operation: 'deleteSuppression',
  tag: 'Suppressions',
  summary: 'Lets the team write to the address again.',
  description: 'A server that still knows nobody there has it listed again with the next mail.',
  as: 'team',
  permission: 'suppression.manage',
  params: Type.Object({ suppression_id: Id('suppression') }),
  reply: DeletedOf('suppression'),
  async handle({ params: { suppression_id }, principal, app }) {
    await app.outbound.suppressions.remove(principal.teamId, suppression_id)
    return { deleted: true, id: suppression_id }
  },
})

export const suppressions = [listSuppressions, createSuppression, deleteSuppression]
