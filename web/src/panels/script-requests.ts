// The requests about the Sieve scripts of one mailbox, by a grant and by a role.

import { type Api, done, type ListPart, take, takeList, takeTagged } from '../api/client.ts'
import type { SieveProblem, SieveScript, SieveScriptDetail } from '../api/types.ts'
import type { Tagged } from '../live/change.ts'

interface ScriptText {
  name: string
  content: string
}

type RequestKey = { 'Idempotency-Key': string }

export interface ScriptRequests {
  listScripts(cursor: string | undefined): Promise<ListPart<SieveScript>>
  readScript(id: string): Promise<Tagged<SieveScriptDetail>>
  createScript(body: ScriptText, header: RequestKey): Promise<void>
  replaceScript(id: string, body: ScriptText, tag: string): Promise<void>
  /** Errors first, then commands without effect. */
  checkScript(content: string): Promise<SieveProblem[]>
  activateScript(id: string): Promise<void>
  deactivateScript(id: string): Promise<void>
  deleteScript(id: string): Promise<void>
}

export function scriptsByRole(api: Api, path: { mailbox_id: string }): ScriptRequests {
  const all = '/mailboxes/{mailbox_id}/sieve-scripts'
  const one = `${all}/{script_id}` as const
  const at = (script_id: string) => ({ path: { ...path, script_id } })
  return {
    listScripts: (cursor) => takeList(api.GET(all, { params: { path, query: { cursor } } })),
    readScript: (id) => takeTagged(api.GET(one, { params: at(id) })),
    createScript: (body, header) => done(api.POST(all, { params: { path, header }, body })),
    replaceScript: (id, body, tag) => done(api.PUT(one, { params: { ...at(id), header: { 'If-Match': tag } }, body })),
    checkScript: async (content) =>
      problemsOf(await take(api.POST(`${all}/validate`, { params: { path }, body: { content } }))),
    activateScript: (id) => done(api.POST(`${one}/activate`, { params: at(id) })),
    deactivateScript: (id) => done(api.POST(`${one}/deactivate`, { params: at(id) })),
    deleteScript: (id) => done(api.DELETE(one, { params: at(id) })),
  }
}

export function scriptsByGrant(api: Api): ScriptRequests {
  const all = '/mailbox/sieve-scripts'
  const one = `${all}/{script_id}` as const
  const at = (script_id: string) => ({ path: { script_id } })
  return {
    listScripts: (cursor) => takeList(api.GET(all, { params: { query: { cursor } } })),
    readScript: (id) => takeTagged(api.GET(one, { params: at(id) })),
    createScript: (body, header) => done(api.POST(all, { params: { header }, body })),
    replaceScript: (id, body, tag) => done(api.PUT(one, { params: { ...at(id), header: { 'If-Match': tag } }, body })),
    checkScript: async (content) => problemsOf(await take(api.POST(`${all}/validate`, { body: { content } }))),
    activateScript: (id) => done(api.POST(`${one}/activate`, { params: at(id) })),
    deactivateScript: (id) => done(api.POST(`${one}/deactivate`, { params: at(id) })),
    deleteScript: (id) => done(api.DELETE(one, { params: at(id) })),
  }
}

function problemsOf({ errors, warnings }: { errors: SieveProblem[]; warnings: SieveProblem[] }): SieveProblem[] {
  return [...errors, ...warnings]
}
