// The Sieve scripts of a mailbox, for its own credentials and for its team (docs/design/mailbox.md §14).

import { Type } from 'typebox'
import { conflict, ProductError } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Mailbox } from '../../directory/mailboxes/mailboxes.ts'
import type { SieveText } from '../../directory/mailboxes/sieve-scripts.ts'
import { allows } from '../../directory/names/permissions.ts'
import { answer, type RequestFacts, type Route, type RouteAccess, route } from '../../http/route.ts'
import { Default, Id, listOf, pageQuery } from '../../http/schema.ts'
import { openedByScript } from '../../people/opens.ts'
import { compileScript } from '../../sieve/compile.ts'
import { accountOf, writableAccountOf } from '../rules/account.ts'
import { FILTERS, refuseOutside } from '../rules/outside.ts'
import { DeletedOf } from '../schemas/deleted.ts'
import { MAILBOX_PAGE } from '../schemas/limits.ts'
import { record } from '../schemas/record.ts'
import {
  presentScript,
  presentScriptDetail,
  SCRIPT,
  ScriptCheck,
  ScriptContent,
  ScriptName,
  SieveScriptDetail,
  SieveScriptJson,
} from '../schemas/sieve-script.ts'
import { prepareNotices } from './credential-notices.ts'
import {
  type MailboxCaller,
  mailboxIn,
  OWN_MAILBOX,
  paramsOf,
  type RouteVariant,
  TEAM_MAILBOX,
} from './route-variants.ts'

type Access = RouteAccess<'mailbox' | 'team'>

interface ScriptVariant extends RouteVariant {
  read: Access
  write: Access
}

const GATE = 'filter_script_writes'
const OWN: ScriptVariant = {
  ...OWN_MAILBOX,
  read: { as: 'mailbox', permission: 'mailbox.read' },
  write: { as: 'mailbox', permission: 'mailbox.write', gate: GATE },
}
const TEAM: ScriptVariant = {
  ...TEAM_MAILBOX,
  read: { as: 'team', permission: 'mailbox.admin.read' },
  write: { as: 'team', permission: 'mailbox.admin.manage', gate: GATE },
}
const PATH = '/sieve-scripts'
const ONE = `${PATH}/{script_id}`
const OF_ONE = { script_id: Id('sieveScript') }

const WRONG = '422 with `line` and `column` in `errors` for every error in the script.'

/** `redirect` and `notify` send: a script with them needs the permission of sending. */
const maySend = ({ permissions }: MailboxCaller) => allows(permissions, 'email.send')

interface ScriptRequest {
  app: Context
  principal: MailboxCaller
  params: { mailbox_id?: string }
  request: RequestFacts
}

/**
 * Makes a change of a script. What sends the messages of the mailbox elsewhere, itself or by a script it includes, is like a forward: a browser
 * without a fresh proof may not, and the owners are notified when the team does.
 * @param change with whether scripts that send are accepted @throws ProductError insufficient_permissions
 */
