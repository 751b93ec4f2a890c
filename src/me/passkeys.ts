// The passkeys of the signed-in person.

import { type Static, Type } from 'typebox'
import { isoTime } from '../base/clock.ts'
import { record } from '../http/record.ts'
import { answer, route } from '../http/route.ts'
import { Id, listOf, Nullable } from '../http/schema.ts'
import { isoTimeOrNull, TimeOf, TimeOrNull } from '../http/time.ts'
import type { Passkey as PasskeyRecord } from '../people/passkeys.ts'
import { FlowId, PasskeyCreation, PasskeyRequest } from './credentials-schemas.ts'
import { FRESH_ROUTE, ME_ROUTE } from './me-route.ts'
import { sessionIn } from './self.ts'

const docs = { tag: 'Sign-in' }
const params = Type.Object({ passkey_id: Id('passkey') })
const PasskeyName = Type.String({ minLength: 1, maxLength: 100, description: 'For the person.', examples: ['Phone'] })

const Passkey = record('Passkey', 'A passkey of the person.', {
  id: Id('passkey'),
  name: Type.String(),
  created_at: TimeOf('When it was added.'),
  last_used_at: TimeOrNull('Null until the first use.'),
  backed_up: Type.Boolean({ description: 'Whether the device keeps a copy elsewhere.' }),
  host: Nullable(
    Type.String({
      description: 'Host of the only address it can be used at; null where an earlier version did not store it.',
    }),
  ),
})

const listPasskeys = route({
  ...ME_ROUTE,
  method: 'GET',
  path: '/passkeys',
  docs: {
    ...docs,
    operation: 'listPasskeys',
    summary: 'List your passkeys, the oldest first',
    description: 'With the name, when each was last used, and the host it belongs to.',
  },
  reply: { schema: listOf(Passkey), list: 'whole' },
  handle({ app, request }) {
    return whole(app.people.authentication.passkeysOf(sessionIn(request)).map(presentPasskey))
  },
})

const startPasskey = route({
  surface: 'me',
  access: { as: 'person', fresh: true, audited: false },
  method: 'POST',
  path: '/passkeys/options',
  docs: {
    ...docs,
    operation: 'createPasskeyRegistration',
    summary: 'Begin to add a passkey',
    description: 'Returns the options for `navigator.credentials.create`; they are valid for some minutes.',
  },
  reply: { schema: PasskeyRequest },
  async handle({ app, request }) {
    const { flowId, options } = await app.people.authentication.startPasskey(sessionIn(request))
    return { flow_id: flowId, options }
  },
})

const createPasskey = route({
  ...FRESH_ROUTE,
  method: 'POST',
  path: '/passkeys',
  docs: {
    ...docs,
    operation: 'createPasskey',
    summary: 'Add a passkey',
    description: 'Takes the answer of `navigator.credentials.create`, which is verified as WebAuthn asks.',
  },
  body: {
    schema: record('PasskeyCreate', 'The answer of the browser.', {
      flow_id: FlowId,
      response: PasskeyCreation,
      name: PasskeyName,
    }),
  },
  reply: { schema: Passkey, status: 201 },
  async handle({ body, app, request }) {
    const { authentication } = app.people
    const added = await authentication.addPasskey(sessionIn(request), body.flow_id, body.response, body.name)
    return answer({ data: presentPasskey(added), status: 201, headers: { Location: `/me/v1/passkeys/${added.id}` } })
  },
})

const updatePasskey = route({
  ...ME_ROUTE,
  method: 'PATCH',
  path: '/passkeys/{passkey_id}',
  docs: {
    ...docs,
    operation: 'updatePasskey',
    summary: 'Rename a passkey',
    description: 'The name is shown to you alone.',
  },
  params,
  body: { schema: record('PasskeyUpdate', 'The new name.', { name: PasskeyName }) },
  reply: { schema: Passkey },
  async handle({ params: { passkey_id: id }, body, app, request }) {
    return presentPasskey(await app.people.authentication.renamePasskey(sessionIn(request), id, body.name))
  },
})

const deletePasskey = route({
  ...FRESH_ROUTE,
  method: 'DELETE',
  path: '/passkeys/{passkey_id}',
  docs: {
    ...docs,
    operation: 'deletePasskey',
    summary: 'Remove a passkey; the last way to sign in stays (409)',
    description: 'It cannot be used from then on.',
  },
  params,
  reply: { schema: Type.Object({ deleted: Type.Literal(true), id: Id('passkey') }) },
  async handle({ params: { passkey_id: id }, app, request }) {
    await app.people.authentication.deletePasskey(sessionIn(request), id)
    return { deleted: true, id }
  },
})

function presentPasskey({ id, name, createdAt, lastUsedAt, isBackedUp, rpId }: PasskeyRecord): Static<typeof Passkey> {
  const times = { created_at: isoTime(createdAt), last_used_at: isoTimeOrNull(lastUsedAt) }
  return { id, name, ...times, backed_up: isBackedUp, host: rpId }
}

function whole<T>(items: T[]) {
  return { items, next: null }
}

export const passkeyRoutes = [listPasskeys, startPasskey, createPasskey, updatePasskey, deletePasskey]
