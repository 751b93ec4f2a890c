// The client of the API: `/as/{actor}/…` with the cookie of the person, `/me/v1` for what concerns the person.

import { signal } from '@preact/signals'
import createClient, { type Client } from 'openapi-fetch'
import { type ApiError, errorOf, noAnswer } from './errors.ts'
import type { paths } from './schema.d.ts'
import type { paths as PersonPaths } from './schema-me.d.ts'
import type { paths as OperatorPaths } from './schema-operator.d.ts'

export type Api = Client<paths>

/** One part of a list; `next` is the cursor of the following part. */
export interface ListPart<T> {
  items: T[]
  next: string | null
}

/** Set while a request waits for the person to prove who they are; called with whether they did. */
export const proofWanted = signal<((isProven: boolean) => void) | null>(null)

/** Set when the session has ended: the person has to sign in again. */
export const hasSessionEnded = signal(false)

/** How many requests wait for their answer. */
export const underWay = signal(0)

const clients = new Map<string, Api>()

/** The API as a team or a mailbox. */
export function apiAs(actor: string): Api {
  const known = clients.get(actor)
  if (known !== undefined) return known
  const client = createClient<paths>({ baseUrl: `/as/${actor}/api/v1`, fetch: send })
  clients.set(actor, client)
  return client
}

/** The API of the server as a whole, for its operators. */
export const operatorApi: Client<OperatorPaths> = createClient<OperatorPaths>({ baseUrl: '/as/operator', fetch: send })

/** What concerns the signed-in person. */
export const meApi: Client<PersonPaths> = createClient<PersonPaths>({ baseUrl: '/me/v1', fetch: send })

/** Requests that prove who a person is: 401 says that the proof is wrong, not that the session has ended. */
const PROOFS = /^\/me\/v1\/(?:sign-in|confirm|first-run)/

/** Sends a request; asks for a fresh proof when the server wants one, and repeats it once. */
async function send(request: Request): Promise<Response> {
  const first = withMark(request)
  const again = first.clone()
  const response = await answerOf(first)
  if (response.status === 401 && !PROOFS.test(new URL(request.url).pathname)) hasSessionEnded.value = true
  if (response.status !== 403 || !(await wantsProof(response))) return response
  return (await askForProof()) ? answerOf(again) : response
}

let proof: Promise<boolean> | null = null

/** One question for all requests that wait for the proof. */
function askForProof(): Promise<boolean> {
  proof ??= new Promise<boolean>((resolve) => {
    proofWanted.value = resolve
  }).finally(() => {
    proofWanted.value = null
    proof = null
  })
  return proof
}

/** The header that no other site can send. */
function withMark(request: Request): Request {
  const marked = new Request(request)
  marked.headers.set('X-Mailstead', '1')
  return marked
}

async function answerOf(request: Request): Promise<Response> {
  underWay.value++
  try {
    return await fetch(request)
  } catch (error) {
    if (request.signal.aborted) throw error
    throw noAnswer()
  } finally {
    underWay.value--
  }
}

async function wantsProof(response: Response): Promise<boolean> {
  const { error } = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { error?: { param?: string } }
  return error?.param === 'confirm'
}

interface Answered {
  data?: unknown
  error?: unknown
  response: Response
}

/** The `data` of an answer. @throws ApiError */
export async function take<T>(
  answer: Promise<{ data?: { data: T }; error?: unknown; response: Response }>,
): Promise<T> {
  const { data, error, response } = await answer
  if (data === undefined) throw failure({ error, response })
  return data.data
}

/** The `data` of an answer with its tag, for a later change that names it in If-Match. @throws ApiError */
export async function takeTagged<T>(
  answer: Promise<{ data?: { data: T }; error?: unknown; response: Response }>,
): Promise<{ value: T; tag: string }> {
  const { data, error, response } = await answer
  if (data === undefined) throw failure({ error, response })
  return { value: data.data, tag: response.headers.get('ETag') ?? '*' }
}

/** One part of a list. @throws ApiError */
export async function takeList<T>(
  answer: Promise<{
    data?: { data: T[]; pagination: { has_more: boolean; next_cursor?: string | null } }
    error?: unknown
    response: Response
  }>,
): Promise<ListPart<T>> {
  const { data, error, response } = await answer
  if (data === undefined) throw failure({ error, response })
  return { items: data.data, next: data.pagination.next_cursor ?? null }
}

/** A text. @throws ApiError */
export async function takeText(answer: Promise<Answered>): Promise<string> {
  const { data, error, response } = await answer
  if (!response.ok) throw failure({ error, response })
  return String(data)
}

/** Nothing but success. @throws ApiError */
export async function done(answer: Promise<Answered>): Promise<void> {
  const { error, response } = await answer
  if (!response.ok) throw failure({ error, response })
}

function failure({ error, response }: Answered): ApiError {
  return errorOf(response.status, error)
}
