// The requests about one mailbox that its owner and its team both have: `/mailbox/…` by a grant, `/mailboxes/{id}/…` by a role.

import { type Api, apiAs, done, type ListPart, take, takeList, takeTagged } from '../api/client.ts'
import type {
  AppPassword,
  AppPasswordCreate,
  ClientSettings,
  FilterState,
  Forward,
  ForwardCreate,
  NewAppPassword,
  SignIn,
  VacationResponse,
  VacationUpdate,
} from '../api/types.ts'
import type { Tagged } from '../live/change.ts'
import { type ScriptRequests, scriptsByGrant, scriptsByRole } from './script-requests.ts'
import { type ThrowAwayRequests, throwAwayByGrant, throwAwayByRole } from './throw-away-requests.ts'

export type RequestKey = { 'Idempotency-Key': string }
/** With the address or name of who made it, where it is known. */
export type MadeForward = Forward & { maker: string | null }

/** One mailbox as it is reached here. */
export interface MailboxRequests extends ScriptRequests, ThrowAwayRequests {
  id: string
  email: string
  /** First in the keys of queries. */
  actor: string
  /** Whether the person may change what gives access to the mailbox and where its mail goes. */
  mayManage: boolean
  listPasswords(cursor: string | undefined): Promise<ListPart<AppPassword>>
  createPassword(body: AppPasswordCreate, header: RequestKey): Promise<NewAppPassword>
  revokePassword(id: string): Promise<void>
  listSignIns(cursor: string | undefined): Promise<ListPart<SignIn>>
  clientSettings(): Promise<ClientSettings>
  listForwards(): Promise<ListPart<MadeForward>>
  createForward(body: ForwardCreate, header: RequestKey): Promise<void>
  keepCopy(id: string, keep: boolean): Promise<void>
  askAgain(id: string): Promise<void>
  removeForward(id: string): Promise<void>
  /** Addresses of which mail can be forwarded alone. */
  listAliases(): Promise<readonly string[]>
  readVacation(): Promise<Tagged<VacationResponse>>
  replaceVacation(response: VacationUpdate, tag: string): Promise<Tagged<VacationResponse>>
  readFilter(): Promise<Tagged<FilterState>>
  replaceFilter(filter: FilterState, tag: string): Promise<void>
}

const SIGN_INS_SHOWN = 20
const MOST_ALIASES = 100

/** By the role in the team of the mailbox. */
export function byRole(
  { id: team, api, may }: { id: string; api: Api; may: (permission: string) => boolean },
  { id, email }: { id: string; email: string },
): MailboxRequests {
  const path = { mailbox_id: id }
  return {
    ...{ id, email, actor: team, mayManage: may('mailbox.admin.manage') },
    ...passwordsByRole(api, path),
    ...forwardsByRole(api, path),
    ...vacationByRole(api, path),
    ...scriptsByRole(api, path),
    ...throwAwayByRole(api, path),
    readFilter: () => takeTagged(api.GET('/mailboxes/{mailbox_id}/filters', { params: { path } })),
    replaceFilter: (body, tag) =>
      done(
        api.PUT('/mailboxes/{mailbox_id}/filters', {
          params: { path, header: { 'If-Match': tag } },
          body,
        }),
      ),
  }
}

function vacationByRole(api: Api, path: { mailbox_id: string }) {
  const one = '/mailboxes/{mailbox_id}/vacation-response'
  return {
    readVacation: () => takeTagged(api.GET(one, { params: { path } })),
    replaceVacation: (body: VacationUpdate, tag: string) =>
      takeTagged(api.PUT(one, { params: { path, header: { 'If-Match': tag } }, body })),
  } satisfies Partial<MailboxRequests>
}

function passwordsByRole(api: Api, path: { mailbox_id: string }) {
  const all = '/mailboxes/{mailbox_id}/app-passwords'
  return {
    listPasswords: (cursor: string | undefined) => takeList(api.GET(all, { params: { path, query: { cursor } } })),
    createPassword: (body: AppPasswordCreate, header: RequestKey) =>
      take(api.POST(all, { params: { path, header }, body })),
    revokePassword: (app_password_id: string) =>
      done(api.DELETE(`${all}/{app_password_id}`, { params: { path: { ...path, app_password_id } } })),
    listSignIns: (cursor: string | undefined) =>
      takeList(
        api.GET('/mailboxes/{mailbox_id}/sign-ins', { params: { path, query: { cursor, limit: SIGN_INS_SHOWN } } }),
      ),
    clientSettings: () => take(api.GET('/mailboxes/{mailbox_id}/client-settings', { params: { path } })),
  } satisfies Partial<MailboxRequests>
}