async function changeScript(
  { app, principal, params, request }: ScriptRequest,
  change: (mailboxId: string, maySend: boolean) => Promise<SieveText>,
): Promise<SieveText> {
  const mailbox = changeableIn(app, principal, params)
  const stale = maySend(principal) ? staleProof(request) : null
  const script = await accepted(() => change(mailbox.id, maySend(principal) && stale === null), stale)
  if (compileScript(script.content).script?.sends === true) {
    request.opens(openedByScript(mailbox.email))
    if (principal.kind === 'team')
      await (await prepareNotices(app, principal, mailbox, 'A script that sends messages on'))()
  }
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

function listScripts(variant: ScriptVariant): Route {
  return route({
    method: 'GET',
    path: variant.path + PATH,
    docs: {
      ...{ operation: `list${variant.infix}SieveScripts`, errors: ['conflict'], tag: variant.tag },
      summary: `List the Sieve scripts${variant.of}`,
      description: 'Without their texts. At most one is active; it runs for each received message.',
    },
    access: variant.read,
    params: paramsOf(variant, {}),
    query: pageQuery({ limit: MAILBOX_PAGE }),
    reply: { schema: listOf(SieveScriptJson) },
    handle({ params, query, after, principal, app }) {
      const { id } = mailboxWithScripts(app, principal, params)
      const page = app.directory.sieveScripts.list(id, { limit: query.limit, after })
      return { items: page.items.map(presentScript), next: page.next }
    },
  })
}

const SieveScriptCreate = record(
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
)

function createScript(variant: ScriptVariant): Route {
  return route({
    method: 'POST',
    path: variant.path + PATH,
    docs: {
      ...{ operation: `create${variant.infix}SieveScript`, tag: variant.tag },
      summary: `Create a Sieve script${variant.of}`,
      description:
        'The active script is run for every received message, after the sender filters and the spam score. `keep` stores the ' +
        'message in the Inbox, or in Junk when it is spam; `fileinto` stores it in the named folder. When a script fails, the ' +
        'message is stored as without the script; the inbound log has the reason. `editheader` cannot change trace fields, signatures and the ' +
        'fields that say who wrote to whom: `warnings` names such commands. `redirect` and `notify` need a credential that also has `email.send`' +
        `${variant.isTeam ? ', and the owners of the mailbox are notified' : ''}; what is ` +
        `spam, fails DMARC or would loop is not redirected, but kept. ${WRONG} 409 when the name is in use or the ` +
        'mailbox has ten scripts.',
    },
    access: variant.write,
    idempotent: true,
    params: paramsOf(variant, {}),
    body: { schema: SieveScriptCreate },
    reply: { schema: SieveScriptDetail, status: 201 },
    async handle({ params, body, principal, app, request }) {
      const { name, content, activate = false } = body
      let path = ''
      const script = await changeScript({ app, principal, params, request }, (id, sends) => {
        path = (variant.path + PATH).replace('{mailbox_id}', id)
        return app.directory.sieveScripts.create(id, { name, content, activate }, sends)
      })
      return answer({ data: presentScriptDetail(script), headers: { Location: `/api/v1${path}/${script.id}` } })
    },
  })
}

function validateScript(variant: ScriptVariant): Route {
  return route({
    method: 'POST',
    path: `${variant.path + PATH}/validate`,
    docs: {
      ...{ operation: `validate${variant.infix}SieveScript`, errors: ['conflict'], tag: variant.tag },
      summary: `Validate a Sieve script${variant.of} without storing it`,
      description: 'Errors come with `line` and `column`; `warnings` names commands that have no effect.',
    },
    access: { ...variant.read, audited: false },
    params: paramsOf(variant, {}),
    body: {
      schema: record('SieveScriptText', 'The text of a script.', { content: ScriptContent }, { content: SCRIPT }),
    },
    reply: { schema: ScriptCheck },
    handle({ params, body, principal, app }) {
      mailboxWithScripts(app, principal, params)
      const { problems, warnings } = compileScript(body.content)
      return { valid: problems === null, errors: problems ?? [], warnings }
    },
  })
}

function readScript(variant: ScriptVariant): Route {
  return route({
    method: 'GET',
    path: variant.path + ONE,
    docs: {
      ...{ operation: `get${variant.infix}SieveScript`, errors: ['conflict'], tag: variant.tag },
      summary: `Get a Sieve script${variant.of} with its text`,
      description: 'The text as it was stored, which a `PUT` with `If-Match` replaces.',
    },
    access: variant.read,
    params: paramsOf(variant, OF_ONE),
    reply: { schema: SieveScriptDetail, etag: true },
    handle({ params, principal, app }) {
      const { id } = mailboxWithScripts(app, principal, params)
      return presentScriptDetail(app.directory.sieveScripts.get(id, params.script_id))
    },
  })
}

const SieveScriptReplace = record(
  'SieveScriptReplace',
  'The new name and text.',
  { name: ScriptName, content: ScriptContent },
  { name: 'Lists', content: SCRIPT },
)

function replaceScript(variant: ScriptVariant): Route {
  return route({
    method: 'PUT',
    path: variant.path + ONE,
    docs: {
      ...{ operation: `replace${variant.infix}SieveScript`, tag: variant.tag },
      summary: `Replace the name and text of a Sieve script${variant.of}; it stays active if it was`,
      description: `${WRONG} 409 when the name is in use.`,
    },
    access: variant.write,
    params: paramsOf(variant, OF_ONE),
    body: { schema: SieveScriptReplace },
    reply: { schema: SieveScriptDetail, etag: true },
    async handle({ params, body, principal, app, request }) {
      const script = await changeScript({ app, principal, params, request }, (id, sends) =>
        app.directory.sieveScripts.replace(id, params.script_id, { ...body, maySend: sends }, matching(request)),
      )
      return presentScriptDetail(script)
    },
  })
}

function activateScript(variant: ScriptVariant): Route {
  return route({
    method: 'POST',
    path: `${variant.path + ONE}/activate`,
    docs: {
      ...{ operation: `activate${variant.infix}SieveScript`, tag: variant.tag },
      summary: `Activate a Sieve script${variant.of} in place of the active one`,
      description: 'It runs for the next received message. 422 when it is no longer valid.',
    },
    access: variant.write,
    params: paramsOf(variant, OF_ONE),
    reply: { schema: SieveScriptDetail, etag: true },
    async handle({ params, principal, app, request }) {
      const script = await changeScript({ app, principal, params, request }, (id, sends) =>
        app.directory.sieveScripts.activate(id, params.script_id, sends, matching(request)),
      )
      return presentScriptDetail(script)
    },
  })
}

function deactivateScript(variant: ScriptVariant): Route {
  return route({
    method: 'POST',
    path: `${variant.path + ONE}/deactivate`,
    docs: {
      ...{ operation: `deactivate${variant.infix}SieveScript`, tag: variant.tag },
      summary: `Deactivate a Sieve script${variant.of} without deleting it`,
      description: 'Messages are then filed without a script.',
    },
    access: variant.write,
    params: paramsOf(variant, OF_ONE),
    reply: { schema: SieveScriptDetail, etag: true },
    async handle({ params, principal, app, request }) {
      const { id } = changeableIn(app, principal, params)
      return presentScriptDetail(await app.directory.sieveScripts.deactivate(id, params.script_id, matching(request)))
    },
  })
}

function deleteScript(variant: ScriptVariant): Route {
  return route({
    method: 'DELETE',
    path: variant.path + ONE,
    docs: {
      ...{ operation: `delete${variant.infix}SieveScript`, tag: variant.tag },
      summary: `Delete a Sieve script${variant.of}; 409 while it is active`,
      description: 'Deactivate it first. A script that includes it fails from then on, and its messages are kept.',
    },
    access: variant.write,
    params: paramsOf(variant, OF_ONE),
    reply: { schema: DeletedOf('sieveScript'), etag: true },
    async handle({ params, principal, app, request }) {
      const { script_id: id } = params
      await app.directory.sieveScripts.remove(changeableIn(app, principal, params).id, id, matching(request))
      return { deleted: true, id }
    },
  })
}

/** Compares `If-Match` with the script that is stored. */
const matching = (request: RequestFacts) => (current: SieveText) => request.matches(presentScriptDetail(current))

/** @throws ProductError not_found, conflict for an outside account and a deleted mailbox, service_unavailable while it is set up */
function mailboxWithScripts(app: Context, principal: MailboxCaller, params: { mailbox_id?: string }): Mailbox {
  const mailbox = mailboxIn(app, principal, params)
  refuseOutside(mailbox, FILTERS)
  if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
  accountOf(app, { mailboxId: mailbox.id })
  return mailbox
}

/** The same, with the credentials of the mailbox only while it can be changed. @throws ProductError conflict (suspended) */
function changeableIn(app: Context, principal: MailboxCaller, params: { mailbox_id?: string }): Mailbox {
  if (principal.kind === 'mailbox') writableAccountOf(app, principal)
  return mailboxWithScripts(app, principal, params)
}

const ROUTES = [
  listScripts,
  createScript,
  validateScript,
  readScript,
  replaceScript,
  activateScript,
  deactivateScript,
  deleteScript,
]

export const sieveScripts = ROUTES.map((of) => of(OWN))
export const mailboxSieveScripts = ROUTES.map((of) => of(TEAM))
