// The Sieve scripts of a mailbox (docs/design/mailbox.md §14).

import { Type } from 'typebox'
import { ProductError } from '../../../base/errors.ts'
import type { Context } from '../../../context.ts'
import type { SieveText } from '../../../directory/mailboxes/sieve-scripts.ts'
import { allows } from '../../../directory/names/permissions.ts'
import type { MailboxPrincipal } from '../../../directory/names/principal.ts'
import { answer, type RequestFacts, route } from '../../../http/route.ts'
import { Default, Id, listOf, pageQuery } from '../../../http/schema.ts'
import { openedByScript } from '../../../people/opens.ts'
import { compileScript } from '../../../sieve/compile.ts'
import { accountOf, writableAccountOf } from '../../rules/account.ts'
import { FILTERS, refuseOutsideCredential } from '../../rules/outside.ts'
import { DeletedOf } from '../../schemas/deleted.ts'
import { MAILBOX_PAGE } from '../../schemas/limits.ts'
import { record } from '../../schemas/record.ts'
import {
  presentScript,
  presentScriptDetail,
  SCRIPT,
  ScriptCheck,
  ScriptContent,
  ScriptName,
  SieveScriptDetail,
  SieveScriptJson,
} from '../../schemas/sieve-script.ts'

const params = Type.Object({ script_id: Id('sieveScript') })

const WRONG = '422 with `line` and `column` in `errors` for every error in the script.'

/** `redirect` and `notify` send: a script with them needs the permission of sending. */
const maySend = ({ permissions }: MailboxPrincipal) => allows(permissions, 'email.send')

/**
 * Makes a change of a script. What sends the messages of the mailbox elsewhere, itself or by a script it includes, is like a forward: a browser
 * without a fresh proof may not.
 * @param change with whether scripts that send are accepted @throws ProductError insufficient_permissions
 */
async function changeScript(
  app: Context,
  principal: MailboxPrincipal,
  request: RequestFacts,
  change: (maySend: boolean) => Promise<SieveText>,
): Promise<SieveText> {
  const stale = maySend(principal) ? staleProof(request) : null
  const script = await accepted(() => change(maySend(principal) && stale === null), stale)
  const mailbox = app.directory.mailboxes.byId(principal.mailboxId)
  if (mailbox !== undefined && compileScript(script.content).script?.sends === true)
    request.opens(openedByScript(mailbox.email))
  return script
}

/** @param stale thrown instead of a refusal */
async function accepted(change: () => Promise<SieveText>, stale: ProductError | null): Promise<SieveText> {
  try {
    return await change()
  } catch (error) {
    throw stale !== null && isRefused(error) ? stale : error
  }
}

/** The error of a session without a fresh proof; null for any other credential. */
function staleProof(request: RequestFacts): ProductError | null {
  try {
    request.requireFreshProof()
    return null
  } catch (error) {
    if (isRefused(error)) return error
    throw error
  }
}

function isRefused(error: unknown): error is ProductError {
  return error instanceof ProductError && error.code === 'insufficient_permissions'
}

