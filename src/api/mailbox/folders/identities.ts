// Sending identities of a mailbox (docs/design/mailbox.md §8).

import { type Static, Type } from 'typebox'
import { HOUR_MS, SECOND_MS } from '../../../base/durations.ts'
import { invalid, notFound, ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import type { MailboxPrincipal } from '../../../directory/names/principal.ts'
import { presenterOf } from '../../../http/present.ts'
import { answer, route } from '../../../http/route.ts'
import { Id, listOf, Nullable } from '../../../http/schema.ts'
import { checkEmail, checkName, checkRecipient } from '../../../mime/compose/draft-rules.ts'
import type { Address as MailAddress } from '../../../mime/message.ts'
import {
  IDENTITIES_MAX,
  type IdentityChange,
  type Identity as Kept,
  SIGNATURE_MAX,
} from '../../../store/mailbox/identities.ts'
import type { Account } from '../../../store/rows/records.ts'
import { accountOf, writableAccountOf } from '../../rules/account.ts'
import { AddressJson } from '../../schemas/address.ts'
import { DeletedOf } from '../../schemas/deleted.ts'
import { Person, people } from '../../schemas/new-mail.ts'
import { record } from '../../schemas/record.ts'
import { TimeOf } from '../../schemas/time.ts'
import { changesRoute } from '../changes/typed-changes.ts'

const params = Type.Object({ identity_id: Id('identity') })
/** Most addresses in `reply_to` and in `bcc`. */
const PEOPLE_MAX = 10

const Identity = record('Identity', 'An address the mailbox sends from, with its settings.', {
  id: Id('identity'),
  name: Type.String({ description: 'Display name; "" for the display name of the mailbox.' }),
  email: Type.String(),
  reply_to: Nullable(Type.Array(AddressJson, { description: 'Default Reply-To.' })),
  bcc: Nullable(Type.Array(AddressJson, { description: 'Default Bcc recipients.' })),
  text_signature: Type.String({ description: 'For clients to append; the server appends nothing.' }),
  html_signature: Type.String(),
  is_primary: Type.Boolean({ description: 'Default sender of messages without `from`.' }),
  may_delete: Type.Boolean({ description: 'False for the primary identity.' }),
  created_at: TimeOf('When it was created.'),
  updated_at: TimeOf('When it last changed.'),
})

const Signature = Type.String({ maxLength: SIGNATURE_MAX, description: 'For clients to append.' })
const members = {
  name: Type.Optional(Person.properties.name),
  reply_to: Type.Optional(Nullable(people('Default Reply-To.', { maxItems: PEOPLE_MAX }))),
  bcc: Type.Optional(Nullable(people('Default Bcc recipients.', { maxItems: PEOPLE_MAX }))),
  text_signature: Type.Optional(Signature),
  html_signature: Type.Optional(Signature),
}

const listIdentities = route({
  method: 'GET',
  path: '/mailbox/identities',
  docs: {
    operation: 'listIdentities',
    tag: 'Submissions',
    summary: 'List identities',
    description: 'All identities, the primary one first. `meta.state` is the state of the identities.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  reply: { list: 'whole', schema: listOf(Identity) },
  handle({ principal, app }) {
    const account = accountOf(app, principal)
    const items = app.store.sending.identities.list(account).map(present)
    return { items, next: null, meta: { state: account.states.identities } }
  },
})

const createIdentity = route({
  method: 'POST',
  path: '/mailbox/identities',
  docs: {
    operation: 'createIdentity',
    tag: 'Submissions',
    summary: 'Create an identity',
    description:
      'The address of the mailbox, that with a tag, an alias, or one that a pattern of its domain leads to it; any other address is ' +
      `rejected (422). 409 above ${IDENTITIES_MAX} identities. The address of the mailbox and its aliases have one by themselves.`,
  },
  access: { as: 'mailbox', permission: 'mailbox.write', gate: 'identity_mutation' },
  idempotent: true,
  body: {
    schema: record(
      'IdentityCreate',
      'The new identity.',
      { email: Person.properties.email, ...members },
      { email: 'ana+sales@shop.example', name: 'Ana, sales', reply_to: [{ email: 'sales@shop.example' }] },
    ),
  },
  reply: { schema: Identity, status: 201 },
  async handle({ body, principal, app }) {
    const account = writableAccountOf(app, principal)
    const email = await claimAddress(app, principal, body.email)
    const { isPrimary: _, ...change } = changeOf(body)
    const id = await app.store.sending.identities.create(account, { email, ...change })
    return answer({ data: shown(app, account, id), headers: { Location: '/api/v1/mailbox/identities' } })
  },
})

const updateIdentity = route({
  method: 'PATCH',
  path: '/mailbox/identities/{identity_id}',
  docs: {
    operation: 'updateIdentity',
    tag: 'Submissions',
    summary: 'Update an identity; its address cannot be changed',
    description: 'Its name, signatures, Reply-To and Bcc, and whether it is the default sender.',
  },
  access: { as: 'mailbox', permission: 'mailbox.write', gate: 'identity_mutation' },
  params,
  body: {
    schema: Type.Object(
      {
        ...members,
        is_primary: Type.Optional(Type.Literal(true, { description: 'Replaces the present default identity.' })),
      },
      {
        title: 'IdentityUpdate',
        description: 'The changes.',
        additionalProperties: false,
        minProperties: 1,
        examples: [{ name: 'Ana of sales', text_signature: 'Ana\nSales' }],
      },
    ),
  },
  reply: { schema: Identity },
  async handle({ params: { identity_id: id }, body, principal, app }) {
    const account = writableAccountOf(app, principal)
    await app.store.sending.identities.update(account, id, changeOf(body))
    return shown(app, account, id)
  },
})

const deleteIdentity = route({
  method: 'DELETE',
  path: '/mailbox/identities/{identity_id}',
  docs: {
    operation: 'deleteIdentity',
    tag: 'Submissions',
    summary: 'Delete an identity; 409 for the primary one',
    description: 'Messages that were already accepted are still sent under it.',
  },
  access: { as: 'mailbox', permission: 'mailbox.write', gate: 'identity_mutation' },
  params,
  reply: { schema: DeletedOf('identity') },
  async handle({ params: { identity_id: id }, principal, app }) {
    const account = writableAccountOf(app, principal)
    await app.store.sending.identities.remove(account, id)
    return { deleted: true, id }
  },
})

/**
 * An address that a pattern leads to the mailbox is one that it writes as from then on.
 * @throws ProductError validation_error for an address this mailbox cannot send from
 */
async function claimAddress(app: Context, principal: MailboxPrincipal, given: string): Promise<string> {
  const email = checkEmail('email', given).toLowerCase()
  const mailbox = app.directory.mailboxes.byId(principal.mailboxId)
  if (mailbox === undefined) throw notFound('mailbox')
  if (app.directory.aliases.mayWriteAs(app.db.read, mailbox, email)) return email
  const pattern = app.directory.aliases.byPattern(app.db.read, mailbox, email)
  if (pattern !== undefined) {
    const { patternAddresses } = app.directory
    if (!patternAddresses.admit(pattern.domainId, email, mailbox.id)) throw manyAddresses()
    await app.db.write((tx) => patternAddresses.noteIn(tx, pattern.domainId, email))
    return email
  }
  const message =
    `The address does not belong to this mailbox. Use ${mailbox.email}, that with a tag, an alias of it, or an address that a ` +
    'pattern leads to it.'
  throw invalid('email', 'forbidden_value', message)
}

function manyAddresses(): ProductError {
  return new ProductError('rate_limit_exceeded', 'Too many new addresses of the domain. Try again later.', {
    retryAfter: HOUR_MS / SECOND_MS,
  })
}

interface GivenIdentity {
  name?: string
  reply_to?: Person[] | null
  bcc?: Person[] | null
  text_signature?: string
  html_signature?: string
  is_primary?: true
}

/** @throws ProductError validation_error */
function changeOf(given: GivenIdentity): IdentityChange {
  const { name, reply_to: replyTo, bcc, text_signature: text, html_signature: html, is_primary: isPrimary } = given
  return {
    ...(name === undefined ? {} : { name: checkName('name', name) }),
    ...(replyTo === undefined ? {} : { replyTo: addressesOf('reply_to', replyTo) }),
    ...(bcc === undefined ? {} : { bcc: addressesOf('bcc', bcc) }),
    ...(text === undefined ? {} : { textSignature: text }),
    ...(html === undefined ? {} : { htmlSignature: html }),
    ...(isPrimary === undefined ? {} : { isPrimary }),
  }
}

/** An empty list means the same as none. */
function addressesOf(field: string, given: readonly Person[] | null): MailAddress[] | null {
  if (given === null || given.length === 0) return null
  return given.map((person, index) => checkRecipient(`${field}.${index}`, person))
}

function shown(app: Context, account: Account, id: string): Static<typeof Identity> {
  const kept = app.store.sending.identities.get(account, id)
  if (kept === undefined) throw notFound('identity')
  return present(kept)
}

const present = presenterOf<Kept>()(Identity, { may_delete: ({ isPrimary }) => !isPrimary })

export const identities = [listIdentities, changesRoute('identities'), createIdentity, updateIdentity, deleteIdentity]