function forwardsByRole(api: Api, path: { mailbox_id: string }) {
  const all = '/mailboxes/{mailbox_id}/forwards'
  const one = '/mailboxes/{mailbox_id}/forwards/{forward_id}'
  const at = (forward_id: string) => ({ path: { ...path, forward_id } })
  return {
    async listForwards() {
      const answer = await api.GET(all, { params: { path } })
      const { items, next } = await takeList(Promise.resolve(answer))
      const makers = (answer.data?.meta.makers ?? {}) as Record<string, string>
      return { items: items.map((forward) => ({ ...forward, maker: makers[forward.created_by] ?? null })), next }
    },
    createForward: (body: ForwardCreate, header: RequestKey) => done(api.POST(all, { params: { path, header }, body })),
    keepCopy: (id: string, keep_copy: boolean) => done(api.PATCH(one, { params: at(id), body: { keep_copy } })),
    askAgain: (id: string) => done(api.POST(`${one}/resend`, { params: at(id) })),
    removeForward: (id: string) => done(api.DELETE(one, { params: at(id) })),
    async listAliases() {
      const query = { limit: MOST_ALIASES }
      const { items } = await takeList(api.GET('/mailboxes/{mailbox_id}/aliases', { params: { path, query } }))
      return items.map(({ email }) => email)
    },
  } satisfies Partial<MailboxRequests>
}

/** By a grant of the mailbox. @param mayManage whether the grant changes settings and sends */
export function byGrant({ id, email }: { id: string; email: string }, mayManage: boolean): MailboxRequests {
  const api = apiAs(id)
  return {
    ...{ id, email, actor: id, mayManage },
    ...passwordsByGrant(api),
    ...forwardsByGrant(api),
    ...scriptsByGrant(api),
    ...throwAwayByGrant(api),
    readVacation: () => takeTagged(api.GET('/mailbox/vacation-response')),
    replaceVacation: (body, tag) =>
      takeTagged(api.PUT('/mailbox/vacation-response', { params: { header: { 'If-Match': tag } }, body })),
    readFilter: () => takeTagged(api.GET('/mailbox/sender-filter')),
    replaceFilter: (body, tag) =>
      done(api.PUT('/mailbox/sender-filter', { params: { header: { 'If-Match': tag } }, body })),
  }
}

function passwordsByGrant(api: Api) {
  const all = '/mailbox/app-passwords'
  return {
    listPasswords: (cursor: string | undefined) => takeList(api.GET(all, { params: { query: { cursor } } })),
    createPassword: (body: AppPasswordCreate, header: RequestKey) => take(api.POST(all, { params: { header }, body })),
    revokePassword: (app_password_id: string) =>
      done(api.DELETE(`${all}/{app_password_id}`, { params: { path: { app_password_id } } })),
    listSignIns: (cursor: string | undefined) =>
      takeList(api.GET('/mailbox/sign-ins', { params: { query: { cursor, limit: SIGN_INS_SHOWN } } })),
    clientSettings: () => take(api.GET('/mailbox/client-settings')),
  } satisfies Partial<MailboxRequests>
}

function forwardsByGrant(api: Api) {
  const all = '/mailbox/forwards'
  const one = '/mailbox/forwards/{forward_id}'
  const at = (forward_id: string) => ({ path: { forward_id } })
  return {
    async listForwards() {
      const { items, next } = await takeList(api.GET(all))
      return { items: items.map((forward) => ({ ...forward, maker: null })), next }
    },
    createForward: (body: ForwardCreate, header: RequestKey) => done(api.POST(all, { params: { header }, body })),
    keepCopy: (id: string, keep_copy: boolean) => done(api.PATCH(one, { params: at(id), body: { keep_copy } })),
    askAgain: (id: string) => done(api.POST(`${one}/resend`, { params: at(id) })),
    removeForward: (id: string) => done(api.DELETE(one, { params: at(id) })),
    // The API of the mailbox does not list its aliases.
    listAliases: async () => [],
  } satisfies Partial<MailboxRequests>
}