const listScripts = route({
  method: 'GET',
  path: '/mailbox/sieve-scripts',
  docs: {
    operation: 'listSieveScripts',
    errors: ['conflict'],
    tag: 'Mailbox',
    summary: 'List Sieve scripts',
    description: 'Without their texts. At most one is active; it runs for each received message.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  query: pageQuery({ limit: MAILBOX_PAGE }),
  reply: { schema: listOf(SieveScriptJson) },
  handle({ query, after, principal, app }) {
    accountOf(app, principal)
    refuseOutsideCredential(app, principal, FILTERS)
    const page = app.directory.sieveScripts.list(principal.mailboxId, { limit: query.limit, after })
    return { items: page.items.map(presentScript), next: page.next }
  },
})

const createScript = route({
  method: 'POST',
  path: '/mailbox/sieve-scripts',
  docs: {
    operation: 'createSieveScript',
    tag: 'Mailbox',
    summary: 'Create a Sieve script',
    description:
      'The active script is run for every received message, after the sender filters and the spam score. `keep` stores the ' +
      'message in the Inbox, or in Junk when it is spam; `fileinto` stores it in the named folder. When a script fails, the ' +
      'message is stored as without the script; the inbound log has the reason. `editheader` cannot change trace fields, signatures and the ' +
      'fields that say who wrote to whom: `warnings` names such commands. `redirect` and `notify` need a key that also has `email.send`; what is ' +
      `spam, fails DMARC or would loop is not redirected, but kept. ${WRONG} 409 when the name is in use or the ` +
      'mailbox has ten scripts.',
  },
  access: { as: 'mailbox', permission: 'mailbox.write', gate: 'filter_script_writes' },
  idempotent: true,
  body: {
    schema: record(
      'SieveScriptCreate',
      'A new script.',
      {
        name: ScriptName,
        content: ScriptContent,
        activate: Type.Optional(
          Default(Type.Boolean({ description: 'Activate it in place of the script that is active now.' }), false),
        ),
      },
      { name: 'Lists', content: SCRIPT, activate: true },
    ),
  },
  reply: { schema: SieveScriptDetail, status: 201 },
  async handle({ body, principal, app, request }) {
    writableAccountOf(app, principal)
    refuseOutsideCredential(app, principal, FILTERS)
    const { name, content, activate = false } = body
    const script = await changeScript(app, principal, request, (sends) =>
      app.directory.sieveScripts.create(principal.mailboxId, { name, content, activate }, sends),
    )
    const headers = { Location: `/api/v1/mailbox/sieve-scripts/${script.id}` }
    return answer({ data: presentScriptDetail(script), headers })
  },
})

const validateScript = route({
  method: 'POST',
  path: '/mailbox/sieve-scripts/validate',
  docs: {
    operation: 'validateSieveScript',
    errors: ['conflict'],
    tag: 'Mailbox',
    summary: 'Validate a Sieve script without storing it',
    description: 'Errors come with `line` and `column`; `warnings` names commands that have no effect.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  body: { schema: record('SieveScriptText', 'The text of a script.', { content: ScriptContent }, { content: SCRIPT }) },
  reply: { schema: ScriptCheck },
  handle({ body, principal, app }) {
    accountOf(app, principal)
    refuseOutsideCredential(app, principal, FILTERS)
    const { problems, warnings } = compileScript(body.content)
    return { valid: problems === null, errors: problems ?? [], warnings }
  },
})

const readScript = route({
  method: 'GET',
  path: '/mailbox/sieve-scripts/{script_id}',
  docs: {
    operation: 'getSieveScript',
    errors: ['conflict'],
    tag: 'Mailbox',
    summary: 'Get a Sieve script with its text',
    description: 'The text as it was stored, which a `PUT` with `If-Match` replaces.',
  },
  access: { as: 'mailbox', permission: 'mailbox.read' },
  params,
  reply: { schema: SieveScriptDetail, etag: true },
  handle({ params: { script_id: id }, principal, app }) {
    accountOf(app, principal)
    refuseOutsideCredential(app, principal, FILTERS)
    return presentScriptDetail(app.directory.sieveScripts.get(principal.mailboxId, id))
  },
})

const replaceScript = route({
  method: 'PUT',
  path: '/mailbox/sieve-scripts/{script_id}',
  docs: {
    operation: 'replaceSieveScript',
    tag: 'Mailbox',
    summary: 'Replace the name and text of a Sieve script; it stays active if it was',
    description: `${WRONG} 409 when the name is in use.`,
  },
  access: { as: 'mailbox', permission: 'mailbox.write', gate: 'filter_script_writes' },
  params,
  body: {
    schema: record(
      'SieveScriptReplace',
      'The new name and text.',
      { name: ScriptName, content: ScriptContent },
      { name: 'Lists', content: SCRIPT },
    ),
  },
  reply: { schema: SieveScriptDetail, etag: true },
  async handle({ params: { script_id: id }, body, principal, app, request }) {
    writableAccountOf(app, principal)
    refuseOutsideCredential(app, principal, FILTERS)
    const matches = (current: SieveText) => request.matches(presentScriptDetail(current))
    const script = await changeScript(app, principal, request, (sends) =>
      app.directory.sieveScripts.replace(principal.mailboxId, id, { ...body, maySend: sends }, matches),
    )
    return presentScriptDetail(script)
  },
})

const activateScript = route({
  method: 'POST',
  path: '/mailbox/sieve-scripts/{script_id}/activate',
  docs: {
    operation: 'activateSieveScript',
    tag: 'Mailbox',
    summary: 'Activate a Sieve script in place of the active one',
    description: 'It runs for the next received message. 422 when it is no longer valid.',
  },
  access: { as: 'mailbox', permission: 'mailbox.write', gate: 'filter_script_writes' },
  params,
  reply: { schema: SieveScriptDetail, etag: true },
  async handle({ params: { script_id: id }, principal, app, request }) {
    writableAccountOf(app, principal)
    refuseOutsideCredential(app, principal, FILTERS)
    const matches = (current: SieveText) => request.matches(presentScriptDetail(current))
    const script = await changeScript(app, principal, request, (sends) =>
      app.directory.sieveScripts.activate(principal.mailboxId, id, sends, matches),
    )
    return presentScriptDetail(script)
  },
})

const deactivateScript = route({
  method: 'POST',
  path: '/mailbox/sieve-scripts/{script_id}/deactivate',
  docs: {
    operation: 'deactivateSieveScript',
    tag: 'Mailbox',
    summary: 'Deactivate a Sieve script without deleting it',
    description: 'Messages are then filed without a script.',
  },
  access: { as: 'mailbox', permission: 'mailbox.write', gate: 'filter_script_writes' },
  params,
  reply: { schema: SieveScriptDetail, etag: true },
  async handle({ params: { script_id: id }, principal, app, request }) {
    writableAccountOf(app, principal)
    refuseOutsideCredential(app, principal, FILTERS)
    const matches = (current: SieveText) => request.matches(presentScriptDetail(current))
    return presentScriptDetail(await app.directory.sieveScripts.deactivate(principal.mailboxId, id, matches))
  },
})

const deleteScript = route({
  method: 'DELETE',
  path: '/mailbox/sieve-scripts/{script_id}',
  docs: {
    operation: 'deleteSieveScript',
    tag: 'Mailbox',
    summary: 'Delete a Sieve script; 409 while it is active',
    description: 'Deactivate it first. A script that includes it fails from then on, and its messages are kept.',
  },
  access: { as: 'mailbox', permission: 'mailbox.write', gate: 'filter_script_writes' },
  params,
  reply: { schema: DeletedOf('sieveScript'), etag: true },
  async handle({ params: { script_id: id }, principal, app, request }) {
    writableAccountOf(app, principal)
    refuseOutsideCredential(app, principal, FILTERS)
    await app.directory.sieveScripts.remove(principal.mailboxId, id, (current) =>
      request.matches(presentScriptDetail(current)),
    )
    return { deleted: true, id }
  },
})

export const sieveScripts = [
  listScripts,
  createScript,
  validateScript,
  readScript,
  replaceScript,
  activateScript,
  deactivateScript,
  deleteScript,
]
